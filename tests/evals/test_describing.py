"""Promises about counting what labelled sets hold, on a set small enough to count by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from distillation_cases import case_line, held, said, wanted, write_cases
from labelled_sets import document, query, write_lines

from wsmem.errors import DatasetError
from wsmem.evals.describing import (
    agreement_frame,
    check_frame,
    confusion_frame,
    depth_frame,
    entries_frame,
    groups_frame,
    read_sets,
    repeats_frame,
    sets_frame,
    workspaces_frame,
)
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.describing import case_sets_frame, case_slices_frame
from wsmem.evals.labelling.agreement import agreements
from wsmem.evals.labelling.judgements import PairKey
from wsmem.evals.reading import read_folder
from wsmem.evals.slices import KIND, SLICE

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from wsmem.evals.reading import Folder

Sets = dict[str, "Folder"]

DOCUMENTS = (
    document("a1", "the port is 80", scope="shop", type="fact", status="active"),
    document("a2", "deploy on Fridays never", scope="shop", type="rule", status="superseded"),
    document("a3", "answer briefly", scope="shop", type="rule", status="active", layer="global"),
    document("b1", "the port of the farm is 81", scope="farm", type="fact", status="active"),
    document("b2", "Answer briefly!", scope="farm", type="rule", status="active", layer="global"),
)
QUERIES = (
    query("p", "which port", scope="shop", lang="en", kind="question", slice=["word", "partial"]),
    query("q", "周五部署", scope="shop", lang="zh", kind="keyword", slice=["word"]),
    query("r", "量子", scope="shop", lang="zh", kind="nonsense", slice=["none"], answerable=False),
    query("s", "port of the farm", scope="farm", lang="en", kind="question", slice=["word"]),
)
DEV = "p\ta1\t2\np\ta2\t0\np\ta3\t0\nq\ta3\t1\nr\ta1\t0\n"
TEST = "s\tb1\t2\n"
SECOND = (
    ("p", "a1", 2, True, 2),
    ("p", "a2", 1, True, 0),
    ("q", "a3", 1, True, 1),
    ("s", "b1", 2, True, 2),
    ("s", "b2", 0, True, 0),
    ("q", "a1", 1, False, None),
)


@pytest.fixture
def sets(tmp_path: Path) -> Sets:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    write_lines(folder / "corpus.jsonl", DOCUMENTS)
    write_lines(folder / "queries.jsonl", QUERIES)
    for split, labels in (("dev", DEV), ("test", TEST)):
        text = f"query-id\tcorpus-id\tscore\n{labels}"
        (folder / "qrels" / f"{split}.tsv").write_text(text, encoding="utf-8")
    fields = ("query", "document", "grade", "pooled", "first")
    rows = [dict(zip(fields, row, strict=True)) for row in SECOND]
    write_lines(folder / "second_labels.jsonl", rows)
    return read_sets([folder])


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(key): value for key, value in row.items()}
        for row in frame.reset_index().to_dict("records")
    ]


def test_a_set_is_counted_split_by_split(sets: Sets) -> None:
    dev, test = rows(sets_frame(sets))
    assert dev == {
        "dataset": "tiny",
        "split": "dev",
        "workspaces": 1,
        "entries": 3,
        "of the user": 1,
        "queries": 3,
        "unanswerable": 1,
        "en": 1,
        "zh": 2,
    }
    assert (test["entries"], test["queries"], test["en"], test["zh"]) == (2, 1, 1, 0)


def test_workspaces_stand_under_their_split_with_entries_and_queries(sets: Sets) -> None:
    assert rows(workspaces_frame(sets)) == [
        {"split": "dev", "workspace": "shop", "tiny": "3 / 3"},
        {"split": "test", "workspace": "farm", "tiny": "2 / 1"},
    ]


def test_a_workspace_that_a_set_lacks_is_a_dash(sets: Sets) -> None:
    (folder,) = sets.values()
    less = {name: item for name, item in folder.queries.items() if item.scope == "shop"}
    other = type(folder)(
        path=folder.path, documents=folder.documents, queries=less, labels=folder.labels, card=None
    )
    assert workspaces_frame({"one": folder, "two": other})["two"].tolist() == ["3 / 3", "–"]


def test_entries_are_counted_by_the_values_of_their_fields(sets: Sets) -> None:
    frame = entries_frame(sets)
    assert frame["tiny"].to_dict() == {
        ("type", "fact"): 2,
        ("type", "rule"): 3,
        ("status", "active"): 4,
        ("status", "superseded"): 1,
    }


def test_a_query_counts_in_each_of_its_slices_and_in_one_kind(sets: Sets) -> None:
    assert groups_frame(sets, SLICE)["tiny"].to_dict() == {"none": 1, "partial": 1, "word": 3}
    assert groups_frame(sets, KIND)["tiny"].sum() == len(QUERIES)


def test_depth_counts_judged_entries_a_query_and_grades_apart(sets: Sets) -> None:
    answered, nothing = rows(depth_frame(sets))
    # p was judged against three entries (2, 0, 0), q against one (1), s against one (2).
    assert (answered["least"], answered["median"], answered["most"]) == (1, 1, 3)
    grades = [answered[f"grade {grade}"] for grade in (2, 1, 0)]
    assert grades == [0.67, 0.33, 0.67]
    assert (nothing["kind"], nothing["queries"], nothing["most"]) == ("nothing to find", 1, 1)


def test_copies_of_an_entry_of_the_user_are_told_from_other_repeats(sets: Sets) -> None:
    strict, loose = rows(repeats_frame(sets, (0.9, 0.3)))
    assert (strict["queries"], strict["entries"], strict["copies"]) == (0, 0, 1)
    assert (loose["similarity"], loose["entries"], loose["copies"]) == ("≥ 0.3", 1, 1)


def test_findings_of_the_check_are_counted_by_weight(tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    (folder / "qrels").mkdir(parents=True)
    write_lines(folder / "corpus.jsonl", [document("a", "port 80"), document("b", "Port 80.")])
    write_lines(folder / "queries.jsonl", [query("p", "which port"), query("q", "which port?")])
    labels = "query-id\tcorpus-id\tscore\np\ta\t2\nq\ta\t2\n"
    (folder / "qrels" / "test.tsv").write_text(labels, encoding="utf-8")
    (row,) = rows(check_frame(read_sets([folder])))
    found = {"errors": 0, "warnings": 2, "queries alike": 1, "texts alike": 1}
    assert row == {"dataset": "twice"} | found


def test_agreement_is_of_pooled_pairs_with_an_interval(sets: Sets) -> None:
    (row,) = rows(agreement_frame(sets))
    assert (row["pairs"], row["queries"], row["same grade"]) == (5, 3, "80.0%")
    # Of 25 squared pairs chance meets in 2·2 (grade 2) + 1·2 (1) + 2·1 (0) = 8; 1 - (1/5)/(17/25).
    assert row["kappa"].startswith("0.71 (")


def test_where_there_is_nothing_the_frame_is_empty(sets: Sets) -> None:
    assert sets_frame({}).empty
    assert agreement_frame({}).empty
    assert "tiny" not in groups_frame(sets, "no such dimension")


def test_grades_meet_in_a_table_first_down_second_across(sets: Sets) -> None:
    assert confusion_frame(sets).to_numpy().tolist() == [[2, 0, 0], [0, 1, 0], [0, 1, 1]]


def test_the_interval_of_agreement_does_not_depend_on_the_order_of_pairs() -> None:
    pairs = [PairKey(f"q{n}", f"d{m}") for n in range(40) for m in range(3)]
    first = {pair: (5 * place) % 3 for place, pair in enumerate(pairs)}
    second = {pair: grade if place % 4 else 0 for place, (pair, grade) in enumerate(first.items())}
    ways = [dict(sorted(second.items(), reverse=backwards)) for backwards in (False, True)]
    assert agreements(first, ways[0], {}) == agreements(first, ways[1], {})


def test_a_set_with_a_fault_is_refused(tmp_path: Path, sets: Sets) -> None:
    folder = sets["tiny"].path
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\ns\tmissing\t2\n", encoding="utf-8"
    )
    assert read_folder(folder)[1] != []
    with pytest.raises(DatasetError, match="missing"):
        read_sets([tmp_path])


def test_cases_are_counted_by_split_slice_and_expected_operation(tmp_path: Path) -> None:
    add = wanted("add", "commit messages in English", scope="global", required=["English"])
    supersede = wanted("supersede", "port 81", scope="workspace", targetId="e1", required=["81"])
    lines = [
        case_line("c1", split="train", slice=["secret", "preference"], expected=[add]),
        case_line("c2", messages=[said("hm"), said("ok", "m2")], slice=["chit-chat"]),
        case_line("c3", existing=[held("e1", "port 80")], expected=[supersede]),
    ]
    sets = {"cases": load_case_set(write_cases(tmp_path, lines))}
    train, dev, test = rows(case_sets_frame(sets))
    assert (train["cases"], train["nothing to keep"], train["add"]) == (1, 0, 1)
    assert (dev["cases"], dev["nothing to keep"], dev["messages"]) == (2, 1, 3)
    assert (dev["supersede"], test["cases"]) == (1, 0)
    assert "revise" not in train
    assert case_slices_frame(sets)["cases"].to_dict() == {
        "chit-chat": "0 / 1 / 0",
        "explicit-request": "0 / 1 / 0",
        "preference": "1 / 0 / 0",
        "secret": "1 / 0 / 0",
    }
