from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.evals.dataset import Query
from wsmem.evals.labelling.agreement import Weights, agreements, in_words, kappa
from wsmem.evals.labelling.judgements import PairKey

WORKED = [
    # Cohen's own form: 20 + 15 of 50 agree, chance gives 0.5.
    pytest.param([[20, 5, 0], [10, 15, 0], [0, 0, 0]], "none", 0.4, id="two-grades"),
    pytest.param([[4, 0, 0], [0, 3, 0], [0, 0, 3]], "none", 1.0, id="perfect"),
    pytest.param([[1, 1, 0], [1, 1, 0], [0, 0, 0]], "none", 0.0, id="chance"),
    pytest.param([[0, 2, 0], [2, 0, 0], [0, 0, 0]], "none", -1.0, id="opposed"),
    # One 0 against 2: observed 2/3 linear; expected (2*1*2 + ...) worked by hand below.
    pytest.param([[1, 0, 1], [0, 1, 0], [0, 0, 0]], "linear", 1 - 6 / 8, id="linear"),
    pytest.param([[1, 0, 1], [0, 1, 0], [0, 0, 0]], "quadratic", 1 - 12 / 12, id="quadratic"),
    pytest.param([[5, 0, 0], [0, 0, 0], [0, 0, 0]], "none", None, id="one-grade-only"),
]


@pytest.mark.parametrize(("table", "weights", "expected"), WORKED)
def test_kappa_has_the_worked_value(
    table: list[list[int]], weights: Weights, expected: float | None
) -> None:
    found = kappa(table, weights=weights)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_does_not_care_who_is_first(table: list[list[int]]) -> None:
    turned = [list(column) for column in zip(*table, strict=True)]
    for weights in ("none", "linear", "quadratic"):
        one, other = kappa(table, weights=weights), kappa(turned, weights=weights)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert math.isclose(one, other, abs_tol=1e-9)
            assert one <= 1 + 1e-9


def query(identifier: str, kind: str, *slices: str) -> Query:
    return Query(
        id=identifier,
        text=identifier,
        scope=None,
        lang="zh",
        kind=kind,
        slices=slices,
        answerable=True,
        metadata={},
        line=1,
    )


def judged(grades: dict[tuple[str, str], int]) -> dict[PairKey, int]:
    return {PairKey(*pair): grade for pair, grade in grades.items()}


def test_only_pairs_that_both_judged_count_and_slices_are_apart() -> None:
    queries = {"q1": query("q1", "word", "typo"), "q2": query("q2", "question")}
    first = judged({("q1", "a"): 2, ("q1", "b"): 0, ("q2", "a"): 1, ("q2", "b"): 0, ("q9", "a"): 2})
    second = judged({("q1", "a"): 2, ("q1", "b"): 0, ("q2", "a"): 0, ("q2", "b"): 1})
    rows = {row.slice: row for row in agreements(first, second, queries)}
    assert list(rows) == ["all", "kind:question", "kind:word", "lang:zh", "slice:typo"]
    assert (rows["all"].pairs, rows["all"].queries, rows["all"].agreed) == (4, 2, 0.5)
    assert (rows["slice:typo"].kappa, rows["kind:question"].kappa) == (1.0, -1.0)
    assert rows["kind:word"].low is None
    assert rows["all"].low is not None
    assert agreements(first, {}, queries) == []


def test_an_interval_holds_the_value_and_a_seed_repeats_it() -> None:
    first = judged({(f"q{n}", d): n % 3 for n in range(12) for d in "ab"})
    second = judged({(f"q{n}", d): (n + n // 9) % 3 for n in range(12) for d in "ab"})
    one = agreements(first, second, {}, seed=3)[0]
    assert one == agreements(first, second, {}, seed=3)[0]
    assert one.low is not None
    assert one.high is not None
    assert one.kappa is not None
    assert one.low <= one.kappa <= one.high


def test_agreement_in_words_says_how_much_it_rests_on() -> None:
    rows = agreements(judged({("q", "a"): 2}), judged({("q", "a"): 2}), {})
    assert in_words(rows, "ida", "bo") == (
        "1 pairs of 1 queries judged by ida and bo, same grade 100%"
    )
    assert in_words([], "ida", "bo") is None
