"""Keep postings beside large memories, for other processes that answer one question each.

Nobody waits for it. What a recall or a commit has shown to be large and without good postings is
written some time later, in the thread where indexes are built, with pauses, and never for more than
a small share of the time however often a memory changes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import TYPE_CHECKING

from wsmem.engine.chains import rings_in
from wsmem.engine.recalling import describe
from wsmem.engine.timers import Timers
from wsmem.errors import WsmemError
from wsmem.store.layout import ScopeRef
from wsmem.store.postings import WORTHWHILE

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from wsmem.engine.timers import Sleep
    from wsmem.store.fs import FileStamp
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore

QUIET_MS = 30_000
"""Least time between a reason to write and the writing: commits come in bursts."""
REST = 20
"""How many times as long as the last writing took the next one waits at least."""
_WORK, _PAUSE_S = 32, 0.003
"""Entries between two pauses, in which whoever waits for the interpreter gets it."""

_UNKNOWN = object()

_log = logging.getLogger(__name__)


class PostingsUpkeep:
    """Writes the postings of one engine's scopes.

    Args:
        store: Where memory is.
        background: Where it works.
        sleep: Waits for seconds.
    """

    def __init__(self, store: MemoryStore, background: Executor, sleep: Sleep) -> None:
        self._store = store
        self._background = background
        self._timers = Timers(sleep)
        self._good: dict[str, FileStamp | None] = {}
        """Versions of the entries that have postings, or cannot have any."""
        self._wanted: dict[str, None] = {}
        self._rest_ms = 0
        self._writing = False
        self._closed = threading.Event()
        self._entries = 0

    def note(self, snapshot: ScopeSnapshot) -> None:
        """A scope is in use in this version; any thread may say so."""
        if self._good.get(snapshot.key, _UNKNOWN) == snapshot.generation.entries:
            return
        # A file that outlives its entries would keep words that may have been taken out of them.
        if len(snapshot.entries) >= WORTHWHILE or self._store.has_postings(snapshot):
            self._wanted[snapshot.key] = None

    def arm(self) -> None:
        """Write what is wanted, in time; from the event loop."""
        idle = not self._writing and self._timers.get("") is None
        if self._wanted and idle and not self._closed.is_set():
            delay = max(QUIET_MS, self._rest_ms)
            self._timers.arm("", delay, self._write, purpose="idle")

    async def idle(self) -> None:
        """Wait until nothing is being written."""
        await self._timers.idle()

    async def close(self) -> None:
        """Write no more; what is being written is given up at the next entry."""
        self._closed.set()
        await self._timers.close(drain_s=0)

    async def _write(self) -> None:
        wanted, self._wanted = list(self._wanted), {}
        self._writing = True
        started = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._background, self._write_all, wanted)
        except RuntimeError:  # the engine is closing
            return
        finally:
            self._writing = False
            self._rest_ms = round((time.monotonic() - started) * 1000 * REST)
        self.arm()

    def _write_all(self, keys: list[str]) -> None:
        for key in keys:
            try:
                self._write_one(key)
            except (WsmemError, OSError) as error:
                if self._closed.is_set():
                    return
                _log.warning("postings of scope %s were not written: %s", key, describe(error))

    def _write_one(self, key: str) -> None:
        scope = ScopeRef(key)
        stamp = self._store.read_scope(scope).generation.entries
        outcome = self._store.write_postings(scope, rings_of=rings_in, pause=self._pause)
        if outcome in {"unsettled", "changed", "busy"}:  # again, when it has come to rest
            self._wanted[key] = None
        else:
            self._good[key] = stamp

    def _pause(self) -> bool:
        """Let others work; whether to go on."""
        self._entries += 1
        if self._entries % _WORK == 0:
            time.sleep(_PAUSE_S)
        return not self._closed.is_set()
