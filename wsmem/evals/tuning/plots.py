"""Charts of a study: gains by set, weights by search, what signals are worth, curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.plots import MARKERS, PALETTE, Chart, Drawing, drawable
from wsmem.evals.tables import Cell, Line
from wsmem.evals.tuning.planning import CURVE, FOLD, SAMPLER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from wsmem.evals.tuning.assess import Part
    from wsmem.evals.tuning.run import TuningRun

_WIDTH = 7.4
"""Inches."""
_NO_WEIGHT = 1e-4
"""Where a weight of 0 stands on a logarithmic axis, as a multiple of the anchor's weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots(Drawing):
    """Rows of dots: one or more series a row, values to the right."""

    title: str
    axis: str
    rows: tuple[str, ...]
    """From top to bottom."""
    series: Mapping[str, tuple[tuple[int, float], ...]]
    """By name: the row and the value of each dot."""
    zero: float = 0.0
    """Where a line is drawn."""
    log: bool = False

    def __str__(self) -> str:
        return self.title

    def __repr__(self) -> str:
        dots = sum(map(len, self.series.values()))
        return f"<Dots of {self}: {len(self.rows)} rows, {dots} dots>"

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra

        height = 0.9 + 0.27 * max(1, len(self.rows))
        figure = Figure(figsize=(_WIDTH, height))
        axes = figure.add_axes((0.22, 0.5 / height, 0.75, 1 - 0.85 / height))
        count = len(self.series)
        for number, (name, dots) in enumerate(self.series.items()):
            shift = 0.4 * ((number + 0.5) / count - 0.5) if count > 1 else 0.0
            axes.plot(
                [value for _, value in dots],
                [row + shift for row, _ in dots],
                linestyle="none",
                marker=MARKERS[number % len(MARKERS)],
                color=PALETTE[number % len(PALETTE)],
                alpha=0.75,
                markersize=5,
                label=drawable(name) if escape else name,
            )
        if self.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")  # names are no formulas here, powers would be
        axes.axvline(self.zero, color=ink, alpha=0.4, linewidth=0.8)
        axes.set_yticks(range(len(self.rows)), [drawable(r) if escape else r for r in self.rows])
        axes.set_ylim(len(self.rows) - 0.5, -0.5)
        axes.set_xlabel(self.axis)
        axes.grid(axis="x", color=ink, alpha=0.15, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="upper left", bbox_to_anchor=(0.2, 1.0), ncols=3, frameon=False)
        return figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves(Drawing):
    """Lines over a number of something, each with thin lines of what it is the mean of."""

    title: str
    across: str
    up: str
    lines: Mapping[str, tuple[tuple[float, float], ...]]
    """By name: the mean at each number."""
    parts: Mapping[str, tuple[tuple[tuple[float, float], ...], ...]]
    """By the same names."""
    log: bool = False

    def __str__(self) -> str:
        return self.title

    def __repr__(self) -> str:
        points = sum(map(len, self.lines.values()))
        return f"<Curves of {self}: {len(self.lines)} lines, {points} points>"

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra

        figure = Figure(figsize=(_WIDTH, 3.4))
        axes = figure.add_axes((0.12, 0.16, 0.85, 0.68))
        for number, (name, points) in enumerate(self.lines.items()):
            colour = PALETTE[number % len(PALETTE)]
            for part in self.parts.get(name, ()):
                axes.plot(*zip(*part, strict=True), color=colour, alpha=0.3, linewidth=0.8)
            axes.plot(
                *zip(*points, strict=True),
                color=colour,
                linewidth=1.8,
                marker=MARKERS[number % len(MARKERS)] if len(points) < 20 else None,
                markersize=4.5,
                label=drawable(name) if escape else name,
            )
        if self.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel(self.across)
        axes.set_ylabel(self.up)
        axes.grid(color=ink, alpha=0.15, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="upper left", bbox_to_anchor=(0.1, 1.0), ncols=3, frameon=False)
        return figure


def gain_chart(run: TuningRun, part: Part = "validation") -> Chart:
    """The gain on every set over each peer, with its interval."""
    rows = [row for row in run.results["gains"] if row["part"] == part]
    over = tuple(dict.fromkeys(row["over"] for row in rows))
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        found = [row for row in rows if row["dataset"] == dataset]
        cells = {
            row["over"]: Cell(
                value=row["difference"], low=row["low"], high=row["high"], n=row["n"], bounded=True
            )
            for row in found
        }
        lines.append(Line(name=dataset, queries=found[0]["n"], sets=1, cells=cells))
    measure = run.manifest["settings"]["objective"].split(" ", 1)[0]
    return Chart(measure=f"{measure} gained over", by="dataset", lines=tuple(lines), systems=over)


def weights_chart(run: TuningRun) -> Dots:
    """Every weight, as a multiple of the anchor's, in the fit and in each search without a group.

    Weights of 0 stand at the left edge.
    """
    settings, searches = run.manifest["settings"], run.searches
    signals = settings["signals"]
    scale = abs(searches["fit"].parameters[settings["anchor"]])

    def dots(names: list[str]) -> tuple[tuple[int, float], ...]:
        return tuple(
            (at, max(_NO_WEIGHT, abs(searches[name].parameters.get(signal, 0.0)) / scale))
            for name in names
            for at, signal in enumerate(signals)
        )

    folds = [name for name in searches if name.startswith(f"{FOLD}:")]
    series = {"all sets": dots(["fit"])}
    if folds:
        series = {"without one group": dots(folds)} | series
    return Dots(
        title="Weights, by search",
        axis=f"size of the weight over that of {settings['anchor']}; at the left edge none",
        rows=tuple(signals),
        series=series,
        zero=_NO_WEIGHT,
        log=True,
    )


def ablation_chart(run: TuningRun) -> Dots:
    """What the objective loses without each signal."""
    rows = run.results["ablation"]
    fixed = tuple((at, row["with"] - row["fixed"]) for at, row in enumerate(rows))
    searched = tuple(
        (at, row["with"] - row["searched"])
        for at, row in enumerate(rows)
        if row["searched"] is not None
    )
    series = {"others as they are": fixed} | ({"searched again": searched} if searched else {})
    return Dots(
        title="What is lost without a signal",
        axis="objective lost",
        rows=tuple(row["signal"] for row in rows),
        series=series,
    )


def learning_chart(run: TuningRun) -> Curves:
    """The gain on unseen sets over the number of groups that were searched on."""
    rows = run.results["curve"]
    draws: dict[str, list[tuple[float, float]]] = {}
    by_size: dict[int, list[float]] = {}
    for row in rows:
        by_size.setdefault(row["groups"], []).append(row["gain"])
        if row["search"].startswith(f"{CURVE}:"):
            draw = row["search"].rsplit(":", 1)[1]
            draws.setdefault(draw, []).append((row["groups"], row["gain"]))
    name = "mean of the draws"
    points = tuple((float(size), sum(g) / len(g)) for size, g in sorted(by_size.items()))
    return Curves(
        title="Gain on unseen sets by the number of groups searched on",
        across="groups of sets searched on",
        up="objective gained over the start",
        lines={name: points} if points else {},
        parts={name: tuple(tuple(sorted(draw)) for draw in draws.values())},
    )


def sampler_chart(run: TuningRun) -> Curves:
    """The best objective so far over trials, by sampler."""
    found: dict[str, list[tuple[tuple[float, float], ...]]] = {}
    for name, result in run.searches.items():
        if name.startswith(f"{SAMPLER}:"):
            count = len(result.best_so_far)
            line = tuple(
                (float(round((at + 1) * result.trials / count)), value)
                for at, value in enumerate(result.best_so_far)
            )
            found.setdefault(name.split(":")[1], []).append(line)
    means = {
        name: tuple(
            (points[0][0], sum(value for _, value in points) / len(points))
            for points in zip(*lines, strict=True)
        )
        for name, lines in found.items()
    }
    return Curves(
        title="Best objective so far, by sampler",
        across="trials",
        up="objective",
        lines=means,
        parts={name: tuple(lines) for name, lines in found.items()},
        log=True,
    )


def abstention_chart(run: TuningRun) -> Curves:
    """Ranking over false recall, by what evidence is asked for; each line is one kind of sets."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in run.results.get("abstention", []):
        lines.setdefault(row["where"], []).append((row["false_recall"], row["ndcg"]))
    measure = run.manifest["settings"]["objective"].split(" ", 1)[0]
    return Curves(
        title=f"{measure} by the share of questions without an answer that recall something",
        across="FalseRecall",
        up=measure,
        lines={where: tuple(sorted(points)) for where, points in lines.items()},
        parts={},
    )
