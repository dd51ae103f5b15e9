"""Carrying out a measurement: one unit of work a store size, results as each is finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wsmem.errors import SystemUnavailableError, WsmemError
from wsmem.evals.latency.figures import histogram, ratio_row, rows
from wsmem.evals.latency.place import alone, machine
from wsmem.evals.latency.plan import BARE, OTHERS, RANKING, WSMEM
from wsmem.evals.latency.quality import measure_quality, quality_rows
from wsmem.evals.latency.states import measure_state
from wsmem.evals.latency.stores import timed_store
from wsmem.evals.workers import open_workers, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from wsmem.evals.latency.plan import LatencyPlan
    from wsmem.evals.latency.states import Findings
    from wsmem.evals.workers import Shared

Table = list[dict[str, Any]]

ORDER = (WSMEM, RANKING, *OTHERS, BARE)
"""Of the systems in every table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """News of a part of the work that is done."""

    entries: int
    what: str
    """A state, or a labelled set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What was found about one size, or about all of them; rows are JSON objects."""

    rows: Table = field(default_factory=list)
    """Times: `entries`, `system`, `state`, `language`, `length` and the figures of a `Spread`."""
    histograms: Table = field(default_factory=list)
    """`entries`, `system`, `state`, `first`, `counts`."""
    ratios: Table = field(default_factory=list)
    """Times of others by those of our recall, warm: `entries`, `system`, and see `ratio_row`."""
    built: Table = field(default_factory=list)
    """Seconds to take in a store: `entries`, `system`, `seconds`."""
    commits: Table = field(default_factory=list)
    """Commits of others while recalls were timed: `entries`, `state`, `commits`."""
    quality: Table = field(default_factory=list)
    """As `quality_rows` gives them."""
    skipped: Table = field(default_factory=list)
    """`entries`, `what` was not measured, and the `reason`."""
    machines: Table = field(default_factory=list)
    """Where a cluster measured a size: `entries`, `what` ("times" or "quality"), see `machine`."""

    def extend(self, other: Tables) -> None:
        """Take in what was found about another size."""
        for name in TABLES:
            getattr(self, name).extend(getattr(other, name))


TABLES = ("rows", "histograms", "ratios", "built", "commits", "quality", "skipped", "machines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One size: to be timed, or to be asked labelled queries."""

    plan: LatencyPlan
    entries: int
    sets: Mapping[str, Shared] | None = None
    """The labelled sets by name; `None` where recalls are timed."""
    far: bool = False
    """Whether a cluster works on it, so that other sizes may come to the same machine."""


def steps(plan: LatencyPlan, datasets: int) -> int:
    """How many steps there will be news of."""
    return len(plan.sizes) * len(plan.states) + len(plan.padded) * datasets


def measure(
    plan: LatencyPlan,
    folders: Mapping[str, Path],
    *,
    cluster: str | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Iterator[Tables]:
    """Carry out a plan, the smallest store first; the tables of each size as it is finished.

    Sizes are measured one after another, since two at once would slow each other down; only on a
    cluster can they be measured at the same time, one on each of its machines.

    Args:
        plan: What to do.
        folders: The labelled sets for the quality under a deadline, by name.
        cluster: As `open_workers` takes it.
        on_step: Told of every step on this machine.

    Raises:
        ClusterError: the cluster cannot be used.
    """
    with open_workers(jobs=1, cluster=cluster) as workers:
        sets = {name: workers.share(folder) for name, folder in folders.items()}
        far = cluster is not None
        units = [Unit(plan=plan, entries=size, far=far) for size in plan.sizes]
        if sets:
            units += [Unit(plan=plan, entries=size, sets=sets, far=far) for size in plan.padded]

        def told(_: int, news: Step) -> None:
            if on_step is not None:
                on_step(news)

        for _, tables in workers.unordered(measure_unit, units, on_told=told):
            yield tables


def measure_unit(unit: Unit) -> Tables:
    """Measure one size; what cannot be measured is listed as skipped, and the rest goes on."""
    if not unit.far:
        return _measured(unit)
    with alone():
        tables = _measured(unit)
    what = "times" if unit.sets is None else "quality"
    tables.machines.append({"entries": unit.entries, "what": what, **machine()})
    return tables


def _measured(unit: Unit) -> Tables:
    if unit.sets is None:
        return _timed(unit.plan, unit.entries)
    tables = Tables()
    try:
        folders = {name: shared.path for name, shared in unit.sets.items()}
        cuts = measure_quality(
            unit.plan,
            folders,
            unit.entries,
            report=lambda name: tell(Step(entries=unit.entries, what=name)),
        )
    except WsmemError as error:
        tables.skipped.append(_skipped(unit.entries, "quality", error))
    else:
        tables.quality.extend(quality_rows(cuts, entries=unit.entries, seed=unit.plan.seed))
    return tables


def _timed(plan: LatencyPlan, entries: int) -> Tables:
    tables = Tables()
    with timed_store(plan, entries) as store:
        for state in plan.states:
            try:
                findings = measure_state(plan, store, state)
            except SystemUnavailableError as error:
                tables.skipped.append(_skipped(entries, state, error))
            else:
                _tell_of(tables, plan, entries, state, findings)
            tell(Step(entries=entries, what=state))
    return tables


def _tell_of(
    tables: Tables, plan: LatencyPlan, entries: int, state: str, findings: Findings
) -> None:
    ours = findings.samples[WSMEM]
    for system in sorted(findings.samples, key=ORDER.index):
        samples = findings.samples[system]
        where = {"entries": entries, "system": system, "state": state}
        pairs = (system, state) == (WSMEM, "warm")
        figures = rows(samples, deadline_ms=plan.deadline_ms, pairs=pairs)
        tables.rows.extend({**where, **row} for row in figures)
        tables.histograms.append({**where, **histogram(sample.ms for sample in samples)})
        if system != WSMEM and (ratio := ratio_row(ours, samples)) is not None:
            tables.ratios.append({**where, **ratio})
    for system in sorted(findings.build_s, key=ORDER.index):
        seconds = round(findings.build_s[system], 4)
        tables.built.append({"entries": entries, "system": system, "seconds": seconds})
    if findings.commits:
        told = {"entries": entries, "state": state, "commits": findings.commits}
        tables.commits.append(told)
    for system, reason in findings.missing.items():
        tables.skipped.append({"entries": entries, "what": system, "reason": reason})


def _skipped(entries: int, what: str, error: WsmemError) -> dict[str, Any]:
    return {"entries": entries, "what": what, "reason": str(error)}
