"""Run stages: buffer, claim, ask the distiller, commit; retry what failed, recover what waits."""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from typing import TYPE_CHECKING

from wsmem.engine.distilling import distil
from wsmem.engine.inspecting import scope_of_key
from wsmem.engine.keeping import writable
from wsmem.engine.locating import Place
from wsmem.engine.policy import idle_left
from wsmem.engine.recalling import describe
from wsmem.errors import ArchivedScopeError, EngineClosedError, WsmemError
from wsmem.operations.contract import DistillRequest
from wsmem.records import CheckpointResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from wsmem.engine.locating import Locator
    from wsmem.engine.stages import Begun, Stages
    from wsmem.engine.timers import Timers
    from wsmem.engine.workers import Workers
    from wsmem.operations.contract import Distiller
    from wsmem.records import CheckpointInput
    from wsmem.scopes import Scope
    from wsmem.settings import Settings
    from wsmem.store.store import MemoryStore

HANDED_OVER = frozenset({"task-end", "explicit"})
"""Reasons under which a sub-agent's messages are taken: somebody hands them over on purpose."""

_log = logging.getLogger(__name__)


class StageRunner:
    """Checkpoints of one engine, and the timers behind them."""

    def __init__(
        self,
        stages: Stages,
        locator: Locator,
        settings: Settings,
        *,
        distiller: Distiller | None,
        timers: Timers,
        workers: Workers,
        clock: Callable[[], int],
    ) -> None:
        self._stages = stages
        self._locator = locator
        self._settings = settings
        self._distiller = distiller
        self._timers = timers
        self._workers = workers
        self._clock = clock
        self._running: set[asyncio.Task[CheckpointResult]] = set()

    async def checkpoint(self, request: CheckpointInput) -> CheckpointResult:
        """Take messages and run a stage if one is ready; failures are in the result."""
        try:
            place = writable(
                await self._workers.write(
                    self._locator.place, cwd=request.cwd, session_id=request.session_id
                )
            )
        except ArchivedScopeError as error:
            return CheckpointResult(status="empty", scope=error.scope, error=describe(error))
        except WsmemError as error:
            return CheckpointResult(status="failed", scope="", error=describe(error))
        if place.is_subagent and request.reason not in HANDED_OVER:
            return CheckpointResult(status="empty", scope=place.main.key)
        try:
            begun = await self._workers.write(
                self._stages.begin,
                place,
                request.messages,
                reason=request.reason,
                force=request.force,
            )
        except (WsmemError, OSError) as error:
            _log.warning("messages of scope %s were not kept: %s", place.main.key, describe(error))
            return CheckpointResult(status="failed", scope=place.main.key, error=describe(error))
        if begun.batch is None:
            self._wait_for_more(begun)
            return begun.result()
        return await self._start(begun)

    async def recover(self, store: MemoryStore) -> None:
        """Find what waits in every scope: overdue stages run at once, others in time."""
        if not await self._workers.read(os.path.isdir, store.layout.root):
            return  # nothing was ever written here: starting creates nothing
        await self._workers.write(store.recover)
        for head in await self._workers.write(store.list_waiting):
            scope = scope_of_key(head.key, head.cwd)
            left = idle_left(head.state, settings=self._settings, now=self._clock()) or 0
            self._timers.arm(scope.key, left, partial(self._due, scope, "idle"), purpose="idle")

    def forget(self, key: str) -> None:
        """Stop waiting for a scope that is gone."""
        self._timers.cancel(key)

    async def idle(self) -> None:
        """Wait until no stage runs, neither a caller's nor a timer's."""
        await self._timers.idle()
        while self._running:
            await asyncio.wait(set(self._running))
            await self._timers.idle()

    async def close(self, *, drain_s: float) -> None:
        """Wait for running stages, at most so long; those that still run are given up.

        Their messages stay pending.
        """
        self._timers.cancel_all()
        running = set(self._running)
        if running:
            _, late = await asyncio.wait(running, timeout=drain_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        await self._timers.close(drain_s=drain_s)
        await self._workers.settled()

    async def _due(self, scope: Scope, reason: str) -> None:
        """A timer ran out: distil what waits."""
        try:
            begun = await self._workers.write(
                self._stages.begin, Place(main=scope), (), reason=reason, force=True
            )
        except (WsmemError, OSError) as error:
            _log.warning("scope %s could not be looked at: %s", scope.key, describe(error))
            again = partial(self._due, scope, reason)
            self._timers.arm(scope.key, self._settings.retry_max_ms, again, purpose="retry")
            return
        if begun.batch is not None:
            await self._start(begun)

    async def _start(self, begun: Begun) -> CheckpointResult:
        """Run a stage in a task of its own: a caller who gives up waiting does not end it."""
        task = asyncio.get_running_loop().create_task(self._run(begun))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _run(self, begun: Begun) -> CheckpointResult:
        try:
            return await self._distil_and_commit(begun)
        except asyncio.CancelledError:  # by `close`, or by an event loop that ends
            self._give_back(begun)
            return begun.result("failed", error=str(EngineClosedError()))
        except Exception as error:  # noqa: BLE001 - a distiller is foreign code; its failure is a result
            return await self._failed(begun, error)

    async def _distil_and_commit(self, begun: Begun) -> CheckpointResult:
        existing = await self._workers.write(self._stages.existing, begun)
        request = DistillRequest(
            scope=begun.place.main.key,
            cwd=begun.place.main.cwd,
            reason=begun.reason,
            messages=begun.batch.messages if begun.batch else (),
            existing=existing,
            language=self._settings.language,
            now=self._clock(),
        )
        limit_s = self._settings.model_timeout_ms / 1000
        self._workers.in_background(self._stages.prepare, begun)
        proposals, instructions = await distil(self._distiller, request, limit_s=limit_s)
        result = await self._workers.write(self._stages.commit, begun, proposals, instructions)
        self._after(begun, result)
        return result

    def _after(self, begun: Begun, result: CheckpointResult) -> None:
        """Messages that came meanwhile wait for more; the rest of a large batch does not."""
        scope = begun.place.main
        if not result.pending:
            self._timers.cancel(scope.key)
            return
        more_at_once = begun.batch is not None and begun.batch.limited
        delay = 0 if more_at_once else self._settings.idle_checkpoint_ms
        again = partial(self._due, scope, begun.reason)
        self._timers.arm(scope.key, delay, again, purpose="idle")

    def _wait_for_more(self, begun: Begun) -> None:
        scope = begun.place.main
        if not begun.pending:
            self._timers.cancel(scope.key)
            return
        waiting = self._timers.get(scope.key)
        if waiting is not None and (waiting.purpose == "retry" or not begun.accepted):
            return  # new messages do not put off a retry, nor do calls without any an idle stage
        waited = max(0, self._clock() - begun.last_buffered_at)
        delay = max(0, self._settings.idle_checkpoint_ms - waited)
        self._timers.arm(scope.key, delay, partial(self._due, scope, "idle"), purpose="idle")

    async def _failed(self, begun: Begun, error: Exception) -> CheckpointResult:
        text = describe(error)
        scope = begun.place.main
        _log.warning("a stage of scope %s failed: %s", scope.key, text)
        try:
            failure = await self._workers.write(self._stages.fail, begun, text)
            retry_ms, pending = failure.retry_ms, failure.pending
        except (WsmemError, OSError) as second:
            _log.warning("that could not be written down: %s", describe(second))
            retry_ms, pending = self._settings.retry_max_ms, begun.pending
        if not isinstance(error, EngineClosedError):
            again = partial(self._due, scope, begun.reason)
            self._timers.arm(scope.key, retry_ms, again, purpose="retry")
        return begun.result("failed", pending=pending, error=text)

    def _give_back(self, begun: Begun) -> None:
        """Release the claim of a stage that is being cancelled, which must not wait for it."""

        def release() -> None:
            try:
                self._stages.release(begun)
            except (WsmemError, OSError) as error:
                _log.warning("a claim ends by itself: %s", describe(error))

        self._workers.write_later(release)
