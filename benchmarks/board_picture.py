"""Draw the board that is kept in benchmarks/results/public-sets.json as docs/board.png.

python benchmarks/board_picture.py [--measure nDCG@10]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from wsmem.evals.plots import Chart
from wsmem.evals.results import MEAN
from wsmem.evals.tables import Cell, Line

ROOT = Path(__file__).resolve().parents[1]
SAVED = ROOT / "benchmarks" / "results" / "public-sets.json"
PICTURE = ROOT / "docs" / "board.png"
SYSTEMS = ("wsmem:default", "wsmem:reference", "bm25", "fts5:trigram")
"""`fts5:bigram` searches as bm25 does and `@host` is a cut of `default`: they would only cover."""


def line(name: str, rows: list[dict[str, Any]], sets: int, queries: int) -> Line:
    """One set, or the mean of all."""
    cells = {
        row["system"]: Cell(
            value=row["value"], low=row["low"], high=row["high"], n=row["n"], bounded=True
        )
        for row in rows
        if row["system"] in SYSTEMS
    }
    return Line(name=name, queries=queries, sets=sets, cells=cells)


def main() -> None:
    """Draw one measure of every kept set."""
    parser = argparse.ArgumentParser(description="Draw the board of the README.")
    parser.add_argument("--measure", default="nDCG@10")
    measure = parser.parse_args().measure
    saved = json.loads(SAVED.read_text(encoding="utf-8"))
    by_set: dict[str, list[dict[str, Any]]] = {}
    for row in saved["rows"]:
        if row["measure"] == measure:
            by_set.setdefault(row["dataset"], []).append(row)
    mean = by_set.pop(MEAN)
    counts = {name: max(row["n"] for row in rows) for name, rows in by_set.items()}
    lines = [line(name, rows, 1, counts[name]) for name, rows in sorted(by_set.items())]
    lines.append(line(MEAN, mean, len(by_set), sum(counts.values())))
    chart = Chart(measure=measure, by="dataset", lines=tuple(lines), systems=SYSTEMS)
    PICTURE.write_bytes(chart.png(dpi=90))


if __name__ == "__main__":
    main()
