"""Figures of distillers as data frames of readable texts, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.distillation.board import WHOLE
from wsmem.evals.distillation.cases import SPLITS
from wsmem.evals.distillation.measures import HEADLINE, measure_named
from wsmem.evals.extras import optional
from wsmem.evals.tables import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from wsmem.evals.distillation.cases import CaseSet
    from wsmem.evals.distillation.comparing import Contest


def figures_frame(
    rows: Iterable[Mapping[str, Any]], measures: Sequence[str] = HEADLINE, *, slice_: str = WHOLE
) -> pd.DataFrame:
    """One row a measure, one column a set and distiller: `0.971 [0.900–1.000] n 35`.

    Args:
        rows: As `DistillRow.to_json` gives them and runs hold them.
        measures: Which, in order.
        slice_: Of which cases.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if row["slice"] == slice_:
            key = (row["dataset"], row["distiller"])
            found.setdefault(key, {})[row["measure"]] = _text(row)
    table = {key: [texts.get(name, "–") for name in measures] for key, texts in found.items()}
    frame: pd.DataFrame = optional("pandas").DataFrame(table, index=list(measures))
    frame.index.name = "measure"
    return frame


def cases_frame(sets: Iterable[CaseSet]) -> pd.DataFrame:
    """One row a set: how many cases each split has, and how many of them have nothing to keep."""
    rows = {
        cases.name: {
            split: f"{len(chosen)} ({sum(not case.expected for case in chosen)} nothing)"
            for split in SPLITS
            if (chosen := cases.of_split(split))
        }
        for cases in sets
    }
    frame: pd.DataFrame = optional("pandas").DataFrame.from_dict(rows, orient="index").fillna("–")
    frame.index.name = "cases"
    return frame


def contest_frame(contest: Contest) -> pd.DataFrame:
    """One row a comparison; `sees` is the smallest difference that it would mostly have found."""
    rows = [
        {
            "measure": found.name,
            contest.first: _number(found.first),
            contest.second: _number(found.second),
            "difference": _number(found.difference, signed=True),
            "95 %": "–"
            if found.low is None or found.high is None
            else f"{found.low:+.3f} … {found.high:+.3f}",
            "p (Holm)": "–" if found.adjusted is None else f"{found.adjusted:.4f}",
            "sees": _number(found.detectable),
            "verdict": found.verdict,
        }
        for found in contest.comparisons
    ]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows)
    return frame.set_index("measure")


def matrix_frame(counts: Mapping[tuple[str, str], int]) -> pd.DataFrame:
    """A confusion matrix: expected kinds down, proposed kinds across."""
    kinds = list(dict.fromkeys(wanted for wanted, _ in counts))
    table = {given: [counts[wanted, given] for wanted in kinds] for given in kinds}
    frame: pd.DataFrame = optional("pandas").DataFrame(table, index=kinds)
    frame.index.name, frame.columns.name = "expected", "proposed"
    return frame


def _text(row: Mapping[str, Any]) -> str:
    cell = Cell(
        value=row["value"],
        low=row["low"],
        high=row["high"],
        n=row["n"],
        bounded=measure_named(row["measure"]).bounded,
    )
    return cell.text if cell.value is None else f"{cell.with_interval} n {cell.n}"


def _number(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.3f}" if signed else f"{value:.3f}"
