from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import InvalidInputError
from wsmem.evals.tuning.objective import Objective


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        pytest.param("nDCG@10", Objective(k=10, penalty=0, allowed=0), id="plain"),
        pytest.param(
            "nDCG@5 - 0.5 * FalseRecall", Objective(k=5, penalty=0.5, allowed=0), id="penalty"
        ),
        pytest.param(
            "nDCG@10 - 0.2 * max(0, FalseRecall - 0.05)",
            Objective(k=10, penalty=0.2, allowed=0.05),
            id="penalty-above-a-limit",
        ),
    ],
)
def test_a_formula_is_read_and_printed_alike(text: str, objective: Objective) -> None:
    assert Objective.parse(text) == objective
    assert str(objective) == text


HUNDREDTHS = st.integers(1, 300).map(lambda number: number / 100)


@given(k=st.integers(1, 100), penalty=HUNDREDTHS, allowed=HUNDREDTHS)
def test_every_objective_parses_back(k: int, penalty: float, allowed: float) -> None:
    objective = Objective(k=k, penalty=penalty, allowed=allowed)
    assert Objective.parse(str(objective)) == objective


@pytest.mark.parametrize("text", ["", "nDCG", "nDCG@0", "MAP@10", "nDCG@10 + FalseRecall"])
def test_other_formulas_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInputError, match="FalseRecall"):
        Objective.parse(text)


def test_each_set_counts_the_same_and_false_recall_only_above_what_is_allowed() -> None:
    objective = Objective(k=10, penalty=0.5, allowed=0.1)
    assert objective.value([0.6, 0.8], [None, math.nan]) == pytest.approx(0.7)
    assert objective.value([0.6, 0.8], [0.05, None]) == pytest.approx(0.7)
    assert objective.value([0.6, 0.8], [0.2, 0.4]) == pytest.approx(0.7 - 0.5 * (0.3 - 0.1))
