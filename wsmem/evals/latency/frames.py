"""Tables of a run of latency, as frames of texts and as rows for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.describing import frame_of
from wsmem.evals.latency.figures import ALL
from wsmem.evals.latency.plan import RANKING, WSMEM
from wsmem.evals.latency.text import (
    STATE_WORDS,
    deadline_text,
    figure_text,
    milliseconds,
    percentile_text,
    share_text,
)

if TYPE_CHECKING:
    import pandas as pd

    from wsmem.evals.latency.run import LatencyRun

TextRow = dict[str, str]


def time_rows(run: LatencyRun, **wanted: Any) -> list[TextRow]:
    """Times of the rows with these values, over all languages and lengths unless they are named."""
    chosen = {"language": ALL, "length": ALL} | wanted
    return [
        {
            "entries": f"{row['entries']:,}",
            "state": STATE_WORDS[row["state"]],
            "system": row["system"],
            "language": row["language"],
            "length": row["length"],
            "n": str(row["n"]),
            "p50, ms": percentile_text(row, "p50"),
            "p95, ms": percentile_text(row, "p95"),
            "p99, ms": milliseconds(row["p99"]),
            "max, ms": milliseconds(row["max"]),
            "whole in time, %": share_text(row, "whole_in_time"),
            "in time, %": share_text(row, "in_time"),
            "partial": str(row["partial"]),
            "empty": str(row["empty"]),
        }
        for row in run.rows(**chosen)
    ]


def surroundings_frame(run: LatencyRun) -> pd.DataFrame:
    """The machine and the day, as the manifest has them."""
    told, machine = run.manifest, run.manifest["machine"]
    facts = {
        "measured": told["started"][:10],
        "machine": f"{machine['cpus']} CPUs, {machine['processor']}",
        "load": " ".join(f"{load:.1f}" for load in machine["load"]),
        "Python": told["python"],
        **told["packages"],
        "recalls timed": f"{sum(row['n'] for row in run.rows(language=ALL, length=ALL)):,}",
    }
    return frame_of([{"fact": name, "value": value} for name, value in facts.items()], "fact")


_TIMES = ("n", "p50, ms", "p95, ms", "p99, ms", "max, ms")


def states_frame(run: LatencyRun, entries: int) -> pd.DataFrame:
    """Our recall in every state of one store size."""
    rows = time_rows(run, entries=entries, system=WSMEM)
    columns = ("state", *_TIMES, "whole in time, %", "partial", "empty")
    return _frame(rows, columns, "state")


def deadline_frame(run: LatencyRun) -> pd.DataFrame:
    """The share answered whole within the deadline: a row a state, a column a store size."""
    rows = []
    for state in run.states:
        row = {"whole in time, %": STATE_WORDS[state]}
        for entries in run.sizes:
            found = run.rows(system=WSMEM, state=state, entries=entries, language=ALL, length=ALL)
            row[f"{entries:,}"] = share_text(found[0], "whole_in_time") if found else "–"
        rows.append(row)
    return frame_of(rows, "whole in time, %")


def systems_frame(run: LatencyRun, entries: int) -> pd.DataFrame:
    """Everybody who answered with a warm engine, at one store size, and what it took to prepare."""
    built = {
        row["system"]: f"{row['seconds']:.2f}"
        for row in run.tables.built
        if row["entries"] == entries
    }
    rows = [
        {**row, "built in, s": built.get(row["system"], "–")}
        for row in time_rows(run, entries=entries, state="warm")
    ]
    return _frame(rows, ("system", *_TIMES, "built in, s"), "system")


def ratios_frame(run: LatencyRun, ratio: str = "p95") -> pd.DataFrame:
    """Time of others by ours over the queries both answered: a row a system, a column a size.

    Args:
        run: The run.
        ratio: `p50` or `p95` for that of the percentiles, `median` for the median of single ones.
    """
    chosen = [row for row in run.tables.ratios if row["state"] == "warm"]
    systems = dict.fromkeys(row["system"] for row in chosen)
    rows = []
    for system in systems:
        line = {"system": system}
        for entries in run.sizes:
            found = [r for r in chosen if (r["system"], r["entries"]) == (system, entries)]
            line[f"{entries:,}"] = f"{found[0][ratio]:.2f}" if found else "–"
        rows.append(line)
    return frame_of(rows, "system")


def groups_frame(run: LatencyRun, entries: int) -> pd.DataFrame:
    """A warm recall by language and length of the query, at one store size."""
    rows = [
        row
        for language in _groups(run, "language")
        for length in _groups(run, "length")
        for row in time_rows(
            run, entries=entries, system=WSMEM, state="warm", language=language, length=length
        )
    ]
    frame = _frame(rows, ("language", "length", *_TIMES), "language")
    return frame.set_index("length", append=True)


def quality_rows(run: LatencyRun, **wanted: Any) -> list[TextRow]:
    """Worth under deadlines of the rows with these values, of all sets unless one is named."""
    return [
        {
            "state": STATE_WORDS[row["state"]],
            "entries": f"{row['entries']:,}",
            "set": row["dataset"],
            "deadline": deadline_text(row["deadline_ms"]),
            "n": str(row["n"]),
            "nDCG@10": figure_text(row, "ndcg"),
            "loss": figure_text(row, "loss"),
            "kept, %": "–" if row["kept"] is None else f"{100 * row['kept']:.1f}",
            "whole": str(row["whole"]),
            "partial": str(row["partial"]),
            "empty": str(row["empty"]),
            "most over, ms": milliseconds(row["most_over_ms"]),
        }
        for row in run.quality(**({"dataset": ALL} | wanted))
    ]


def quality_frame(run: LatencyRun, state: str) -> pd.DataFrame:
    """Worth under deadlines in one state, of all sets together."""
    rows = quality_rows(run, state=state)
    columns = ("entries", "deadline", "n", "nDCG@10", "loss", "kept, %", "whole", "partial",
               "empty", "most over, ms")  # fmt: skip
    return _frame(rows, columns, "entries").set_index("deadline", append=True)


def parts_frame(run: LatencyRun) -> pd.DataFrame:
    """Where the time of a warm recall goes: medians of ranking alone and of all around it."""
    rows = []
    for entries in run.sizes:
        medians = {
            row["system"]: row["p50"]
            for row in run.rows(entries=entries, state="warm", language=ALL, length=ALL)
        }
        if RANKING in medians:
            whole, ranking = medians[WSMEM], medians[RANKING]
            rows.append(
                {
                    "entries": f"{entries:,}",
                    "recall, ms": milliseconds(whole),
                    "ranking, ms": milliseconds(ranking),
                    "around it, ms": milliseconds(whole - ranking),
                    "ranking, %": f"{100 * ranking / whole:.0f}",
                }
            )
    return frame_of(rows, "entries")


def skipped_frame(run: LatencyRun) -> pd.DataFrame:
    """What was planned and not measured, with the reason; one row says so if there is nothing."""
    rows = [
        {"what": row["what"], "entries": f"{row['entries']:,}", "reason": row["reason"]}
        for row in run.tables.skipped
    ]
    nothing = {"what": "nothing", "entries": "0", "reason": "everything was measured"}
    return frame_of(rows or [nothing], "what")


def _groups(run: LatencyRun, dimension: str) -> list[str]:
    return [name for name in dict.fromkeys(r[dimension] for r in run.tables.rows) if name != ALL]


def _frame(rows: list[TextRow], columns: tuple[str, ...], index: str) -> pd.DataFrame:
    return frame_of([{name: row[name] for name in columns} for row in rows], index)
