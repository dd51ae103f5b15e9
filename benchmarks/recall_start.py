"""How long one `wsmem recall` takes as a whole process, beside a bare interpreter.

    python benchmarks/recall_start.py [--entries 1000 10000] [--runs 15] [--save FILE]

For every size a process that reads the entries and one that has postings (`wsmem index`) answer the
same queries, each beside a bare interpreter, all three in turn, so that a busy machine slows them
alike; read the ratios. Times are of the processor (user and system) and of the clock on the wall.
Counted beside them, without a clock: bytes read and entries decoded. The package's byte code is
written first: an installation has it, a fresh checkout under PYTHONDONTWRITEBYTECODE does not.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.saving import circumstances, save
from wsmem.engine.once import recall_once
from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.records import RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.fs import FileSystem
from wsmem.store.layout import ENTRIES
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.store.fs import FileStamp
    from wsmem.store.layout import ScopeLike
    from wsmem.store.postings import FiledScope, OpenFiles

ROOT = Path(__file__).resolve().parents[1]
CWD = "/srv/bench"
BARE = (sys.executable, "-c", "pass")
WSMEM = (sys.executable, "-m", "wsmem.cli.main")
FEW_FROM, FEW = 50_000, 6
"""From so many entries on only so many queries are asked: reading the entries takes seconds."""


class Taken(NamedTuple):
    """What one process took, in ms, and what it printed."""

    processor: float
    wall: float
    said: str


def timed(command: tuple[str, ...], *, postings: str = "on") -> Taken:
    """Run one process that must succeed."""
    environment = {**os.environ, "WSMEM_POSTINGS": postings}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Taken(spent * 1000, wall * 1000, ran.stdout.decode())


class CountingFiles(FileSystem):
    """The file system, with a count of the bytes it gives."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, path: str) -> tuple[bytes, FileStamp] | None:
        """Read a file and count it."""
        found = super().read(path)
        self.given += len(found[0]) if found else 0
        return found

    def read_at(self, fd: int, start: int, size: int) -> bytes:
        """Read a part of a file and count it."""
        data = super().read_at(fd, start, size)
        self.given += len(data)
        return data


class CountingStore(MemoryStore):
    """A store that keeps what it opened."""

    def __init__(self, root: str, fs: FileSystem) -> None:
        super().__init__(root, fs=fs)
        self.filed: list[FiledScope] = []

    def open_postings(self, scope: ScopeLike, files: OpenFiles) -> FiledScope | None:
        """Open postings and keep them."""
        found = super().open_postings(scope, files)
        if found is not None:
            self.filed.append(found)
        return found


def work(folder: str, query: str, entries: int, *, postings: str) -> dict[str, int]:
    """What one recall reads, counted in this process."""
    files = CountingFiles()
    store = CountingStore(folder, files)
    settings = Settings(memory_dir=folder, postings=postings)  # type: ignore[arg-type]  # on or off
    recall_once(settings, RecallInput(query=query, cwd=CWD), store=store)
    read = sum(scope.postings.entries_read for scope in store.filed) if store.filed else entries
    return {"bytes": files.given, "entries": read}


def measure(count: int, runs: int) -> dict[str, Any]:
    """Medians over the queries of one store."""
    entries = synthetic_entries(count, seed=7)
    runs = min(runs, FEW) if count >= FEW_FROM else runs
    queries = [query.text for query in synthetic_queries(entries, runs, seed=8)]
    with tempfile.TemporaryDirectory() as folder:
        scope = workspace_scope(CWD)
        with MemoryStore(folder).transaction(scope) as transaction:
            transaction.set_entries(scope, entries)
        where = ("--cwd", CWD, "--memory-dir", folder)
        time.sleep(2.5)  # entries written just now have to settle
        written = timed((*WSMEM, "index", *where, "--json"))
        built = json.loads(written.said)["scopes"][0]
        rounds = [ask(query, where) for query in queries]
        kinds = {"scan": "off", "postings": "on"}
        counted = {
            kind: [work(folder, query, count, postings=on) for query in queries]
            for kind, on in kinds.items()
        }
        size = (Path(MemoryStore(folder).layout.scope(scope.key)) / ENTRIES).stat().st_size
    bare, *ways = zip(*rounds, strict=True)
    return {
        "entries": count,
        "queries": runs,
        "bare_ms": times(bare),
        **{
            kind: {
                "ms": times(way),
                "ratio": ratios(way, bare),
                "bytes_read": round(median(one["bytes"] for one in counted[kind])),
                "entries_decoded": round(median(one["entries"] for one in counted[kind])),
            }
            for kind, way in zip(kinds, ways, strict=True)
        },
        "same_answers": sum(shown(a) == shown(b) for a, b in zip(*ways, strict=True)),
        "file": {
            "entries_bytes": size,
            "postings_bytes": built["size"],
            "build_seconds": round(written.processor / 1000, 2),
            "build_us_an_entry": round(written.processor * 1000 / count),
        },
    }


def ask(query: str, where: tuple[str, ...]) -> tuple[Taken, Taken, Taken]:
    """A bare interpreter, then a recall without postings, then one with."""
    command = (*WSMEM, "recall", query, *where, "--json")
    return timed(BARE), timed(command, postings="off"), timed(command)


def shown(taken: Taken) -> list[str]:
    """Ids of the answer, in order."""
    return [match["id"] for match in json.loads(taken.said)["matches"]]


def times(taken: Sequence[Taken]) -> dict[str, float]:
    """Medians, and the slowest."""
    return {
        "processor": round(median(one.processor for one in taken), 1),
        "wall": round(median(one.wall for one in taken), 1),
        "most_processor": round(max(one.processor for one in taken), 1),
    }


def ratios(taken: Sequence[Taken], bare: Sequence[Taken]) -> dict[str, float]:
    """Medians of the ratios to the bare interpreter that ran just before."""
    pairs = list(zip(taken, bare, strict=True))
    return {
        "processor": round(median(a.processor / b.processor for a, b in pairs), 2),
        "wall": round(median(a.wall / b.wall for a, b in pairs), 2),
    }


def line(result: dict[str, Any]) -> str:
    """One size in a line."""
    ways = [
        f"{kind} {result[kind]['ms']['processor']:.1f} ms ({result[kind]['ratio']['processor']}x,"
        f" at most {result[kind]['ms']['most_processor']}),"
        f" {result[kind]['bytes_read'] / 1e6:.2f} MB, {result[kind]['entries_decoded']} decoded;"
        for kind in ("scan", "postings")
    ]
    return (
        f"{result['entries']:7} entries: bare {result['bare_ms']['processor']:.1f} ms"
        f" of the processor; {' '.join(ways)} same answers {result['same_answers']} of"
        f" {result['queries']}; built in {result['file']['build_seconds']} s"
    )


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time wsmem recall as a process.")
    parser.add_argument("--entries", type=int, nargs="+", default=[100, 1_000, 2_000, 10_000])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    compileall.compile_dir(ROOT / "wsmem", quiet=1)
    results = []
    for count in given.entries:
        result = measure(count, given.runs)
        results.append(result)
        print(line(result), flush=True)
    if given.save:
        save(given.save, circumstances() | {"results": results})


if __name__ == "__main__":
    main()
