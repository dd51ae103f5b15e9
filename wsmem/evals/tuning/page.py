"""The report of a study: one file that needs neither a network nor a script."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.pages import Report
from wsmem.evals.tuning.plots import (
    ablation_chart,
    abstention_chart,
    gain_chart,
    learning_chart,
    sampler_chart,
    weights_chart,
)
from wsmem.evals.tuning.tables import abstention_rows, peer_rows, weight_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.plots import Drawing
    from wsmem.evals.tuning.assess import Part
    from wsmem.evals.tuning.run import TuningRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A chart and the element that draws it."""

    title: str
    svg: str

    @classmethod
    def of(cls, drawing: Drawing) -> Drawn:
        """Draw it."""
        return cls(title=str(drawing), svg=drawing.svg())


@dataclass(frozen=True, slots=True, kw_only=True)
class GainsView:
    """Gains on one kind of split: a table and the chart of it."""

    part: str
    over: tuple[str, ...]
    rows: tuple[tuple[str, Mapping[str, Any], Mapping[str, Mapping[str, Any]]], ...]
    """Set, one of its rows, and its rows by peer."""
    chart: Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything the template shows."""

    manifest: Mapping[str, Any]
    profile: Mapping[str, Any]
    command: str
    fit: Any
    gains: tuple[GainsView, ...]
    peers: Sequence[Mapping[str, Any]]
    weights: Sequence[Mapping[str, Any]]
    folds: int
    weights_chart: Drawn
    ablation: Sequence[Mapping[str, Any]]
    ablation_chart: Drawn
    learning: Drawn | None
    samplers: Drawn | None
    abstention: Sequence[Mapping[str, Any]]
    abstention_chart: Drawn | None


def page_view(run: TuningRun) -> PageView:
    """Gather a page from a run."""
    searches = run.searches
    thresholds = abstention_rows(run)
    kinds = {name.split(":", 1)[0] for name in searches}
    return PageView(
        manifest=run.manifest,
        profile=run.profile,
        command=shlex.join(run.manifest["command"]),
        fit=searches["fit"],
        gains=tuple(_gains(run)),
        peers=peer_rows(run),
        weights=weight_rows(run),
        folds=sum(name.startswith("fold:") for name in searches),
        weights_chart=Drawn.of(weights_chart(run)),
        ablation=run.results["ablation"],
        ablation_chart=Drawn.of(ablation_chart(run)),
        learning=Drawn.of(learning_chart(run)) if "curve" in kinds else None,
        samplers=Drawn.of(sampler_chart(run)) if "sampler" in kinds else None,
        abstention=thresholds,
        abstention_chart=Drawn.of(abstention_chart(run)) if thresholds else None,
    )


def _gains(run: TuningRun) -> list[GainsView]:
    parts: tuple[Part, ...] = ("validation", "final")
    found = []
    for part in parts:
        rows = [row for row in run.results["gains"] if row["part"] == part]
        if not rows:
            continue
        by_set: dict[str, dict[str, Mapping[str, Any]]] = {}
        for row in rows:
            by_set.setdefault(row["dataset"], {})[row["over"]] = row
        found.append(
            GainsView(
                part=part,
                over=tuple(dict.fromkeys(row["over"] for row in rows)),
                rows=tuple(
                    (name, next(iter(cells.values())), cells) for name, cells in by_set.items()
                ),
                chart=Drawn.of(gain_chart(run, part)),
            )
        )
    return found


def _signed(value: float | None, digits: int = 3) -> str:
    """A number with its sign, a true minus; a dash where there is none."""
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")


REPORT = Report(template="tune_report.html", view=page_view, filters={"signed": _signed})
render, write_report = REPORT.render, REPORT.write
