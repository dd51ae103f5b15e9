"""Figures with their intervals: each distiller on each set, whole and by slice; and the matrices.

Cases are drawn again by the bootstrap, all measures from the same draws. Where a case gives at most
one unit and all units are 0 or 1, Wilson's formula serves instead, and so it does where all units
agree, since a bootstrap of equal values has no width.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from wsmem.evals.distillation.judging import KINDS
from wsmem.evals.distillation.measures import USAGE
from wsmem.evals.intervals import Interval, Resampler, wilson
from wsmem.evals.results import row_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.evals.distillation.judging import Judgement
    from wsmem.evals.distillation.measures import DistillMeasure

WHOLE = "all"
"""The slice that holds every case."""
ASKED = "request, preference, decision"
"""The slices whose cases ask for an add, together."""
_ASKED_SLICES = frozenset({"explicit-request", "preference", "decision-with-reason"})

Cell = tuple[str, str]
"""Expected and proposed kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillRow:
    """One figure of one distiller on some cases of a set."""

    dataset: str
    distiller: str
    slice: str
    measure: str
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """The figure in eight fields, rounded; `None` is what cannot be scored."""
        return row_json(self)


def slices_of(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Cases by slice: all, the languages where there are several, what is asked for, each slice."""
    judged = list(judgements)
    found: dict[str, list[Judgement]] = {WHOLE: judged}
    languages = sorted({item.case.language for item in judged})
    if len(languages) > 1:
        for language in languages:
            name = f"language {language}"
            found[name] = [item for item in judged if item.case.language == language]
    asked = [item for item in judged if _ASKED_SLICES & {*item.case.slices}]
    if asked:
        found[ASKED] = asked
    for name in sorted({name for item in judged for name in item.case.slices}):
        found[name] = [item for item in judged if name in item.case.slices]
    return found


def board_rows(
    dataset: str,
    distiller: str,
    judgements: Sequence[Judgement],
    measures: Sequence[DistillMeasure],
    *,
    seed: int,
    resamples: int,
) -> list[DistillRow]:
    """Every measure on all cases, and on each slice that gives it a unit.

    On all cases a measure without units keeps its row, with no value and n = 0; but what only
    recorded models have (tokens, cost, time) is left out where it is unknown.
    """
    rows: list[DistillRow] = []
    if not judgements:
        return rows
    for name, judged in slices_of(judgements).items():
        intervals = _intervals(
            judged,
            measures,
            seed=(seed, crc32(f"{dataset}/{name}".encode())),
            resamples=resamples,
        )
        rows += [
            DistillRow(
                dataset=dataset,
                distiller=distiller,
                slice=name,
                measure=measure.name,
                interval=interval,
            )
            for measure, interval in zip(measures, intervals, strict=True)
            if interval.n or (name == WHOLE and measure.name not in USAGE)
        ]
    return rows


def confusion(judgements: Iterable[Judgement]) -> dict[Cell, int]:
    """How often each kind was proposed where each was expected; every cell is there."""
    counted = Counter(cell for judged in judgements for cell in judged.confusion)
    return {(wanted, given): counted[wanted, given] for wanted in KINDS for given in KINDS}


def _intervals(
    judged: Sequence[Judgement],
    measures: Sequence[DistillMeasure],
    *,
    seed: Sequence[int],
    resamples: int,
) -> list[Interval]:
    """An interval for each measure, from the same draws of cases."""
    units = [[measure.units(item) for measure in measures] for item in judged]
    # As many rows a case as its longest list of units; what a measure has fewer of is unknown.
    heights = [max(1, *map(len, lists)) if lists else 1 for lists in units]
    table = np.full((sum(heights), len(measures)), np.nan)
    start = 0
    for lists, height in zip(units, heights, strict=True):
        for column, values in enumerate(lists):
            table[start : start + len(values), column] = values
        start += height
    cases = [item.case.id for item in judged]
    rows = [case for case, height in zip(cases, heights, strict=True) for _ in range(height)]
    found = Resampler(rows, seed=seed, resamples=resamples).intervals(table)
    lists_by_measure = zip(*units, strict=True)
    return [
        _mended(interval, measure, lists)
        for interval, measure, lists in zip(found, measures, lists_by_measure, strict=True)
    ]


def _mended(
    interval: Interval, measure: DistillMeasure, lists: Sequence[Sequence[float]]
) -> Interval:
    """The bootstrap's interval, or Wilson's where the bootstrap says nothing."""
    longest = max((len(values) for values in lists), default=0)
    cases = sum(bool(values) for values in lists)
    alike = interval.value in {0.0, 1.0}
    if interval.value is None or measure.form == "mean":
        return interval if cases > 1 else _pointlike(interval, cases)
    if measure.form == "f1":
        return _f1_interval(interval, cases) if alike else _or_pointlike(interval, cases)
    if longest == 1 or alike:
        # Units of one case are no independent draws: as many as there are cases, not more.
        n = interval.n if longest == 1 else cases
        found = wilson(round(interval.value * n), n)
        return replace(found, value=interval.value, n=interval.n, groups=cases)
    return _or_pointlike(interval, cases)


def _f1_interval(interval: Interval, cases: int) -> Interval:
    """Of an F1 that is 0 or 1: Wilson's bounds of the share J of right among all operations.

    F1 = 2J / (1 + J), which rises with J, so bounds of the one are bounds of the other.
    """
    value = interval.value or 0.0
    found = wilson(round(value * cases), cases)
    low, high = (None if b is None else 2 * b / (1 + b) for b in (found.low, found.high))
    return replace(found, value=value, n=interval.n, groups=cases, low=low, high=high)


def _or_pointlike(interval: Interval, cases: int) -> Interval:
    return interval if cases > 1 else _pointlike(interval, cases)


def _pointlike(interval: Interval, cases: int) -> Interval:
    """Without bounds: one case says nothing about how cases differ."""
    return replace(interval, low=None, high=None, groups=cases, error=None, method="none")
