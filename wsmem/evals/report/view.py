"""What stands on the page, gathered from a run; how it looks is the templates' business."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.measures import FALSE_RECALL, Measure
from wsmem.evals.plots import dataset_chart, slice_chart
from wsmem.evals.report.comparison import Comparison
from wsmem.evals.results import EVERY_SYSTEM
from wsmem.evals.slices import DIMENSIONS, KIND, LANG
from wsmem.evals.tables import board_lines, overall_line, slice_lines
from wsmem.evals.worst import leading_measure
from wsmem.retrieval.signals import SIGNALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.evals.run import Run
    from wsmem.evals.tables import Line

_MEANINGS = {
    "nDCG": "how well the best entries are put first, graded; 1 is perfect",
    "RR": "one over the rank of the first relevant entry",
    "R": "share of the relevant entries that are found in time",
    "Success": "share of queries with a relevant entry in time",
    "P": "share of the places that hold a relevant entry",
    "AP": "precision averaged over the relevant entries",
    "Judged": "share of the places whose entry somebody judged",
    "FalseRecall": "share of the queries nothing answers that recalled something; lower is better",
    "Answered": "share of the queries with an answer that recalled anything",
    "Bytes": "UTF-8 bytes of the entries a prompt is given; @host: of the whole context",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureView:
    """One measure: what it means, and every system on every set."""

    name: str
    meaning: str
    lines: tuple[Line, ...]
    overall: Line | None
    """The mean over the sets, or the only set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """A chart and the figures it shows, for those who want them as text."""

    title: str
    svg: str
    by: str
    lines: tuple[Line, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresView:
    """The worst queries of one profile on one set."""

    system: str
    dataset: str
    queries: tuple[Comparison, ...]

    @property
    def summary(self) -> str:
        """How many of each sort there are."""
        kinds = Counter(query.failure for query in self.queries)
        missed, false = kinds["missed"], kinds["false-recall"]
        parts = [
            f"{missed} worst answered" if missed else "",
            f"{false} falsely recalled" if false else "",
        ]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything that stands on the page."""

    manifest: Mapping[str, Any]
    command: str
    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    queries: int
    measures: tuple[MeasureView, ...]
    charts: tuple[ChartView, ...]
    """By dataset, when there is more than one."""
    slices: tuple[ChartView, ...]
    false_recall: tuple[ChartView, ...]
    failures: tuple[FailuresView, ...]
    skipped: tuple[Mapping[str, str], ...]
    signals: tuple[tuple[str, str], ...]
    """What each signal means."""
    seconds: tuple[tuple[str, float, float], ...]
    """Of each system: seconds spent preparing and searching, over all sets."""
    unanswered: tuple[tuple[str, int], ...]
    judged: int
    settings: tuple[tuple[str, str], ...]
    """Of each system, as JSON."""


def page_view(run: Run) -> PageView:
    """Gather a page from a run."""
    measures = tuple(_measure(run, measure) for measure in run.measures)
    leading = leading_measure(Measure.parse(name) for name in run.measures)
    headline = leading.text if leading else next(iter(run.measures), None)
    datasets = run.manifest["datasets"]
    return PageView(
        manifest=run.manifest,
        command=" ".join(run.manifest["command"]),
        systems=run.systems,
        datasets=run.datasets,
        queries=sum(facts["queries"] for facts in datasets.values()),
        measures=measures,
        charts=_dataset_charts(run, headline),
        slices=_slice_charts(run, headline, DIMENSIONS),
        false_recall=(
            _slice_charts(run, FALSE_RECALL, (LANG, KIND)) if FALSE_RECALL in run.measures else ()
        ),
        failures=_failures(run),
        skipped=tuple(_skipped(item) for item in run.skipped),
        signals=tuple((signal.name, signal.meaning) for signal in SIGNALS),
        seconds=tuple((system, *_seconds(run, system)) for system in run.systems),
        unanswered=tuple(
            (system, sum(facts["unanswered"].get(system, 0) for facts in datasets.values()))
            for system in run.systems
        ),
        judged=sum(facts["judged"] for facts in datasets.values()),
        settings=tuple(
            (system, json.dumps(run.manifest["systems"][system], ensure_ascii=False, indent=2))
            for system in run.systems
        ),
    )


def _measure(run: Run, measure: str) -> MeasureView:
    return MeasureView(
        name=measure,
        meaning=_MEANINGS.get(Measure.parse(measure).name, ""),
        lines=tuple(board_lines(run, measure)),
        overall=overall_line(run, measure),
    )


def _dataset_charts(run: Run, measure: str | None) -> tuple[ChartView, ...]:
    if measure is None or len(run.datasets) < 2:
        return ()
    chart = dataset_chart(run, measure)
    if not chart.lines:
        return ()
    # Its figures are the board, which stands beside it.
    return (
        ChartView(
            title=f"{measure} by dataset", svg=chart.svg(), by="dataset", lines=(), left_out=0
        ),
    )


def _slice_charts(
    run: Run, measure: str | None, dimensions: tuple[str, ...]
) -> tuple[ChartView, ...]:
    if measure is None:
        return ()
    views = []
    for dimension in dimensions:
        chart = slice_chart(run, dimension, measure)
        if chart.lines:
            views.append(
                ChartView(
                    title=f"{measure} by {dimension}",
                    svg=chart.svg(),
                    by=dimension,
                    lines=tuple(slice_lines(run, dimension, measure)),
                    left_out=chart.left_out,
                )
            )
    return tuple(views)


def _failures(run: Run) -> tuple[FailuresView, ...]:
    found: dict[tuple[str, str], list[Comparison]] = {}
    for item in run.worst():
        found.setdefault((item["system"], item["dataset"]), []).append(Comparison.of(item))
    order = sorted(found, key=lambda key: run.systems.index(key[0]))  # stable: sets keep theirs
    return tuple(
        FailuresView(system=system, dataset=dataset, queries=tuple(found[system, dataset]))
        for system, dataset in order
    )


def _skipped(item: Mapping[str, str]) -> dict[str, str]:
    every = item["system"] == EVERY_SYSTEM
    return {
        "system": "all systems" if every else item["system"],
        "dataset": item.get("dataset", "all datasets"),
        "reason": item["reason"],
    }


def _seconds(run: Run, system: str) -> tuple[float, float]:
    known = [facts["seconds"].get(system) for facts in run.manifest["datasets"].values()]
    spent = [item for item in known if item is not None]
    return sum(item["prepare"] for item in spent), sum(item["search"] for item in spent)
