"""What many workspaces cost: disk, memory, recalls a second, walks, commits, users.

    python benchmarks/scaling.py [--scopes 1 100 1000] [--save]   measure, about two minutes
    python benchmarks/scaling.py --write | --check                the tables of scaling.md

Real stores are written by the real store and asked through the real engine, each part in a fresh
process. Their sizes follow Zipf's law between 20 and 2 000 entries (the share of workspaces larger
than x falls as 1/x), and so does which of them is asked (the k-th by rank 1/k as often as the
first); the two have nothing to do with each other. A question is cut from an entry of the
workspace it is asked in. What cannot be built here is computed by `scaling_page` from what was.

Times are seconds of processor, which a busy machine lengthens little; commits wait for the disk,
so theirs are of the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.saving import circumstances, save
from benchmarks.scaling_page import IN_GLOBAL, RESULTS, Stream, sizes, write_page
from benchmarks.scaling_probes import (
    OPERATIONS,
    Answers,
    CountingFiles,
    bytes_in,
    cost_of,
    handles,
    resident,
    stage,
    unstarted,
)
from benchmarks.scaling_stores import SEED, Questions, build, directory
from wsmem.engine.corpora import _MAX_CORPORA, Corpora
from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.registry import RegistrySync
from wsmem.evals.synthetic import synthetic_entries
from wsmem.records import RecallInput
from wsmem.scopes import ScopeResolver, workspace_scope
from wsmem.settings import Settings
from wsmem.store.access import _MAX_SNAPSHOTS
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAM, COMMITS, ENGINES = 1500, 24, 40


def disk_part(root: Path, count: int) -> dict[str, float]:
    """Bytes, blocks and files of a store, shared out over its workspaces."""
    scopes = root / "scopes"
    paths = list(scopes.rglob("*"))
    files = [path.stat() for path in paths if path.is_file()]
    blocks = sum(path.stat().st_blocks * 512 for path in paths)
    return {
        "entries": sum(sizes(count)) / count,
        "bytes": sum(status.st_size for status in files) / count,
        "blocks": blocks / count,
        "files": len(files) / count,
        "inodes": len(paths) / count,
    }


async def memory_part(root: Path, count: int) -> dict[str, float]:
    """Bytes of memory: the program, an entry parsed and indexed, and after many more scopes."""
    questions = Questions(root)
    numbers = list(range(min(count, 300)))
    questions.prepare(numbers)
    settings = Settings(memory_dir=str(root))
    async with unstarted(WorkspaceMemoryEngine(settings)) as engine:
        await engine.recall(questions.ask(0))
        await engine.warm(cwd=directory(0))
        begun = resident()
        kept = numbers[1:64]
        await cost_of(engine, [questions.ask(number) for number in kept])
        parsed = resident()
        for number in kept[-31:]:
            await engine.warm(cwd=directory(number))
        indexed = resident()
        await cost_of(engine, [questions.ask(number) for number in numbers[64:]])
        after = resident()
        held = sizes(count)
    return {
        "program": begun,
        "parsed_an_entry": (parsed - begun) / sum(held[number] for number in kept),
        "indexed_an_entry": (indexed - parsed) / sum(held[n] + IN_GLOBAL for n in kept[-31:]),
        "after_64": indexed,
        "after_300": after,
        **handles(),
    }


async def costs_part(root: Path, count: int) -> dict[str, float]:
    """Seconds of processor for each of the things that recalls are made of."""
    questions = Questions(root)
    numbers = list(range(min(count, 300)))
    questions.prepare(numbers)
    settings = Settings(memory_dir=str(root))
    async with unstarted(WorkspaceMemoryEngine(settings, corpora=Corpora())) as engine:
        await engine.recall(questions.ask(0))
        cold = await cost_of(engine, [questions.ask(number) for number in numbers[1:]])
        held = numbers[-30:]
        scan = await cost_of(engine, [questions.ask(number) for number in held * 4])
    async with unstarted(WorkspaceMemoryEngine(settings)) as engine:
        await engine.warm(cwd=directory(0))
        await cost_of(engine, [questions.ask(number) for number in held])
        begun = time.process_time()
        for number in held:
            await engine.warm(cwd=directory(number))
        build_ = (time.process_time() - begun) / len(held)
        warm = await cost_of(engine, [questions.ask(number) for number in held * 10])
    # To a workspace of mean size, in proportion to what is read or ranked.
    each = sizes(count)
    all_of_it, of_cold = mean(each), mean(each[number] for number in numbers[1:])
    of_held = mean(each[number] for number in held) + IN_GLOBAL
    share = (all_of_it + IN_GLOBAL) / of_held
    read = (cold - scan * (of_cold + IN_GLOBAL) / of_held) * all_of_it / of_cold
    return {"read": read, "scan": scan * share, "build": build_ * share, "warm": warm * share}


async def stream_part(root: Path, count: int) -> dict[str, Any]:
    """A stream of recalls as users send them, after as many to settle down."""
    stream = Stream(count)
    numbers = [stream.next() for _ in range(2 * STREAM)]
    questions = Questions(root)
    questions.prepare(numbers)
    async with unstarted(WorkspaceMemoryEngine(Settings(memory_dir=str(root)))) as engine:
        await cost_of(engine, [questions.ask(number) for number in numbers[:STREAM]])
        walls = []
        begun = time.process_time()
        for number in numbers[STREAM:]:
            started = time.perf_counter()
            await engine.recall(questions.ask(number))
            walls.append((time.perf_counter() - started) * 1000)
        spent = (time.process_time() - begun) / STREAM
        found = handles()
    walls.sort()
    return {
        "scopes": count,
        "recalls": STREAM,
        "seconds": spent,
        "p50_ms": walls[len(walls) // 2],
        "p95_ms": walls[int(len(walls) * 0.95)],
        **found,
    }


async def walks_part(root: Path, count: int) -> dict[str, float]:
    """Seconds of processor of what looks at every scope."""
    settings, store = Settings(memory_dir=str(root)), MemoryStore(root)
    begun = time.process_time()
    names = sorted((root / "scopes").iterdir())
    listing = time.process_time() - begun
    engine = WorkspaceMemoryEngine(settings)
    begun = time.process_time()
    await engine.start()
    start = time.process_time() - begun
    begun = time.process_time()
    await engine.recall(RecallInput(query="x", cwd="/srv/unknown", deadline_ms=math.inf))
    unknown = time.process_time() - begun
    await engine.close()

    class Nobody(ScopeResolver):
        def registered_keys(self) -> frozenset[str]:
            return frozenset()

    begun = time.process_time()
    RegistrySync(store, Nobody(None)).step()
    registry = time.process_time() - begun
    return {
        "scopes": count,
        "names": listing / len(names),
        "start": start,
        "unknown_directory": unknown,
        "registry": registry,
        "registry_every": settings.registry_sync_ms / 1000,
    }


async def commits_part(root: Path, count: int) -> dict[str, float]:
    """Stages of five operations: what they ask of the disk, one scope's rate and four scopes'."""
    fresh = iter(entry.content for entry in synthetic_entries(2000, seed=SEED + 3))
    files = CountingFiles()
    middle = sorted(range(count), key=sizes(count).__getitem__)[count // 2]
    numbers = [(middle + step) % count for step in range(4)]
    store = MemoryStore(root, fs=files)
    settings = Settings(memory_dir=str(root))
    folder = Path(store.layout.scope(workspace_scope(directory(middle)).key))
    engine = WorkspaceMemoryEngine(settings, distiller=Answers(fresh), store=store)
    async with unstarted(engine):

        async def stages(number: int) -> list[float]:
            return [await stage(engine, number, next(fresh)) for _ in range(COMMITS)]

        await stage(engine, middle, next(fresh))
        before, files.syncs, files.written = bytes_in(folder), 0, 0
        alone = await stages(middle)
        syncs, written = files.syncs / COMMITS, files.written / COMMITS
        grown = (bytes_in(folder) - before) / COMMITS
        for number in numbers:
            await stage(engine, number, next(fresh))
        begun = time.perf_counter()
        await asyncio.gather(*map(stages, numbers))
        together = 4 * COMMITS / (time.perf_counter() - begun)
    return {
        "syncs": syncs,
        "written": written,
        "grown": grown,
        "ms": median(alone) * 1000,
        "alone": 1 / mean(alone),
        "four_scopes": together,
        "operations": OPERATIONS,
        "entries_before": sizes(count)[middle],
    }


async def users_part(root: Path, _count: int) -> dict[str, float]:
    """Engines over stores of their own in one process, after one recall each."""
    found: list[dict[str, float]] = []
    engines = []
    for user in range(ENGINES + 1):
        place = root / str(user)
        questions = Questions(place)
        questions.prepare([0])
        engine = WorkspaceMemoryEngine(Settings(memory_dir=str(place)))
        await engine.start()
        await engine.recall(questions.ask(0))
        engines.append(engine)
        if user in {0, ENGINES}:
            found.append({"resident": resident(), **handles()})
    for engine in engines:
        await engine.close()
    first, last = found
    each = {name: (last[name] - first[name]) / ENGINES for name in first}
    return {"entries": sizes(1)[0] + IN_GLOBAL, "program": first["resident"], **each}


PARTS = {
    "memory": memory_part,
    "costs": costs_part,
    "stream": stream_part,
    "walks": walks_part,
    "commits": commits_part,
    "users": users_part,
}


def part(name: str, root: Path, count: int) -> dict[str, Any]:
    """One part in a process of its own."""
    command = [sys.executable, __file__, "--part", name, "--root", str(root)]
    answer = subprocess.run(
        [*command, "--scopes", str(count)], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    print(f"{name} {count}: {found}", flush=True)
    return found


def measure(counts: Sequence[int], folder: Path) -> dict[str, Any]:
    """Every part; those that depend on the number of workspaces for each number."""
    roots = {count: folder / str(count) for count in counts}
    for count, root in roots.items():
        build(root, count)
    for user in range(ENGINES + 1):
        build(folder / "users" / str(user), 1)
    most = max(counts)
    return {
        **circumstances(),
        "kept": {"parsed": _MAX_SNAPSHOTS - 1, "indexed": _MAX_CORPORA},  # one is the global scope
        "disk": disk_part(roots[most], most),
        "memory": part("memory", roots[most], most),
        "costs": part("costs", roots[most], most),
        "streams": [part("stream", roots[count], count) for count in counts],
        "walks": [part("walks", roots[count], count) for count in counts],
        "users": part("users", folder / "users", 1),
        "commits": part("commits", roots[most], most),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scopes", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--save", action="store_true", help="keep the figures, write the page")
    parser.add_argument("--write", action="store_true", help="write the page from kept figures")
    parser.add_argument("--check", action="store_true", help="see that the page is current")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        print(json.dumps(asyncio.run(PARTS[given.part](given.root, given.scopes[0]))))
        return 0
    if not (given.write or given.check):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(given.scopes, Path(folder))
        if not given.save:
            return 0
        save(RESULTS, found)
    return write_page(check=given.check)


if __name__ == "__main__":
    sys.exit(main())
