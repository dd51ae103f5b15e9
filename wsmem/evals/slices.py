"""The board taken apart: by language, kind, scope size and length of the query."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from wsmem.evals.intervals import Resampler, mean_of_means
from wsmem.evals.results import MEAN, SliceRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from wsmem.evals.dataset import Query
    from wsmem.evals.intervals import Interval
    from wsmem.evals.measures import Measure
    from wsmem.evals.results import QueryFacts, SystemResult

LANG, KIND, SLICE = "lang", "kind", "slice"
SCOPE_SIZE, QUERY_LENGTH = "scope size", "query length"
DIMENSIONS = (LANG, KIND, SLICE, SCOPE_SIZE, QUERY_LENGTH)

_SCOPE_BOUNDS = (10, 50, 200, 1000, 5000)
"""Upper bounds, in entries that can be found."""
_LENGTH_BOUNDS = (8, 20, 60, 200)
"""Upper bounds, in characters."""


def slices_of(query: Query, *, scope_size: int) -> dict[str, tuple[str, ...]]:
    """The groups a query belongs to, by dimension; dimensions it has nothing for are left out."""
    found = {
        LANG: (query.lang,) if query.lang else (),
        KIND: (query.kind,) if query.kind else (),
        SLICE: query.slices,
        SCOPE_SIZE: (bucket(scope_size, _SCOPE_BOUNDS),),
        QUERY_LENGTH: (bucket(len(query.text), _LENGTH_BOUNDS),),
    }
    return {dimension: names for dimension, names in found.items() if names}


def bucket(size: int, bounds: Sequence[int]) -> str:
    """The name of the range that a number falls in: `0-10`, `11-50`, ..., `5001+`."""
    place = bisect_left(bounds, size)
    lowest = bounds[place - 1] + 1 if place else 0
    return f"{lowest}-{bounds[place]}" if place < len(bounds) else f"{lowest}+"


def bucket_order(name: str) -> tuple[int, str]:
    """A key that sorts ranges by size, and other names by themselves."""
    lowest = name.rstrip("+").partition("-")[0]
    return (int(lowest), "") if lowest.isdigit() else (-1, name)


def value_table(
    systems: Sequence[SystemResult], measures: Sequence[Measure]
) -> NDArray[np.float64]:
    """One row a query; one column for each system and measure, measures running fastest."""
    columns = [
        [result.scores[measure.text] for result in system.queries.values()]
        for system in systems
        for measure in measures
    ]
    return np.array(columns, dtype=np.float64).T  # None becomes NaN


def slice_rows(
    dataset: str,
    facts: Sequence[QueryFacts],
    systems: Sequence[SystemResult],
    measures: Sequence[Measure],
    *,
    seed: int,
    resamples: int,
) -> list[SliceRow]:
    """A figure for every group of queries, system and measure of one dataset."""
    if not facts or not systems:
        return []
    table = value_table(systems, measures)
    shares = [measure.is_share for _ in systems for measure in measures]
    rows: list[SliceRow] = []
    for (dimension, name), members in _members(facts).items():
        resampler = Resampler(
            [facts[member].scope for member in members],
            seed=(seed, crc32(f"{dataset}/{dimension}/{name}".encode())),
            resamples=resamples,
        )
        intervals = iter(resampler.intervals(table[members], shares=shares))
        rows += [
            SliceRow(
                dataset=dataset,
                system=system.system,
                dimension=dimension,
                slice=name,
                measure=measure.text,
                interval=next(intervals),
            )
            for system in systems
            for measure in measures
        ]
    return rows


def mean_slice_rows(rows: Iterable[SliceRow], measures: Sequence[Measure]) -> list[SliceRow]:
    """For each group that occurs in several datasets, the mean over those datasets.

    As on the board, a system that lacks one of them has no mean.
    """
    groups: dict[tuple[str, str, str], dict[str, dict[str, Interval]]] = {}
    for row in rows:
        if row.interval.value is not None:
            group = groups.setdefault((row.dimension, row.slice, row.measure), {})
            group.setdefault(row.system, {})[row.dataset] = row.interval
    bounded = {measure.text: measure.bounded for measure in measures}
    found: list[SliceRow] = []
    for (dimension, name, measure), by_system in groups.items():
        datasets = {dataset for known in by_system.values() for dataset in known}
        if len(datasets) < 2:
            continue
        for system, known in by_system.items():
            if set(known) == datasets:
                interval = mean_of_means(list(known.values()), bounded=bounded[measure])
                found.append(
                    SliceRow(
                        dataset=MEAN,
                        system=system,
                        dimension=dimension,
                        slice=name,
                        measure=measure,
                        interval=interval,
                    )
                )
    return found


def _members(facts: Sequence[QueryFacts]) -> dict[tuple[str, str], list[int]]:
    """Positions of the queries of each group; dimensions in fixed order, ranges by size."""
    found: dict[tuple[str, str], list[int]] = {}
    for position, fact in enumerate(facts):
        for dimension, names in fact.slices.items():
            for name in names:
                found.setdefault((dimension, name), []).append(position)
    order = sorted(found, key=lambda key: (DIMENSIONS.index(key[0]), bucket_order(key[1])))
    return {key: found[key] for key in order}
