"""Figures with intervals, by slice; matrices; the whole of an evaluation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from distillation_cases import (
    USER_SAID,
    a_case,
    answer,
    case_line,
    given,
    judged,
    said,
    wanted,
    write_cases,
)

from wsmem.engine.testing import FakeDistiller
from wsmem.errors import InvalidInputError
from wsmem.evals.distillation.board import ASKED, WHOLE, board_rows, confusion, slices_of
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.evaluation import (
    DistillPlan,
    NamedDistiller,
    evaluate,
    evaluate_distiller,
)
from wsmem.evals.distillation.measures import MEASURES, USAGE, measure_named
from wsmem.evals.intervals import wilson

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.distillation.evaluation import Choice
    from wsmem.evals.distillation.judging import Judgement
    from wsmem.evals.intervals import Interval

KEPT = given("add", USER_SAID, scope="global")
EXPECTED = wanted("add", USER_SAID, required=["英文"], scope="global")


def kept(case_id: str, *, right: bool = True, **fields: object) -> Judgement:
    return judged(a_case(case_id, expected=[EXPECTED], **fields), *([KEPT] if right else []))


def quiet(case_id: str, *, right: bool = True) -> Judgement:
    case = a_case(case_id, slice=["chit-chat"], messages=[said("今天真冷。")])
    return judged(case, *([] if right else [KEPT]))


def interval(name: str, *found: Judgement) -> Interval:
    rows = board_rows("d", "x", found, [measure_named(name)], seed=0, resamples=400)
    return next(row.interval for row in rows if row.slice == WHOLE)


def test_shares_of_cases_have_wilsons_interval() -> None:
    found = interval("Restraint", *(quiet(str(n), right=n > 0) for n in range(5)))
    expected = wilson(4, 5)
    assert (found.value, found.low, found.high) == (0.8, expected.low, expected.high)
    assert (found.n, found.method) == (5, "wilson")


def test_figures_that_pool_units_of_a_case_are_drawn_by_case() -> None:
    found = interval("F1(add)", *(kept(str(n), right=n % 2 == 0) for n in range(10)))
    assert found.value == pytest.approx(2 / 3)
    assert (found.n, found.groups, found.method) == (15, 10, "bootstrap")
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 2 / 3 < found.high <= 1


def test_a_perfect_f1_is_not_certain() -> None:
    found = interval("F1(add)", *(kept(str(n)) for n in range(5)))
    bound = wilson(5, 5).low
    assert bound is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(2 * bound / (1 + bound))


def test_units_of_one_case_are_no_independent_draws() -> None:
    """Six right answers in two cases count as two."""
    questions = [{"query": f"提交信息 {n}", "winner": {"required": ["英文"]}} for n in range(3)]
    found = interval("Winner@1", *(kept(str(n), questions=questions) for n in range(2)))
    assert (found.value, found.n, found.groups) == (1.0, 6, 2)
    assert found.low == wilson(2, 2).low


def test_one_case_says_nothing_about_how_cases_differ() -> None:
    found = interval("Overlap", kept("a"))
    assert found.value == 1.0
    assert (found.low, found.high, found.method) == (None, None, "none")


def test_a_measure_without_units_keeps_its_row_on_all_cases_only() -> None:
    rows = board_rows("d", "x", [quiet("a")], tuple(MEASURES.values()), seed=0, resamples=50)
    whole = {row.measure: row.interval for row in rows if row.slice == WHOLE}
    assert whole.keys() == MEASURES.keys() - set(USAGE)
    assert (whole["F1(add)"].value, whole["F1(add)"].n) == (None, 0)
    assert all(row.interval.n for row in rows if row.slice != WHOLE)


def test_rows_are_strict_json_in_eight_fields() -> None:
    rows = board_rows("d", "x", [kept("a"), quiet("b")], tuple(MEASURES.values()),
                      seed=0, resamples=50)  # fmt: skip
    fields = ["dataset", "distiller", "slice", "measure", "value", "low", "high", "n"]
    assert all(list(row.to_json()) == fields for row in rows)
    json.dumps([row.to_json() for row in rows], allow_nan=False)


def test_slices_are_all_cases_then_languages_then_what_is_asked_for_then_names() -> None:
    items = [
        kept("a", slice=["preference", "global-vs-workspace"]),
        kept("b", language="en"),
        quiet("c"),
    ]
    found = {name: [item.case.id for item in judged] for name, judged in slices_of(items).items()}
    assert list(found) == [
        WHOLE, "language en", "language zh", ASKED,
        "chit-chat", "explicit-request", "global-vs-workspace", "preference",
    ]  # fmt: skip
    assert found[ASKED] == ["a", "b"]
    assert found["language zh"] == ["a", "c"]
    assert list(slices_of([kept("a")])) == [WHOLE, ASKED, "explicit-request"]


def test_the_matrix_has_every_cell() -> None:
    cells = confusion([kept("a"), kept("b", right=False), quiet("c"), quiet("d", right=False)])
    assert len(cells) == 25
    counted = {cell: count for cell, count in cells.items() if count}
    assert counted == {
        ("add", "add"): 1, ("add", "none"): 1, ("none", "none"): 1, ("none", "add"): 1,
    }  # fmt: skip


# Evaluations


def fake(*replies: object, name: str = "fake") -> NamedDistiller:
    return NamedDistiller(name=name, ask=FakeDistiller(*replies))


def small_set(folder: Path, *, splits: tuple[str, ...] = ("dev", "dev", "test")) -> Path:
    lines = [case_line(f"c{n}", split=split, expected=[EXPECTED]) for n, split in enumerate(splits)]
    return write_cases(folder, lines)


def test_only_the_split_asked_for_is_tried(tmp_path: Path) -> None:
    cases = load_case_set(small_set(tmp_path / "s"))
    choices: tuple[Choice, ...] = ("default", "all", "dev", "test", "train")
    tried = {
        split: [item.case.id for item in evaluate_distiller(cases, fake(), split=split).judgements]
        for split in choices
    }
    dev = ["c0", "c1"]
    every = [*dev, "c2"]
    assert tried == {"default": dev, "all": every, "dev": dev, "test": ["c2"], "train": []}


def test_all_of_a_set_without_a_development_split_is_tried_by_default(tmp_path: Path) -> None:
    cases = load_case_set(small_set(tmp_path / "s", splits=("test", "test")))
    assert [item.case.id for item in evaluate_distiller(cases, fake()).judgements] == ["c0", "c1"]


def test_every_distiller_is_scored_on_every_set(tmp_path: Path) -> None:
    sets = tuple(load_case_set(small_set(tmp_path / name)) for name in ("one", "two"))
    distillers = (fake(answer(KEPT), name="good"), fake(name="silent"))
    found = evaluate(DistillPlan(sets=sets, distillers=distillers, resamples=50))
    assert [(result.dataset, result.distiller) for result in found.results] == [
        ("one", "good"), ("one", "silent"), ("two", "good"), ("two", "silent"),
    ]  # fmt: skip
    values = {
        (row.dataset, row.distiller): row.interval.value
        for row in found.rows
        if (row.slice, row.measure) == (WHOLE, "F1(add)")
    }
    assert values["one", "good"] == values["two", "good"] == 1.0
    assert values["one", "silent"] == values["two", "silent"] == 0.0
    assert found.skipped == ()


def test_a_set_without_cases_of_the_split_is_said_to_be_so(tmp_path: Path) -> None:
    sets = (load_case_set(small_set(tmp_path / "s", splits=("dev",))),)
    found = evaluate(DistillPlan(sets=sets, distillers=(fake(),), split="test"))
    assert found.results == ()
    assert [item.reason for item in found.skipped] == ["the set has no case in this split"]


def test_plans_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    cases = load_case_set(small_set(tmp_path / "s"))
    with pytest.raises(InvalidInputError, match="two distillers share a name"):
        DistillPlan(sets=(cases,), distillers=(fake(), fake()))
    with pytest.raises(InvalidInputError, match="two sets of cases share a name"):
        DistillPlan(sets=(cases, cases), distillers=(fake(),))
    with pytest.raises(InvalidInputError, match="a seed is 0 or more"):
        DistillPlan(sets=(cases,), distillers=(fake(),), seed=-1)
