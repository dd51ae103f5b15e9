"""How long the store takes to commit and to read, by store size.

    python benchmarks/crash/commit_speed.py [--entries 1000 10000] [--commits 20] [--save]

One commit changes five entries, the state with 10 000 seen ids, the summary and its history, and
adds a checkpoint file: what a stage of the engine writes, fsynced. `--save` adds a dated JSON file
to `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.saving import circumstances, dated, save
from wsmem.records import MemoryEntry, MemoryState
from wsmem.store.layout import ScopeRef, iso_time
from wsmem.store.store import MemoryStore
from wsmem.store.summary import render_summary
from wsmem.store.wording import CHINESE

if TYPE_CHECKING:
    from collections.abc import Callable

    from wsmem.store.transaction import Transaction

SCOPE = ScopeRef("ws-8d26a3233b5832695aac", "/srv/proj-a")
LETTERS = "的一是在不了有和人这中大为上个国我以要他时来用们 数据库部署 redis port service owns "
START_MS = 1_788_220_800_000


def some_entry(number: int, chance: random.Random) -> MemoryEntry:
    """About 230 characters of content, 1.5 kB in the file."""
    content = "".join(chance.choices(LETTERS, k=232))
    moment = iso_time(START_MS + number * 1000)
    return MemoryEntry(
        id=f"mem-{number:012x}",
        content=content,
        title=content[:80],
        description=content[:240],
        retrieval_terms=("端口", "database"),
        tags=("db",),
        importance=float(number % 4),
        created_at=moment,
        updated_at=moment,
    )


def stage(tx: Transaction, number: int, chance: random.Random) -> None:
    """Five changed entries and everything that goes with them."""
    before = tx.snapshot(SCOPE)
    entries = list(before.entries)
    for _ in range(5):
        at = chance.randrange(len(entries))
        entries[at] = entries[at].with_changes(content=f"{entries[at].content} {number}")
    seen = (*before.state.seen_message_ids[1:], f"message-new-{number}")
    tx.set_entries(SCOPE, entries)
    tx.set_state(SCOPE, replace(before.state, version=number, seen_message_ids=seen))
    summary = render_summary(entries, kind="workspace", max_bytes=3000, wording=CHINESE)
    tx.set_summary(SCOPE, summary, keep=10)
    tx.add_checkpoint(SCOPE, "x" * 3000)


def timed(act: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def measure(root: Path, count: int, commits: int) -> dict[str, float]:
    """The figures for one store size."""
    chance = random.Random(count)
    store = MemoryStore(root)
    with store.transaction(SCOPE) as tx:
        tx.set_entries(SCOPE, [some_entry(number, chance) for number in range(count)])
        ids = tuple(f"message-{number:08d}" for number in range(10_000))
        tx.set_state(SCOPE, MemoryState(seen_message_ids=ids))
    numbers = iter(range(1, 1_000_000))

    def commit(through: MemoryStore) -> Callable[[], object]:
        return lambda: through.update([SCOPE], lambda tx: stage(tx, next(numbers), chance))

    warm = sorted(timed(commit(store)) for _ in range(commits))
    other = MemoryStore(root)
    cold_read = timed(lambda: other.read_scope(SCOPE))
    first = timed(commit(other))
    reread = timed(lambda: store.read_scope(SCOPE))
    reads = 1000
    same = timed(lambda: [store.read_scope(SCOPE) for _ in range(reads)]) / reads
    size = Path(store.layout.scope(SCOPE.key), "memory_entries.json").stat().st_size
    return {
        "entries": count,
        "megabytes": round(size / 1e6, 1),
        "commit_median": round(median(warm), 1),
        "commit_p95": round(warm[int(len(warm) * 0.95) - 1], 1),
        "first_commit_of_a_process": round(first, 1),
        "first_read_of_a_process": round(cold_read, 1),
        "read_after_another_process_wrote": round(reread, 1),
        "read_unchanged": round(same, 3),
    }


def main() -> None:
    """Measure, print, save when asked."""
    parser = argparse.ArgumentParser(description="Time commits and reads.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    results = []
    for count in given.entries:
        with tempfile.TemporaryDirectory(prefix="wsmem-speed-") as folder:
            results.append(measure(Path(folder) / "memory", count, given.commits))
        print("  ".join(f"{name} {value}" for name, value in results[-1].items()))
    if given.save:
        save(dated("commit-speed"), circumstances() | {"milliseconds": results})


if __name__ == "__main__":
    main()
