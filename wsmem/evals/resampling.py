"""Paired results by cluster, and what resampling them says: a p-value, an interval, a spread.

The randomisation test is SciPy's: its permutations of pairs are given clusters instead of values,
named by their place, so that everything of a cluster is swapped at once. Only the large samples
that small p-values of plain means need are drawn here, as signs of the differences, which is the
same test in a tenth of the time. SciPy's bootstrap can draw clusters in the same manner, but one
draw that misses all weight of a ratio (no case of a rare kind) makes its whole interval unknown;
here such a draw is left out. Where there are none, both agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from wsmem.evals.intervals import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FIRST_SWAPS = 1_999
"""Swaps sampled of every test; more follow where these leave a verdict possible."""
PROMISING = 0.02
"""P-values of the first sample up to which more follow. The larger sample is a fresh one: either
p-value alone would be valid, and so is whichever is given."""

_BATCH = 2_048
"""Swaps held in memory at a time."""
_SIGNS = 4_000_000
"""Signs held in memory at a time."""
_SAME = 1e-12
"""Sums of the same numbers in another order differ in their last bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Sums and weights of two systems by cluster, of clusters that say anything."""

    first_sums: Floats
    first_weights: Floats
    second_sums: Floats
    second_weights: Floats
    units: int

    @classmethod
    def of(cls, columns: Sequence[Sequence[float]], clusters: Sequence[str | None] | None) -> Self:
        """Add up the units of each cluster; clusters without any weight are dropped.

        Args:
            columns: First sums, first weights, second sums, second weights, a value a unit.
            clusters: What each unit shares with others; `None` is a unit on its own.
        """
        values = np.array(columns, dtype=np.float64)
        numbers: dict[object, int] = {}
        groups = [
            numbers.setdefault((place,) if cluster is None else cluster, len(numbers))
            for place, cluster in enumerate(clusters or (None,) * values.shape[1])
        ]
        summed = np.zeros((len(numbers), len(values)))
        np.add.at(summed, np.array(groups, dtype=np.int64), values.T)
        summed = summed[(summed[:, 1] > 0) | (summed[:, 3] > 0)]
        return cls(
            first_sums=summed[:, 0],
            first_weights=summed[:, 1],
            second_sums=summed[:, 2],
            second_weights=summed[:, 3],
            units=int(((values[1] > 0) | (values[3] > 0)).sum()),
        )

    def __len__(self) -> int:
        return len(self.first_sums)

    @property
    def first(self) -> float | None:
        """The first system's figure; `None` without any weight."""
        return _ratio(float(self.first_sums.sum()), float(self.first_weights.sum()))

    @property
    def second(self) -> float | None:
        """The second system's figure; `None` without any weight."""
        return _ratio(float(self.second_sums.sum()), float(self.second_weights.sum()))

    @property
    def comparable(self) -> bool:
        """Whether both systems have a figure."""
        return self.first is not None and self.second is not None

    @property
    def differing(self) -> NDArray[np.bool_]:
        """Which clusters are evidence: swapping equal results changes nothing."""
        found: NDArray[np.bool_] = (np.abs(self.first_sums - self.second_sums) > _SAME) | (
            np.abs(self.first_weights - self.second_weights) > _SAME
        )
        return found

    @property
    def least_p(self) -> float:
        """The smallest p-value that any result with these sizes of differences could have.

        All differences have one sign then, which only one other swap, that of everything, equals.
        """
        return least_p(int(self.differing.sum()))

    def p_value(self, *, swaps: int, seed: Sequence[int]) -> float | None:
        """Two-sided p-value of the paired randomisation test; `None` with nothing to compare.

        Args:
            swaps: Most swaps tried; where all 2^clusters are fewer, all are, and the value is
                exact. A sampled one is at least 1 / (swaps + 1), unless a bound below that holds.
            seed: Equal seeds give equal values.
        """
        if not self.comparable:
            return None
        if self.differing.sum() < 2:
            return 1.0  # swapping all that differs only exchanges the names
        bound = self._tail_bound()
        if bound < 1 / (swaps + 1):
            return bound
        few = min(swaps, FIRST_SWAPS)
        found = self._sampled(few, (*seed, 0))
        if few < swaps and found <= PROMISING and few + 1 < 2 ** int(self.differing.sum()):
            larger = self._signed if self._plain else self._sampled
            found = larger(swaps, (*seed, 1))
        return found

    @property
    def _plain(self) -> bool:
        """Whether swapping changes sums alone, so that a swap is a sign of the difference."""
        return np.array_equal(self.first_weights, self.second_weights)

    def _tail_bound(self) -> float:
        """Hoeffding's bound of the p-value, which needs no sample; 1 where weights differ.

        With equal weights the swaps are random signs of the differences d, and at most a share of
        2 exp(-(sum d)^2 / (2 sum d^2)) of them is as extreme (Hoeffding, 1963).
        """
        if not self._plain:
            return 1.0
        differences = self.second_sums - self.first_sums
        squares = float(np.square(differences).sum())
        return min(1.0, 2 * math.exp(-(float(differences.sum()) ** 2) / (2 * squares)))

    def _sampled(self, swaps: int, seed: Sequence[int]) -> float:
        from scipy.stats import permutation_test  # noqa: PLC0415  heavy, and an extra

        sums = np.concatenate([self.first_sums, self.second_sums])
        weights = np.concatenate([self.first_weights, self.second_weights])
        places = np.flatnonzero(self.differing)
        fixed = ~self.differing
        base = (self.first_sums[fixed].sum(), self.first_weights[fixed].sum())

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
            (places, places + len(self)),
            size,
            permutation_type="samples",
            vectorized=True,
            n_resamples=swaps,
            batch=_BATCH,
            alternative="greater",
            rng=np.random.default_rng(tuple(seed)),
        )
        return float(tested.pvalue)

    def _signed(self, swaps: int, seed: Sequence[int]) -> float:
        """The same by signs of the differences; all of them where those are fewer."""
        differences = (self.second_sums - self.first_sums)[self.differing]
        # Sums that differ in their last bits count as equal, hence as extreme: caution again.
        least = abs(float(differences.sum())) - 1e-5 * float(np.abs(differences).sum())
        count = len(differences)
        if 2**count <= swaps:
            sums = np.zeros(1)
            for difference in differences:
                sums = np.concatenate([sums + difference, sums - difference])
            return float((np.abs(sums) >= least).mean())
        random = np.random.default_rng(tuple(seed))
        total, doubled = np.float32(differences.sum()), 2 * differences.astype(np.float32)
        rows = max(1, _SIGNS // count)
        extreme = 0
        for start in range(0, swaps, rows):
            shape = (min(rows, swaps - start), (count + 7) // 8)
            bits = random.integers(0, 256, size=shape, dtype=np.uint8)
            kept = np.unpackbits(bits, axis=1, count=count).astype(np.float32)
            extreme += int((np.abs(kept @ doubled - total) >= least).sum())
        return (extreme + 1) / (swaps + 1)

    def interval(self, *, resamples: int, seed: Sequence[int]) -> tuple[float | None, float | None]:
        """Percentile bootstrap of the difference over clusters; `None` for fewer than two."""
        if resamples < 1 or len(self) < 2 or not self.comparable:
            return None, None
        if not self.differing.any():
            return 0.0, 0.0
        random = np.random.default_rng(tuple(seed))
        drawn = random.multinomial(len(self), [1 / len(self)] * len(self), size=resamples)
        ratios = []
        for sums, weights in (
            (self.first_sums, self.first_weights),
            (self.second_sums, self.second_weights),
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

    def spread(self) -> float | None:
        """Standard deviation of what each cluster adds to the difference, scaled to it.

        For means that is the spread of the clusters' differences; for ratios of sums, of their
        linear parts (the delta method). `None` for fewer than two clusters, or no figure.
        """
        if len(self) < 2 or not self.comparable:
            return None
        parts = _linear(self.second_sums, self.second_weights) - _linear(
            self.first_sums, self.first_weights
        )
        return float(np.std(parts, ddof=1))

    def wins(self, *, higher_is_better: bool) -> tuple[int, int, int]:
        """Clusters better, equal and worse under the second system, where both have a figure."""
        both = (self.first_weights > 0) & (self.second_weights > 0)
        first = self.first_sums[both] / self.first_weights[both]
        second = self.second_sums[both] / self.second_weights[both]
        gain = second - first if higher_is_better else first - second
        better, worse = int((gain > _SAME).sum()), int((gain < -_SAME).sum())
        return better, len(gain) - better - worse, worse


def least_p(clusters: int) -> float:
    """The smallest p-value of a two-sided test that swaps so many clusters."""
    return min(1.0, 2.0 ** (1 - clusters))


def _linear(sums: Floats, weights: Floats) -> Floats:
    """How far each cluster pulls a ratio of sums away from its value, times their number."""
    found: Floats = (sums - weights * (sums.sum() / weights.sum())) / weights.mean()
    return found


def _ratio(total: float, weight: float) -> float | None:
    return total / weight if weight > 0 else None
