"""How long one `wsmem recall` takes as a whole process, beside a bare interpreter.

    python benchmarks/recall_start.py [--entries 1000 2000 10000] [--runs 15] [--save FILE]

Both are started in turn, so that a busy machine slows them alike; read the ratios. Times are of the
processor (user and system) and of the clock on the wall. The package's byte code is written first:
an installation has it, a fresh checkout under PYTHONDONTWRITEBYTECODE does not.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.scopes import workspace_scope
from wsmem.store.store import MemoryStore

ROOT = Path(__file__).resolve().parents[1]
CWD = "/srv/bench"
BARE = (sys.executable, "-c", "pass")


def timed(command: tuple[str, ...]) -> tuple[float, float]:
    """Milliseconds of processor and wall of one process that must succeed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent * 1000, wall * 1000


def measure(count: int, runs: int) -> dict[str, Any]:
    """Medians over `runs` queries of one store, each beside a bare start."""
    entries = synthetic_entries(count, seed=7)
    queries = [query.text for query in synthetic_queries(entries, runs, seed=8)]
    with tempfile.TemporaryDirectory() as folder:
        scope = workspace_scope(CWD)
        with MemoryStore(folder).transaction(scope) as transaction:
            transaction.set_entries(scope, entries)
        where = ("--cwd", CWD, "--memory-dir", folder)
        pairs = [
            (timed(BARE), timed((sys.executable, "-m", "wsmem.cli.main", "recall", query, *where)))
            for query in queries
        ]
    bare, ours = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return {
        "entries": count,
        "queries": runs,
        "bare_ms": {"processor": middle(bare, 0), "wall": middle(bare, 1)},
        "recall_ms": {"processor": middle(ours, 0), "wall": middle(ours, 1)},
        "ratio": {
            "processor": round(median(b[0] / a[0] for a, b in pairs), 2),
            "wall": round(median(b[1] / a[1] for a, b in pairs), 2),
        },
    }


def middle(times: list[tuple[float, float]], which: int) -> float:
    return round(median(time[which] for time in times), 1)


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time wsmem recall as a process.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 2_000, 10_000])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    compileall.compile_dir(ROOT / "wsmem", quiet=1)
    results = [measure(count, given.runs) for count in given.entries]
    for result in results:
        print(
            f"{result['entries']:6} entries: bare {result['bare_ms']['processor']:6.1f} ms,"
            f" recall {result['recall_ms']['processor']:6.1f} ms,"
            f" ratio {result['ratio']['processor']:.2f} of processor time,"
            f" {result['ratio']['wall']:.2f} on the wall"
        )
    if given.save:
        report = {
            "measured": datetime.now(UTC).date().isoformat(),
            "command": " ".join(["python", *sys.argv]),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
            "results": results,
        }
        given.save.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
