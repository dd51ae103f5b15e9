"""How fast the engine is through its public calls, and how often it keeps its deadline.

    python benchmarks/engine_speed.py [--entries 100 1000 10000] [--plugin DIR] [--save FILE]

For every store size: recalls of a warm engine, recalls of fresh processes, recalls while another
task commits checkpoints; stages of five operations, and the part of them after the model answered
(the commit); how many recalls were answered whole within the deadline, and how late the last came.
Stores and queries are synthetic and seeded. `--plugin` is a folder into which the public plugin was
installed (npm i @flowingspring/dsh-workspace-memory); its engine then answers the same calls with
Node, and the last lines are its medians by ours. Read ratios, not milliseconds: they hold on a
busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage, RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.store import MemoryStore

CWD = "/srv/bench"
PLUGIN_CORE = "node_modules/@flowingspring/dsh-workspace-memory/lib/core.js"
OPERATIONS = 5
DEADLINE_MS = 250.0

ONE_RECALL = """
import json, sys, time
from wsmem.engine.once import recall_once
from wsmem.records import RecallInput
from wsmem.settings import Settings
root, cwd, query = sys.argv[1:]
asked = time.perf_counter()
context = recall_once(Settings(memory_dir=root), RecallInput(query=query, cwd=cwd))
print(json.dumps({"ms": (time.perf_counter() - asked) * 1000, "degraded": context.degraded}))
"""


class Answers:
    """A distiller that adds prepared contents and notes when it was done."""

    def __init__(self, contents: list[list[str]]) -> None:
        self._contents = iter(contents)
        self.at = 0.0

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        del request
        operations = [{"op": "add", "content": content} for content in next(self._contents)]
        self.at = time.perf_counter()
        return DistillOutput(answer={"version": 1, "operations": operations})


def filled_store(root: Path, count: int, seed: int) -> list[str]:
    """Write a store of so many entries; queries about it."""
    entries = synthetic_entries(count, seed=seed)
    scope = workspace_scope(CWD)
    with MemoryStore(root).transaction(scope) as transaction:
        transaction.set_entries(scope, entries)
    return [query.text for query in synthetic_queries(entries, 200, seed=seed + 1)]


def stages(count: int, seed: int) -> list[dict[str, Any]]:
    """Messages to distil and the contents to add, unlike anything in the store."""
    fresh = synthetic_entries(count * OPERATIONS, seed=seed + 2)
    texts = [entry.content for entry in fresh]
    return [
        {"message": texts[at], "contents": texts[at : at + OPERATIONS]}
        for at in range(0, len(texts), OPERATIONS)
    ]


async def recalls(engine: WorkspaceMemoryEngine, queries: list[str]) -> list[tuple[float, bool]]:
    """Milliseconds of each recall, and whether its answer was whole."""
    found = []
    for query in queries:
        started = time.perf_counter()
        context = await engine.recall(RecallInput(query=query, cwd=CWD, deadline_ms=DEADLINE_MS))
        found.append(((time.perf_counter() - started) * 1000, context.degraded is None))
    return found


async def checkpoint(engine: WorkspaceMemoryEngine, number: int, text: str) -> float:
    """Milliseconds of a whole stage of five operations."""
    message = MemoryMessage(id=f"bench-{number}", role="user", text=text)
    started = time.perf_counter()
    result = await engine.checkpoint(
        CheckpointInput(reason="task-end", cwd=CWD, messages=[message])
    )
    if result.status != "committed":
        raise SystemExit(f"the stage was not committed: {result}")
    return (time.perf_counter() - started) * 1000


async def warm_figures(
    root: Path, queries: list[str], planned: list[dict[str, Any]]
) -> dict[str, Any]:
    """Recalls and stages of one engine that has its index."""
    distiller = Answers([stage["contents"] for stage in planned])
    engine = WorkspaceMemoryEngine(Settings(memory_dir=str(root)), distiller=distiller)
    first = await recalls(engine, queries[:1])
    started = time.perf_counter()
    await engine.warm(cwd=CWD)
    index_s = time.perf_counter() - started
    warm = await recalls(engine, queries)
    half = len(planned) // 2
    whole, commits = [], []
    for number, stage in enumerate(planned[:half]):
        whole.append(await checkpoint(engine, number, stage["message"]))
        commits.append((time.perf_counter() - distiller.at) * 1000)

    async def keep_committing() -> None:
        for number, stage in enumerate(planned[half:], start=half):
            await checkpoint(engine, number, stage["message"])

    committing = asyncio.create_task(keep_committing())
    beside: list[tuple[float, bool]] = []
    while not committing.done():
        beside += await recalls(engine, queries[len(beside) % len(queries) :][:1])
    await committing
    await engine.close()
    return {
        "first recall": answered(first),
        "warm recall": answered(warm),
        "recall while committing": answered(beside),
        "index_build_s": round(index_s, 3),
        "stage": spread(whole),
        "commit": spread(commits),
    }


def cold_figures(root: Path, queries: list[str]) -> dict[str, Any]:
    """Recalls of fresh processes: the answer itself, and the process from start to end."""
    found, processes, bare = [], [], []
    for query in queries:
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", ONE_RECALL, str(root), CWD, query],
            check=True,
            capture_output=True,
            text=True,
        )
        processes.append((time.perf_counter() - started) * 1000)
        told = json.loads(done.stdout)
        found.append((told["ms"], told["degraded"] is None))
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append((time.perf_counter() - started) * 1000)
    return {"cold recall": answered(found), "cold process": spread(processes), "bare": spread(bare)}


def plugin_figures(
    plugin: Path, root: Path, queries: list[str], planned: list[dict[str, Any]]
) -> dict[str, Any]:
    """The same recalls and stages by the public plugin's engine."""
    job = {"root": str(root), "cwd": CWD, "queries": queries, "stages": planned}
    script = Path(__file__).parent / "engine" / "plugin_speed.mjs"
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(job, file)
        file.flush()
        done = subprocess.run(
            ["node", str(script), str(plugin / PLUGIN_CORE), file.name],
            check=True,
            capture_output=True,
            text=True,
        )
    told = json.loads(done.stdout)
    return {
        "recall": spread(told["recall_ms"]),
        "stage": spread(told["stage_ms"]),
        "commit": spread(told["commit_ms"]),
    }


def spread(values: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    last = quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
    return {"count": len(values), "median_ms": round(median(values), 2), "p95_ms": round(last, 2)}


def answered(found: list[tuple[float, bool]]) -> dict[str, float]:
    """`spread`, with how many answers came whole and in time, and the latest of all."""
    times = [ms for ms, _ in found]
    in_time = sum(whole and ms <= DEADLINE_MS for ms, whole in found)
    return spread(times) | {
        "whole_in_time": round(in_time / len(found), 4),
        "latest_ms": round(max(times), 1),
    }


def measure(count: int, *, seed: int, cold: int, plugin: Path | None) -> dict[str, Any]:
    """All figures of one store size."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        queries = filled_store(ours, count, seed)
        shutil.copytree(ours / "scopes", theirs / "scopes")
        planned = stages(12 if count <= 10_000 else 4, seed)
        figures: dict[str, Any] = {"entries": count}
        figures |= cold_figures(ours, queries[: min(cold, len(queries))])
        asked = queries if count <= 10_000 else queries[:60]
        figures |= asyncio.run(warm_figures(ours, asked, planned))
        if plugin is not None and count <= 10_000:
            few = max(3, len(planned) // 4)
            told = plugin_figures(plugin, theirs, queries[::10], planned[:few])
            figures["plugin"] = told
            figures["plugin_by_ours"] = {
                "recall": _ratio(told["recall"], figures["warm recall"]),
                "stage": _ratio(told["stage"], figures["stage"]),
                "commit": _ratio(told["commit"], figures["commit"]),
            }
        return figures


def _ratio(theirs: dict[str, float], ours: dict[str, float]) -> float:
    return round(theirs["median_ms"] / ours["median_ms"], 1)


def show(figures: dict[str, Any]) -> None:
    """Print one store size as a table."""
    print(f"\n{figures['entries']} entries; index built in {figures['index_build_s']} s")
    for name, row in figures.items():
        if isinstance(row, dict) and "median_ms" in row:
            share = f"  whole in time {row['whole_in_time']:7.2%}" if "whole_in_time" in row else ""
            latest = f"  latest {row['latest_ms']:8.1f}" if "latest_ms" in row else ""
            times = f"median {row['median_ms']:9.2f} ms  p95 {row['p95_ms']:9.2f} ms"
            print(f"  {name:24} {times}{share}{latest}")
    process, bare = figures["cold process"]["median_ms"], figures["bare"]["median_ms"]
    print(f"  a cold process takes {process / bare:.1f} times a bare interpreter")
    for name, ratio in figures.get("plugin_by_ours", {}).items():
        theirs = figures["plugin"][name]["median_ms"]
        print(f"  plugin {name:17} median {theirs:9.2f} ms, {ratio:6.1f} times ours")


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time the engine through its public calls.")
    parser.add_argument("--entries", type=int, nargs="+", default=[100, 1_000, 2_000, 10_000])
    parser.add_argument("--cold", type=int, default=10, help="fresh processes at each size")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--plugin", type=Path, help="folder the public plugin is installed in")
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    if given.plugin is not None and shutil.which("node") is None:
        parser.error("--plugin needs Node, and there is none on the path")
    results = []
    for count in given.entries:
        results.append(measure(count, seed=given.seed, cold=given.cold, plugin=given.plugin))
        show(results[-1])
    if given.save:
        report = {
            "measured": datetime.now(UTC).date().isoformat(),
            "command": "python benchmarks/engine_speed.py --entries "
            + " ".join(map(str, given.entries)),
            "machine": {
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "load": round(os.getloadavg()[0], 1),
            },
            "deadline_ms": DEADLINE_MS,
            "operations_a_stage": OPERATIONS,
            "results": results,
        }
        given.save.parent.mkdir(parents=True, exist_ok=True)
        given.save.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
