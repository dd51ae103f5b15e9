"""Charts of latency: times by store size, times as shares of recalls, worth by deadline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wsmem.evals.latency.bench import ORDER
from wsmem.evals.latency.figures import ALL, cumulative
from wsmem.evals.latency.plan import PLUGIN, RANKING, STATES, WSMEM
from wsmem.evals.latency.text import STATE_WORDS
from wsmem.evals.plots import MARKERS, PALETTE, Drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wsmem.evals.latency.run import LatencyRun

_WIDTH, _HEIGHT = 7.4, 3.7
"""Inches."""
_UNFILED = "-unfiled"
_ROW = 0.2
"""Inches of a line of the legend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure with its interval, where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line of a chart, from left to right."""

    name: str
    points: tuple[Point, ...]
    colour: int
    """Place in the palette, the same for the same thing in every chart."""
    style: Literal["-", "--", ":"] = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart(Drawing):
    """Figures over a number, each axis plain or by factors of ten."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    deadline: float | None = None
    """Where a line says that a host goes: across at that `y`, or upright at that `x`."""
    upright: bool = False
    log_x: bool = True
    log_y: bool = False
    steps: bool = False
    """Draw what a share of times lies below, without markers."""
    ticks: tuple[float, ...] = ()
    """Numbers below the chart; those that are drawn by factors of ten else."""

    def __str__(self) -> str:
        count = sum(len(series.points) for series in self.series)
        return f"{self.title}: {len(self.series)} lines, {count} points"

    def __repr__(self) -> str:
        return f"<Chart of {self}>"

    def _figure(self, ink: str, *, escape: bool) -> Figure:  # noqa: ARG002  no name here needs a font
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra

        rows = -(-len(self.series) // 3)
        height = _HEIGHT + _ROW * rows
        figure = Figure(figsize=(_WIDTH, height))
        bottom, top = 0.5 / height, 1 - (0.12 + _ROW * rows) / height
        axes = figure.add_axes((0.09, bottom, 0.89, top - bottom))
        bars = [self._draw(axes, series) for series in self.series]
        self._scale(axes, ink)
        figure.legend(
            bars,
            [series.name for series in self.series],
            loc="upper left",
            bbox_to_anchor=(0.08, 1.0),
            ncols=3,
            frameon=False,
            borderaxespad=0.1,
            labelspacing=0.3,
            handletextpad=0.4,
            columnspacing=1.4,
        )
        return figure

    def _draw(self, axes: Axes, series: Series) -> Any:
        xs = [point.x for point in series.points]
        ys = [point.y for point in series.points]
        colour = PALETTE[series.colour % len(PALETTE)]
        if self.steps:
            (line,) = axes.step(
                xs, ys, where="post", color=colour, linestyle=series.style, linewidth=1.6
            )
            return line
        # Where there is no interval, the bar has no length.
        below = [max(0.0, p.y - (p.y if p.low is None else p.low)) for p in series.points]
        above = [max(0.0, (p.y if p.high is None else p.high) - p.y) for p in series.points]
        return axes.errorbar(
            xs,
            ys,
            yerr=[below, above],
            color=colour,
            linestyle=series.style,
            marker=MARKERS[series.colour % len(MARKERS)],
            markersize=4.2,
            linewidth=1.4,
            elinewidth=1.0,
            alpha=0.95,
        )

    def _scale(self, axes: Axes, ink: str) -> None:
        from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator  # noqa: PLC0415

        numbers = FuncFormatter(lambda value, _: f"{value:,.10g}")
        if self.log_x:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(numbers)
            axes.xaxis.set_minor_formatter(NullFormatter())
        if self.log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(numbers)
            axes.yaxis.set_minor_formatter(NullFormatter())
        if self.ticks:
            axes.set_xticks(self.ticks)
            axes.xaxis.set_minor_locator(NullLocator())
        if self.deadline is not None:
            line = axes.axvline if self.upright else axes.axhline
            line(self.deadline, color=ink, linewidth=1.0, linestyle=":")
            label = f"{self.deadline:g} ms"
            if self.upright:
                place: dict[str, Any] = {"xy": (self.deadline, 0.02), "xytext": (3, 0)}
                place["xycoords"] = axes.get_xaxis_transform()
            else:
                place = {"xy": (0.005, self.deadline), "xytext": (0, 3)}
                place["xycoords"] = axes.get_yaxis_transform()
            axes.annotate(label, **place, textcoords="offset points", color=ink)
        axes.grid(color=ink, alpha=0.13, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel(self.x)
        axes.set_ylabel(self.y)


def peers_chart(run: LatencyRun, figure: str = "p95") -> LineChart:
    """A percentile of everybody who answered with a warm engine, by store size."""
    rows = run.rows(state="warm", language=ALL, length=ALL)
    present = {row["system"] for row in rows}
    series = [
        Series(
            name=system,
            colour=number,
            style=":" if system == PLUGIN else "-" if system in (WSMEM, RANKING) else "--",
            points=_points([row for row in rows if row["system"] == system], figure),
        )
        for number, system in enumerate(ORDER)
        if system in present
    ]
    return _by_size(run, f"{figure} of a warm recall by entries", figure, series)


def states_chart(run: LatencyRun, figure: str = "p95") -> LineChart:
    """A percentile of our recall in every state, by store size."""
    rows = run.rows(system=WSMEM, language=ALL, length=ALL)
    series = [
        Series(
            name=STATE_WORDS[state],
            points=_points([row for row in rows if row["state"] == state], figure),
            **_look(state),
        )
        for state in run.states
    ]
    return _by_size(run, f"{figure} of a recall by entries and state", figure, series)


def _by_size(run: LatencyRun, title: str, figure: str, series: Sequence[Series]) -> LineChart:
    return LineChart(
        title=title,
        x="entries",
        y=f"milliseconds, {figure} and 95 % interval",
        series=tuple(series),
        deadline=run.deadline_ms,
        log_y=True,
        ticks=tuple(float(size) for size in run.sizes),
    )


def shares_chart(run: LatencyRun, entries: int) -> LineChart:
    """Which share of recalls took no longer than a time, in every state of one store size."""
    found = {
        row["state"]: row
        for row in run.tables.histograms
        if row["system"] == WSMEM and row["entries"] == entries
    }
    series = []
    for state in run.states:
        if state in found:
            edges = cumulative(found[state])
            points = tuple(Point(x=edge, y=100 * share) for edge, share in edges)
            start = Point(x=edges[0][0] / 1.12, y=0.0)
            series.append(Series(name=STATE_WORDS[state], points=(start, *points), **_look(state)))
    return LineChart(
        title=f"recalls by their time, {entries:,} entries",
        x="milliseconds",
        y="recalls that took no longer, %",
        series=tuple(series),
        deadline=run.deadline_ms,
        upright=True,
        steps=True,
    )


def worth_chart(run: LatencyRun, state: str) -> LineChart:
    """nDCG@10 under a deadline, by store size; the last figure is without one."""
    rows = run.quality(state=state, dataset=ALL)
    cuts = sorted({row["deadline_ms"] for row in rows if row["deadline_ms"]})
    series = [
        Series(
            name=f"{entries:,} entries",
            colour=number,
            points=tuple(
                Point(
                    x=row["deadline_ms"], y=row["ndcg"], low=row["ndcg_low"], high=row["ndcg_high"]
                )
                for row in rows
                if row["entries"] == entries and row["deadline_ms"]
            ),
        )
        for number, entries in enumerate(run.padded)
    ]
    return LineChart(
        title=f"nDCG@10 by deadline, {STATE_WORDS[state]}",
        x="deadline, milliseconds",
        y="nDCG@10 and 95 % interval",
        series=tuple(series),
        ticks=tuple(cuts),
    )


def _look(state: str) -> dict[str, Any]:
    """Colour and style of a state; without postings it looks like the same with them, dashed."""
    filed = state.removesuffix(_UNFILED)
    coloured: list[str] = [name for name in STATES if not name.endswith(_UNFILED)]
    return {"colour": coloured.index(filed), "style": "-" if filed == state else "--"}


def _points(rows: list[dict[str, Any]], figure: str) -> tuple[Point, ...]:
    return tuple(
        Point(
            x=row["entries"],
            y=row[figure],
            low=row.get(f"{figure}_low"),
            high=row.get(f"{figure}_high"),
        )
        for row in rows
    )
