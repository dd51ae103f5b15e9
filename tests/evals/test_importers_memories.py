from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from imported_sets import imported, labels, texts, write_json, write_jsonl
from shared_data import SHARED

from wsmem.errors import InputFileError, WsmemError
from wsmem.evals.importers.registry import SOURCES, source_named
from wsmem.evals.importers.writing import import_source
from wsmem.evals.reading import read_folder

if TYPE_CHECKING:
    from pathlib import Path


def message(number: int, text: str) -> dict[str, Any]:
    return {"mid": number, "message": text, "time": "2024年04月01日 周一 08:30", "place": "深圳"}


def trajectory(number: int, target: Any, *, question: str = "规模多大？") -> dict[str, Any]:
    asked = {
        "qid": 0,
        "question": question,
        "answer": "三千人",
        "target_step_id": target,
        "choices": {"A": "三千人"},
        "ground_truth": "A",
        "time": "2024年04月04日 周四 07:42",
    }
    messages = [message(0, "我将要参加论坛。"), message(1, "论坛的规模是三千人。")]
    return {"tid": number, "message_list": messages, "question_list": [asked]}


def test_memdaily_takes_kind_and_subject_from_the_file_name(tmp_path: Path) -> None:
    rows = [trajectory(0, [1]), trajectory(1, [0, 1]), trajectory(2, [1], question="[ERRORQ]")]
    file = write_json(tmp_path / "01_simple_events.json", rows)
    folder, report = imported("memdaily", [file], tmp_path / "set")
    assert labels(folder) == {
        "simple-events-0/q0": {"simple-events-0/1"},
        "simple-events-1/q0": {"simple-events-1/0", "simple-events-1/1"},
    }
    query = folder.queries["simple-events-0/q0"]
    assert (query.kind, query.lang, query.scope) == ("simple", "zh", "simple-events-0")
    assert query.metadata["subject"] == "events"
    assert query.metadata["date"] == "2024-04-04T07:42:00"
    assert folder.documents["simple-events-0/0"].metadata["date"] == "2024-04-01T08:30:00"
    assert report.left_out["trajectories that the source marks as failed"] == 1


def test_memdaily_in_one_file_is_read_by_kind_and_subject(tmp_path: Path) -> None:
    first = trajectory(0, [1])
    first["QA"] = first.pop("question_list")[0]
    merged = {"simple": {"events": [first], "places": None}, "noisy": {"roles": [first]}}
    folder, _ = imported(
        "memdaily", [write_json(tmp_path / "memdaily.json", merged)], tmp_path / "set"
    )
    assert set(labels(folder)) == {"simple-events-0/q0", "noisy-roles-0/q0"}


def membench(messages: list[Any], target: Any) -> dict[str, Any]:
    asked = {"qid": 3, "question": "Where?", "answer": ["x"], "target_step_id": target}
    return {"simple": {"roles": [{"tid": 7, "message_list": messages, "QA": asked}]}}


SPOKEN = "user: I moved to Oslo.\nassistant: Noted."
SHAPES = [
    pytest.param(
        [[{"sid": 0, "user_message": "Hi.", "assistant_message": "Hello."}],
         [{"sid": 1, "user_message": "I moved to Oslo.", "assistant_message": "Noted."}]],
        [[1, 1]],
        SPOKEN,
        id="sessions",
    ),
    pytest.param(
        [[{"sid": 0, "user_message": "Hi.", "assistant_message": "Hello."}],
         [{"sid": 0, "user_message": "I moved to Oslo.", "assistant_message": "Noted."}]],
        [[0, 1]],
        SPOKEN,
        id="numbers-anew-in-each-session",
    ),
    pytest.param(
        [{"user": "Hi.", "agent": "Hello."}, {"user": "I moved to Oslo.", "agent": "Noted."}],
        [1],
        SPOKEN,
        id="pairs",
    ),
    pytest.param(
        ["Hi.", "I moved to Oslo. (place: Oslo; time: '2024-10-01 08:00' Tuesday)"],
        [1],
        "I moved to Oslo. (place: Oslo; time: '2024-10-01 08:00' Tuesday)",
        id="texts",
    ),
    pytest.param(["Hi.", "I moved to Oslo."], 1, "I moved to Oslo.", id="one-target"),
    pytest.param(["Hi.", "I moved to Oslo."], [1, 2], "I moved to Oslo.", id="one-too-many"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "target", "text"), SHAPES)
def test_membench_targets_mean_messages_in_every_shape(
    tmp_path: Path, messages: list[Any], target: Any, text: str
) -> None:
    file = write_json(tmp_path / "FirstAgentDataLowLevel.json", membench(messages, target))
    folder, _ = imported("membench", [file], tmp_path / "set")
    ((query, relevant),) = labels(folder).items()
    assert query == "simple-roles-7/q3"
    assert [texts(folder)[name] for name in relevant] == [text]


def test_membench_times_inside_a_text_are_its_date(tmp_path: Path) -> None:
    plain = ["I moved. (place: Oslo; time'2024-10-01 08:00' Tuesday)", "Hi."]
    file = write_json(tmp_path / "ThirdAgent.json", membench(plain, [0]))
    folder, _ = imported("membench", [file], tmp_path / "set")
    dates = [document.metadata.get("date") for document in folder.documents.values()]
    assert dates == ["2024-10-01T08:00:00", None]


def test_trajectories_that_are_numbered_alike_are_kept_apart(tmp_path: Path) -> None:
    one = write_json(tmp_path / "Low.json", membench(["Hi.", "Oslo."], [1]))
    twice = membench(["Hi.", "Rome."], [1])
    twice["simple"]["roles"] *= 2
    two = write_json(tmp_path / "High.json", twice)
    folder, report = imported("membench", [one, two], tmp_path / "set")
    assert list(labels(folder)) == [
        "simple-roles-7/q3",
        "High-simple-roles-7/q3",
        "High-simple-roles-7~2/q3",
    ]
    assert report.queries == 3


def test_a_question_without_a_target_is_left_out(tmp_path: Path) -> None:
    shapes = membench(["Hi."], " "), membench(["Hi."], []), membench(["Oslo."], [0])
    files = [write_json(tmp_path / f"{n}.json", value) for n, value in enumerate(shapes)]
    folder, report = imported("membench", files, tmp_path / "set")
    assert len(folder.queries) == 1
    assert report.left_out == {"targets that are no message": 1, "questions without a target": 2}


def ask(question: str, reference: Any) -> dict[str, Any]:
    return {"Question": question, "Answer": "a", "Reference Memory": reference}


def memories() -> dict[str, Any]:
    return {
        "profile": {"Protagonist": "Wang Yu", "Age": 28, "Employer": ""},
        "profile_description": "Wang Yu is an engineer.",
        "social_relationship": "{'1_0': {'Supporting Characters': 'Li', 'Relationship': 'sister'}}",
        "events": {
            "1_0_0": {"content": "They hiked.", "summary": "A hike", "Creation Time": "2022"}
        },
        "dialogues": {
            "1_0_0#0": {"events": "1_0_0", "contents": {"2022-05-15 10:00": ["Wang Yu: Up!"]}}
        },
    }


def questions() -> list[dict[str, Any]]:
    return [
        {
            "Wang Yu": {
                "profile": [ask("How old?", "Age"), ask("Paid by?", "Employer")],
                "social_relationship": [{"1_0": [ask("Who is Li?", "['1_0']")]}],
                "events": [{"4_0_0": [ask("What did they do?", "['4_0_0']")]}],
                "dialogues": [{"1_0_0#0": [ask("What was said?", ["1_0_0#0"])]}],
            }
        },
        {"Nobody": {"profile": [ask("Who?", "Age")]}},
    ]


@pytest.mark.parametrize("as_list", [False, True], ids=["by-name", "list"])
@pytest.mark.parametrize("turned", [False, True], ids=["memories-first", "questions-first"])
def test_perltqa_references_find_their_memories(
    tmp_path: Path, as_list: bool, turned: bool
) -> None:
    held: Any = [memories()] if as_list else {"Wang Yu": memories()}
    files = [
        write_json(tmp_path / "perltmem.json", held),
        write_json(tmp_path / "perltqa.json", questions()),
    ]
    folder, report = imported("perltqa", files[::-1] if turned else files, tmp_path / "set")
    assert texts(folder) == {
        "Wang Yu/profile/Protagonist": "Protagonist: Wang Yu",
        "Wang Yu/profile/Age": "Age: 28",
        "Wang Yu/profile_description/profile_description": "Wang Yu is an engineer.",
        "Wang Yu/social_relationship/1_0": "Supporting Characters: Li\nRelationship: sister",
        "Wang Yu/events/1_0_0": "They hiked.",
        "Wang Yu/dialogues/1_0_0#0": "2022-05-15 10:00\nWang Yu: Up!",
    }
    assert labels(folder) == {
        "Wang Yu/profile/q0": {"Wang Yu/profile/Age"},
        "Wang Yu/social_relationship/q0": {"Wang Yu/social_relationship/1_0"},
        "Wang Yu/events/q0": {"Wang Yu/events/1_0_0"},
        "Wang Yu/dialogues/q0": {"Wang Yu/dialogues/1_0_0#0"},
    }
    assert report.left_out["characters without memories"] == 1
    assert report.left_out["references to no memory"] == 1


def test_perltqa_needs_memories_and_questions(tmp_path: Path) -> None:
    file = write_json(tmp_path / "perltqa.json", questions())
    with pytest.raises(WsmemError, match="needs two files"):
        import_source(source_named("perltqa"), [file], tmp_path / "set")
    with pytest.raises(InputFileError, match="neither of the two holds memories"):
        import_source(source_named("perltqa"), [file, file], tmp_path / "set")


def beir(folder: Path, *, packed: bool) -> Path:
    end = ".jsonl.gz" if packed else ".jsonl"
    passages = [
        {"_id": "d1", "title": "T", "text": "one", "metadata": {"type": "Persona", "url": "u"}},
        {"id": 2, "text": "two"},
    ]
    asked = [{"_id": f"q{number}", "text": f"query {number}"} for number in (1, 2, 3, 4)]
    write_jsonl(folder / f"corpus{end}", passages)
    write_jsonl(folder / f"queries{end}", asked)
    (folder / "qrels").mkdir()
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "test.tsv").write_text(
        f"{head}q1\td1\t2\nq1\t2\t0\nq2\td9\t1\nq4\t2\t0\n", encoding="utf-8"
    )
    mteb = [{"query-id": "q1", "corpus-id": "2", "score": 1.0}]
    write_jsonl(folder / "qrels" / f"dev{end}", mteb)
    return folder


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_beir_folder_is_taken_over_split_by_split(tmp_path: Path, packed: bool) -> None:
    source = beir(tmp_path / "original", packed=packed)
    folder, report = imported("beir", [source], tmp_path / "set")
    assert folder.labels == {
        "dev": {"q1~dev": {"2": 1}},
        "test": {"q1~test": {"d1": 2, "2": 0}},
    }
    assert folder.documents["d1"].metadata == {"original_type": "Persona", "url": "u"}
    assert report.left_out == {
        "labels of passages that are not there": 1,
        "queries without labels": 1,
        "queries without a relevant passage": 1,
        "questions whose every passage is missing": 1,
    }
    assert folder.card is not None
    assert "qrels/test.tsv" in folder.card.origins


def test_one_split_of_a_beir_folder_keeps_its_names(tmp_path: Path) -> None:
    source = beir(tmp_path / "original", packed=False)
    folder, _ = imported("beir", [source], tmp_path / "set", split="test")
    assert folder.labels == {"test": {"q1": {"d1": 2, "2": 0}}}


LABEL_LINES = [
    pytest.param("q1 0 d1 2\nq1 0 2 -2\n", {"d1": 2, "2": 0}, id="trec"),
    pytest.param("q1\td1\t1\n", {"d1": 1}, id="no-header"),
]


@pytest.mark.parametrize(("lines", "expected"), LABEL_LINES)
def test_other_tables_of_labels_are_read_too(
    tmp_path: Path, lines: str, expected: dict[str, int]
) -> None:
    source = beir(tmp_path / "original", packed=False)
    (source / "qrels" / "test.tsv").write_text(lines, encoding="utf-8")
    folder, _ = imported("beir", [source], tmp_path / "set", split="test")
    assert folder.labels["test"]["q1"] == expected


BAD_BEIR = [
    pytest.param("q1\td1\n", "test.tsv:1: 2 fields", id="fields"),
    pytest.param("q1\td1\t1\nq1\td1\t1\n", "test.tsv:2: query 'q1' and passage", id="twice"),
    pytest.param("q1\td1\t1\nq1\t2\thigh\n", "test.tsv:2: score 'high'", id="score"),
    pytest.param("q1\td1\t0.5\n", "test.tsv:1: score '0.5'", id="half"),
]


@pytest.mark.parametrize(("lines", "problem"), BAD_BEIR)
def test_bad_labels_are_refused_with_file_and_line(
    tmp_path: Path, lines: str, problem: str
) -> None:
    source = beir(tmp_path / "original", packed=False)
    (source / "qrels" / "test.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputFileError) as caught:
        import_source(source_named("beir"), [source], tmp_path / "set", options={"split": "test"})
    assert problem in str(caught.value)


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    source = beir(tmp_path / "original", packed=False)
    (source / "corpus.jsonl").rename(source / "corpus.parquet")
    with pytest.raises(InputFileError, match=r"export \.parquet files as \.jsonl first"):
        import_source(source_named("beir"), [source], tmp_path / "set")


def test_a_recorded_public_set_comes_through_beir_unchanged(tmp_path: Path) -> None:
    original = SHARED / "data" / "longmemeval-sample"
    if not original.is_dir():
        pytest.skip("the recorded data are not here")
    before, _ = read_folder(original)
    after, _ = imported("beir", [original], tmp_path / "set")
    assert after.labels == before.labels
    assert texts(after) == texts(before)
    assert {name: query.answerable for name, query in after.queries.items()} == {
        name: query.answerable for name, query in before.queries.items()
    }


def test_every_source_says_what_a_card_needs() -> None:
    for name, source in SOURCES.items():
        assert source.name == name
        said = (source.title, source.files, source.licence, source.source, source.limits)
        assert all(text.strip() for text in said)
