"""A study's figures as tables for a terminal; the page has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from wsmem.evals.tuning.planning import FIT, FOLD
from wsmem.evals.tuning.space import CAP, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.tuning.run import TuningRun


def gains_table(run: TuningRun) -> Table:
    """Each set's figure by weights that did not see it, and the gain over every peer."""
    rows = run.results["gains"]
    over = list(dict.fromkeys(row["over"] for row in rows))
    table = Table(box=None, pad_edge=False)
    for name in ("set", "weights"):
        table.add_column(name, no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("nDCG", justify="right", no_wrap=True)
    for name in over:
        table.add_column(f"over {name}", justify="right", no_wrap=True)
    found = {(row["part"], row["dataset"], row["over"]): row for row in rows}
    previous = None
    for part, dataset in dict.fromkeys((row["part"], row["dataset"]) for row in rows):
        if previous not in {None, part}:
            table.add_row()
        previous = part
        cells = [found.get((part, dataset, name)) for name in over]
        first = next(cell for cell in cells if cell is not None)
        table.add_row(
            dataset, first["system"], str(first["n"]), f"{first['second']:.3f}", *map(_gain, cells)
        )
    return table


def weights_table(run: TuningRun) -> Table:
    """Every weight of the fit, and how it varies among the searches without a group of sets."""
    table = Table(box=None, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    for name in ("weight", "folds: least", "median", "most"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in weight_rows(run):
        spread = ("–" if row[name] is None else f"{row[name]:g}" for name in _SPREAD)
        table.add_row(row["parameter"], f"{row['weight']:g}", *spread)
    return table


_SPREAD = ("least", "median", "most")


def weight_rows(run: TuningRun) -> list[dict[str, Any]]:
    """One row a parameter: its value in the fit and its spread over the folds; 0 is no weight."""
    searches = run.searches
    folds = [found for name, found in searches.items() if name.startswith(f"{FOLD}:")]
    names = [*run.manifest["settings"]["signals"], SHARE, CAP]
    return [
        {
            "parameter": name,
            "weight": searches[FIT].parameters.get(name, 0.0),
            **_spread([found.parameters for found in folds], name),
        }
        for name in names
    ]


def _spread(folds: Sequence[Mapping[str, float]], name: str) -> dict[str, Any]:
    values = sorted(found.get(name, 0.0) for found in folds)
    if not values:
        return dict.fromkeys((*_SPREAD, "used"))
    middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
    used = sum(value != 0 for value in values)
    return {"least": values[0], "median": middle, "most": values[-1], "used": used}


def _gain(row: Mapping[str, Any] | None) -> str:
    if row is None or row["difference"] is None:
        return "–"
    text = f"{row['difference']:+.3f}"
    if row["low"] is not None:
        text += f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{text} {row['verdict']}"


def abstention_rows(run: TuningRun) -> list[dict[str, Any]]:
    """One row a threshold, the one that asks least last: what it gives on each kind of sets.

    `by` holds the figures by kind of sets; `profile` names the profile that has the threshold.
    """
    profiles = [run.profile, *([run.strict] if run.strict else [])]
    rows: dict[tuple[float, float], dict[str, Any]] = {}
    for point in run.results.get("abstention", []):
        threshold = (point[SHARE], point[CAP])
        named = [each["name"] for each in profiles if (each[SHARE], each[CAP]) == threshold]
        row = {SHARE: threshold[0], CAP: threshold[1], "profile": ", ".join(named), "by": {}}
        rows.setdefault(threshold, row)["by"][point["where"]] = point
    return list(rows.values())


def peer_rows(run: TuningRun) -> list[dict[str, Any]]:
    """Every system's mean over the sets of the validation on which it was scored, best first."""
    figures = [row for row in run.results["figures"] if row["part"] == "validation"]
    names = dict.fromkeys(name for row in figures for name in row["ndcg"])
    rows = []
    for name in names:
        values = [row["ndcg"][name] for row in figures if row["ndcg"].get(name) is not None]
        shares = [row["false_recall"].get(name) for row in figures]
        known = [share for share in shares if share is not None]
        rows.append(
            {
                "system": name,
                "sets": len(values),
                "ndcg": sum(values) / len(values) if values else 0.0,
                "false_recall": sum(known) / len(known) if known else None,
            }
        )
    return sorted(rows, key=lambda row: -row["ndcg"])
