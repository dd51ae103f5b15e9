"""`WorkspaceMemoryEngine`: the memory a host talks to."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from wsmem.engine.corpora import Corpora
from wsmem.engine.identifiers import RandomIds
from wsmem.engine.inspecting import Inspector, scope_of_key
from wsmem.engine.keeping import Keeper
from wsmem.engine.locating import Locator
from wsmem.engine.query_log import QueryLog
from wsmem.engine.recalling import Progress, Recaller, describe, late
from wsmem.engine.registry import RegistrySync
from wsmem.engine.running import StageRunner
from wsmem.engine.stages import Stages
from wsmem.engine.surfaced import SurfacedMemories
from wsmem.engine.timers import Timers
from wsmem.engine.upkeep import PostingsUpkeep
from wsmem.engine.workers import Workers
from wsmem.errors import EngineClosedError, InvalidInputError, WsmemError
from wsmem.records import CheckpointResult, MemoryContext
from wsmem.scopes import ScopeResolver
from wsmem.store.access import system_clock
from wsmem.store.layout import ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from wsmem.engine.locating import Place
    from wsmem.engine.reports import (
        ForgetResult,
        RememberInput,
        RememberResult,
        ScopeStatus,
        ScopeView,
    )
    from wsmem.engine.timers import Sleep
    from wsmem.operations.apply import IdSource
    from wsmem.operations.contract import Distiller
    from wsmem.records import CheckpointInput, RecallInput
    from wsmem.retrieval.profile import Profile
    from wsmem.scopes import Scope, SessionRegistry
    from wsmem.settings import Settings
    from wsmem.store.archive import MoveOutcome
    from wsmem.store.listing import ScopeListing
    from wsmem.store.purge import PurgeReport

CLOSE_AFTER_S = 5.0
"""How long `close` waits for running stages."""

HEADROOM_MS, HEADROOM_SHARE = 25.0, 0.1
"""How much before its deadline a recall gives what it has: a busy machine wakes sleepers late."""

_READ_FROM = 2
"""Answers by postings alone after which the entries are read: one question may be the only one."""

_log = logging.getLogger(__name__)


class WorkspaceMemoryEngine:
    """Recall, checkpoint, remember, forget over one store, for one event loop.

    Use it as an asynchronous context manager, or call `start` and `close`. Without `start` it works
    as well, only what an earlier process left waiting is not picked up.

    Args:
        settings: Where memory is, and all limits.
        distiller: Who reads the stages; without one they fail and messages stay pending.
        registry: What the host knows about sessions and workspaces; a soft dependency.
        store: The store to use instead of one in `settings.memory_dir`.
        clock: Milliseconds since the epoch.
        sleep: Waits for seconds; together with `clock` what tests replace.
        ids: Where new ids come from.
        platform: `win32` for Windows paths; `None` is this system's.
        profile: Weight profile that ranks instead of the one that the settings name.
        corpora: Keeps indexes; engines over one store that differ in their profile may share it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        distiller: Distiller | None = None,
        registry: SessionRegistry | None = None,
        store: MemoryStore | None = None,
        clock: Callable[[], int] = system_clock,
        sleep: Sleep = asyncio.sleep,
        ids: IdSource | None = None,
        platform: str | None = None,
        profile: Profile | None = None,
        corpora: Corpora | None = None,
    ) -> None:
        self.settings = settings
        self.store = store or MemoryStore(settings.memory_dir, clock=clock)
        ids = ids or RandomIds()
        resolver = ScopeResolver(registry, platform=platform)
        self._workers = Workers()
        self._locator = Locator(self.store, resolver)
        corpora = corpora or Corpora(self._workers.background)
        self._upkeep = (
            PostingsUpkeep(self.store, self._workers.background, sleep)
            if settings.postings == "on"
            else None
        )
        self._recaller = Recaller(
            self.store,
            settings,
            self._locator,
            clock=clock,
            corpora=corpora,
            profile=profile,
            by_postings=settings.postings == "on",
            read=self._upkeep.note if self._upkeep is not None else None,
        )
        self._unread: Counter[str] = Counter()
        self._keeper = Keeper(self.store, settings, self._locator, clock=clock, ids=ids)
        self._inspector = Inspector(self.store, settings, clock=clock)
        self.timers = Timers(sleep)
        """The timers that wait, by scope key."""
        self._runner = StageRunner(
            Stages(self.store, settings, clock=clock, ids=ids, corpora=corpora),
            self._locator,
            settings,
            distiller=distiller,
            timers=self.timers,
            workers=self._workers,
            clock=clock,
        )
        self._surfaced = SurfacedMemories(settings.surfaced_window)
        kept = settings.query_log == "on"
        self._query_log = QueryLog(self.store.layout.internal) if kept else None
        self._clock = clock
        self._registry = RegistrySync(self.store, resolver) if registry is not None else None
        self._registry_timer = Timers(sleep)
        self._closed = False

    async def start(self) -> None:
        """Pick up what waits in every scope, and begin to watch the registry.

        What cannot be read is logged; the engine works without it.
        """
        self._ensure_open()
        try:
            await self._runner.recover(self.store)
        except Exception as error:  # noqa: BLE001 - an unreadable scope must not keep the others down
            _log.warning("what earlier processes left was not picked up: %s", describe(error))
        if self._registry is not None:
            await self._watch_registry()

    async def close(self, *, drain_s: float = CLOSE_AFTER_S) -> None:
        """Stop timers and wait for running stages, at most `drain_s`; messages stay pending."""
        if self._closed:
            return
        self._closed = True
        if self._upkeep is not None:
            await self._upkeep.close()
        await self._registry_timer.close(drain_s=drain_s)
        await self._runner.close(drain_s=drain_s)
        await self._workers.settled()
        self._workers.close()

    async def idle(self) -> None:
        """Wait until nothing runs any more but timers that wait."""
        await self._registry_timer.idle()
        await self._runner.idle()
        if self._upkeep is not None:
            await self._upkeep.idle()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # The seam

    async def recall(self, request: RecallInput) -> MemoryContext:
        """What is known about a query; never raises, never late.

        When time runs out the caller gets what was found until then: the summary, the best of the
        newest entries, or nothing. `degraded` says so.
        """
        started = time.monotonic()
        limit_ms = self.settings.deadline_ms if request.deadline_ms is None else request.deadline_ms
        patience_s = _patience_s(limit_ms)
        progress = Progress(None if patience_s is None else started + patience_s)
        try:
            answering = self._workers.read(
                self._recaller.recall, request, surfaced=self._shown_lately, progress=progress
            )
            spent_s = time.monotonic() - started
            timeout = None if patience_s is None else max(0.0, patience_s - spent_s)
            await asyncio.wait({answering}, timeout=timeout)
        except EngineClosedError as error:
            return MemoryContext(
                scope="", summary="", matches=(), text="", degraded=describe(error)
            )
        except asyncio.CancelledError:
            progress.abandoned.set()
            raise
        if answering.done():
            context = answering.result()
        else:
            progress.abandoned.set()
            context = late(progress)
        if self._upkeep is not None:
            self._upkeep.arm()
        if progress.unread is not None:
            self._read_if_asked_again(progress.unread)
        if progress.place is not None:
            shown = (match.id for match in context.matches)
            self._surfaced.note(progress.place.root_session_id, shown)
            if self._query_log is not None:
                key = progress.place.main.key
                note = partial(self._query_log.note, request.query, key, self._clock())
                with suppress(OSError):  # a query that is not kept must not fail the answer
                    self._workers.write_later(note)
        return context

    async def checkpoint(self, request: CheckpointInput) -> CheckpointResult:
        """Take completed messages; distil them now if the policy says so. Never raises.

        Returns when the messages are buffered, or, for a stage that is ready, when it is over.
        """
        if self._closed:
            return CheckpointResult(status="failed", scope="", error=str(EngineClosedError()))
        result = await self._runner.checkpoint(request)
        if result.status == "committed":
            self._note_written(result.scope)
        return result

    # On purpose

    async def remember(self, request: RememberInput) -> RememberResult:
        """Keep a statement; see `Keeper.remember` for what it raises."""
        self._ensure_open()
        result = await self._workers.write(self._keeper.remember, request)
        self._note_written(result.scope)
        return result

    async def forget(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> ForgetResult:
        """Take an entry out of every answer; see `Keeper.forget` for what it raises."""
        self._ensure_open()
        return await self._workers.write(
            self._keeper.forget, entry_id, cwd=cwd, session_id=session_id
        )

    async def purge(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> PurgeReport:
        """Remove an entry from everything the store keeps; see `Keeper.purge`."""
        self._ensure_open()
        return await self._workers.write(
            self._keeper.purge, entry_id, cwd=cwd, session_id=session_id
        )

    # Looking

    async def status(self, *, cwd: str | None = None, session_id: str | None = None) -> ScopeStatus:
        """How a scope stands: what waits, what was done last, what went wrong."""
        self._ensure_open()
        place = await self._place(cwd, session_id)
        return await self._workers.read(self._inspector.status, place.main, archived=place.archived)

    async def show(
        self,
        *,
        cwd: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        archived: bool = False,
    ) -> ScopeView:
        """Summary and entries of a scope, live or in the archive, redacted."""
        self._ensure_open()
        if key is not None:
            scope = scope_of_key(key)
        else:
            place = await self._place(cwd, session_id)
            scope, archived = place.main, archived or place.archived
        return await self._workers.read(self._inspector.show, scope, archived=archived)

    async def scopes(
        self, *, archived: bool = False, sessions: bool = False
    ) -> tuple[ScopeListing, ...]:
        """Live scopes, global first, or those in the archive; with counters."""
        self._ensure_open()
        if archived:
            return await self._workers.read(self.store.list_archived)
        return await self._workers.read(self.store.list_scopes, sessions=sessions)

    async def warm(self, *, cwd: str | None = None, session_id: str | None = None) -> None:
        """Read a scope and build its index, so that the first recall is a warm one."""
        self._ensure_open()
        place = await self._place(cwd, session_id)
        await self._workers.read(self._recaller.warm, place)

    # Whole scopes

    async def archive(self, *, cwd: str | None = None, key: str | None = None) -> MoveOutcome:
        """Move a workspace out of recall: `moved`, `absent`, or `occupied`."""
        scope = await self._workspace(cwd, key)
        outcome = await self._workers.write(self.store.archive, scope.key)
        self._runner.forget(scope.key)
        return outcome

    async def restore(self, *, cwd: str | None = None, key: str | None = None) -> MoveOutcome:
        """Move a workspace back: `moved`, `absent`, or `occupied` by new live memory."""
        scope = await self._workspace(cwd, key)
        return await self._workers.write(self.store.restore, scope.key)

    async def purge_archived(self, *, cwd: str | None = None, key: str | None = None) -> bool:
        """Remove an archived workspace for good; whether there was one."""
        scope = await self._workspace(cwd, key)
        return await self._workers.write(self.store.purge_archived, scope.key)

    async def sync_registry(self) -> tuple[str, ...]:
        """Archive workspaces the registry lost, now; the keys of those moved."""
        self._ensure_open()
        if self._registry is None:
            return ()
        archived = await self._workers.write(self._registry.step)
        for key in archived:
            self._runner.forget(key)
        return archived

    def _note_written(self, key: str) -> None:
        """A scope has changed: its postings are to follow, in time."""
        upkeep, loop = self._upkeep, asyncio.get_running_loop()
        if upkeep is None:
            return

        def look() -> None:
            with suppress(WsmemError, RuntimeError):  # the loop may be closed by then
                upkeep.note(self.store.read_scope(ScopeRef(key)))
                loop.call_soon_threadsafe(upkeep.arm)

        self._workers.in_background(look)

    def _read_if_asked_again(self, place: Place) -> None:
        """Entries whose postings gave a first answer are read, and indexed, when a second comes."""
        self._unread[place.main.key] += 1
        if self._unread[place.main.key] == _READ_FROM:
            self._workers.in_background(self._read_unread, place)

    def _read_unread(self, place: Place) -> None:
        try:
            self._recaller.warm(place)
        finally:
            del self._unread[place.main.key]

    def _shown_lately(self, place: Place) -> frozenset[str]:
        return self._surfaced.of(place.root_session_id)

    async def _place(self, cwd: str | None, session_id: str | None) -> Place:
        return await self._workers.read(self._locator.place, cwd=cwd, session_id=session_id)

    async def _workspace(self, cwd: str | None, key: str | None) -> Scope:
        self._ensure_open()
        scope = scope_of_key(key) if key is not None else (await self._place(cwd, None)).main
        if scope.layer != "workspace":
            raise InvalidInputError("only a workspace can be archived, restored or purged whole")
        return scope

    async def _watch_registry(self) -> None:
        """Compare now, and again every `registry_sync_ms`."""
        try:
            await self.sync_registry()
        except (WsmemError, OSError) as error:
            _log.warning("the registry was not compared: %s", describe(error))
        if not self._closed:
            interval = self.settings.registry_sync_ms
            self._registry_timer.arm("", interval, self._watch_registry, purpose="idle")

    def _ensure_open(self) -> None:
        if self._closed:
            raise EngineClosedError


def _patience_s(limit_ms: float) -> float | None:
    """How long to wait for an answer so that the caller has one before the limit."""
    if math.isinf(limit_ms):
        return None
    return (limit_ms - min(HEADROOM_MS, limit_ms * HEADROOM_SHARE)) / 1000
