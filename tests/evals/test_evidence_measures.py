from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import InvalidInputError
from wsmem.evals.measures import Measure, score


def value(measure: str, ranking: list[str], relevant: dict[str, int]) -> float | None:
    parsed = Measure.parse(measure)
    return score({"q": ranking}, {"q": relevant}, [parsed]).mean(parsed)


XY = {"x": 1, "y": 2, "judged": 0}
VALUES = [
    pytest.param("RecallAny@2", ["n", "x"], 1.0, id="any-is-enough"),
    pytest.param("RecallAny@1", ["n", "x"], 0.0, id="any-too-late"),
    pytest.param("RecallAll@2", ["n", "x"], 0.0, id="all-is-not-some"),
    pytest.param("RecallAll@3", ["n", "x", "y"], 1.0, id="all"),
    pytest.param("RecallAll@1", ["x"], 0.0, id="all-needs-the-room"),
    pytest.param("RecallAny@2", ["judged", "n"], 0.0, id="a-grade-of-zero-is-no-evidence"),
    pytest.param("RecallAll@3", ["x", "x", "y"], 1.0, id="a-repeat-takes-no-place"),
    pytest.param("nDCGAny@3", ["x", "y"], 1.0, id="best-order"),
    pytest.param("nDCGAny@3", ["n", "x", "y"], (1 + 1 / math.log2(3)) / 2, id="rank-two-is-whole"),
    pytest.param("nDCGAny@1", ["n"], 0.0, id="nothing"),
    pytest.param("RecallAll@5", [], 0.0, id="unanswered"),
]


@pytest.mark.parametrize(("measure", "ranking", "expected"), VALUES)
def test_evidence_measures_have_the_stated_values(
    measure: str, ranking: list[str], expected: float
) -> None:
    assert value(measure, ranking, XY) == pytest.approx(expected)


def test_they_are_about_answerable_queries_only() -> None:
    measure = Measure.parse("RecallAll@5")
    scores = score({"n": ["x"]}, {}, [measure], nothing=["n"])
    assert scores.column(measure) == [None]
    assert (measure.population, measure.is_share, measure.higher_is_better) == (
        "judged",
        True,
        True,
    )
    assert not Measure.parse("nDCGAny@5").is_share


def test_they_need_a_cutoff() -> None:
    with pytest.raises(InvalidInputError, match="RecallAny needs its cutoff"):
        Measure.parse("RecallAny")


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.sets(st.sampled_from("abcdef"), min_size=1),
    st.integers(1, 7),
)
def test_any_is_success_and_the_shares_bracket_recall(
    ranking: list[str], relevant: set[str], cutoff: int
) -> None:
    grades = dict.fromkeys(relevant, 1)
    found = {
        name: value(f"{name}@{cutoff}", ranking, grades)
        for name in ("RecallAny", "RecallAll", "Success", "R", "nDCGAny")
    }
    assert found["RecallAny"] == found["Success"]
    assert found["R"] is not None
    assert found["RecallAll"] == float(found["R"] > 1 - 1e-9)
    assert found["nDCGAny"] is not None
    assert 0 <= found["nDCGAny"] <= 1 + 1e-9
