from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from imported_sets import imported, labels, texts, write_json, write_jsonl

from wsmem.errors import InputFileError, UnknownNameError, WsmemError
from wsmem.evals.card import checksum
from wsmem.evals.importers.registry import source_named
from wsmem.evals.importers.writing import import_source

if TYPE_CHECKING:
    from pathlib import Path


def turn(identifier: str, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": identifier, "text": text, **more}


def qa(question: str, evidence: Any, category: int = 4, **more: Any) -> dict[str, Any]:
    return {"question": question, "evidence": evidence, "category": category, **more}


def locomo(*questions: dict[str, Any]) -> list[dict[str, Any]]:
    conversation = {
        "speaker_a": "Ida",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "Ida", "I keep bees now."),
            turn("D1:2", "Bo", "Look!", blip_caption="a photo of a kayak", img_url=["x"]),
        ],
        "session_2_date_time": "9:05 am on 30 June, 2023",
        "session_2": [turn("D2:1", "Ida", "The hive swarmed in June.")],
    }
    observation = {
        "session_1_observation": {
            "Ida": [["Ida keeps bees.", "D1:1"]],
            "Bo": [["Bo owns a kayak.", ["D1:2"]]],
        },
        "session_2_observation": {"Ida": [["The hive swarmed.", "D2:1; D1:1"]]},
    }
    return [
        {
            "sample_id": "conv-1",
            "conversation": conversation,
            "observation": observation,
            "qa": deepcopy(list(questions)),
        }
    ]


QUESTIONS = (
    qa("What does Ida keep?", ["D1:1"], answer="bees"),
    qa("When did it swarm?", ["D:2:01"], 2, answer=2023),
    qa("What do they own?", ["D1:1; D1:2"], 1, answer="bees, a kayak"),
    qa("What does Bo keep?", ["D1:1"], 5, adversarial_answer="bees"),
    qa("Is Ida an ally?", [], 3, answer="yes"),
    qa("Who left?", ["D9:9"], 4, answer="nobody"),
)


def test_locomo_turns_carry_speaker_caption_and_date(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    folder, report = imported("locomo", [file], tmp_path / "locomo-turns")
    assert texts(folder) == {
        "conv-1/D1:1": "Ida: I keep bees now.",
        "conv-1/D1:2": "Bo: Look! [shares a photo of a kayak]",
        "conv-1/D2:1": "Ida: The hive swarmed in June.",
    }
    assert folder.documents["conv-1/D1:1"].metadata["date"] == "2023-05-08T13:56:00"
    assert {document.scope for document in folder.documents.values()} == {"conv-1"}
    assert (report.documents, report.queries, report.labels) == (3, 4, 5)


def test_locomo_evidence_with_slips_is_mended_and_what_has_none_is_left_out(
    tmp_path: Path,
) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    folder, report = imported("locomo", [file], tmp_path / "set")
    assert labels(folder) == {
        "conv-1/q000": {"conv-1/D1:1"},
        "conv-1/q001": {"conv-1/D2:1"},
        "conv-1/q002": {"conv-1/D1:1", "conv-1/D1:2"},
        "conv-1/q003": {"conv-1/D1:1"},
    }
    kinds = [query.kind for query in folder.queries.values()]
    assert kinds == ["single-hop", "temporal", "multi-hop", "adversarial"]
    answers = [query.metadata["answer"] for query in folder.queries.values()]
    assert answers == ["bees", "2023", "bees, a kayak", "bees"]
    assert report.left_out == {
        "questions without evidence": 1,
        "questions whose evidence has no passage": 1,
    }


LEVELS = [
    pytest.param(
        "observations",
        {
            "conv-1/q000": {"conv-1/S1-1", "conv-1/S2-1"},
            "conv-1/q001": {"conv-1/S2-1"},
            "conv-1/q002": {"conv-1/S1-1", "conv-1/S1-2", "conv-1/S2-1"},
            "conv-1/q003": {"conv-1/S1-1", "conv-1/S2-1"},
        },
        id="observations",
    ),
    pytest.param(
        "sessions",
        {
            "conv-1/q000": {"conv-1/S1"},
            "conv-1/q001": {"conv-1/S2"},
            "conv-1/q002": {"conv-1/S1"},
            "conv-1/q003": {"conv-1/S1"},
        },
        id="sessions",
    ),
]


@pytest.mark.parametrize(("level", "expected"), LEVELS)
def test_locomo_passages_stand_for_their_turns(
    tmp_path: Path, level: str, expected: dict[str, set[str]]
) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    folder, _ = imported("locomo", [file], tmp_path / "set", level=level)
    assert labels(folder) == expected


def test_a_corrected_locomo_key_replaces_questions_and_evidence(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS[:3]))
    corrected = (QUESTIONS[0], qa("When did it swarm?", ["D2:1", "D1:1"], 2, answer="June"))
    key = write_json(tmp_path / "corrected.json", locomo(*corrected))
    folder, report = imported("locomo", [file], tmp_path / "set", key=str(key))
    assert labels(folder)["conv-1/q001"] == {"conv-1/D2:1", "conv-1/D1:1"}
    assert [query.metadata.get("corrected") for query in folder.queries.values()] == [None, True]
    assert report.left_out["questions that the corrected key has not"] == 1


def session(*turns: tuple[str, str, bool | None]) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": text} | ({} if mark is None else {"has_answer": mark})
        for role, text, mark in turns
    ]


def longmemeval() -> list[dict[str, Any]]:
    filler = session(("user", "A recipe, please.", None), ("assistant", "Here it is.", None))
    answer = session(
        ("user", "My cat is Mo.", True),
        ("assistant", "A fine name.", False),
        ("user", "Thanks!", False),
    )
    told = session(("user", "Name a river.", False), ("assistant", "The Ister.", True))

    def entry(name: str, kind: str, sessions: dict[str, Any], answers: list[str]) -> dict[str, Any]:
        return {
            "question_id": name,
            "question_type": kind,
            "question": f"About {name}?",
            "answer": 3,
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_session_ids": list(sessions),
            "haystack_dates": ["2023/05/20 (Sat) 02:21"] * len(sessions),
            "haystack_sessions": list(sessions.values()),
            "answer_session_ids": answers,
        }

    return [
        entry("q1", "single-session-user", {"f1": filler, "answer_1": answer}, ["answer_1"]),
        entry("q2", "single-session-assistant", {"f1": filler, "answer_2": told}, ["answer_2"]),
        entry("q3_abs", "multi-session", {"f1": filler, "answer_1": answer}, ["answer_1"]),
    ]


def test_longmemeval_sessions_are_searched_haystack_by_haystack(tmp_path: Path) -> None:
    file = write_json(tmp_path / "longmemeval_s.json", longmemeval())
    folder, report = imported("longmemeval", [file], tmp_path / "set")
    assert texts(folder) == {
        "q1/f1": "A recipe, please.",
        "q1/answer_1": "My cat is Mo.\nThanks!",
        "q2/f1": "A recipe, please.",
        "q2/answer_2": "Name a river.",
        "q3_abs/f1": "A recipe, please.",
        "q3_abs/answer_1": "My cat is Mo.\nThanks!",
    }
    # What only the assistant said is no evidence where only the user's turns are searched.
    assert labels(folder) == {"q1": {"q1/answer_1"}}
    assert {name: (q.answerable, q.scope, q.kind) for name, q in folder.queries.items()} == {
        "q1": (True, "q1", "single-session-user"),
        "q3_abs": (False, "q3_abs", "abstention"),
    }
    assert folder.queries["q1"].metadata["date"] == "2023-05-30T23:40:00"
    assert report.left_out["questions without a marked passage (see the option roles)"] == 1


def test_longmemeval_turns_of_both_roles(tmp_path: Path) -> None:
    file = write_json(tmp_path / "longmemeval_s.json", longmemeval())
    folder, _ = imported("longmemeval", [file], tmp_path / "set", level="turn", roles="all")
    assert labels(folder) == {"q1": {"q1/answer_1_1"}, "q2": {"q2/answer_2_2"}}


def test_a_pooled_longmemeval_store_holds_a_session_once(tmp_path: Path) -> None:
    entries = longmemeval()
    entries[1]["haystack_sessions"][0] = session(("user", "Another recipe.", None))
    file = write_json(tmp_path / "longmemeval_oracle.json", entries)
    folder, report = imported("longmemeval", [file], tmp_path / "set", store="pooled", roles="all")
    assert list(folder.documents) == ["f1", "answer_1", "f1~2", "answer_2"]
    assert labels(folder) == {"q1": {"answer_1"}, "q2": {"answer_2"}}
    assert {document.scope for document in folder.documents.values()} == {None}
    assert report.unanswerable == 1


def point(text: str, *, source: str = "primary", replaces: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "memory_content": text,
        "memory_type": "Persona Memory",
        "is_update": str(bool(replaces)),
        "original_memories": list(replaces),
        "timestamp": "Sep 04, 2025, 11:35:32",
        "memory_source": source,
        "importance": 0.75,
    }


def halumem() -> list[dict[str, Any]]:
    ask = {
        "question": "Where does Ida live now?",
        "answer": "Bergen",
        "evidence": [{"memory_content": "Ida lives in Bergen", "memory_type": "Persona Memory"}],
        "question_type": "Dynamic Update",
    }
    unknown = {"question": "Her middle name?", "evidence": [], "question_type": "Memory Boundary"}
    lost = {"question": "Her car?", "evidence": [{"memory_content": "She drives a van"}]}
    first = {"memory_points": [point("Ida lives in Oslo")], "questions": [ask, unknown]}
    second = {
        "memory_points": [
            point("Ida lives in Bergen", source="secondary", replaces=("Ida lives in Oslo",)),
            point("Ida lives in Rome", source="interference"),
        ],
        "questions": [lost],
    }
    return [{"uuid": "u1", "sessions": [first, second, {"dialogue": []}]}]


def test_halumem_evidence_is_matched_word_by_word(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "HaluMem-Medium.jsonl", halumem())
    folder, report = imported("halumem", [file], tmp_path / "set")
    assert texts(folder) == {"u1/0-0": "Ida lives in Oslo", "u1/1-0": "Ida lives in Bergen"}
    assert folder.documents["u1/1-0"].metadata["supersedes"] == ["u1/0-0"]
    assert labels(folder) == {"u1/0-q0": {"u1/1-0"}}
    assert {name: (q.kind, q.answerable) for name, q in folder.queries.items()} == {
        "u1/0-q0": ("dynamic-update", True),
        "u1/0-q1": ("memory-boundary", False),
    }
    assert report.left_out["interference points"] == 1
    assert report.left_out["questions whose evidence quotes no point"] == 1


def test_halumem_interference_can_be_kept_and_is_never_relevant(tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "slice.jsonl", halumem())
    folder, _ = imported("halumem", [file], tmp_path / "set", interference="keep")
    assert "u1/1-1" in folder.documents
    assert labels(folder) == {"u1/0-q0": {"u1/1-0"}}


def test_the_card_says_licence_checksums_choices_and_what_was_left_out(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    folder, _ = imported("locomo", [file], tmp_path / "bees", level="sessions")
    card = folder.card
    assert card is not None
    assert (card.name, card.licence, card.language) == ("bees", "CC-BY-NC-4.0", ("en",))
    assert card.origins == {"locomo10.json": checksum(file)}
    assert "level=sessions" in card.description
    assert "1 questions without evidence" in card.description
    assert card.slices["adversarial"] == "1 questions"
    assert "RecallAll@5" in card.intended_use


def broken(value: Any, *path: Any, to: Any) -> Any:
    """The value with one part of it replaced."""
    target = value
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = to
    return value


MALFORMED = [
    pytest.param(
        "locomo",
        broken(locomo(*QUESTIONS), 0, "qa", 2, "evidence", to=[{"x": 1}]),
        "[0].qa[2].evidence[0]: a text or a number is needed, not an object",
        id="evidence",
    ),
    pytest.param(
        "locomo",
        broken(locomo(*QUESTIONS), 0, "conversation", "session_1", 1, to="hello"),
        "[0].conversation.session_1[1]: an object is needed, not a text",
        id="turn",
    ),
    pytest.param(
        "locomo",
        broken(locomo(*QUESTIONS), 0, "conversation", "session_1_date_time", to="May"),
        "'May' is not a moment such as 1:56 pm on 8 May, 2023",
        id="date",
    ),
    pytest.param("locomo", {"qa": []}, "a list is needed, not an object", id="no-list"),
    pytest.param(
        "longmemeval",
        broken(longmemeval(), 1, "haystack_dates", to=[]),
        "[1]: haystack_sessions, _session_ids and _dates differ in length",
        id="lengths",
    ),
    pytest.param(
        "longmemeval",
        broken(longmemeval(), 0, "haystack_sessions", 1, 0, "has_answer", to="yes"),
        "[0].haystack_sessions[1][0].has_answer: true or false is needed",
        id="mark",
    ),
    pytest.param(
        "halumem",
        broken(halumem(), 0, "sessions", 0, "memory_points", 0, to={"index": 1}),
        "[0].sessions[0].memory_points[0]: 'memory_content' is missing",
        id="point",
    ),
]


@pytest.mark.parametrize(("name", "value", "problem"), MALFORMED)
def test_a_malformed_file_is_refused_with_the_place(
    tmp_path: Path, name: str, value: Any, problem: str
) -> None:
    file = write_json(tmp_path / "original.json", value)
    with pytest.raises(InputFileError) as caught:
        import_source(source_named(name), [file], tmp_path / "set")
    assert problem in str(caught.value)
    assert "original.json" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original.json"]


def test_an_unknown_option_or_choice_names_those_there_are(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    with pytest.raises(UnknownNameError, match="turns, observations, sessions"):
        import_source(source_named("locomo"), [file], tmp_path / "set", options={"level": "word"})
    with pytest.raises(UnknownNameError, match="level, key"):
        import_source(source_named("locomo"), [file], tmp_path / "set", options={"depth": "1"})


def test_an_existing_folder_is_never_written_into(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(WsmemError, match="it is there already"):
        import_source(source_named("locomo"), [file], tmp_path / "set")
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["mine.txt"]


def test_a_limit_keeps_the_first_questions_and_all_passages(tmp_path: Path) -> None:
    file = write_json(tmp_path / "locomo10.json", locomo(*QUESTIONS))
    report = import_source(source_named("locomo"), [file], tmp_path / "set", limit=2)
    assert (report.documents, report.queries) == (3, 2)
