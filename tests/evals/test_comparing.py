"""Two systems of labelled sets side by side: what is compared, and what counts as one unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labelled_sets import document, query, write_set

from wsmem.errors import DatasetError, InvalidInputError, UnknownNameError
from wsmem.evals.catalogue import Source
from wsmem.evals.comparing import contest, unit_of
from wsmem.evals.contestants import Contestant
from wsmem.evals.evaluate import evaluate
from wsmem.evals.plan import Plan
from wsmem.evals.results import QueryFacts
from wsmem.evals.run import Run, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.comparing import Contest, Unit


def fact(
    name: str, scope: str | None = None, *, answer: str | None = None, **slices: str
) -> QueryFacts:
    return QueryFacts(
        id=name,
        text=name,
        scope=scope,
        answerable=answer is not None,
        relevant={answer: 2} if answer else {},
        slices={dimension: (group,) for dimension, group in slices.items()},
    )


def side(name: str, facts: dict[str, list[QueryFacts]], value: float) -> Contestant:
    """A system that gets the same everywhere."""
    return Contestant(
        name=name,
        facts={each: {f.id: f for f in found} for each, found in facts.items()},
        scores={each: {f.id: {"nDCG@10": value} for f in found} for each, found in facts.items()},
        checksums={each: {"corpus.jsonl": "0"} for each in facts},
    )


def compared(facts: dict[str, list[QueryFacts]], **options: object) -> Contest:
    sides = side("one", facts, 0.4), side("two", facts, 0.8)
    return contest(*sides, measures=["nDCG@10"], **options)  # type: ignore[arg-type]  # keywords of one function


QUERIES = {
    "a": [fact(f"a{n}", f"s{n}", answer=f"d{n}", lang="zh" if n % 2 else "en") for n in range(30)],
    "b": [fact(f"b{n}", "s", answer=f"d{n}", lang="zh") for n in range(10)],
}


def test_the_mean_over_sets_comes_first_and_each_set_counts_the_same() -> None:
    found = compared(QUERIES)
    assert [about.dataset for about, _ in found.rows] == ["mean", "a", "b"]
    assert [row.n for _, row in found.rows] == [40, 30, 10]
    assert [row.difference for _, row in found.rows] == pytest.approx([0.4] * 3)
    assert {row.verdict for _, row in found.rows} == {"better"}
    uneven = side("two", QUERIES, 0.8)
    uneven = Contestant(
        name="two",
        facts=uneven.facts,
        scores={**uneven.scores, "b": {f"b{n}": {"nDCG@10": 0.4} for n in range(10)}},
        checksums=uneven.checksums,
    )
    (_, mean), *_ = contest(side("one", QUERIES, 0.4), uneven, measures=["nDCG@10"]).rows
    assert mean.difference == pytest.approx(0.2)


def test_by_all_gives_the_mean_alone_and_a_single_set_has_none() -> None:
    assert [about.dataset for about, _ in compared(QUERIES, by="all").rows] == ["mean"]
    alone = {"a": QUERIES["a"]}
    assert [about.dataset for about, _ in compared(alone, by="all").rows] == ["a"]


def test_groups_are_compared_and_one_that_holds_the_whole_set_is_not_repeated() -> None:
    found = compared(QUERIES, by="slice")
    assert [(about.dataset, about.slice) for about, _ in found.rows] == [
        ("mean", ""),
        ("a", ""),
        ("b", ""),  # all of b is Chinese
        ("a", "en"),
        ("mean", "zh"),
        ("a", "zh"),
    ]


@pytest.mark.parametrize(
    ("facts", "asked", "unit"),
    [
        pytest.param(QUERIES["a"], "auto", "scope", id="many-workspaces"),
        pytest.param(QUERIES["b"], "auto", "answer", id="one-workspace"),
        pytest.param([fact("q", answer="d")], "auto", "answer", id="no-workspaces"),
        pytest.param(QUERIES["a"], "query", "query", id="asked-for"),
    ],
)
def test_whole_workspaces_are_swapped_where_there_are_enough(
    facts: list[QueryFacts], asked: Unit, unit: Unit
) -> None:
    assert unit_of(facts, asked) == unit


@pytest.mark.parametrize(
    ("unit", "clusters"),
    [
        pytest.param("scope", 2, id="workspaces"),
        pytest.param("answer", 3, id="answers-within-a-workspace"),
        pytest.param("query", 4, id="single-queries"),
    ],
)
def test_what_is_swapped_as_one(unit: str, clusters: int) -> None:
    facts = [
        fact("q1", "s", answer="x"),
        fact("q2", "s", answer="x"),
        fact("q3", "s", answer="y"),
        fact("q4", "t", answer="x"),
    ]
    ((_, row),) = compared({"a": facts}, unit=unit).rows
    assert row.clusters == clusters


def test_queries_that_nothing_answers_stand_alone() -> None:
    ((_, row),) = compared({"a": [fact(f"q{n}", "s") for n in range(5)]}).rows
    assert row.clusters == 5


def test_queries_that_only_one_side_has_are_left_out() -> None:
    first, second = side("one", QUERIES, 0.4), side("two", {"a": QUERIES["a"][:20]}, 0.8)
    found = contest(first, second, measures=["nDCG@10"])
    assert (found.queries, found.left_out) == (20, 20)


def test_what_cannot_be_compared_is_refused() -> None:
    first, second = side("one", QUERIES, 0.4), side("two", {"c": QUERIES["a"]}, 0.8)
    with pytest.raises(InvalidInputError, match="no query in common"):
        contest(first, second, measures=["nDCG@10"])
    with pytest.raises(UnknownNameError, match="there are: nDCG@10"):
        contest(first, first, measures=["RR@10"])
    other = Contestant(
        name="two",
        facts=first.facts,
        scores=first.scores,
        checksums={**first.checksums, "a": {"corpus.jsonl": "1"}},
    )
    with pytest.raises(DatasetError, match="a: its files differ"):
        contest(first, other, measures=["nDCG@10"])


def test_a_saved_run_gives_what_its_evaluation_gave(tmp_path: Path) -> None:
    folder = write_set(
        tmp_path / "s",
        documents=[document("a", "deploy script"), document("b", "other words")],
        queries=[query("q1", "deploy", lang="en"), query("q2", "words", lang="en")],
        labels=[("q1", "a", 2), ("q2", "b", 1)],
    )
    plan = Plan.of([Source(name="s", path=folder)], systems=["bm25", "fts5:bigram"])
    evaluation = evaluate(plan)
    run = write_run(evaluation, tmp_path / "run")
    saved = Contestant.of_run(Run.load(run.path), "bm25")
    fresh = Contestant.of_results(evaluation.datasets, "bm25")
    assert saved.facts == fresh.facts
    assert saved.checksums == fresh.checksums
    assert saved.scores["s"]["q1"] == {
        str(name): value for name, value in fresh.scores["s"]["q1"].items()
    }
    with pytest.raises(UnknownNameError, match="there are: bm25, fts5:bigram"):
        Contestant.of_run(run)
