"""Charts of distillers: confusion matrices, and figures by slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.distillation.board import WHOLE
from wsmem.evals.distillation.judging import KINDS, NONE
from wsmem.evals.distillation.measures import measure_named
from wsmem.evals.plots import PALETTE, Chart, Drawing, drawable
from wsmem.evals.tables import Cell as Figured
from wsmem.evals.tables import Line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from wsmem.evals.distillation.board import Cell
    from wsmem.evals.distillation.run import DistillRun

_WIDTH, _HEIGHT = 5.2, 3.9
"""Inches."""
_STRONGEST = 0.75
"""Opacity of the fullest cell of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix(Drawing):
    """Expected kinds down, proposed kinds across; the diagonal is right."""

    name: str
    """Of the distiller, and of the set where it is about one."""
    counts: Mapping[Cell, int]

    def __str__(self) -> str:
        operations = {cell: count for cell, count in self.counts.items() if cell != (NONE, NONE)}
        right = sum(count for (wanted, given), count in operations.items() if wanted == given)
        return f"{self.name}: {right} of {sum(operations.values())} on the diagonal"

    def __repr__(self) -> str:
        return f"<Confusion matrix of {self}>"

    def rows(self) -> list[tuple[str, tuple[int, ...]]]:
        """Each expected kind with its counts by proposed kind."""
        return [(wanted, tuple(self.counts[wanted, given] for given in KINDS)) for wanted in KINDS]

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra
        from matplotlib.patches import Rectangle  # noqa: PLC0415

        figure = Figure(figsize=(_WIDTH, _HEIGHT))
        axes = figure.add_axes((0.24, 0.06, 0.73, 0.70))
        for down, (wanted, counts) in enumerate(self.rows()):
            most = max(counts)
            for across, (given, count) in enumerate(zip(KINDS, counts, strict=True)):
                right = wanted == given
                # By row, since kinds differ in how often they are expected.
                shade = _STRONGEST * count / most if most else 0.0
                colour = PALETTE[2] if right else PALETTE[5]
                axes.add_patch(
                    Rectangle((across - 0.5, down - 0.5), 1, 1, facecolor=colour, alpha=shade)
                )
                weight = "bold" if right else "normal"
                text = str(count) if count else "·"
                axes.text(across, down, text, ha="center", va="center", fontweight=weight)
        size = len(KINDS)
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        axes.set_xticks(range(size), KINDS)
        axes.set_yticks(range(size), KINDS)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("proposed")
        axes.set_ylabel("expected")
        axes.tick_params(length=0)
        for edge in range(size + 1):
            axes.axhline(edge - 0.5, color=ink, alpha=0.2, linewidth=0.6)
            axes.axvline(edge - 0.5, color=ink, alpha=0.2, linewidth=0.6)
        for side in axes.spines.values():
            side.set_visible(False)
        figure.text(0.02, 0.97, drawable(self.name) if escape else self.name, va="top")
        return figure


def confusion_chart(run: DistillRun, distiller: str, dataset: str | None = None) -> ConfusionMatrix:
    """The matrix of one distiller, on one set or on all together."""
    name = distiller if dataset is None else f"{distiller} on {dataset}"
    return ConfusionMatrix(name=name, counts=run.confusion(distiller, dataset))


def slice_chart(run: DistillRun, dataset: str, measure: str) -> Chart:
    """One measure of all distillers on every slice of a set, all cases first."""
    return Chart(
        measure=measure,
        by=f"slice of {dataset}",
        lines=tuple(slice_lines(run, dataset, measure)),
        systems=run.distillers,
    )


def slice_lines(run: DistillRun, dataset: str, measure: str) -> list[Line]:
    """A measure by slice, all cases first, slices in their order; those without a value left out.

    Raises:
        UnknownNameError: there is no such measure.
    """
    bounded = measure_named(measure).bounded
    rows = [
        row
        for row in run.rows
        if (row["dataset"], row["measure"]) == (dataset, measure) and row["value"] is not None
    ]
    lines = []
    for name in dict.fromkeys((WHOLE, *(row["slice"] for row in rows))):
        here = [row for row in rows if row["slice"] == name]
        if here:
            cells = {
                row["distiller"]: Figured(
                    value=row["value"],
                    low=row["low"],
                    high=row["high"],
                    n=row["n"],
                    bounded=bounded,
                )
                for row in here
            }
            most = max(row["n"] for row in here)
            lines.append(Line(name=name, queries=most, sets=1, cells=cells))
    return lines
