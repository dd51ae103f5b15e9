from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from labelled_sets import document, query, write_set

from wsmem.errors import UnknownNameError
from wsmem.evals.catalogue import Source
from wsmem.evals.evaluate import evaluate
from wsmem.evals.explaining import explain_query, finite
from wsmem.evals.plan import Plan
from wsmem.evals.reading import load_dataset
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from pathlib import Path

PROFILES = ("reference", "default")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = [
        document("a1", "deploy script for kestrel", scope="a", date="2026-01-01"),
        document("a2", "kestrel owns exports", scope="a", importance=3, date="2026-01-03"),
        document("b1", "kestrel elsewhere", scope="b"),
    ]
    queries = [query("q", "kestrel exports", scope="a"), query("none", "zzz", scope="b")]
    return write_set(
        tmp_path / "tiny", documents=documents, queries=queries, labels=[("q", "a2", 2)]
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_the_frame_adds_up_to_the_scores_of_the_evaluation(folder: Path, profile: str) -> None:
    explained = explain_query(load_dataset(folder), "q", load_profile(profile))
    frame = explained.frame()

    assert list(frame.columns) == [
        "rank",
        "entry",
        "score",
        "matched",
        "grade",
        "signal",
        "value",
        "weight",
        "contribution",
    ]
    entries = frame.groupby("rank").agg(
        entry=("entry", "first"),
        score=("score", "first"),
        total=("contribution", "sum"),
        grade=("grade", "first"),
    )
    assert entries["total"].to_list() == pytest.approx(entries["score"].to_list())
    assert entries["grade"].to_list() == [2, 0]

    plan = Plan.of([Source(name="t", path=folder)], systems=[f"wsmem:{profile}"], jobs=1)
    ranked = evaluate(plan).datasets[0].systems[0].queries["q"].ranked
    assert tuple(entries["entry"]) == ranked == ("a2", "a1")


def test_the_top_entries_only_when_asked(folder: Path) -> None:
    explained = explain_query(load_dataset(folder), "q", load_profile("default"))
    assert set(explained.frame(top=1)["entry"]) == {"a2"}
    (row,) = explained.to_json(top=1)
    assert (row["rank"], row["entry"], row["grade"]) == (1, "a2", 2)
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_a_query_that_recalls_nothing_has_an_empty_frame_with_its_columns(folder: Path) -> None:
    frame = explain_query(load_dataset(folder), "none", load_profile("default")).frame()
    assert frame.empty
    assert "contribution" in frame.columns


def test_an_unknown_query_shows_what_ids_look_like(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="no query named 'x'; there are: q, none"):
        explain_query(load_dataset(folder), "x", load_profile("default"))


def test_numbers_that_json_lacks_are_none() -> None:
    assert [finite(value) for value in (1.5, math.nan, math.inf, -math.inf)] == [
        1.5,
        None,
        None,
        None,
    ]
