"""A study's figures as data frames, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.describing import frame_of
from wsmem.evals.tuning.space import CAP, SHARE
from wsmem.evals.tuning.tables import abstention_rows, peer_rows, weight_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from wsmem.evals.tuning.assess import Part
    from wsmem.evals.tuning.run import TuningRun


def gains_frame(run: TuningRun, part: Part = "validation") -> pd.DataFrame:
    """One row a set, one column a peer: the gain with its interval and verdict."""
    rows: dict[str, dict[str, Any]] = {}
    for row in run.results["gains"]:
        if row["part"] == part:
            found = rows.setdefault(
                row["dataset"],
                {"set": row["dataset"], "queries": row["n"], "nDCG": f"{row['second']:.3f}"},
            )
            found[f"over {row['over']}"] = _gain(row)
    return frame_of(list(rows.values()), "set")


def verdicts_frame(run: TuningRun, part: Part = "validation") -> pd.DataFrame:
    """One row a peer: the mean gain, and on how many sets it is better, worse, inconclusive."""
    rows = []
    found = [row for row in run.results["gains"] if row["part"] == part]
    for over in dict.fromkeys(row["over"] for row in found):
        mean = next((r for r in found if r["over"] == over and r["dataset"] == "mean"), None)
        sets = [row["verdict"] for row in found if row["over"] == over and row is not mean]
        counts = {name: sets.count(name) for name in ("better", "inconclusive", "worse")}
        rows.append({"over": over, "mean": "–" if mean is None else _gain(mean), **counts})
    return frame_of(rows, "over")


def weights_frame(run: TuningRun) -> pd.DataFrame:
    """One row a parameter: its value, and its spread over the searches without a group."""
    rows = [
        {name: _short(value) for name, value in row.items()} | {"parameter": row["parameter"]}
        for row in weight_rows(run)
    ]
    return frame_of(rows, "parameter")


def ablation_frame(run: TuningRun) -> pd.DataFrame:
    """One row a signal: what the objective loses without it, most first."""
    rows = [
        {
            "signal": row["signal"],
            "weight": _short(row["weight"]),
            "lost, others fixed": row["with"] - row["fixed"],
            "lost, searched again": None
            if row["searched"] is None
            else row["with"] - row["searched"],
        }
        for row in run.results["ablation"]
    ]
    frame = frame_of(sorted(rows, key=lambda row: -row["lost, others fixed"]), "signal")
    return frame.round(4)


def abstention_frame(run: TuningRun) -> pd.DataFrame:
    """One row a threshold: nDCG, FalseRecall, and answerable queries kept, by kind of sets."""
    rows = []
    for row in abstention_rows(run):
        found = {"evidence": f"{row[SHARE]:g} of {row[CAP]:g}", "profile": row["profile"]}
        for where, point in row["by"].items():
            found |= {
                f"nDCG, {where}": round(point["ndcg"], 3),
                f"FalseRecall, {where}": round(point["false_recall"], 3),
                f"kept, {where}": f"{point['kept']} of {point['judged']}",
            }
        rows.append(found)
    return frame_of(rows, "evidence")


def peers_frame(run: TuningRun) -> pd.DataFrame:
    """One row a system: means over the sets, best first."""
    return frame_of(peer_rows(run), "system").round(4)


def _gain(row: Mapping[str, Any]) -> str:
    text = f"{row['difference']:+.3f}"
    if row["low"] is not None:
        text += f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{text} {row['verdict']}".replace("-", "−")


def _short(value: Any) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, (int, float)) else str(value)
