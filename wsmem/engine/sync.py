"""The engine for notebooks and scripts: the same calls without `await`."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.errors import EngineClosedError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

    from wsmem.engine.reports import (
        ForgetResult,
        RememberInput,
        RememberResult,
        ScopeStatus,
        ScopeView,
    )
    from wsmem.records import CheckpointInput, CheckpointResult, MemoryContext, RecallInput
    from wsmem.settings import Settings
    from wsmem.store.archive import MoveOutcome
    from wsmem.store.listing import ScopeListing
    from wsmem.store.purge import PurgeReport

T = TypeVar("T")


class SyncMemory:
    """A `WorkspaceMemoryEngine` behind plain calls.

    The engine runs in an event loop of its own thread, so it also works where an event loop is
    running already, as in a notebook, and from several threads at once.

        with SyncMemory(load_settings()) as memory:
            memory.recall(RecallInput(query="数据库", cwd="/srv/shop"))

    Args:
        settings: As for the engine.
        engine_arguments: Further arguments of the engine, such as `distiller`.
    """

    def __init__(self, settings: Settings, **engine_arguments: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="wsmem-loop", daemon=True
        )
        self._thread.start()
        self._closed = False
        self.engine = WorkspaceMemoryEngine(settings, **engine_arguments)
        """The engine itself; to be awaited only in its own loop."""
        self._run(self.engine.start())

    def close(self) -> None:
        """Close the engine and end its thread."""
        if self._closed:
            return
        self._run(self.engine.close())
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def recall(self, request: RecallInput) -> MemoryContext:
        """See `WorkspaceMemoryEngine.recall`."""
        return self._run(self.engine.recall(request))

    def checkpoint(self, request: CheckpointInput) -> CheckpointResult:
        """See `WorkspaceMemoryEngine.checkpoint`."""
        return self._run(self.engine.checkpoint(request))

    def remember(self, request: RememberInput) -> RememberResult:
        """See `WorkspaceMemoryEngine.remember`."""
        return self._run(self.engine.remember(request))

    def forget(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> ForgetResult:
        """See `WorkspaceMemoryEngine.forget`."""
        return self._run(self.engine.forget(entry_id, cwd=cwd, session_id=session_id))

    def purge(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> PurgeReport:
        """See `WorkspaceMemoryEngine.purge`."""
        return self._run(self.engine.purge(entry_id, cwd=cwd, session_id=session_id))

    def status(self, *, cwd: str | None = None, session_id: str | None = None) -> ScopeStatus:
        """See `WorkspaceMemoryEngine.status`."""
        return self._run(self.engine.status(cwd=cwd, session_id=session_id))

    def show(
        self,
        *,
        cwd: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        archived: bool = False,
    ) -> ScopeView:
        """See `WorkspaceMemoryEngine.show`."""
        return self._run(
            self.engine.show(cwd=cwd, session_id=session_id, key=key, archived=archived)
        )

    def scopes(self, *, archived: bool = False, sessions: bool = False) -> tuple[ScopeListing, ...]:
        """See `WorkspaceMemoryEngine.scopes`."""
        return self._run(self.engine.scopes(archived=archived, sessions=sessions))

    def warm(self, *, cwd: str | None = None, session_id: str | None = None) -> None:
        """See `WorkspaceMemoryEngine.warm`."""
        self._run(self.engine.warm(cwd=cwd, session_id=session_id))

    def archive(self, *, cwd: str | None = None, key: str | None = None) -> MoveOutcome:
        """See `WorkspaceMemoryEngine.archive`."""
        return self._run(self.engine.archive(cwd=cwd, key=key))

    def restore(self, *, cwd: str | None = None, key: str | None = None) -> MoveOutcome:
        """See `WorkspaceMemoryEngine.restore`."""
        return self._run(self.engine.restore(cwd=cwd, key=key))

    def purge_archived(self, *, cwd: str | None = None, key: str | None = None) -> bool:
        """See `WorkspaceMemoryEngine.purge_archived`."""
        return self._run(self.engine.purge_archived(cwd=cwd, key=key))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            call.close()
            raise EngineClosedError
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()
