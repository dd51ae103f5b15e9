"""Making baselines anew: a ratchet that goes up by itself and down only on request.

A profile or terms that differ from those of the baseline are accepted with it and named, unless a
figure is lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.gate.checking import sets_left_out
from wsmem.evals.gate.evidence import departures
from wsmem.evals.gate.judging import lowered
from wsmem.evals.gate.record import (
    BaselineError,
    NewerBaselineError,
    read_record,
    write_record,
)
from wsmem.evals.gate.running import OWN, fresh_run
from wsmem.evals.gate.work import count_work
from wsmem.evals.gate.work_baseline import judge_work, read_work, write_work

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.gate.evidence import Departure
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.work import Counted
    from wsmem.evals.gate.work_baseline import WorkBaseline

_STILL: Mapping[Counted, float] = {"steps": 1.02}
"""What is still the same: any change of a program changes its lines a little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What an update found."""

    written: bool
    lower: tuple[str, ...] = ()
    """What is lower than before, or cannot be told; empty for a first baseline."""
    departures: tuple[Departure, ...] = ()
    """What ships and differs from what the baseline was made with; accepted where it is written."""


def update_ranking(
    path: Path, known: Mapping[str, Source], *, jobs: int = 1, accept_lower: bool = False
) -> Update:
    """Score everything and write it, unless a figure would be lower and that is not accepted.

    Sets that changed since cannot be compared, which counts as lower.

    Raises:
        BaselineError: the present one cannot be read and that is not accepted, or a newer wsmem
            wrote it.
        RunFailedError: a set or a system gave no figures.
    """
    present = _present_ranking(path, accept_lower=accept_lower)
    names = OWN if present is None else (*present.sets, *sets_left_out(present, known))
    chosen = [known[name] for name in names if name in known]
    if not chosen:
        remedy = "name their folder by --datasets-dir"
        raise BaselineError(str(path), f"needs one of {', '.join(names)}, and none is here", remedy)
    fresh = fresh_run(chosen, jobs=jobs).record
    lower = [] if present is None else _incomparable(present, fresh) + lowered(present, fresh)
    if written := accept_lower or not lower:
        write_record(fresh, path)
    return Update(
        written=written,
        lower=tuple(lower),
        departures=() if present is None else departures(present, fresh),
    )


def update_work(path: Path, *, accept_lower: bool = False) -> Update:
    """Count everything and write it, unless a count would be higher and that is not accepted.

    Returns:
        What is more than before, or cannot be told; empty for a first baseline.

    Raises:
        BaselineError: the present one cannot be read and that is not accepted, or a newer wsmem
            wrote it.
    """
    present = _present_work(path, accept_lower=accept_lower)
    fresh = count_work()
    more: list[str] = []
    if present is not None:
        try:
            rows = judge_work(present, fresh, path).rows
            more = [
                f"{row.counted} of {row.state} recalls {row.before} -> {row.after}"
                for row in rows
                if row.compared and row.after > row.before * _STILL.get(row.counted, 1.0)
            ]
        except BaselineError as error:
            more = [error.problem]
    if written := accept_lower or not more:
        write_work(fresh, path)
    return Update(written=written, lower=tuple(more))


def _present_ranking(path: Path, *, accept_lower: bool) -> RankingRecord | None:
    if not path.exists():
        return None
    try:
        return read_record(path)
    except NewerBaselineError:
        raise
    except BaselineError:
        if not accept_lower:
            raise
        return None


def _present_work(path: Path, *, accept_lower: bool) -> WorkBaseline | None:
    if not path.exists():
        return None
    try:
        return read_work(path)
    except NewerBaselineError:
        raise
    except BaselineError:
        if not accept_lower:
            raise
        return None


def _incomparable(present: RankingRecord, fresh: RankingRecord) -> list[str]:
    """Sets that are gone or other than they were."""
    found = []
    for name, old in present.sets.items():
        new = fresh.sets.get(name)
        if new is None:
            found.append(f"{name} is not here any more")
        elif new.checksums != old.checksums:
            found.append(f"{name} has other files, so its figures cannot be compared")
    return found
