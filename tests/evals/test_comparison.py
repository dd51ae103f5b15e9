"""The paired comparison: exact where it can be checked by hand, calibrated where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from wsmem.errors import InvalidInputError
from wsmem.evals.comparison import ALPHA, Comparison, Pairing, Side, compare, holm
from wsmem.evals.resampling import Table

scores = st.lists(
    st.tuples(
        st.floats(0, 1, allow_nan=False, width=32), st.floats(0, 1, allow_nan=False, width=32)
    ),
    min_size=1,
    max_size=8,
)


def one(first: list[float | None], second: list[float | None], **options: object) -> Comparison:
    pairing = Pairing.of_values("x", first, second)
    (found,) = compare([pairing], resamples=200, **options)  # type: ignore[arg-type]  # keywords of one function
    return found


def ratios(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> Pairing:
    sides = [
        Side(sums=tuple(s for s, _ in side), weights=tuple(w for _, w in side))
        for side in (first, second)
    ]
    return Pairing(name="ratio", first=sides[0], second=sides[1])


# Holm


@pytest.mark.parametrize(
    ("raw", "corrected"),
    [
        pytest.param([], [], id="none"),
        pytest.param([0.03], [0.03], id="alone"),
        pytest.param([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], id="never-below-a-smaller-one"),
        pytest.param([0.5, 0.9], [1.0, 1.0], id="at-most-one"),
        pytest.param([0.02, 0.02], [0.04, 0.04], id="ties"),
    ],
)
def test_holm_by_hand(raw: list[float], corrected: list[float]) -> None:
    assert holm(raw) == pytest.approx(corrected)


def test_holm_counts_a_test_only_for_values_it_can_reach() -> None:
    """The second and third cannot be as small as 0.01, the third not even as small as 0.04."""
    assert holm([0.01, 0.04, 0.5], [0.0, 0.02, 0.5]) == pytest.approx([0.01, 0.04, 0.5])
    assert holm([0.01, 0.04, 0.5], [0.0, 0.01, 0.04]) == pytest.approx([0.02, 0.08, 0.5])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_the_raw_value_and_bonferroni(raw: list[float]) -> None:
    found = holm(raw)
    assert all(p <= q <= min(1.0, len(raw) * p) + 1e-12 for p, q in zip(raw, found, strict=True))
    order = sorted(range(len(raw)), key=lambda at: raw[at])
    assert [found[at] for at in order] == sorted(found)


# The test


def test_nine_clear_wins_have_the_smallest_p_value_that_nine_units_can_have() -> None:
    found = one([0.0] * 9, [1.0] * 9)
    assert found.p_value == pytest.approx(2 / 2**9)
    assert (found.better, found.equal, found.worse) == (9, 0, 0)
    assert found.difference == 1.0
    assert found.verdict == "better"


def test_eight_wins_are_not_enough_for_the_default_alpha() -> None:
    found = one([0.0] * 8, [1.0] * 8)
    assert found.p_value == pytest.approx(2 / 2**8)
    assert found.verdict == "inconclusive"


def enumerated(first: list[float], second: list[float]) -> float:
    """The share of all swaps with a difference as large, counted one by one."""
    observed = abs(sum(second) - sum(first))
    differences = [b - a for a, b in zip(first, second, strict=True)]
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@settings(max_examples=60, deadline=None)
@given(scores)
def test_the_p_value_is_that_of_counting_all_swaps(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = one([*first], [*second])
    assert found.p_value == pytest.approx(enumerated(first, second), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(scores)
def test_exchanging_the_systems_exchanges_the_verdict(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = one([*first], [*second]), one([*second], [*first])
    assert there.p_value == pytest.approx(back.p_value)
    assert there.difference == pytest.approx(-(back.difference or 0.0))
    assert (there.better, there.worse) == (back.worse, back.better)
    opposite = {"better": "worse", "worse": "better"}
    assert there.verdict == opposite.get(back.verdict, back.verdict)


def test_equal_results_are_inconclusive_not_equal() -> None:
    found = one([0.3, 0.7, 1.0], [0.3, 0.7, 1.0])
    assert (found.p_value, found.difference, found.effect) == (1.0, 0.0, None)
    assert found.verdict == "inconclusive"


def test_lower_is_better_turns_the_verdict() -> None:
    values: tuple[list[float | None], list[float | None]] = ([0.0] * 9, [1.0] * 9)
    (found,) = compare([Pairing.of_values("x", *values, higher_is_better=False)])
    assert found.verdict == "worse"
    assert (found.better, found.worse) == (0, 9)


def test_units_that_one_side_lacks_are_left_out_of_both() -> None:
    found = one([0.0, None, 0.5, float("nan")], [1.0, 0.2, 0.5, 0.9])
    assert (found.n, found.first, found.second) == (2, 0.25, 0.75)


def test_units_of_a_cluster_are_swapped_together() -> None:
    """Ten wins of two workspaces are two pieces of evidence, not ten."""
    clusters = ["a"] * 5 + ["b"] * 5
    (found,) = compare([Pairing.of_values("x", [0.0] * 10, [1.0] * 10, clusters=clusters)])
    assert (found.clusters, found.n) == (2, 10)
    assert found.p_value == pytest.approx(2 / 2**2)
    assert found.verdict == "inconclusive"


def test_units_without_a_cluster_stand_alone_beside_clusters() -> None:
    clusters = ["a", "a", None, None]
    (found,) = compare([Pairing.of_values("x", [0.0] * 4, [1.0] * 4, clusters=clusters)])
    assert found.clusters == 3


def test_ratios_of_sums_are_compared_as_such() -> None:
    """Precision 1/4 against 3/4, where one unit has most of the weight."""
    found = compare([ratios([(1, 3), (0, 1)], [(2, 3), (1, 1)])])[0]
    assert (found.first, found.second) == (0.25, 0.75)
    # Swaps of both, of neither, of the first (2/4, 2/4), of the second (2/4, 2/4).
    assert found.p_value == pytest.approx(0.5)


def test_a_swap_that_leaves_one_side_empty_counts_as_extreme() -> None:
    """Each side spoke in one unit only; swapping one leaves the other with nothing."""
    found = compare([ratios([(1, 1), (0, 0)], [(0, 0), (0, 1)])])[0]
    assert found.difference == -1.0
    assert found.p_value == 1.0


def test_a_side_without_any_figure_cannot_be_compared() -> None:
    found = compare([ratios([(1, 1), (1, 1)], [(0, 0), (0, 0)])])[0]
    assert (found.second, found.difference, found.p_value) == (None, None, None)
    assert found.verdict == "inconclusive"


def test_what_cannot_be_tested_does_not_count_for_the_correction() -> None:
    clear = Pairing.of_values("clear", [0.0] * 8, [1.0] * 8)
    empty = ratios([(0, 0)], [(0, 0)])
    alone, beside = compare([clear])[0], compare([clear, empty])[0]
    assert alone.adjusted == beside.adjusted == alone.p_value


def test_comparisons_made_together_are_corrected_together() -> None:
    clear = [Pairing.of_values(name, [0.0] * 9, [1.0] * 9) for name in "ab"]
    found = compare(clear)
    assert [c.adjusted for c in found] == pytest.approx([4 / 2**9] * 2)
    assert {c.verdict for c in found} == {"inconclusive"}
    assert {c.verdict for c in compare(clear, alpha=0.01)} == {"better"}


def test_a_sure_difference_within_the_margin_is_no_verdict() -> None:
    first, second = [0.5] * 12, [0.52] * 12
    assert one([*first], [*second]).verdict == "better"
    assert one([*first], [*second], margin=0.02).verdict == "inconclusive"
    assert one([*first], [*second], margin=0.019).verdict == "better"


def test_effect_and_detectable_difference_follow_their_formulas() -> None:
    differences = [0.1, 0.3, 0.2, 0.4] * 3
    found = one([0.0] * 12, [*differences], alpha=0.05)
    spread = float(np.std(differences, ddof=1))
    assert found.effect == pytest.approx(0.25 / spread)
    # Student's quantiles for 11 degrees of freedom, from a printed table.
    assert found.detectable == pytest.approx((2.200985 + 0.875530) * spread / 12**0.5, rel=1e-5)
    assert found.low is not None
    assert found.high is not None
    assert 0.1 <= found.low <= 0.25 <= found.high <= 0.4


def test_where_too_few_clusters_could_find_anything_nothing_is_detectable() -> None:
    """Eight swaps reach 2/256 at best, which is above half a percent."""
    assert one([0.0] * 8, [0.1, 0.2] * 4).detectable is None
    assert one([0.0] * 9, [0.1, 0.2, 0.3] * 3).detectable is not None


def test_comparisons_that_can_never_find_anything_do_not_hide_one_that_does() -> None:
    """A hundred groups of five queries cannot reach half a percent, so they cost it nothing."""
    clear = Pairing.of_values("clear", [0.0] * 9, [1.0] * 9)
    small = [Pairing.of_values(f"small {n}", [0.0] * 5, [1.0] * 5) for n in range(100)]
    found = compare([clear, *small], resamples=0)
    assert found[0].adjusted == found[0].p_value
    assert found[0].verdict == "better"
    assert {c.verdict for c in found[1:]} == {"inconclusive"}


def test_a_pairing_has_a_margin_of_its_own() -> None:
    values: tuple[list[float | None], list[float | None]] = ([0.5] * 12, [0.52] * 12)
    wide = Pairing.of_values("wide", *values, margin=0.03)
    narrow = Pairing.of_values("narrow", *values, margin=0.01)
    assert [c.verdict for c in compare([wide, narrow])] == ["inconclusive", "better"]


def test_the_interval_is_that_of_scipy_over_clusters() -> None:
    random = np.random.default_rng(11)
    first, second = random.random(40), random.random(40)
    clusters = [str(at // 4) for at in range(40)]
    pairing = Pairing.of_values("x", first.tolist(), second.tolist(), clusters=clusters)
    (found,) = compare([pairing], resamples=20_000)
    by_cluster = (second - first).reshape(10, 4).mean(axis=1)
    other = bootstrap(
        (by_cluster,),
        np.mean,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.005)


@pytest.mark.parametrize("size", [18, 40, 150])
def test_large_samples_of_signs_give_what_scipy_gives(size: int) -> None:
    random = np.random.default_rng(size)
    differences = np.where(random.random(size) < 0.4, 0.0, random.normal(0.1, 0.4, size)).round(2)
    table = Table.of(
        [[0.0] * size, [1.0] * size, differences.tolist(), [1.0] * size], clusters=None
    )
    assert table._signed(49_999, (1,)) == pytest.approx(table._sampled(49_999, (2,)), abs=0.006)


def test_a_bound_stands_for_p_values_no_sample_can_reach() -> None:
    found = one([0.0] * 60, [0.5] * 60)
    assert found.p_value == pytest.approx(2 * np.exp(-30))
    assert found.p_value is not None
    assert found.p_value >= 2.0**-59  # what counting all swaps would give


def test_many_units_are_sampled_and_the_sample_is_seeded() -> None:
    random = np.random.default_rng(7)
    first = random.random(60)
    second = np.clip(first + random.normal(0.05, 0.15, 60), 0, 1)
    pairing = Pairing.of_values("x", [*first.tolist()], [*second.tolist()])
    other = Pairing.of_values("y", [0.0] * 8, [1.0] * 8)
    assert compare([pairing], seed=3) == compare([pairing], seed=3)
    # A pairing's draws do not depend on what it is compared beside.
    assert compare([pairing])[0].p_value == compare([other, pairing])[1].p_value
    assert compare([pairing], seed=3)[0].low != compare([pairing], seed=4)[0].low


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(
            lambda: Pairing.of_values("x", [1.0], [1.0, 2.0]), "1 values beside 2", id="lengths"
        ),
        pytest.param(
            lambda: Pairing.of_values("x", [1.0], [1.0], clusters=["a", "b"]),
            "differ in length",
            id="clusters",
        ),
        pytest.param(
            lambda: Pairing.of_values("x", [float("inf")], [1.0]), "finite", id="infinite"
        ),
        pytest.param(lambda: ratios([(1, -1)], [(1, 1)]), "below 0", id="weight"),
        pytest.param(lambda: compare([], alpha=1.0), "alpha is between 0 and 1", id="alpha"),
        pytest.param(lambda: compare([], margin=-0.1), "margin is 0 or more", id="margin"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(InvalidInputError, match=says):
        make()


# Calibration


def graded(random: np.random.Generator, size: int) -> np.ndarray:
    """Scores as rankings have them: many noughts and ones, some between."""
    return np.where(random.random(size) < 0.6, random.integers(0, 2, size), random.random(size))


def binary(random: np.random.Generator, size: int) -> np.ndarray:
    """Found or not found."""
    return (random.random(size) < 0.7).astype(float)


def tied(random: np.random.Generator, size: int) -> np.ndarray:
    """Nearly all queries are answered alike."""
    return np.where(random.random(size) < 0.9, 1.0, random.random(size).round(1))


def noisy(random: np.random.Generator, size: int) -> np.ndarray:
    """No two values alike, some far off."""
    return random.standard_t(2, size)


Draw = Callable[[np.random.Generator, int], np.ndarray]


def false_alarms(
    runs: int, family: int, *, seed: int, draw: Draw, sizes: tuple[int, int], per_cluster: int
) -> int:
    """How many of so many A/A families hold any verdict although nobody is better."""
    random = np.random.default_rng(seed)
    found = 0
    for run in range(runs):
        pairings = []
        for number in range(family):
            size = int(random.integers(*sizes))
            names: list[str | None] = [str(at // per_cluster) for at in range(size)]
            # What a cluster shares moves all of its queries, in one of the systems.
            shared = np.repeat(draw(random, size), per_cluster)[:size] if per_cluster > 1 else 0.0
            one_system, other = draw(random, size), draw(random, size) + shared
            # Who is first is drawn for every cluster: neither side can be the better one.
            coin = dict(zip(dict.fromkeys(names), random.random(size) < 0.5, strict=False))
            swap = np.array([coin[name] for name in names])
            first = np.where(swap, other, one_system).tolist()
            second = np.where(swap, one_system, other).tolist()
            pairings.append(Pairing.of_values(f"{run}/{number}", first, second, clusters=names))
        verdicts = [c.verdict for c in compare(pairings, swaps=1_999, resamples=0, seed=run)]
        found += any(verdict != "inconclusive" for verdict in verdicts)
    return found


KINDS: dict[str, tuple[Draw, int, tuple[int, int], int]] = {
    "graded": (graded, 1, (12, 40), 1),
    "four together": (graded, 4, (12, 40), 1),
    "clustered": (graded, 1, (36, 90), 3),
    "binary": (binary, 1, (12, 60), 1),
    "binary, clustered": (binary, 1, (60, 120), 5),
    "heavy ties": (tied, 1, (40, 120), 1),
    "six together, of any size": (tied, 6, (10, 80), 1),
    "heavy tails": (noisy, 1, (12, 40), 1),
    "tiny": (graded, 2, (1, 10), 1),
}
"""How values are drawn, how many are compared together, how many queries, how many a cluster."""


def test_a_system_beats_itself_in_less_than_one_of_a_hundred_families() -> None:
    runs = 150
    alarms = {
        name: false_alarms(
            runs, family, seed=20261130 + at, draw=draw, sizes=sizes, per_cluster=per_cluster
        )
        for at, (name, (draw, family, sizes, per_cluster)) in enumerate(KINDS.items())
    }
    assert sum(alarms.values()) <= runs * len(KINDS) / 100, alarms
    # Of no single kind may there be more than half a percent lets one expect.
    for name, found in alarms.items():
        assert binomtest(found, runs, ALPHA, alternative="greater").pvalue > 0.001, name


@pytest.mark.parametrize(
    ("size", "per_cluster", "ties"),
    [
        pytest.param(60, 1, 0.0, id="sixty-queries"),
        pytest.param(20, 1, 0.0, id="twenty-queries"),
        pytest.param(200, 1, 0.7, id="mostly-ties"),
        pytest.param(120, 4, 0.0, id="clustered"),
    ],
)
def test_a_difference_of_the_printed_size_is_mostly_found(
    size: int, per_cluster: int, ties: float
) -> None:
    """What a first run prints as detectable with 80 % is then found in about as many runs."""
    random = np.random.default_rng(5)
    names: list[str | None] = [str(at // per_cluster) for at in range(size)]

    def drawn(effect: float) -> list[float]:
        shared = np.repeat(random.normal(0, 0.1, size), per_cluster)[:size]
        moved = random.normal(0, 0.2, size) + (shared if per_cluster > 1 else 0.0)
        kept = np.where(random.random(size) < ties, 0.0, moved)
        return [float(value) for value in kept + effect]

    def compared(values: list[float], name: str) -> Comparison:
        pairing = Pairing.of_values(name, [0.0] * size, [*values], clusters=names)
        return compare([pairing], swaps=1_999, resamples=0)[0]

    printed = [compared(drawn(0.0), str(n)).detectable for n in range(20)]
    detectable = float(np.mean([value for value in printed if value is not None]))
    runs = 120
    seen = sum(compared(drawn(detectable), str(run)).verdict == "better" for run in range(runs))
    assert 0.68 <= seen / runs <= 0.92
