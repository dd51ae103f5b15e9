"""The report of a run of distillers: one file that needs neither a network nor a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.distillation.board import WHOLE
from wsmem.evals.distillation.measures import HEADLINE, MEASURES, USAGE
from wsmem.evals.distillation.plots import confusion_chart, slice_chart
from wsmem.evals.distillation.side_by_side import SideBySide
from wsmem.evals.pages import Report
from wsmem.evals.tables import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.evals.distillation.measures import DistillMeasure
    from wsmem.evals.distillation.plots import ConfusionMatrix
    from wsmem.evals.distillation.run import DistillRun
    from wsmem.evals.plots import Chart

MOST_FAILURES = 40
"""Failures shown of one distiller on one set; how many more there are is said."""
_CHARTED = ("F1(all)", "ContentF1(all)", "Restraint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One measure of every distiller on one set."""

    measure: DistillMeasure
    cells: Mapping[str, Cell]
    headline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetView:
    """One set: figures and charts."""

    name: str
    cases: int
    nothing: int
    splits: tuple[str, ...]
    figures: tuple[Figures, ...]
    charts: tuple[tuple[Chart, str], ...]
    """By slice, with the element that draws it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixView:
    """A confusion matrix and the element that draws it."""

    matrix: ConfusionMatrix
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresView:
    """The cases of one set that one distiller did not get right."""

    distiller: str
    dataset: str
    cases: int
    wrong: int
    shown: tuple[SideBySide, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything that stands on the page."""

    manifest: Mapping[str, Any]
    command: str
    distillers: tuple[str, ...]
    sets: tuple[SetView, ...]
    matrices: tuple[MatrixView, ...]
    failures: tuple[FailuresView, ...]
    skipped: tuple[Mapping[str, Any], ...]


def page_view(run: DistillRun) -> PageView:
    """Gather a page from a run."""
    matrices = [confusion_chart(run, distiller) for distiller in run.distillers]
    if len(run.datasets) > 1:
        matrices = [
            matrix
            for distiller in run.distillers
            for matrix in (
                confusion_chart(run, distiller),
                *(confusion_chart(run, distiller, name) for name in run.datasets),
            )
        ]
    return PageView(
        manifest=run.manifest,
        command=" ".join(run.manifest["command"]),
        distillers=run.distillers,
        sets=tuple(_set(run, name) for name in run.datasets),
        matrices=tuple(MatrixView(matrix=matrix, svg=matrix.svg()) for matrix in matrices),
        failures=tuple(
            _failures(run, distiller, name)
            for distiller in run.distillers
            for name in run.datasets
            if run.results(name, distiller)
        ),
        skipped=run.skipped,
    )


def _set(run: DistillRun, name: str) -> SetView:
    facts = run.manifest["datasets"][name]
    charts = (slice_chart(run, name, measure) for measure in _CHARTED)
    return SetView(
        name=name,
        cases=facts["cases"],
        nothing=facts["nothing_to_keep"],
        splits=tuple(facts["splits"]),
        figures=tuple(_figures(run, name)),
        charts=tuple((chart, chart.svg()) for chart in charts if chart.lines),
    )


def _figures(run: DistillRun, name: str) -> list[Figures]:
    """Every measure that anyone has a value of; the headline ones first."""
    found: dict[str, dict[str, Cell]] = {measure: {} for measure in (*HEADLINE, *MEASURES)}
    for row in run.rows:
        if row["dataset"] == name and row["slice"] == WHOLE and row["value"] is not None:
            measure = MEASURES[row["measure"]]
            found[measure.name][row["distiller"]] = Cell(
                value=row["value"],
                low=row["low"],
                high=row["high"],
                n=row["n"],
                bounded=measure.bounded,
            )
    return [
        Figures(measure=MEASURES[measure], cells=cells, headline=measure in (*HEADLINE, *USAGE))
        for measure, cells in found.items()
        if cells
    ]


def _failures(run: DistillRun, distiller: str, name: str) -> FailuresView:
    cases, results = run.cases(name), run.results(name, distiller)
    wrong = [result for result in results if result["faults"]]
    return FailuresView(
        distiller=distiller,
        dataset=name,
        cases=len(results),
        wrong=len(wrong),
        shown=tuple(
            SideBySide.of(cases[result["case"]], result, distiller=distiller)
            for result in wrong[:MOST_FAILURES]
        ),
    )


REPORT = Report(template="distill_report.html", view=page_view)
render, write_report = REPORT.render, REPORT.write
