"""How long a stage takes, and the commit in it, beside the public plugin.

    python benchmarks/engine_speed.py [--entries 100 1000 10000] [--plugin DIR] [--save FILE]

For every store size: how long the index takes, stages of five operations, and the part of them
after the model answered (the commit). How long recalls take is measured by `wsmem bench latency`.
Stores are synthetic and seeded. `--plugin` is a folder into which the public plugin was installed
(npm i @flowingspring/dsh-workspace-memory); its engine then makes the same calls with Node, and the
last lines are its medians by ours. Read ratios, not milliseconds: they hold on a busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.saving import circumstances, save
from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.evals.latency.stores import CWD, write_store
from wsmem.evals.synthetic import synthetic_entries
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage
from wsmem.settings import Settings

PLUGIN_CORE = "node_modules/@flowingspring/dsh-workspace-memory/lib/core.js"
OPERATIONS = 5


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


def stages(count: int, seed: int) -> list[dict[str, Any]]:
    """Messages to distil and the contents to add, unlike anything in the store."""
    fresh = synthetic_entries(count * OPERATIONS, seed=seed, stream=1)
    texts = [entry.content for entry in fresh]
    return [
        {"message": texts[at], "contents": texts[at : at + OPERATIONS]}
        for at in range(0, len(texts), OPERATIONS)
    ]


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


async def our_figures(root: Path, planned: list[dict[str, Any]]) -> dict[str, Any]:
    """Stages of one engine that has its index."""
    distiller = Answers([stage["contents"] for stage in planned])
    async with WorkspaceMemoryEngine(Settings(memory_dir=str(root)), distiller=distiller) as engine:
        started = time.perf_counter()
        await engine.warm(cwd=CWD)
        index_s = time.perf_counter() - started
        whole, commits = [], []
        for number, stage in enumerate(planned):
            whole.append(await checkpoint(engine, number, stage["message"]))
            commits.append((time.perf_counter() - distiller.at) * 1000)
    return {"index_build_s": round(index_s, 3), "stage": spread(whole), "commit": spread(commits)}


def plugin_figures(plugin: Path, root: Path, planned: list[dict[str, Any]]) -> dict[str, Any]:
    """The same stages by the public plugin's engine."""
    job = {"root": str(root), "cwd": CWD, "stages": planned}
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
    return {"stage": spread(told["stage_ms"]), "commit": spread(told["commit_ms"])}


def spread(values: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    last = quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
    return {"count": len(values), "median_ms": round(median(values), 2), "p95_ms": round(last, 2)}


def measure(count: int, *, seed: int, plugin: Path | None) -> dict[str, Any]:
    """All figures of one store size."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        write_store(ours, tuple(synthetic_entries(count, seed=seed)))
        shutil.copytree(ours / "scopes", theirs / "scopes")
        planned = stages(12 if count <= 10_000 else 4, seed)
        figures = {"entries": count} | asyncio.run(our_figures(ours, planned))
        if plugin is not None and count <= 10_000:
            told = plugin_figures(plugin, theirs, planned[: max(3, len(planned) // 4)])
            figures["plugin"] = told
            figures["plugin_by_ours"] = {
                name: round(told[name]["median_ms"] / figures[name]["median_ms"], 1)
                for name in ("stage", "commit")
            }
        return figures


def show(figures: dict[str, Any]) -> None:
    """Print one store size as a table."""
    print(f"\n{figures['entries']} entries; index built in {figures['index_build_s']} s")
    for name in ("stage", "commit"):
        row = figures[name]
        print(f"  {name:10} median {row['median_ms']:9.2f} ms  p95 {row['p95_ms']:9.2f} ms")
    for name, ratio in figures.get("plugin_by_ours", {}).items():
        theirs = figures["plugin"][name]["median_ms"]
        print(f"  plugin {name:10} median {theirs:9.2f} ms, {ratio:6.1f} times ours")


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time stages and commits of the engine.")
    parser.add_argument("--entries", type=int, nargs="+", default=[100, 1_000, 2_000, 10_000])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--plugin", type=Path, help="folder the public plugin is installed in")
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    if given.plugin is not None and shutil.which("node") is None:
        parser.error("--plugin needs Node, and there is none on the path")
    results = []
    for count in given.entries:
        results.append(measure(count, seed=given.seed, plugin=given.plugin))
        show(results[-1])
    if given.save:
        # Without --plugin: its folder is of this machine alone.
        sizes = " ".join(map(str, given.entries))
        told = circumstances(f"python benchmarks/engine_speed.py --entries {sizes}")
        save(given.save, told | {"operations_a_stage": OPERATIONS, "results": results})


if __name__ == "__main__":
    main()
