"""The seam between wsmem and everything that uses it: two questions, asked asynchronously."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from wsmem.records import CheckpointInput, CheckpointResult, MemoryContext, RecallInput


@runtime_checkable
class WorkspaceMemory(Protocol):
    """What a host needs of a memory; `wsmem.engine.testing` has one for its tests."""

    async def recall(self, request: RecallInput) -> MemoryContext:
        """What is known about a query. Never raises and is never late: see `degraded`."""
        ...

    async def checkpoint(self, request: CheckpointInput) -> CheckpointResult:
        """Take completed messages; whether and when they are distilled is not the caller's care."""
        ...
