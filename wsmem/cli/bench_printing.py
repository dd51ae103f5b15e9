"""How `wsmem bench` prints what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.cli.output import note, say
from wsmem.cli.tables import print_table
from wsmem.evals.latency.bench import TABLES, Tables
from wsmem.evals.latency.figures import ALL
from wsmem.evals.latency.text import (
    STATE_WORDS,
    deadline_text,
    figure_text,
    milliseconds,
    percentile_text,
    share_text,
)
from wsmem.evals.run_folder import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.latency.plan import LatencyPlan


def print_tables(found: Tables, plan: LatencyPlan, *, as_json: bool) -> None:
    """Print the figures of a run, and on standard error what could not be measured."""
    if as_json:
        tables = {name: getattr(found, name) for name in TABLES}
        print(strict_json({"plan": plan.to_json(), **tables}))
    else:
        for size in dict.fromkeys(row["entries"] for row in found.rows):
            _print_times(size, (row for row in found.rows if row["entries"] == size), plan)
        if found.ratios:
            _print_ratios(row for row in found.ratios if row["state"] == "warm")
        if found.quality:
            _print_quality(row for row in found.quality if row["dataset"] == ALL)
    for row in found.skipped:
        note(f"not measured at {row['entries']:,} entries: {row['what']}: {row['reason']}")


def _print_times(size: int, rows: Iterable[dict[str, Any]], plan: LatencyPlan) -> None:
    within = f"{plan.deadline_ms:g} ms"
    say("", f"{size:,} entries: milliseconds of a recall, and those whole in {within}")
    columns = ("state", "system", "n", "p50", "p95", "p99", "max", "whole in time, %", "partial",
               "empty")  # fmt: skip
    cells = (
        (
            STATE_WORDS[row["state"]],
            row["system"],
            str(row["n"]),
            percentile_text(row, "p50"),
            percentile_text(row, "p95"),
            milliseconds(row["p99"]),
            milliseconds(row["max"]),
            share_text(row, "whole_in_time"),
            str(row["partial"]),
            str(row["empty"]),
        )
        for row in rows
        if (row["language"], row["length"]) == (ALL, ALL)
    )
    print_table(columns, cells, left=range(2))


def _print_ratios(rows: Iterable[dict[str, Any]]) -> None:
    say("", "times of others by those of our recall, over the queries both answered, warm")
    cells = (
        (
            row["system"],
            f"{row['entries']:,}",
            str(row["n"]),
            *(f"{row[name]:.2f}" for name in ("p50", "p95", "median")),
        )
        for row in rows
    )
    columns = ("system", "entries", "n", "of p50", "of p95", "median of ratios")
    print_table(columns, cells, left=(0,))


def _print_quality(rows: Iterable[dict[str, Any]]) -> None:
    say("", "what an answer is worth under a deadline (nDCG@10)")
    columns = ("state", "entries", "deadline", "n", "nDCG@10", "loss", "kept, %", "whole",
               "partial", "empty", "most over, ms")  # fmt: skip
    cells = (
        (
            STATE_WORDS[row["state"]],
            f"{row['entries']:,}",
            deadline_text(row["deadline_ms"]),
            str(row["n"]),
            figure_text(row, "ndcg"),
            figure_text(row, "loss"),
            "–" if row["kept"] is None else f"{100 * row['kept']:.1f}",
            *(str(row[name]) for name in ("whole", "partial", "empty")),
            milliseconds(row["most_over_ms"]),
        )
        for row in rows
    )
    print_table(columns, cells, left=(0,))
