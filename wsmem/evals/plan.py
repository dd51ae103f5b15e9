"""What an evaluation is to do: which sets, which systems, which measures. Nothing has run yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError
from wsmem.evals.intervals import RESAMPLES
from wsmem.evals.measures import DEFAULT_MEASURES, Measure
from wsmem.evals.systems.registry import DEFAULT_SYSTEMS, check_system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.catalogue import Source

DEPTH = 100
"""How many entries each system is asked for where a measure reads a ranking to its end."""
KEPT = 20
"""How many ranks of each query are stored with a run, hence the least that is asked for."""
DEFAULT_JOBS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The definition of an evaluation; every name in it exists."""

    sources: tuple[Source, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    split: str | None = None
    """Which label file of each set; `None` is `test`, or the only one."""
    limit: int | None = None
    """Only the first queries of each set; `None` is all."""
    seed: int = 0
    resamples: int = RESAMPLES
    jobs: int = DEFAULT_JOBS
    """Processes on this machine; results do not depend on it."""
    cluster: str | None = None
    """Who works instead of them, as `wsmem.evals.workers` knows it; nor on this."""
    worst: int = 0
    """How many of the worst queries of each profile and set are explained, for a report."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InvalidInputError(f"a limit of {self.limit} queries leaves nothing to score")
        if self.jobs < 1:
            raise InvalidInputError(f"{self.jobs} processes cannot work; ask for 1 or more")
        if self.seed < 0:
            raise InvalidInputError(f"a seed is 0 or more, not {self.seed}")
        for name in self.systems:
            check_system(name)

    @property
    def depth(self) -> int:
        """How many entries each system is asked for: as many as any measure looks at, or is kept.

        Rendering an entry costs as much as ranking hundreds, so none is asked for that changes
        nothing.
        """
        if any(measure.reads_on for measure in self.measures):
            return DEPTH
        return max([KEPT, *(measure.cutoff or 0 for measure in self.measures)])

    @classmethod
    def of(
        cls,
        sources: Iterable[Source],
        *,
        systems: Iterable[str] = (),
        measures: Iterable[str] = (),
        split: str | None = None,
        limit: int | None = None,
        seed: int = 0,
        jobs: int = DEFAULT_JOBS,
        cluster: str | None = None,
        worst: int = 0,
    ) -> Plan:
        """Make a plan from names; no names mean the defaults, repeated ones count once.

        Raises:
            UnknownNameError: a system or a measure does not exist.
            InvalidInputError: a measure has impossible parameters, or a number is out of range.
        """
        parsed = [Measure.parse(text) for text in (*measures,) or DEFAULT_MEASURES]
        return cls(
            sources=tuple(sources),
            systems=tuple(dict.fromkeys((*systems,) or DEFAULT_SYSTEMS)),
            measures=tuple(dict.fromkeys(parsed)),
            split=split,
            limit=limit,
            seed=seed,
            jobs=jobs,
            cluster=cluster,
            worst=worst,
        )
