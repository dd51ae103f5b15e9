"""Two sets that ask the same in two languages, compared pair by pair on a finished run.

Queries that name each other in `metadata.parallel` are a pair. A difference is the second set's
value minus the first's, so above 0 the second language is answered better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from wsmem.evals.describing import frame_of
from wsmem.evals.intervals import Resampler
from wsmem.evals.plots import Chart
from wsmem.evals.slices import bucket_order, slices_of
from wsmem.evals.tables import Cell, Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from wsmem.evals.intervals import Interval
    from wsmem.evals.reading import Folder
    from wsmem.evals.run import Run

ALL, WORKSPACE = "all", "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One question in two languages and what each got."""

    first: str
    """Id of the query."""
    second: str
    first_value: float
    second_value: float
    groups: Mapping[str, tuple[str, ...]]
    """By dimension, of the first query; `workspace` is one of them."""

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second_value - self.first_value

    @property
    def scope(self) -> str | None:
        """The workspace asked; pairs of one workspace are no independent evidence."""
        return next(iter(self.groups.get(WORKSPACE, ())), None)


def parallel_pairs(
    run: Run, first: Folder, second: Folder, *, system: str, measure: str
) -> list[Pair]:
    """The pairs of two sets that a run scored on both sides, in the order of the first set.

    Raises:
        UnknownNameError: the run lacks one of the sets, or the system.
    """
    here, there = (_values(run, folder, system, measure) for folder in (first, second))
    pairs = []
    for query in first.queries.values():
        twin = second.queries.get(str(query.metadata.get("parallel")))
        if twin is None or query.id not in here or twin.id not in there:
            continue
        groups = slices_of(query, scope_size=0)
        if query.scope is not None:
            groups[WORKSPACE] = (query.scope,)
        pairs.append(
            Pair(
                first=query.id,
                second=twin.id,
                first_value=here[query.id],
                second_value=there[twin.id],
                groups=groups,
            )
        )
    return pairs


def parallel_groups(
    pairs: Sequence[Pair], dimension: str, *, least: int = 1
) -> dict[str, list[Pair]]:
    """Pairs by group of a dimension, by name; groups with fewer than `least` pairs left out.

    `all`, the last one, holds every pair.
    """
    names = {name for pair in pairs for name in pair.groups.get(dimension, ())}
    found = {
        name: [pair for pair in pairs if name in pair.groups.get(dimension, ())]
        for name in sorted(names, key=bucket_order)
    }
    return {name: group for name, group in found.items() if len(group) >= least} | {
        ALL: list(pairs)
    }


def difference(pairs: Sequence[Pair], *, seed: int = 0, name: str = ALL) -> Interval:
    """The mean difference with a 95 % interval, by drawing workspaces where there are several."""
    resampler = Resampler([pair.scope for pair in pairs], seed=(seed, crc32(name.encode())))
    values = np.array([[pair.difference] for pair in pairs], dtype=np.float64).reshape(-1, 1)
    return resampler.intervals(values)[0]


def parallel_frame(groups: Mapping[str, Sequence[Pair]], *, names: tuple[str, str]) -> pd.DataFrame:
    """One row a group: pairs, both means, the difference, and how many pairs went either way.

    Args:
        groups: As `parallel_groups` gives them.
        names: What to call the first and the second side, as in `("zh", "en")`.
    """
    rows: list[dict[str, Any]] = []
    for name, pairs in groups.items():
        found = difference(pairs, name=name)
        rows.append(
            {
                "group": name,
                "pairs": len(pairs),
                names[0]: _mean(pair.first_value for pair in pairs),
                names[1]: _mean(pair.second_value for pair in pairs),
                "difference": "–" if found.value is None else f"{found.value:+.3f}",
                "95 %": "–"
                if found.low is None or found.high is None
                else f"{found.low:+.3f} … {found.high:+.3f}",
                f"{names[0]} better": sum(pair.difference < 0 for pair in pairs),
                "equal": sum(pair.difference == 0 for pair in pairs),
                f"{names[1]} better": sum(pair.difference > 0 for pair in pairs),
            }
        )
    return frame_of(rows, "group")


def parallel_chart(
    groups: Mapping[str, Sequence[Pair]], *, measure: str, by: str, system: str
) -> Chart:
    """The mean difference of every group with its interval.

    Args:
        groups: As `parallel_groups` gives them.
        measure: What the axis says, as in `nDCG@10 of en − zh`.
        by: What a line is.
        system: Whose values they are.
    """
    lines = []
    for name, pairs in groups.items():
        found = difference(pairs, name=name)
        cell = Cell(value=found.value, low=found.low, high=found.high, n=found.n, bounded=True)
        lines.append(Line(name=name, queries=len(pairs), sets=1, cells={system: cell}))
    return Chart(measure=measure, by=by, lines=tuple(lines), systems=(system,))


def _values(run: Run, folder: Folder, system: str, measure: str) -> dict[str, float]:
    """The measure's value for each query that has one."""
    frame = run.queries(dataset=folder.path.name, system=system)
    found = zip(frame["query"], frame[measure], strict=True)
    return {query: float(value) for query, value in found if not np.isnan(value)}


def _mean(values: Iterable[float]) -> str:
    known = list(values)
    return f"{sum(known) / len(known):.3f}" if known else "–"
