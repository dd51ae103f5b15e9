from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from wsmem.evals.intervals import Interval, Resampler, mean_of_means, wilson


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def interval(values: np.ndarray, scopes: list[str | None] | None = None, seed: int = 0) -> Interval:
    (found,) = Resampler(scopes or [None] * len(values), seed=(seed,)).intervals(values)
    return found


def test_the_interval_agrees_with_scipy_where_queries_are_independent() -> None:
    values = np.random.default_rng(5).beta(2, 3, size=400)
    theirs = bootstrap(
        (values,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(6)
    )
    ours = interval(values[:, None])
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.004)
    assert ours.error == pytest.approx(theirs.standard_error, rel=0.05)


def test_scopes_that_agree_within_widen_the_interval() -> None:
    # Twenty scopes of ten queries that all score alike are twenty draws, not two hundred.
    values = np.repeat(np.random.default_rng(5).random(20), 10)[:, None]
    clustered = interval(values, [f"s{n // 10}" for n in range(200)])
    naive = interval(values)
    assert (clustered.groups, naive.groups) == (20, 200)
    assert clustered.error is not None
    assert naive.error is not None
    assert clustered.error / naive.error == pytest.approx(np.sqrt(10), rel=0.15)


def test_scopes_of_unequal_size_keep_their_weight() -> None:
    values = column(1, 1, 1, 0)
    found = interval(values, ["a", "a", "a", "b"])
    # The draws are aa, ab, ba and bb: means 1, 3/4, 3/4 and 0.
    assert (found.value, found.low, found.high) == (0.75, 0.0, 1.0)


def test_queries_without_a_scope_stand_alone_beside_scopes() -> None:
    assert interval(column(0, 1, 0, 1), ["a", "a", None, None]).groups == 3


def test_a_single_scope_cannot_be_drawn_again_so_its_queries_are() -> None:
    found = interval(column(0, 1, 0, 1), ["a"] * 4)
    assert (found.groups, found.method) == (4, "bootstrap")


DEGENERATE = [
    pytest.param([], None, None, 0, "none", id="no-query"),
    pytest.param([0.4], 0.4, None, 1, "none", id="one-query"),
    pytest.param([np.nan, 0.4, np.nan], 0.4, None, 1, "none", id="one-query-it-is-about"),
    pytest.param([0.4] * 5, 0.4, 0.4, 5, "bootstrap", id="all-alike"),
]


@pytest.mark.parametrize(("values", "mean", "bound", "n", "method"), DEGENERATE)
def test_degenerate_cases_say_what_they_are(
    values: list[float], mean: float | None, bound: float | None, n: int, method: str
) -> None:
    found = interval(np.array(values, dtype=np.float64).reshape(-1, 1))
    assert found.value == (None if mean is None else pytest.approx(mean))
    assert found.low == (None if bound is None else pytest.approx(bound))
    assert found.high == (None if bound is None else pytest.approx(bound))
    assert (found.n, found.method) == (n, method)


def test_two_queries_of_one_scope_among_the_unanswerable_have_no_interval() -> None:
    resampler = Resampler(["a", "a", "b"], seed=(0,))
    (found,) = resampler.intervals(column(0.2, 0.4, np.nan))
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.groups) == (None, 1)


def test_a_share_has_wilsons_interval() -> None:
    resampler = Resampler([None] * 10, seed=(0,))
    (found,) = resampler.intervals(column(*[1] * 3 + [0] * 7), shares=[True])
    # By hand: centre (0.3 + z²/20) / (1 + z²/10), z = 1.96.
    assert found.low == pytest.approx(0.1078, abs=1e-4)
    assert found.high == pytest.approx(0.6032, abs=1e-4)
    assert found.method == "wilson"


def test_a_share_over_repeated_scopes_is_drawn_by_scope_unless_all_agree() -> None:
    resampler = Resampler(["a", "a", "b", "b"], seed=(0,))
    mixed, alike = resampler.intervals(
        np.array([[1.0, 0], [1, 0], [0, 0], [0, 0]]), shares=[True, True]
    )
    assert (mixed.method, mixed.groups) == ("bootstrap", 2)
    assert (alike.method, alike.low) == ("wilson", 0.0)
    assert alike.high == pytest.approx(0.49, abs=0.01)


def test_wilson_of_nothing_is_nothing() -> None:
    assert wilson(0, 0).value is None


def test_columns_are_resampled_together() -> None:
    values = np.random.default_rng(1).random((50, 1))
    first, second = Resampler([None] * 50, seed=(3,)).intervals(np.hstack([values, 1 - values]))
    assert first.low is not None
    assert second.high == pytest.approx(1 - first.low)


def test_the_seed_alone_decides_the_draws() -> None:
    values = np.random.default_rng(1).random((50, 1))
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values, seed=1) != interval(values, seed=2)


@given(
    st.lists(
        st.tuples(
            st.floats(min_value=0, max_value=1, allow_subnormal=False),
            st.sampled_from(["a", "b", "c", None]),
        ),
        min_size=2,
        max_size=30,
    )
)
def test_bounds_lie_within_the_values(rows: list[tuple[float, str | None]]) -> None:
    values = [value for value, _ in rows]
    (found,) = Resampler([scope for _, scope in rows], seed=(0,), resamples=50).intervals(
        column(*values)
    )
    assert found.value == pytest.approx(np.mean(values))
    if found.low is not None and found.high is not None:
        assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def known(value: float, error: float | None) -> Interval:
    return Interval(
        value=value, low=None, high=None, n=9, groups=9, error=error, method="bootstrap"
    )


def test_the_mean_of_means_weighs_sets_equally_and_adds_their_variances() -> None:
    found = mean_of_means([known(0.2, 0.03), known(0.6, 0.04)], bounded=True)
    assert found.value == pytest.approx(0.4)
    assert found.error == pytest.approx(0.05 / 2)
    assert found.low == pytest.approx(0.4 - 1.96 * 0.025, abs=1e-5)
    assert found.n == 2


def test_the_mean_of_means_stays_in_range_and_admits_ignorance() -> None:
    near_one = mean_of_means([known(0.99, 0.1), known(1.0, 0.0)], bounded=True)
    assert near_one.high == 1.0
    assert mean_of_means([known(0.5, None), known(0.6, 0.1)], bounded=True).low is None
    assert mean_of_means([], bounded=True).value is None
