"""`MemoryStore`: one memory root on disk, the way in for everything above.

Imports here and on the reading path stay within the light half of the standard library; what only
writers need is imported when they write.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from wsmem.errors import StaleSnapshotError
from wsmem.store.access import StoreAccess

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from wsmem.records import MemoryEntry
    from wsmem.store.archive import MoveOutcome
    from wsmem.store.fs import FileSystem
    from wsmem.store.heads import ScopeHead
    from wsmem.store.layout import Layout, ScopeLike
    from wsmem.store.listing import ScopeListing
    from wsmem.store.postings import FiledScope, OpenFiles
    from wsmem.store.postings_writing import RingsOf, WriteOutcome
    from wsmem.store.purge import PurgeReport
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.transaction import Transaction

T = TypeVar("T")

_RETRY_PAUSE_S = 0.01


class MemoryStore:
    """A memory root. Cheap to make: nothing is read or created until it is used.

    One object may serve any number of threads; several objects and processes may share a root.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        fs: FileSystem | None = None,
        clock: Callable[[], int] | None = None,
        new_id: Callable[[], str] | None = None,
        lock_timeout: float = 10.0,
        lasting: bool = True,
    ) -> None:
        """Use the memory files under `root`.

        Args:
            root: The memory directory; it may be a symlink, and need not exist.
            fs: Stands between the store and the system, for fault injection.
            clock: Milliseconds since the epoch, for names of history and checkpoint files.
            new_id: UUIDs for those names.
            lock_timeout: Seconds a transaction waits for its locks, unless it says otherwise.
            lasting: Whether scopes will be read again after others changed them, for which the
                first reading then prepares; a process that answers one question saves that.
        """
        self._access = StoreAccess(
            root, fs=fs, clock=clock, new_id=new_id, lock_timeout=lock_timeout, lasting=lasting
        )

    @property
    def layout(self) -> Layout:
        """Where things are under this root, `layout.cache(key)` for derived files among them."""
        return self._access.layout

    # Reading

    def read_scope(self, scope: ScopeLike) -> ScopeSnapshot:
        """The committed state of a scope; an empty one where nothing was ever written.

        Raises:
            UnreadableFileError: the system refused to read one of its files.
            StoreVersionError: a newer wsmem left a change half-way.
        """
        return self._access.read(scope.key)

    def held(self, scope: ScopeLike) -> ScopeSnapshot | None:
        """The committed state of a scope if it is in memory already, else `None`.

        Raises:
            UnreadableFileError: the system refused to look at one of its files.
        """
        return self._access.held(scope.key)

    def read_head(self, scope: ScopeLike) -> ScopeHead:
        """The committed state of a scope beside its entries; errors as in `read_scope`."""
        from wsmem.store.heads import read_head

        return read_head(self._access, scope.key)

    def read_registration(self, scope: ScopeLike) -> ScopeHead:
        """The same with nothing but the descriptor and what wsmem keeps beside a scope."""
        from wsmem.store.heads import REGISTRATION, read_head

        return read_head(self._access, scope.key, REGISTRATION)

    def list_waiting(self) -> tuple[ScopeHead, ...]:
        """Scopes of `list_scopes` with messages to be distilled; reads no entries or summaries."""
        from wsmem.store.listing import list_waiting

        return list_waiting(self._access)

    def exists(self, scope: ScopeLike) -> bool:
        """Whether anything was ever written to a scope; reads no file."""
        from wsmem.store.heads import scope_exists

        return scope_exists(self._access, scope.key)

    def directory_of(self, scope: ScopeLike) -> str:
        """The directory a scope's descriptor names, empty when it names none; reads only that."""
        from wsmem.store.heads import directory_of

        return directory_of(self._access, scope.key)

    def read_archived(self, key: str) -> ScopeSnapshot:
        """The state of an archived workspace; `exists` is false when there is none."""
        return self._access.read_archived(key)

    def list_scopes(self, *, sessions: bool = False) -> tuple[ScopeListing, ...]:
        """Global first, then live workspaces by directory, with counters; a scan of all of them."""
        from wsmem.store.listing import list_live

        return list_live(self._access, sessions=sessions)

    def list_archived(self) -> tuple[ScopeListing, ...]:
        """Archived workspaces by directory, with counters."""
        from wsmem.store.listing import list_archived

        return list_archived(self._access)

    # Postings, for processes that answer one question

    def open_postings(self, scope: ScopeLike, files: OpenFiles) -> FiledScope | None:
        """A scope by its head and its postings; `None` where there are none good for its entries.

        Raises:
            UnreadableFileError: the system refused to read one of its other files.
            StoreVersionError: a newer wsmem left a change half-way.
        """
        from wsmem.store.postings import open_scope

        return open_scope(self._access, scope.key, files)

    def has_postings(self, scope: ScopeLike) -> bool:
        """Whether a scope has a postings file, be it good or not; reads nothing."""
        from wsmem.store.postings import has_postings

        return has_postings(self._access, scope.key)

    def open_files(self) -> OpenFiles:
        """Holds what `open_postings` opens, until it is closed."""
        from wsmem.store.postings import OpenFiles

        return OpenFiles(self._access.fs)

    def write_postings(
        self,
        scope: ScopeLike,
        *,
        rings_of: RingsOf,
        pause: Callable[[], bool] = lambda: True,
    ) -> WriteOutcome:
        """Bring a scope's postings up to its entries; see there for arguments and errors."""
        from wsmem.store.postings_writing import write_postings

        return write_postings(self._access, scope.key, rings_of=rings_of, pause=pause)

    # Writing

    def transaction(
        self, *scopes: ScopeLike, timeout: float | None = None
    ) -> AbstractContextManager[Transaction]:
        """Change these scopes together; see `Transaction`. Commits on leaving without error.

        Raises:
            LockTimeoutError: another writer held one of the scopes too long; retryable.
            LockOrderError: the caller holds a scope that must be locked after one of these.
            StaleSnapshotError: on leaving, when another program rewrote a file meanwhile.
            StoreWriteError: on leaving; says whether anything was changed.
            StoreVersionError: a newer wsmem wrote here.
        """
        from wsmem.store.transaction import open_transaction

        return open_transaction(self._access, scopes, timeout)

    def update(
        self,
        scopes: Iterable[ScopeLike],
        change: Callable[[Transaction], T],
        *,
        timeout: float | None = None,
        attempts: int = 8,
    ) -> T:
        """Run `change` in a transaction, again from fresh snapshots when files moved under it."""
        wanted = tuple(scopes)
        for attempt in range(1, attempts + 1):
            try:
                with self.transaction(*wanted, timeout=timeout) as transaction:
                    result = change(transaction)
            except StaleSnapshotError:
                if attempt == attempts:
                    raise
                time.sleep(_RETRY_PAUSE_S * attempt)
            else:
                return result
        raise AssertionError("unreachable: attempts is at least 1")

    def lock(
        self, *scopes: ScopeLike, timeout: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold scopes over several transactions; same order, re-entrant in one thread."""
        from wsmem.store.settling import locked

        return locked(self._access, [scope.key for scope in scopes], timeout)

    def recover(self) -> tuple[str, ...]:
        """Carry out every committed change and clear what dead writers left; what was done.

        Never needed for correctness: readers and transactions see to their own scopes.
        """
        from wsmem.store.settling import recover

        return recover(self._access)

    # Whole scopes and single entries

    def archive(self, key: str) -> MoveOutcome:
        """Move a workspace out of recall: `moved`, `absent`, or `occupied` (already archived)."""
        from wsmem.store.archive import archive_scope

        return archive_scope(self._access, key)

    def restore(self, key: str) -> MoveOutcome:
        """Move a workspace back: `moved`, `absent`, or `occupied` (there is new live memory)."""
        from wsmem.store.archive import restore_scope

        return restore_scope(self._access, key)

    def purge_archived(self, key: str) -> bool:
        """Physically remove an archived workspace; whether there was one."""
        from wsmem.store.archive import purge_archived

        return purge_archived(self._access, key)

    def discard_session(self, key: str) -> bool:
        """Physically remove a session scope; whether there was one."""
        from wsmem.store.archive import discard_session

        return discard_session(self._access, key)

    def purge_entry(
        self,
        scope: ScopeLike,
        entry_id: str,
        *,
        summarise: Callable[[Sequence[MemoryEntry]], str] | None = None,
    ) -> PurgeReport:
        """Remove an entry's text from everything the store keeps; says what was rewritten.

        `summarise` makes the scope's summary from the entries that remain; without it the
        entry's lines are cut out of the present one.
        """
        from wsmem.store.purge import purge_entry

        return purge_entry(self._access, scope, entry_id, summarise=summarise)
