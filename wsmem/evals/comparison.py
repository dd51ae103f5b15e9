"""Whether one system is better than another on the same units: paired, corrected, three-way.

A unit is what was scored once for each of two systems: a query, a case. Units that share something
(queries of one workspace) form a cluster and are swapped and drawn together, because they are no
independent evidence. A unit holds a sum and a weight, so that means (weight 1) and ratios of sums
such as precision or F1 are compared alike.

- **Test.** Paired randomisation (Fisher; Smucker et al., 2007): if neither system were better, each
  cluster's two results might as well have been swapped. The p-value is the share of swaps whose
  difference is at least as large in size as the one seen, the seen one included, so it is never 0
  and a false alarm at level alpha happens in at most alpha of all cases, however values are spread.
  All swaps are tried where that is affordable, else a seeded sample of them.
- **Multiplicity.** Comparisons made together are corrected together by Holm's method: the chance of
  any false alarm among them is at most alpha.
- **Verdict.** `better` or `worse` needs a corrected p-value of at most alpha and a difference above
  the margin; everything else is `inconclusive`, never "equal". The smallest difference that would
  have been found says what an inconclusive comparison could not have seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from zlib import crc32

import numpy as np

from wsmem.errors import InvalidInputError
from wsmem.evals.intervals import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.005
"""Chance of any false alarm among comparisons that are made together: half of the one in a hundred
that may be seen, so that a thousand A/A runs show no more than that, either."""
SWAPS = 9_999
"""Swaps sampled where not all can be tried; the smallest p-value is then 1e-4."""
RESAMPLES = 2_000
POWER = 0.8
"""How likely the smallest detectable difference would have been found."""

_Z_POWER = 0.8416212335729143
"""The normal law's quantile of `POWER`."""
_BATCH = 512
"""Swaps held in memory at a time."""

Verdict = Literal["better", "worse", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one system got: a sum and a weight a unit, in the order of the units."""

    sums: tuple[float, ...]
    weights: tuple[float, ...]
    """0 where the unit says nothing about the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two systems on the same units, ready to be compared."""

    name: str
    """What is compared: a measure, with the set or group it is about."""
    first: Side
    second: Side
    """The one that is judged: `better` means that it beats the first."""
    clusters: tuple[str | None, ...] | None = None
    """Of each unit what it shares with others; `None` is a unit on its own."""
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        sides = (self.first.sums, self.first.weights, self.second.sums, self.second.weights)
        lengths = {len(side) for side in sides}
        if self.clusters is not None:
            lengths.add(len(self.clusters))
        if len(lengths) != 1:
            found = ", ".join(map(str, sorted(lengths)))
            raise InvalidInputError(f"{self.name}: the two sides differ in length ({found})")
        if not all(math.isfinite(value) for side in sides for value in side):
            raise InvalidInputError(f"{self.name}: a value is not a finite number")
        if min((*self.first.weights, *self.second.weights), default=0.0) < 0:
            raise InvalidInputError(f"{self.name}: a weight is below 0")

    @classmethod
    def of_values(
        cls,
        name: str,
        first: Sequence[float | None],
        second: Sequence[float | None],
        *,
        clusters: Sequence[str | None] | None = None,
        higher_is_better: bool = True,
    ) -> Pairing:
        """One value a unit; a unit that either side has no value for is left out of both."""
        if len(first) != len(second):
            raise InvalidInputError(f"{name}: {len(first)} values beside {len(second)}")
        known = [
            a is not None and b is not None and not (math.isnan(a) or math.isnan(b))
            for a, b in zip(first, second, strict=True)
        ]
        return cls(
            name=name,
            first=_side(first, known),
            second=_side(second, known),
            clusters=None if clusters is None else tuple(clusters),
            higher_is_better=higher_is_better,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two systems' results say about which is better."""

    name: str
    first: float | None
    """The first system's figure; `None` where nothing could be scored."""
    second: float | None
    difference: float | None
    """Second minus first."""
    low: float | None
    high: float | None
    """95 % bootstrap interval of the difference; `None` for fewer than two clusters."""
    p_value: float | None
    """Of the randomisation test, two-sided, on its own; `None` where there is nothing to test."""
    adjusted: float | None
    """The p-value after Holm's correction over all comparisons made together."""
    effect: float | None
    """Standardised: the difference over the spread of the clusters' differences (Cohen's d_z);
    `None` where they do not differ."""
    detectable: float | None
    """Smallest true difference that would be found with a chance of 80 %, at alpha over the number
    of comparisons, by the normal law."""
    better: int
    """Clusters in which the second system got more of what is good."""
    equal: int
    worse: int
    n: int
    """Units with a weight on either side."""
    clusters: int
    """Independent draws among them."""
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Sums and weights by cluster, of clusters that say anything."""

    first_sums: Floats
    first_weights: Floats
    second_sums: Floats
    second_weights: Floats
    units: int

    def __len__(self) -> int:
        return len(self.first_sums)

    @property
    def first(self) -> float:
        return _ratio(self.first_sums.sum(), self.first_weights.sum())

    @property
    def second(self) -> float:
        return _ratio(self.second_sums.sum(), self.second_weights.sum())

    @property
    def comparable(self) -> bool:
        return bool(self.first_weights.sum() > 0 and self.second_weights.sum() > 0)


def compare(
    pairings: Sequence[Pairing],
    *,
    alpha: float = ALPHA,
    margin: float = 0.0,
    swaps: int = SWAPS,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Compare pairs of systems, all of one call corrected together.

    Args:
        pairings: What to compare; those with nothing to test do not count for the correction.
        alpha: Chance of any false alarm among them.
        margin: A difference of this size or less is never a verdict, however sure it is.
        swaps: Most swaps tried in a test; where all 2^clusters are fewer, all are.
        resamples: Of the bootstrap of the differences.
        seed: Equal seeds give equal results; a pairing's draws depend on its name, not its place.

    Raises:
        InvalidInputError: alpha or margin is out of range.
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is between 0 and 1, not {alpha}")
    if margin < 0:
        raise InvalidInputError(f"a margin is 0 or more, not {margin}")
    tables = [_table(pairing) for pairing in pairings]
    p_values = [
        _p_value(table, swaps=swaps, seed=(seed, crc32(pairing.name.encode())))
        for pairing, table in zip(pairings, tables, strict=True)
    ]
    tested = [p for p in p_values if p is not None]
    corrected = iter(holm(tested))
    adjusted = [None if p is None else next(corrected) for p in p_values]
    return [
        _comparison(
            pairing,
            table,
            p_value=p,
            adjusted=q,
            alpha=alpha,
            margin=margin,
            together=len(tested),
            resamples=resamples,
            seed=seed,
        )
        for pairing, table, p, q in zip(pairings, tables, p_values, adjusted, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected by Holm's method, in the order given.

    The smallest is multiplied by how many there are, the next by one less, and so on; none is
    below a smaller one's correction, none above 1 (Holm, 1979).
    """
    count = len(p_values)
    found = [0.0] * count
    reached = 0.0
    for rank, place in enumerate(sorted(range(count), key=lambda at: p_values[at])):
        reached = max(reached, min(1.0, (count - rank) * p_values[place]))
        found[place] = reached
    return found


def _side(values: Sequence[float | None], known: Sequence[bool]) -> Side:
    return Side(
        sums=tuple(
            value if keep and value is not None else 0.0
            for value, keep in zip(values, known, strict=True)
        ),
        weights=tuple(float(keep) for keep in known),
    )


def _table(pairing: Pairing) -> _Table:
    """Add up each cluster's units; clusters without any weight are dropped."""
    columns = np.array(
        [
            pairing.first.sums,
            pairing.first.weights,
            pairing.second.sums,
            pairing.second.weights,
        ],
        dtype=np.float64,
    )
    numbers: dict[object, int] = {}
    clusters = pairing.clusters or (None,) * columns.shape[1]
    groups = [
        numbers.setdefault((place,) if cluster is None else cluster, len(numbers))
        for place, cluster in enumerate(clusters)
    ]
    summed = np.zeros((len(numbers), len(columns)))
    np.add.at(summed, np.array(groups, dtype=np.int64), columns.T)
    summed = summed[(summed[:, 1] > 0) | (summed[:, 3] > 0)]
    return _Table(
        first_sums=summed[:, 0],
        first_weights=summed[:, 1],
        second_sums=summed[:, 2],
        second_weights=summed[:, 3],
        units=int(((columns[1] > 0) | (columns[3] > 0)).sum()),
    )


def _p_value(table: _Table, *, swaps: int, seed: Sequence[int]) -> float | None:
    """Two-sided p-value of the paired randomisation test; `None` with nothing to compare."""
    if not table.comparable:
        return None
    # Swapping equal results changes nothing: only clusters that differ are evidence.
    differing = (table.first_sums != table.second_sums) | (
        table.first_weights != table.second_weights
    )
    if differing.sum() < 2:
        return 1.0  # swapping all that differs only exchanges the names
    from scipy.stats import permutation_test  # noqa: PLC0415  heavy, and an extra

    sums = np.concatenate([table.first_sums, table.second_sums])
    weights = np.concatenate([table.first_weights, table.second_weights])
    places = np.flatnonzero(differing)
    fixed = ~differing
    base = (table.first_sums[fixed].sum(), table.first_weights[fixed].sum())

    def size(first: Floats, second: Floats, axis: int = -1) -> Floats:
        """Size of the difference when the named results are the first's and the second's."""
        ratios = []
        for side in (first, second):
            at = side.astype(np.int64)
            total = base[0] + sums[at].sum(axis=axis)
            weight = base[1] + weights[at].sum(axis=axis)
            blank = np.full(np.shape(total), np.nan)
            ratios.append(np.divide(total, weight, out=blank, where=weight > 0))
        difference = np.abs(ratios[1] - ratios[0])
        # A swap that leaves a side without weight counts as extreme: the test errs to caution.
        found: Floats = np.where(np.isnan(difference), np.inf, difference)
        return found

    tested = permutation_test(
        (places, places + len(table)),
        size,
        permutation_type="samples",
        vectorized=True,
        n_resamples=swaps,
        batch=_BATCH,
        alternative="greater",
        rng=np.random.default_rng(tuple(seed)),
    )
    return float(tested.pvalue)


def _comparison(
    pairing: Pairing,
    table: _Table,
    *,
    p_value: float | None,
    adjusted: float | None,
    alpha: float,
    margin: float,
    together: int,
    resamples: int,
    seed: int,
) -> Comparison:
    first, second = _known(table.first), _known(table.second)
    difference = None if first is None or second is None else second - first
    spread = _spread(table) if difference is not None else None
    low, high = _interval(table, resamples=resamples, seed=(seed, crc32(pairing.name.encode()), 1))
    better, equal, worse = _wins(table, higher_is_better=pairing.higher_is_better)
    verdict: Verdict = "inconclusive"
    if difference is not None and adjusted is not None and adjusted <= alpha:
        good = difference if pairing.higher_is_better else -difference
        if abs(good) > margin:
            verdict = "better" if good > 0 else "worse"
    return Comparison(
        name=pairing.name,
        first=first,
        second=second,
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        adjusted=adjusted,
        effect=None if not spread or difference is None else difference / spread,
        detectable=_detectable(spread, len(table), alpha / max(1, together)),
        better=better,
        equal=equal,
        worse=worse,
        n=table.units,
        clusters=len(table),
        verdict=verdict,
    )


def _spread(table: _Table) -> float | None:
    """Standard deviation of what each cluster adds to the difference, scaled to the difference.

    For means that is the spread of the clusters' differences; for ratios of sums, of their linear
    parts (the delta method).
    """
    if len(table) < 2:
        return None
    parts = _linear(table.second_sums, table.second_weights) - _linear(
        table.first_sums, table.first_weights
    )
    return float(np.std(parts, ddof=1))


def _linear(sums: Floats, weights: Floats) -> Floats:
    """How far each cluster pulls a ratio of sums away from its value, times their number."""
    found: Floats = (sums - weights * (sums.sum() / weights.sum())) / weights.mean()
    return found


def _detectable(spread: float | None, clusters: int, alpha: float) -> float | None:
    if spread is None or spread == 0:
        return None
    from scipy.stats import norm  # noqa: PLC0415  heavy, and an extra

    return float((norm.ppf(1 - alpha / 2) + _Z_POWER) * spread / math.sqrt(clusters))


def _interval(
    table: _Table, *, resamples: int, seed: Sequence[int]
) -> tuple[float | None, float | None]:
    """Percentile bootstrap of the difference over clusters."""
    if len(table) < 2 or not table.comparable:
        return None, None
    random = np.random.default_rng(tuple(seed))
    drawn = random.multinomial(len(table), [1 / len(table)] * len(table), size=resamples)
    ratios = []
    for sums, weights in (
        (table.first_sums, table.first_weights),
        (table.second_sums, table.second_weights),
    ):
        weight = drawn @ weights
        blank = np.full(resamples, np.nan)
        ratios.append(np.divide(drawn @ sums, weight, out=blank, where=weight > 0))
    differences = ratios[1] - ratios[0]
    if np.isnan(differences).all():
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(differences, [tail, 1 - tail])
    return float(low), float(high)


def _wins(table: _Table, *, higher_is_better: bool) -> tuple[int, int, int]:
    """Clusters that are better, equal and worse under the second system, where both have one."""
    both = (table.first_weights > 0) & (table.second_weights > 0)
    first = table.first_sums[both] / table.first_weights[both]
    second = table.second_sums[both] / table.second_weights[both]
    gain = second - first if higher_is_better else first - second
    # Sums of the same numbers in another order differ in their last bits.
    tolerance = 1e-12
    better, worse = int((gain > tolerance).sum()), int((gain < -tolerance).sum())
    return better, len(gain) - better - worse, worse


def _ratio(total: float, weight: float) -> float:
    return float(total / weight) if weight > 0 else math.nan


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
