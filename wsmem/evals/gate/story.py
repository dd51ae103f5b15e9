"""A regression told query by query: which groups lost, which questions, and by which signals.

Everything is read from two saved runs, before and after; what single signals gave is explained
while the ranking is as it was for each, and kept with the second run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import RunFolderError
from wsmem.evals.comparing import contest
from wsmem.evals.contestants import Contestant
from wsmem.evals.explaining import explain_query, finite
from wsmem.evals.extras import optional
from wsmem.evals.gate.evidence import profile_departures
from wsmem.evals.plots import PALETTE, Drawing, drawable
from wsmem.evals.run_folder import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from wsmem.evals.comparing import Contest, Subject
    from wsmem.evals.comparison import Comparison
    from wsmem.evals.dataset import Dataset
    from wsmem.evals.run import Run
    from wsmem.retrieval.profile import Profile

EXPLAINED = "explained.jsonl"

_EXCERPT = 60
_WIDTH, _STEP = 7.4, 0.3
"""Inches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """Where an entry stood for a query, and what each signal gave it."""

    rank: int
    score: float | None
    signals: Mapping[str, float]
    """What each adds to the score; those that add nothing are left out."""


def earned(dataset: Dataset, query: str, profile: Profile) -> dict[str, Earned]:
    """Every entry that is recalled for a query, under the ranking as it is now."""
    rows = explain_query(dataset, query, profile).explanation.rows
    return {
        row.entry.id: Earned(
            rank=rank,
            score=finite(row.score),
            signals={
                name: round(part.contribution, 6)
                for name, part in row.parts.items()
                if part.contribution
            },
        )
        for rank, row in enumerate(rows, start=1)
    }


def keep_story(run: Path, items: Iterable[Mapping[str, Any]]) -> None:
    """Write explanations into the folder of the run after the change."""
    text = "".join(strict_json(item) + "\n" for item in items)
    (run / EXPLAINED).write_text(text, encoding="utf-8")


def story(run: Run) -> list[dict[str, Any]]:
    """The explained queries of a run after a change, those that lost most first.

    Raises:
        RunFolderError: it has none, or they cannot be read.
    """
    path = run.path / EXPLAINED
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        remedy = "run: python benchmarks/refresh_gate.py"
        raise RunFolderError(str(path), f"cannot be read ({error})", remedy) from error


def story_item(
    *,
    query: Mapping[str, Any],
    shown: Mapping[str, str],
    before: Mapping[str, Earned],
    after: Mapping[str, Earned],
) -> dict[str, Any]:
    """One query as it is kept.

    Args:
        query: Its dataset, id, text, and values before and after.
        shown: Text of the entries to tell of, by id.
        before: What entries earned before the change.
        after: And after it.
    """
    return {
        **query,
        "entries": [
            {
                "entry": entry,
                "text": " ".join(text.split())[:_EXCERPT],
                "before": _earned_json(before.get(entry)),
                "after": _earned_json(after.get(entry)),
            }
            for entry, text in shown.items()
        ],
    }


def change_of(before: Run, after: Run, system: str, *, margin: float) -> Contest:
    """The two runs compared as the gate does it."""
    sides = (Contestant.of_run(run, system) for run in (before, after))
    return contest(*sides, by="slice", unit="answer", margin=margin)


def profile_changes(before: Run, after: Run, system: str) -> list[str]:
    """In what the profile of a system differs between two runs, as the gate says it."""
    old, new = (run.manifest["systems"][system] for run in (before, after))
    found = profile_departures(system, old, new)
    return [f"{item.kind} of {item.subject}: {', '.join(item.changes)}" for item in found]


def change_frame(found: Contest, *, sure: bool = False) -> pd.DataFrame:
    """One row a comparison: figures before and after, the change with its interval, the verdict.

    Args:
        found: Runs compared.
        sure: Only what is better or worse.
    """
    rows = [
        {
            "dataset": subject.dataset,
            "group": _group(subject),
            "measure": subject.measure,
            "queries": row.n,
            "before": f"{row.first:.3f}",
            "after": f"{row.second:.3f}",
            "change": f"{row.difference:+.3f}",
            "95 %": f"{row.low:+.3f} to {row.high:+.3f}" if row.low is not None else "–",
            "verdict": row.verdict,
        }
        for subject, row in found.rows
        if row.difference is not None and (row.verdict != "inconclusive" or not sure)
    ]
    columns = ["dataset", "group", "measure", "queries", "before", "after", "change", "95 %"]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows, columns=[*columns, "verdict"])
    return frame.set_index(["dataset", "group"])


def whole(found: Contest) -> Contest:
    """A comparison without its groups."""
    from dataclasses import replace  # noqa: PLC0415

    return replace(found, rows=tuple(row for row in found.rows if not row[0].dimension))


def queries_frame(items: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row an explained query: its text, its value before and after, the ranks of its answer."""
    rows = [
        {
            "dataset": item["dataset"],
            "query": item["query"],
            "text": item["text"],
            item["measure"]: f"{item['before']:.2f} → {item['after']:.2f}",
            "rank of the answer": f"{_rank(item, 'before')} → {_rank(item, 'after')}",
        }
        for item in items
    ]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows)
    return frame.set_index(["dataset", "query"])


def signals_frame(item: Mapping[str, Any]) -> pd.DataFrame:
    """What each signal adds to the score of the entries told of, before and after; last the score.

    A column is headed by the entry and when; one of an entry that was not recalled has dashes.
    """
    columns = {
        (entry["entry"], when): entry[when]["signals"] | {"score": entry[when]["score"]}
        for entry in item["entries"]
        for when in ("before", "after")
        if entry[when] is not None
    }
    library = optional("pandas")
    frame: pd.DataFrame = library.DataFrame(columns)
    heads = [(entry["entry"], when) for entry in item["entries"] for when in ("before", "after")]
    order = [name for name in frame.index if name != "score"]
    frame = frame.loc[[*order, "score"]].fillna(0.0).round(3).astype(object)
    return frame.reindex(columns=library.MultiIndex.from_tuples(heads), fill_value="–")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeChart(Drawing):
    """By how much a measure changed, by set or group; draws itself in a notebook."""

    measure: str
    rows: tuple[tuple[Subject, Comparison], ...]
    """From top to bottom."""

    def __str__(self) -> str:
        worse = sum(row.verdict == "worse" for _, row in self.rows)
        return f"change of {self.measure}: {len(self.rows)} groups, {worse} of them surely worse"

    def __repr__(self) -> str:
        return f"<Chart of the {self}>"

    def _figure(self, ink: str, *, escape: bool) -> Figure:
        from matplotlib.figure import Figure  # noqa: PLC0415  heavy, and an extra

        labels = [f"{subject.dataset} · {_group(subject)} ({row.n})" for subject, row in self.rows]
        if escape:
            labels = [drawable(label) for label in labels]
        figure = Figure(figsize=(_WIDTH, 0.7 + _STEP * len(labels)), layout="constrained")
        axes = figure.add_subplot()
        for place, (_, row) in enumerate(self.rows):
            middle = row.difference or 0.0
            low = middle if row.low is None else row.low
            high = middle if row.high is None else row.high
            sure = row.verdict != "inconclusive"
            axes.errorbar(
                [middle],
                [place],
                xerr=[[max(0.0, middle - low)], [max(0.0, high - middle)]],
                fmt="s" if sure else "o",
                color=PALETTE[5] if sure else PALETTE[6],
                markersize=4.5,
                elinewidth=1.3,
            )
        axes.axvline(0.0, color=ink, linewidth=0.8)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel(f"change of {self.measure} with 95 % interval; squares: surely worse")
        axes.grid(axis="x", color=ink, alpha=0.15, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        return figure


def change_chart(found: Contest, measure: str, *, least: int = 20) -> ChangeChart:
    """Whole sets and groups of at least so many queries, where anything changed; largest first."""
    rows = [
        row
        for row in found.rows
        if row[0].measure == measure and row[1].n >= least and row[1].better + row[1].worse
    ]
    rows.sort(key=lambda row: row[1].difference or 0.0)
    return ChangeChart(measure=measure, rows=tuple(rows[:24]))


def _group(subject: Subject) -> str:
    return f"{subject.dimension}: {subject.slice}" if subject.dimension else "all"


def _rank(item: Mapping[str, Any], when: str) -> str:
    found = item["entries"][0][when]
    return "not recalled" if found is None else str(found["rank"])


def _earned_json(found: Earned | None) -> dict[str, Any] | None:
    if found is None:
        return None
    score = None if found.score is None else round(found.score, 6)
    return {"rank": found.rank, "score": score, "signals": dict(found.signals)}
