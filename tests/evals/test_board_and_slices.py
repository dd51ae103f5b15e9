from __future__ import annotations

import pytest
from rich.console import Console

from wsmem.evals.board import board_table, dataset_rows, mean_rows
from wsmem.evals.dataset import Query
from wsmem.evals.intervals import Interval
from wsmem.evals.measures import Measure
from wsmem.evals.results import QueryFacts, QueryResult, Row, SystemResult
from wsmem.evals.slices import bucket, bucket_order, mean_slice_rows, slice_rows, slices_of

RR, FALSE_RECALL = Measure.parse("RR@10"), Measure.parse("FalseRecall")
MEASURES = (RR, FALSE_RECALL)
DRAWS = {"seed": 0, "resamples": 200}


def facts(identifier: str, lang: str, **more: tuple[str, ...]) -> QueryFacts:
    return QueryFacts(
        id=identifier,
        text="t",
        scope=None,
        answerable=True,
        relevant={"d": 1},
        slices={"lang": (lang,), **more},
    )


def system(name: str, **values: float | None) -> SystemResult:
    return SystemResult(
        system=name,
        settings={},
        queries={
            query: QueryResult(ranked=(), scores={"RR@10": value, "FalseRecall": None}, bytes=0)
            for query, value in values.items()
        },
        unanswered=0,
        prepare_seconds=0,
        search_seconds=0,
    )


FACTS = (facts("a", "zh", kind=("word",)), facts("b", "en", slice=("x", "y")), facts("c", "zh"))
SYSTEMS = (system("one", a=1.0, b=0.5, c=0.0), system("two", a=0.25, b=0.25, c=0.25))


def test_rows_are_means_by_system_and_measure() -> None:
    rows = dataset_rows("set", FACTS, SYSTEMS, MEASURES, **DRAWS)
    assert [(row.system, row.measure, row.interval.value, row.interval.n) for row in rows] == [
        ("one", "RR@10", 0.5, 3),
        ("one", "FalseRecall", None, 0),
        ("two", "RR@10", 0.25, 3),
        ("two", "FalseRecall", None, 0),
    ]
    assert rows[0].to_json().keys() == {
        "dataset",
        "system",
        "measure",
        "value",
        "low",
        "high",
        "n",
    }


def test_slices_are_rows_about_some_of_the_queries() -> None:
    rows = slice_rows("set", FACTS, SYSTEMS, (RR,), **DRAWS)
    assert [(r.system, r.dimension, r.slice, r.interval.value, r.interval.n) for r in rows] == [
        ("one", "lang", "en", 0.5, 1),
        ("two", "lang", "en", 0.25, 1),
        ("one", "lang", "zh", 0.5, 2),
        ("two", "lang", "zh", 0.25, 2),
        ("one", "kind", "word", 1.0, 1),
        ("two", "kind", "word", 0.25, 1),
        ("one", "slice", "x", 0.5, 1),
        ("two", "slice", "x", 0.25, 1),
        ("one", "slice", "y", 0.5, 1),
        ("two", "slice", "y", 0.25, 1),
    ]


def test_no_query_or_no_system_makes_no_slices() -> None:
    assert slice_rows("set", (), SYSTEMS, MEASURES, **DRAWS) == []
    assert dataset_rows("set", FACTS, (), MEASURES, **DRAWS) == []


BUCKETS = [
    pytest.param(0, "0-10", id="least"),
    pytest.param(10, "0-10", id="upper-bound"),
    pytest.param(11, "11-50", id="just-above"),
    pytest.param(51, "51+", id="above-all"),
]


@pytest.mark.parametrize(("size", "name"), BUCKETS)
def test_ranges_are_named_by_their_bounds(size: int, name: str) -> None:
    assert bucket(size, (10, 50)) == name


def test_ranges_sort_by_size_and_not_as_text() -> None:
    assert sorted(["201+", "9-20", "0-8", "61-200", "21-60"], key=bucket_order) == [
        "0-8",
        "9-20",
        "21-60",
        "61-200",
        "201+",
    ]


def test_a_query_belongs_to_its_language_kind_sizes_and_named_slices() -> None:
    query = Query(
        id="q",
        text="对象存储在哪",
        scope=None,
        lang="zh",
        kind=None,
        slices=("exact",),
        answerable=True,
        metadata={},
        line=1,
    )
    assert slices_of(query, scope_size=171) == {
        "lang": ("zh",),
        "slice": ("exact",),
        "scope size": ("51-200",),
        "query length": ("0-8",),
    }


def row(dataset: str, name: str, value: float | None, n: int = 9) -> Row:
    interval = Interval(
        value=value,
        low=None if value is None else value - 0.1,
        high=None if value is None else value + 0.1,
        n=n,
        groups=n,
        error=None if value is None else 0.05,
        method="bootstrap",
    )
    return Row(dataset=dataset, system=name, measure="RR@10", interval=interval)


def test_each_set_counts_the_same_in_the_mean() -> None:
    (mean,) = mean_rows([row("a", "one", 0.2, n=1000), row("b", "one", 0.6, n=2)], (RR,))
    assert (mean.dataset, mean.interval.value, mean.interval.n) == ("mean", 0.4, 2)


def test_a_system_that_lacks_a_set_has_no_mean_to_compare() -> None:
    rows = [row("a", "one", 0.2), row("b", "one", 0.6), row("a", "two", 0.9)]
    one, two = mean_rows(rows, (RR,))
    assert one.interval.value == pytest.approx(0.4)
    assert (two.interval.value, two.interval.n) == (None, 1)


def test_a_set_that_nobody_can_be_scored_on_is_no_gap() -> None:
    rows = [row("a", "one", 0.2), row("b", "one", None, n=0)]
    (mean,) = mean_rows(rows, (RR,))
    assert (mean.interval.value, mean.interval.n) == (0.2, 1)


def test_slices_that_several_sets_have_are_averaged() -> None:
    rows = [
        *slice_rows("a", FACTS, SYSTEMS, (RR,), **DRAWS),
        *slice_rows("b", FACTS[:1], (system("one", a=0.0),), (RR,), **DRAWS),
    ]
    means = mean_slice_rows(rows, (RR,))
    assert [(r.system, r.slice, r.interval.value) for r in means] == [
        ("one", "zh", 0.25),
        ("one", "word", 0.5),
    ]


def rendered(rows: list[Row], *, margins: bool = True) -> str:
    console = Console(width=200, color_system="standard", force_terminal=True)
    with console.capture() as capture:
        console.print(board_table([item.to_json() for item in rows], margins=margins))
    return capture.get()


def test_the_table_marks_the_best_and_shows_what_the_noise_may_be() -> None:
    text = rendered([row("a", "one", 0.2), row("a", "two", 0.6), row("b", "one", None)])
    assert "0.200 ±0.100" in text
    assert "\x1b[1m0.600 ±0.100" in text
    assert "\x1b[1m0.200" not in text
    assert " - " in text.replace("-\n", "- \n")
    assert "±" not in rendered([row("a", "one", 0.2)], margins=False)
