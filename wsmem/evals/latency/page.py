"""The report of a run of latency: one file that needs neither a network nor a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.latency.frames import TextRow, quality_rows, time_rows
from wsmem.evals.latency.plots import peers_chart, shares_chart, states_chart, worth_chart
from wsmem.evals.pages import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.evals.latency.plots import LineChart
    from wsmem.evals.latency.run import LatencyRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A chart and the element that draws it."""

    chart: LineChart
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeView:
    """One store size that was timed."""

    entries: int
    times: tuple[TextRow, ...]
    groups: tuple[TextRow, ...]
    """Our warm recall by language and length."""
    shares: Drawn
    commits: Mapping[str, int]
    """By state, of others while recalls were timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything that stands on the page."""

    manifest: Mapping[str, Any]
    command: str
    complete: bool
    hosts: int
    deadline_ms: float
    overview: tuple[Drawn, ...]
    sizes: tuple[SizeView, ...]
    ratios: tuple[Mapping[str, Any], ...]
    built: tuple[Mapping[str, Any], ...]
    worth: tuple[Drawn, ...]
    quality: tuple[TextRow, ...]
    skipped: tuple[Mapping[str, Any], ...]


def page_view(run: LatencyRun) -> PageView:
    """Gather a page from a run."""
    timed = bool(run.sizes)
    states = dict.fromkeys(row["state"] for row in run.tables.quality)
    return PageView(
        manifest=run.manifest,
        command=" ".join(run.manifest["command"]),
        complete=run.complete,
        hosts=run.hosts,
        deadline_ms=run.deadline_ms,
        overview=tuple(map(_drawn, (states_chart(run), peers_chart(run)))) if timed else (),
        sizes=tuple(_size(run, entries) for entries in run.sizes),
        ratios=tuple(row for row in run.tables.ratios if row["state"] == "warm"),
        built=tuple(run.tables.built),
        worth=tuple(_drawn(worth_chart(run, state)) for state in states),
        quality=tuple(quality_rows(run)),
        skipped=tuple(run.tables.skipped),
    )


def _size(run: LatencyRun, entries: int) -> SizeView:
    pairs = [
        (row["language"], row["length"])
        for row in run.rows(entries=entries, system="wsmem", state="warm")
    ]
    groups = [
        row
        for language, length in pairs
        for row in time_rows(
            run, entries=entries, system="wsmem", state="warm", language=language, length=length
        )
    ]
    return SizeView(
        entries=entries,
        times=tuple(time_rows(run, entries=entries)),
        groups=tuple(groups),
        shares=_drawn(shares_chart(run, entries)),
        commits={
            row["state"]: row["commits"] for row in run.tables.commits if row["entries"] == entries
        },
    )


def _drawn(chart: LineChart) -> Drawn:
    return Drawn(chart=chart, svg=chart.svg())


REPORT = Report(template="latency_report.html", view=page_view)
render, write_report = REPORT.render, REPORT.write
