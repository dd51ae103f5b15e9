"""A real memory store for one dataset: every pool is a workspace, and `recall` is what is asked.

All pools of a dataset stand in one store at the same time, so an answer out of another workspace
would be seen. The global scope of a store is one user's, and a dataset may be about several: it
holds the entries of the global layer that belong to the workspace being asked, and is rewritten
when a workspace with others comes up.

The files are real. They are not fsynced and lie in memory where the system offers that with room to
spare: neither changes an answer, and both save time where pools come by the thousand.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import sys
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from wsmem.engine.corpora import Corpora
from wsmem.engine.keeping import write_summary
from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.errors import DegradedAnswerError
from wsmem.records import RecallInput
from wsmem.scopes import GLOBAL, workspace_scope
from wsmem.settings import Settings
from wsmem.store.fs import FileSystem
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Iterable, Sequence

    from wsmem.evals.entries import Pool
    from wsmem.records import MemoryContext, MemoryEntry
    from wsmem.retrieval.profile import Profile
    from wsmem.scopes import Scope
    from wsmem.store.transaction import Transaction

T = TypeVar("T")

UNBOUNDED = sys.maxsize
"""A budget of bytes that cuts nothing."""

_TOGETHER = 32
"""Workspaces written by one commit."""
_WARM_FROM = 200
"""Entries from which an index pays even for a single question."""
_MEMORY = "/dev/shm"  # noqa: S108  the folder made in it is private, and removed again
_SPARE, _PER_CHARACTER = 64 << 20, 32
"""Bytes that must be free in memory: as such, and for each character of the entries' texts."""
_DEFAULTS = Settings(memory_dir="/")
"""What summaries are written by; where they go is the store's business."""


class UnsyncedFiles(FileSystem):
    """Files as they are, left to the system to bring to the disk: nothing here must survive."""

    def sync(self, fd: int) -> None:
        """Do not wait for the file."""

    def sync_all(self, fds: Sequence[int], directories: Sequence[str]) -> None:
        """Do not wait for files and names."""

    def sync_directory(self, path: str) -> None:
        """Do not wait for the names."""


class PoolStore:
    """One temporary store for all pools of a dataset; it is removed when closed or forgotten.

    Nothing is written before the first pool is opened, and then all of them are.

    Args:
        pools: What the store is to hold from the start.
        summaries: Whether scopes have the summary that engines write with their entries. It takes
            its room in what a host is given, and is no part of a ranking.
    """

    def __init__(self, pools: Iterable[Pool] = (), *, summaries: bool = True) -> None:
        self._summaries = summaries
        self._workspaces: dict[int, _Workspace] = {}
        self._unwritten: list[_Workspace] = []
        self._room: _Room | None = None
        for pool in pools:
            self._add(pool.entries, len(pool.queries))

    def close(self) -> None:
        """Remove the store."""
        if self._room is not None:
            self._room.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, entries: Sequence[MemoryEntry], *, profile: Profile, now: int) -> OpenPool:
        """The pool of these entries, to be asked under a profile at a moment.

        A pool is recognised by its entries being the same object; an unknown one is written.
        """
        workspace = self._workspaces.get(id(entries)) or self._add(entries, 0)
        if self._room is None:
            texts = sum(len(entry.content) for w in self._unwritten for entry in w.entries)
            self._room = _Room(texts, summaries=self._summaries)
            weakref.finalize(self, self._room.close)
        while self._unwritten:
            self._room.write(self._unwritten[:_TOGETHER])
            del self._unwritten[:_TOGETHER]
        engine = self._room.engine(profile)
        self._room.enter(workspace, now)
        self._room.warm(workspace, engine)
        return OpenPool(self, self._room, engine, workspace, now)

    def _add(self, entries: Sequence[MemoryEntry], questions: int) -> _Workspace:
        workspace = _Workspace(len(self._workspaces), entries, questions)
        self._workspaces[id(entries)] = workspace
        self._unwritten.append(workspace)
        return workspace


@dataclass(frozen=True, slots=True)
class OpenPool:
    """A pool that can be asked; `PoolStore.open` makes it."""

    _store: PoolStore
    """Held because the room is removed with it."""
    _room: _Room
    _engine: WorkspaceMemoryEngine
    _workspace: _Workspace
    _now: int

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        max_bytes: int | None = None,
        surfaced: Collection[str] = (),
    ) -> MemoryContext:
        """What the engine answers when it has all the time it needs.

        Args:
            query: Any text.
            limit: Most entries; `None` is what the settings say unless somebody changes them.
            max_bytes: Most bytes of what is injected; `None` likewise.
            surfaced: Entries shown lately.

        Raises:
            DegradedAnswerError: it could not give all there is.
        """
        self._room.enter(self._workspace, self._now)
        request = RecallInput(
            query=query,
            cwd=self._workspace.scope.cwd,
            limit=limit,
            max_bytes=max_bytes,
            deadline_ms=math.inf,
            surfaced_ids=tuple(surfaced),
        )
        context = self._room.run(self._engine.recall(request))
        if context.degraded is not None:
            raise DegradedAnswerError(query, context.degraded)
        return context

    def warm(self) -> None:
        """Build the index now, whether or not it pays."""
        self._room.enter(self._workspace, self._now)
        self._room.run(self._engine.warm(cwd=self._workspace.scope.cwd))

    def change(self, entries: Sequence[MemoryEntry]) -> None:
        """Commit other entries of the workspace's own in place of those it has."""
        self._workspace.own = tuple(entry for entry in entries if entry.scope != "global")
        self._room.write([self._workspace])


class _Workspace:
    """Where the entries of one pool stand."""

    def __init__(self, number: int, entries: Sequence[MemoryEntry], questions: int) -> None:
        self.entries = entries
        self.own = tuple(entry for entry in entries if entry.scope != "global")
        self.shared = tuple(entry for entry in entries if entry.scope == "global")
        self.scope = workspace_scope(f"/evaluation/{number}")
        self.wants_index = questions > 1 or len(entries) >= _WARM_FROM
        """Whether building an index is less work than scanning for every question."""


class _Room:
    """The folder, the store in it, and an engine for each profile; open until closed."""

    def __init__(self, texts: int, *, summaries: bool) -> None:
        self._folder = tempfile.mkdtemp(prefix="wsmem-evaluation-", dir=_place(texts))
        self._summaries = summaries
        self._now = 0
        self._store = MemoryStore(self._folder, fs=UnsyncedFiles(), clock=lambda: self._now)
        self._corpora = Corpora()
        """Indexes, which do not depend on the profile; none is built but by `warm`."""
        self._engines: list[tuple[Profile, WorkspaceMemoryEngine]] = []
        self._loop = asyncio.new_event_loop()
        self._shared: tuple[MemoryEntry, ...] = ()
        self._warm: _Workspace | None = None

    def engine(self, profile: Profile) -> WorkspaceMemoryEngine:
        """The engine that ranks by this profile, all else as it is by default."""
        for known, engine in self._engines:
            if known == profile:
                return engine
        made = WorkspaceMemoryEngine(
            Settings(memory_dir=self._folder),
            store=self._store,
            clock=lambda: self._now,
            profile=profile,
            corpora=self._corpora,
        )
        self._engines.append((profile, made))
        return made

    def write(self, workspaces: Sequence[_Workspace]) -> None:
        """Commit the entries of these workspaces."""
        with self._store.transaction(*(each.scope for each in workspaces)) as transaction:
            for each in workspaces:
                transaction.describe(each.scope, title="evaluation")  # also where nothing is
                self._set(transaction, each.scope, each.own)

    def enter(self, workspace: _Workspace, now: int) -> None:
        """Let it be that moment, and the workspace's user be the one of the global scope."""
        self._now = now
        if workspace.shared != self._shared:
            with self._store.transaction(GLOBAL) as transaction:
                self._set(transaction, GLOBAL, workspace.shared)
            self._shared = workspace.shared

    def _set(
        self, transaction: Transaction, scope: Scope, entries: tuple[MemoryEntry, ...]
    ) -> None:
        transaction.set_entries(scope, entries)
        if self._summaries:
            write_summary(transaction, scope, entries, _DEFAULTS)

    def warm(self, workspace: _Workspace, engine: WorkspaceMemoryEngine) -> None:
        """Build the index of a workspace where it pays."""
        if workspace.wants_index and self._warm is not workspace:
            self.run(engine.warm(cwd=workspace.scope.cwd))
            self._warm = workspace

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Await a call of an engine."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._loop.run_until_complete(call)
        # In a notebook this thread has a loop that runs; ours then turns in another one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(self._loop.run_until_complete, call).result()

    def close(self) -> None:
        """Close the engines and remove the folder; nothing happens the second time."""
        if self._loop.is_closed():
            return
        for _, engine in self._engines:
            self.run(engine.close())
        self._loop.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _place(texts: int) -> str | None:
    """Where a folder for `texts` characters is best made; `None` is where temporary files go."""
    try:
        free = shutil.disk_usage(_MEMORY).free
    except OSError:
        return None
    fits = free >= _SPARE + _PER_CHARACTER * texts
    return _MEMORY if fits and os.access(_MEMORY, os.W_OK | os.X_OK) else None
