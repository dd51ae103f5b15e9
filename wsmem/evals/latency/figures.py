"""From single times to figures: percentiles, shares in time with their intervals, histograms.

Percentiles are interpolated between neighbours (NumPy's own way, type 7 of Hyndman and Fan 1996);
their intervals are those of order statistics, by the binomial law and without any assumption about
the times; shares have Wilson's interval. Both come from SciPy.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wsmem.evals.intervals import CONFIDENCE, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wsmem.evals.intervals import Interval

Outcome = Literal["whole", "partial", "empty"]
"""Of an answer: all there is; marked as degraded with some entries; marked, and without any."""

ALL = "all"
"""Stands for every language, or every length."""

BINS_A_DECADE = 20
"""Of a histogram, whose bins grow by a twentieth of a factor of ten: 12 % each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One recall."""

    query: int
    """Number of the query, the same for all who answered it."""
    ms: float
    outcome: Outcome = "whole"
    language: str = ALL
    length: str = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentile:
    """A percentile in milliseconds with its 95 % interval, open (`None`) where times are few."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How long recalls took, and what came of them."""

    p50: Percentile
    p95: Percentile
    p99: float
    max: float
    outcomes: Counter[str]
    whole_in_time: Interval
    """Share that was answered whole within the deadline."""
    in_time: Interval
    """Share that was answered at all within the deadline, whole or degraded."""

    @classmethod
    def of(cls, samples: Sequence[Sample], *, deadline_ms: float) -> Spread:
        """The figures of one or more samples; an answer just at the deadline is in time."""
        times = np.array([sample.ms for sample in samples])
        timely = [sample for sample in samples if sample.ms <= deadline_ms]
        whole = sum(sample.outcome == "whole" for sample in timely)
        return cls(
            p50=percentile(times, 0.5),
            p95=percentile(times, 0.95),
            p99=float(np.quantile(times, 0.99)),
            max=float(times.max()),
            outcomes=Counter(sample.outcome for sample in samples),
            whole_in_time=wilson(whole, len(samples)),
            in_time=wilson(len(timely), len(samples)),
        )

    def to_json(self) -> dict[str, Any]:
        """As printed and stored; milliseconds to the microsecond."""
        return {
            "n": self.outcomes.total(),
            **_percentile_json("p50", self.p50),
            **_percentile_json("p95", self.p95),
            "p99": round(self.p99, 3),
            "max": round(self.max, 3),
            **{outcome: self.outcomes[outcome] for outcome in ("whole", "partial", "empty")},
            **_share_json("whole_in_time", self.whole_in_time),
            **_share_json("in_time", self.in_time),
        }


def percentile(times: Iterable[float], share: float) -> Percentile:
    """A percentile of one or more times, and the order statistics that enclose it."""
    from scipy.stats import quantile_test  # noqa: PLC0415  heavy, and an extra

    known = np.asarray(list(times), dtype=np.float64)
    value = float(np.quantile(known, share))
    tested: Any = quantile_test(known, q=value, p=share)
    found = tested.confidence_interval(CONFIDENCE)
    low, high = float(found.low), float(found.high)
    return Percentile(
        value=value,
        low=None if math.isnan(low) else low,
        high=None if math.isnan(high) else high,
    )


def rows(samples: Sequence[Sample], *, deadline_ms: float, pairs: bool) -> Iterator[dict[str, Any]]:
    """Figures of all samples, of each language and of each length; of pairs of them on request."""
    languages = dict.fromkeys(sample.language for sample in samples)
    lengths = dict.fromkeys(sample.length for sample in samples)
    for language in (ALL, *(name for name in languages if name != ALL)):
        for length in (ALL, *(name for name in lengths if name != ALL)):
            if not pairs and ALL not in (language, length):
                continue
            here = [
                sample
                for sample in samples
                if language in (ALL, sample.language) and length in (ALL, sample.length)
            ]
            if here:
                spread = Spread.of(here, deadline_ms=deadline_ms)
                yield {"language": language, "length": length, **spread.to_json()}


def ratio_row(ours: Sequence[Sample], theirs: Sequence[Sample]) -> dict[str, Any] | None:
    """Their time by ours over the queries that both answered; `None` where there are none.

    `median` is that of the single ratios, the others are ratios of percentiles.
    """
    mine = {sample.query: sample.ms for sample in ours}
    pairs = [(mine[sample.query], sample.ms) for sample in theirs if sample.query in mine]
    if not pairs:
        return None
    own, other = np.array(pairs).T
    return {
        "n": len(pairs),
        "median": round(float(np.median(other / own)), 3),
        "p50": round(float(np.quantile(other, 0.5) / np.quantile(own, 0.5)), 3),
        "p95": round(float(np.quantile(other, 0.95) / np.quantile(own, 0.95)), 3),
    }


def histogram(times: Iterable[float]) -> dict[str, Any]:
    """Counts in bins of equal factor: `first` is the number of the first bin, see `bin_edge`."""
    places = [math.floor(BINS_A_DECADE * math.log10(max(time, 1e-6))) for time in times]
    if not places:
        return {"first": 0, "counts": []}
    first = min(places)
    counts = np.bincount(np.array(places) - first)
    return {"first": first, "counts": counts.tolist()}


def bin_edge(number: int) -> float:
    """Milliseconds at which a bin begins."""
    return float(10 ** (number / BINS_A_DECADE))


def cumulative(histogram: dict[str, Any]) -> list[tuple[float, float]]:
    """Upper edge of each bin, and the share of times below it; the last share is 1."""
    counts = np.cumsum(histogram["counts"])
    return [
        (bin_edge(histogram["first"] + at + 1), float(count / counts[-1]))
        for at, count in enumerate(counts)
    ]


def _percentile_json(name: str, found: Percentile) -> dict[str, float | None]:
    low = None if found.low is None else round(found.low, 3)
    high = None if found.high is None else round(found.high, 3)
    return {name: round(found.value, 3), f"{name}_low": low, f"{name}_high": high}


def _share_json(name: str, found: Interval) -> dict[str, float | None]:
    value, low, high = (
        None if number is None else round(number, 6)
        for number in (found.value, found.low, found.high)
    )
    return {name: value, f"{name}_low": low, f"{name}_high": high}
