"""How `wsmem bench` prints what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from wsmem.cli.output import note
from wsmem.cli.tables import whole_console
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
            print(f"\n{size:,} entries: milliseconds of a recall, and those whole in "
                  f"{plan.deadline_ms:g} ms")  # fmt: skip
            _print(_times(row for row in found.rows if row["entries"] == size))
        if found.ratios:
            print("\ntimes of others by those of our recall, over the queries both answered, warm")
            _print(_ratios(row for row in found.ratios if row["state"] == "warm"))
        if found.quality:
            print("\nwhat an answer is worth under a deadline (nDCG@10)")
            _print(_quality(row for row in found.quality if row["dataset"] == ALL))
    for row in found.skipped:
        note(f"not measured at {row['entries']:,} entries: {row['what']}: {row['reason']}")


def _times(rows: Iterable[dict[str, Any]]) -> Table:
    table = _table("state", "system", "n", "p50", "p95", "p99", "max", "whole in time, %",
                   "partial", "empty")  # fmt: skip
    for row in rows:
        if (row["language"], row["length"]) == (ALL, ALL):
            table.add_row(
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
    return table


def _ratios(rows: Iterable[dict[str, Any]]) -> Table:
    table = _table("system", "entries", "n", "of p50", "of p95", "median of ratios")
    for row in rows:
        ratios = (f"{row[name]:.2f}" for name in ("p50", "p95", "median"))
        table.add_row(row["system"], f"{row['entries']:,}", str(row["n"]), *ratios)
    return table


def _quality(rows: Iterable[dict[str, Any]]) -> Table:
    table = _table("state", "entries", "deadline", "n", "nDCG@10", "loss", "kept, %", "whole",
                   "partial", "empty", "most over, ms")  # fmt: skip
    for row in rows:
        table.add_row(
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
    return table


def _table(first: str, *columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, no_wrap=True, justify="left" if column == "system" else "right")
    return table


def _print(table: Table) -> None:
    """Print a table whole: a terminal may wrap its lines, but no cell is cut short."""
    whole_console().print(table)
