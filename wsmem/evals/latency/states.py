"""Recalls in each state of the memory that is asked; see `wsmem.evals.latency.plan.State`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.errors import SystemUnavailableError
from wsmem.evals.latency.contestants import contestants, recall
from wsmem.evals.latency.figures import Sample
from wsmem.evals.latency.plan import BARE, WSMEM
from wsmem.evals.latency.stores import CWD
from wsmem.evals.latency.writing import writers
from wsmem.evals.synthetic import synthetic_entries
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from wsmem.evals.latency.contestants import Contestant
    from wsmem.evals.latency.figures import Outcome
    from wsmem.evals.latency.plan import LatencyPlan, State
    from wsmem.evals.latency.stores import TimedStore
    from wsmem.evals.synthetic import LabelledQuery
    from wsmem.operations.contract import Distiller

OPERATIONS = 5
"""What one checkpoint adds."""
_WRITING = ("committing", "writers", "snapshot")
"""States in which the store changes. The others ask the store itself: postings belong to the very
files they were made from, and copies have none that are good."""
_THINKING_S = 0.005
"""Between two recalls beside other work, so that asking alone does not take all of a processor."""
_LONGEST_S = 60.0
"""After which recalls beside other work end, however few commits there were."""
_COMMITTED = 100
"""Stream of the texts that checkpoints add."""
_STAGES = 400
"""Prepared checkpoints; more than are ever needed in that time."""
_FEWEST = 5
"""Queries that a slow peer answers at least."""


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was measured in one state of one store."""

    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    """By who answered."""
    build_s: dict[str, float] = field(default_factory=dict)
    commits: int = 0
    """Made by others while recalls were timed."""
    missing: dict[str, str] = field(default_factory=dict)
    """Peers that cannot run here, with the reason."""


def measure_state(plan: LatencyPlan, store: TimedStore, state: State) -> Findings:
    """Ask a store in one state.

    Raises:
        SystemUnavailableError: a process that this state needs cannot be started.
    """
    if state in ("process", "process-unfiled"):
        return _processes(store, postings=state == "process")
    ways: dict[str, Callable[[LatencyPlan, TimedStore], Coroutine[Any, Any, Findings]]] = {
        "warm": _warm,
        "committing": _committing,
        "writers": _beside_writers,
        "snapshot": _changed_files,
        "fresh": partial(_fresh, postings="on"),
        "fresh-unfiled": partial(_fresh, postings="off"),
    }
    measured = ways[state]
    if state not in _WRITING:
        return asyncio.run(measured(plan, store))
    # Every state begins with the same files, whatever another one has added to its own.
    with store.copy() as copy:
        return asyncio.run(measured(plan, copy))


async def _warm(plan: LatencyPlan, store: TimedStore) -> Findings:
    """Everybody answers every query in turn; each turn begins with another one."""
    findings = Findings()
    with contestants(plan, store) as (others, findings.missing):
        async with WorkspaceMemoryEngine(store.settings) as engine:
            started = time.perf_counter()
            await engine.warm(cwd=CWD)
            findings.build_s[WSMEM] = time.perf_counter() - started
            await _warm_up(plan, engine, store)
            strides = {}
            for other in others:
                findings.build_s[other.name] = other.build_s
                strides[other.name] = _stride(plan, other, store)
            for number, query in enumerate(store.queries):
                for place in range(len(others) + 1):
                    who = (place + number) % (len(others) + 1)
                    if who == len(others):
                        sample = await recall(engine, query, number, deadline_ms=plan.deadline_ms)
                        findings.samples[WSMEM].append(sample)
                    elif number % strides[others[who].name] == 0:
                        sample = _asked(others[who], query, number)
                        findings.samples[others[who].name].append(sample)
    return findings


def _stride(plan: LatencyPlan, other: Contestant, store: TimedStore) -> int:
    """Every how many queries somebody is asked, so that all its answers keep to the budget."""
    typical = median(other.ask(query.text) for query in store.warm_up)
    affordable = int(plan.budget_s * 1000 / max(typical, 1e-3))
    return max(1, len(store.queries) // max(affordable, _FEWEST))


def _asked(other: Contestant, query: LabelledQuery, number: int) -> Sample:
    spent = other.ask(query.text)
    return Sample(query=number, ms=spent, language=query.language, length=query.length)


async def _committing(plan: LatencyPlan, store: TimedStore) -> Findings:
    findings = Findings()
    contents = iter(synthetic_entries(_STAGES * OPERATIONS, seed=plan.seed, stream=_COMMITTED))

    async def distil(request: DistillRequest) -> DistillOutput:
        del request
        operations = [{"op": "add", "content": next(contents).content} for _ in range(OPERATIONS)]
        return DistillOutput(answer={"version": 1, "operations": operations})

    enough = asyncio.Event()

    async def keep_committing() -> None:
        for number in range(_STAGES):
            if enough.is_set():
                return
            message = MemoryMessage(id=f"latency-{number}", role="user", text=f"stage {number}")
            request = CheckpointInput(reason="task-end", cwd=CWD, messages=[message])
            result = await engine.checkpoint(request)
            if result.status != "committed":
                raise SystemUnavailableError("checkpoints", result.error or result.status)
            findings.commits += 1

    async with _ready(plan, store, distil) as engine:
        committing = asyncio.create_task(keep_committing())
        try:
            samples = await _ask_on(plan, engine, store, lambda: findings.commits)
        finally:
            # Not cancelled: the commit would go on in its thread while the store is removed.
            enough.set()
            (ended,) = await asyncio.gather(committing, return_exceptions=True)
    if isinstance(ended, Exception):
        raise ended
    findings.samples[WSMEM] = samples
    return findings


async def _beside_writers(plan: LatencyPlan, store: TimedStore) -> Findings:
    findings = Findings()
    async with _ready(plan, store) as engine:
        with writers(
            store.root, CWD, count=plan.writers, seed=plan.seed, pause_ms=plan.pause_ms
        ) as started:
            for writer in started:
                writer.start()

            def commits() -> int:
                return sum(writer.commits for writer in started)

            findings.samples[WSMEM] = await _ask_on(plan, engine, store, commits)
            findings.commits = commits()
    return findings


async def _ask_on(
    plan: LatencyPlan, engine: WorkspaceMemoryEngine, store: TimedStore, commits: Callable[[], int]
) -> list[Sample]:
    """Ask until every query was asked and there were enough commits, or time is up."""
    samples: list[Sample] = []
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        if len(samples) >= len(store.queries) and commits() >= plan.commits:
            break
        number = len(samples) % len(store.queries)
        query = store.queries[number]
        samples.append(await recall(engine, query, number, deadline_ms=plan.deadline_ms))
        await asyncio.sleep(_THINKING_S)
    return samples


async def _changed_files(plan: LatencyPlan, store: TimedStore) -> Findings:
    findings = Findings()
    async with _ready(plan, store) as engine:
        with writers(store.root, CWD, count=1, seed=plan.seed) as (writer,):
            for number, query in enumerate(store.cold):
                await asyncio.to_thread(writer.write)
                sample = await recall(engine, query, number, deadline_ms=plan.deadline_ms)
                findings.samples[WSMEM].append(sample)
            findings.commits = writer.commits
    return findings


async def _fresh(
    plan: LatencyPlan, store: TimedStore, *, postings: Literal["on", "off"]
) -> Findings:
    findings, settings = Findings(), replace(store.settings, postings=postings)
    for number, query in enumerate((store.warm_up[0], *store.cold)):
        async with WorkspaceMemoryEngine(settings) as engine:
            sample = await recall(engine, query, number, deadline_ms=plan.deadline_ms)
        await asyncio.to_thread(settle)
        if number:  # the very first one imports what recalls need
            findings.samples[WSMEM].append(sample)
    return findings


def settle() -> None:
    """Wait for what recalls that came late have left running, so that it slows nobody else."""
    for thread in threading.enumerate():
        if thread.name.startswith("wsmem-"):
            thread.join()


def _processes(store: TimedStore, *, postings: bool) -> Findings:
    """Whole processes, each beside an interpreter that does nothing."""
    findings = Findings()
    for number, query in enumerate((store.warm_up[0], *store.cold)):
        answered = _process_recall(store, query, number, postings=postings)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        spent = (time.perf_counter() - started) * 1000
        bare = Sample(query=number, ms=spent, language=query.language, length=query.length)
        if number:  # the very first one writes byte code
            findings.samples[WSMEM].append(answered)
            findings.samples[BARE].append(bare)
    return findings


def _process_recall(
    store: TimedStore, query: LabelledQuery, number: int, *, postings: bool
) -> Sample:
    """`wsmem recall` from start to end.

    Raises:
        SystemUnavailableError: it failed.
    """
    where = ("--cwd", CWD, "--memory-dir", str(store.root), "--json", "--", query.text)
    command = [sys.executable, "-m", "wsmem.cli.main", "recall", *where]
    environment = _environment() | ({} if postings else {"WSMEM_POSTINGS": "off"})
    started = time.perf_counter()
    done = subprocess.run(  # noqa: S603  this interpreter and our own module
        command, capture_output=True, encoding="utf-8", check=False, env=environment
    )
    spent = (time.perf_counter() - started) * 1000
    if done.returncode not in (0, 1):  # 1 is an answer that is not whole
        raise SystemUnavailableError("wsmem recall", done.stderr.strip() or "it failed")
    context: dict[str, Any] = json.loads(done.stdout)
    degraded: Outcome = "partial" if context["matches"] else "empty"
    return Sample(
        query=number,
        ms=spent,
        outcome="whole" if context["degraded"] is None else degraded,
        language=query.language,
        length=query.length,
    )


def _environment() -> dict[str, str]:
    """This process's own, without settings, and with byte code kept as an installation has it."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("WSMEM_") and name not in dropped
    } | {"PYTHONIOENCODING": "utf-8"}


@asynccontextmanager
async def _ready(
    plan: LatencyPlan, store: TimedStore, distiller: Distiller | None = None
) -> AsyncIterator[WorkspaceMemoryEngine]:
    """An engine that has its index and has answered before."""
    async with WorkspaceMemoryEngine(store.settings, distiller=distiller) as engine:
        await engine.warm(cwd=CWD)
        await _warm_up(plan, engine, store)
        yield engine


async def _warm_up(plan: LatencyPlan, engine: WorkspaceMemoryEngine, store: TimedStore) -> None:
    for number, query in enumerate(store.warm_up):
        await recall(engine, query, number, deadline_ms=plan.deadline_ms)
