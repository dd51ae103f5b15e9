"""Run steps on an engine whose time only moves when told to; shared by the engine's tests."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from fast_files import FastFiles
from operation_builders import CountedIds

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.testing import ManualTime
from wsmem.records import CheckpointInput, MemoryMessage, RecallInput, Role
from wsmem.settings import Settings
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.records import CheckpointResult, MemoryContext

A, B = "/srv/proj-a", "/srv/proj-b"

Steps = Callable[[WorkspaceMemoryEngine, ManualTime], Awaitable[Any]]


def engine_at(root: Path, time: ManualTime, **more: Any) -> WorkspaceMemoryEngine:
    """An engine over `root`; `settings` are further settings, the rest its own arguments."""
    settings = Settings(memory_dir=str(root), **more.pop("settings", {}))
    return WorkspaceMemoryEngine(
        settings,
        store=MemoryStore(root, fs=FastFiles(), clock=time.now),
        clock=time.now,
        sleep=time.sleep,
        **more,
    )


def run(root: Path, steps: Steps, *, start_ms: int = 1_788_220_800_000, **more: Any) -> Any:
    """Run `steps` on one engine with counted ids, and close it."""

    async def main() -> Any:
        time = ManualTime(start_ms)
        engine = engine_at(root, time, ids=CountedIds(), **more)
        try:
            return await steps(engine, time)
        finally:
            await engine.close()

    return asyncio.run(main())


def said(message_id: str, text: str, role: Role = "user") -> MemoryMessage:
    return MemoryMessage(id=message_id, role=role, text=text)


async def recall(
    engine: WorkspaceMemoryEngine, query: str, cwd: str | None = A, **more: Any
) -> MemoryContext:
    """A recall that may take as long as it needs."""
    return await engine.recall(
        RecallInput(query=query, cwd=cwd, **{"deadline_ms": math.inf, **more})
    )


async def hand_over(
    engine: WorkspaceMemoryEngine,
    *messages: MemoryMessage,
    reason: Any = "task-end",
    cwd: str | None = A,
    **more: Any,
) -> CheckpointResult:
    return await engine.checkpoint(
        CheckpointInput(reason=reason, cwd=cwd, messages=messages, **more)
    )


def adds(*contents: str, **fields: Any) -> dict[str, Any]:
    """A distiller's answer that adds these contents."""
    return {"version": 1, "operations": [{"op": "add", "content": c, **fields} for c in contents]}


def proposes(*operations: dict[str, Any]) -> dict[str, Any]:
    """A distiller's answer with these operations."""
    return {"version": 1, "operations": list(operations)}
