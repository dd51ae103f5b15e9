"""What an index costs: time to build, memory over the parsed entries, and each change to it.

    python benchmarks/index_cost.py [--entries 1000 10000 100000] [--edits 300] [--save FILE]

Every size has a process of its own, which parses the entries first and then measures what the index
adds. An edit adds or revises one entry; it is timed with its place named (`changed`), as a caller
can who knows it, and left to be found, as the engine does. The first query after an edit is timed
beside the same query again, which is what the edit makes queries cost. Merges of segments are edits
like any other: the worst one is shown. Times are of the processor: nothing here waits, and others
may be busy meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.saving import circumstances, save
from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.store.codec import entry_to_stored

NOW = 1_790_000_000_000
SEED = 7
MEGABYTE = 1e6
WARMING = 100
"""Queries after which memory is looked at once more."""


def resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def parsed(path: Path) -> tuple[MemoryEntry, ...]:
    """Entries of a file, as the store reads them."""
    raw = json.loads(path.read_bytes())
    return tuple(MemoryEntry.from_stored(each) for each in raw)


def costs(path: Path, edits: int) -> dict[str, Any]:
    """All figures for the entries of a file; to be asked in a fresh process."""
    profile = load_profile("default")
    small = Index.build(synthetic_entries(20, seed=1))
    rank(small, "imports, 和首次使用时才有的表", profile, now=NOW)
    entries = parsed(path)
    queries = synthetic_queries(entries[:1000], WARMING, seed=SEED + 1)
    gc.collect()
    before = resident()
    started = time.thread_time()
    index = Index.build(entries)
    built = time.thread_time() - started
    gc.collect()
    added = resident() - before
    for query in queries:
        rank(index, query.text, profile, now=NOW)
    gc.collect()
    warm = resident() - before
    return {
        "entries": len(entries),
        "build_us_an_entry": round(built / len(entries) * 1e6, 1),
        "memory_mb": round(added, 1),
        "memory_once_asked_mb": round(warm, 1),
        "edits": {
            "named": edited(index, entries, edits, named=True),
            "found": edited(index, entries, edits, named=False),
        },
    }


def edited(
    index: Index, entries: tuple[MemoryEntry, ...], edits: int, *, named: bool
) -> dict[str, Any]:
    """Milliseconds of adding and revising entries one by one, and of the first query after each."""
    fresh = synthetic_entries(edits, seed=SEED + 2)
    queries = [query.text for query in synthetic_queries(entries[:1000], edits, seed=SEED + 3)]
    profile = load_profile("default")
    for query in queries[:20]:
        rank(index, query, profile, now=NOW)
    adding: list[float] = []
    revising: list[float] = []
    lagging: list[float] = []
    generator = np.random.default_rng(SEED)
    gc.collect()
    gc.freeze()  # both lists are old: their age is not what is measured
    for number, (entry, query) in enumerate(zip(fresh, queries, strict=True)):
        if number % 2:
            place, times = len(entries), adding
            entries = (*entries, replace(entry, id=f"new-{number}"))
        else:
            place, times = int(generator.integers(len(entries))), revising
            revised = replace(entries[place], content=entry.content)
            entries = (*entries[:place], revised, *entries[place + 1 :])
        started = time.thread_time()
        index = index.updated(entries, changed=(place,) if named else None)
        times.append((time.thread_time() - started) * 1000)
        first, again = (timed(index, query, profile) for _ in range(2))
        lagging.append(first - again)
    gc.unfreeze()
    return {
        "add": spread(adding),
        "revise": spread(revising),
        "first_query_adds": spread(lagging),
        "segments": len(index.segments),
    }


def timed(index: Index, query: str, profile: Any) -> float:
    """Milliseconds of one ranking."""
    started = time.thread_time()
    rank(index, query, profile, now=NOW)
    return (time.thread_time() - started) * 1000


def spread(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile, worst and mean."""
    return {
        "median_ms": round(median(values), 3),
        "p95_ms": round(float(np.percentile(values, 95)), 3),
        "worst_ms": round(max(values), 3),
        "mean_ms": round(sum(values) / len(values), 3),
    }


def measure(count: int, edits: int) -> dict[str, Any]:
    """The costs at one size, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entries.json"
        stored = [entry_to_stored(entry) for entry in synthetic_entries(count, seed=SEED)]
        path.write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, __file__, "--of", str(path), "--edits", str(edits)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def show(figures: dict[str, Any]) -> None:
    """Print one size."""
    print(
        f"\n{figures['entries']} entries: built in {figures['build_us_an_entry']} us an entry, "
        f"{figures['memory_mb']} MB, {figures['memory_once_asked_mb']} MB once asked"
    )
    for way, rows in figures["edits"].items():
        for name in ("add", "revise", "first_query_adds"):
            row = rows[name]
            print(
                f"  {way:6} {name:17} median {row['median_ms']:8.3f} ms  p95 {row['p95_ms']:8.3f}"
                f"  worst {row['worst_ms']:9.3f}  mean {row['mean_ms']:8.3f}"
            )


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Measure what an index costs.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.of is not None:
        print(json.dumps(costs(given.of, given.edits)))
        return
    results = []
    for count in given.entries:
        results.append(measure(count, given.edits))
        show(results[-1])
    if given.save:
        save(given.save, circumstances() | {"results": results})


if __name__ == "__main__":
    main()
