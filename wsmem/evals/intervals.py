"""How sure a mean over queries is: 95 % intervals by the bootstrap and by Wilson's formula.

Queries of one scope (one user, one conversation) share their documents and are no independent
draws, so where scopes repeat, whole scopes are drawn again with all their queries. The same draws
serve every system and measure of a set, which keeps systems paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CONFIDENCE = 0.95
Z = 1.959963984540054
"""Half the width of a 95 % interval in standard errors, where the normal law is used."""
RESAMPLES = 2000

_BLOCK = 4_000_000
"""Draws held in memory at a time."""

Method = Literal["bootstrap", "wilson", "normal", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its 95 % interval.

    There is no interval (`low` and `high` are `None`, method `none`) for no query and for a single
    query or scope, which says nothing about how queries differ. When all queries score alike, the
    bootstrap gives an interval without width; for a share, Wilson's formula is used instead.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Queries the mean is over."""
    groups: int
    """Independent draws among them: scopes where scopes repeat, else queries."""
    error: float | None
    """Standard error of the mean."""
    method: Method


class Resampler:
    """Draws of one set of queries, used for every column of values about them.

    Args:
        scopes: The scope of each query; `None` is a query on its own. When all queries share one
            scope, queries are drawn instead, since one scope cannot be drawn again.
        seed: Equal seeds give equal intervals.
        resamples: How many times the set is drawn again.
    """

    def __init__(
        self, scopes: Sequence[str | None], *, seed: Sequence[int], resamples: int = RESAMPLES
    ) -> None:
        self._group = _group_numbers(scopes)
        self._count = int(self._group.max(initial=-1)) + 1
        self._seed, self._resamples = tuple(seed), resamples

    @cached_property
    def _draws(self) -> NDArray[np.float32]:
        """How often each group is in each resample."""
        random = np.random.default_rng(self._seed)
        draws = np.empty((self._resamples, self._count), dtype=np.float32)
        step = max(1, _BLOCK // max(1, self._count))
        for start in range(0, self._resamples, step):
            rows = min(step, self._resamples - start)
            drawn = random.integers(0, self._count, size=(rows, self._count))
            drawn += np.arange(rows)[:, None] * self._count
            counts = np.bincount(drawn.ravel(), minlength=rows * self._count)
            draws[start : start + rows] = counts.reshape(rows, self._count)
        return draws

    def intervals(
        self, values: NDArray[np.float64], *, shares: Sequence[bool] = ()
    ) -> list[Interval]:
        """An interval for each column.

        Args:
            values: One row a query, one column a mean; NaN where a query is not part of the mean.
            shares: Which columns hold only 0 and 1; Wilson's formula serves them while queries
                are independent, or all alike.
        """
        known = ~np.isnan(values)
        n = known.sum(axis=0)
        sums, sizes = self._by_group(np.where(known, values, 0.0)), self._by_group(known)
        groups = (sizes > 0).sum(axis=0)
        usable = groups > 1
        low, high, error = (np.full(values.shape[1], np.nan) for _ in range(3))
        if usable.any():
            low[usable], high[usable], error[usable] = self._bootstrap(
                sums[:, usable], sizes[:, usable]
            )
        found = []
        for column in range(values.shape[1]):
            mean = float(sums[:, column].sum() / n[column]) if n[column] else None
            interval = Interval(
                value=mean,
                low=float(low[column]) if usable[column] else None,
                high=float(high[column]) if usable[column] else None,
                n=int(n[column]),
                groups=int(groups[column]),
                error=float(error[column]) if usable[column] else None,
                method="bootstrap" if usable[column] else "none",
            )
            share = column < len(shares) and shares[column]
            alike = mean in {0.0, 1.0}
            if share and mean is not None and (alike or groups[column] == n[column]):
                interval = wilson(round(mean * n[column]), int(n[column]))
            found.append(interval)
        return found

    def _by_group(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        summed = np.zeros((self._count, values.shape[1]))
        np.add.at(summed, self._group, values)
        return summed

    def _bootstrap(
        self, sums: NDArray[np.float64], sizes: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Percentiles and spread of the resampled means: a sum of values over a sum of sizes."""
        total, size = self._draws @ sums, self._draws @ sizes
        # A resample may miss every query of a rare kind; it then says nothing about its mean.
        means = np.divide(total, size, out=np.full(total.shape, np.nan), where=size > 0)
        tail = (1 - CONFIDENCE) / 2
        low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
        return low, high, np.nanstd(means, axis=0, ddof=1)


def wilson(successes: int, n: int) -> Interval:
    """Wilson's interval of a share: it has width also where all of few queries agree."""
    from scipy.stats import binomtest  # noqa: PLC0415  heavy, and an extra

    if n == 0:
        return _nothing()
    found = binomtest(successes, n).proportion_ci(CONFIDENCE, method="wilson")
    low, high = float(found.low), float(found.high)
    return Interval(
        value=successes / n,
        low=low,
        high=high,
        n=n,
        groups=n,
        error=(high - low) / (2 * Z),
        method="wilson",
    )


def mean_of_means(parts: Sequence[Interval], *, bounded: bool) -> Interval:
    """The plain mean of independent means, such as one measure over several sets.

    Each counts the same, however many queries it rests on; the interval says how sure the mean is
    for these sets, not for sets in general. `n` counts the means.
    """
    values = [part.value for part in parts if part.value is not None]
    errors = [part.error for part in parts if part.value is not None and part.error is not None]
    if not values:
        return _nothing()
    mean = float(np.mean(values))
    if len(errors) < len(values):
        return Interval(
            value=mean,
            low=None,
            high=None,
            n=len(values),
            groups=len(values),
            error=None,
            method="none",
        )
    error = float(np.sqrt(np.sum(np.square(errors)))) / len(values)
    low, high = mean - Z * error, mean + Z * error
    return Interval(
        value=mean,
        low=max(0.0, low),
        high=min(1.0, high) if bounded else high,
        n=len(values),
        groups=len(values),
        error=error,
        method="normal",
    )


def _nothing() -> Interval:
    return Interval(value=None, low=None, high=None, n=0, groups=0, error=None, method="none")


def _group_numbers(scopes: Sequence[str | None]) -> NDArray[np.int64]:
    """Number the groups that are drawn: scopes, or queries where there is but one scope."""
    named = {scope for scope in scopes if scope is not None}
    if len(named) < 2 and None not in scopes:
        return np.arange(len(scopes), dtype=np.int64)
    keys = [(True, scope) if scope is not None else (False, i) for i, scope in enumerate(scopes)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)
