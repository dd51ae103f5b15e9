"""`MemoryStore`: one memory root on disk, the way in for everything above."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from wsmem.store.archive import MoveOutcome
    from wsmem.store.fs import FileSystem
    from wsmem.store.layout import ScopeLike
    from wsmem.store.listing import ScopeListing
    from wsmem.store.purge import PurgeReport
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.transaction import Transaction

T = TypeVar("T")


class MemoryStore:
    """A memory root. Cheap to make: nothing is read or created until it is used."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        fs: FileSystem | None = None,
        clock: Callable[[], int] | None = None,
        new_id: Callable[[], str] | None = None,
        lock_timeout: float = 10.0,
    ) -> None:
        """Use the memory files under `root`; `clock` gives ms since the epoch, `new_id` UUIDs."""
        raise NotImplementedError

    def read_scope(self, scope: ScopeLike) -> ScopeSnapshot:
        """The committed state of a scope; an empty one where nothing was ever written.

        Raises:
            UnreadableFileError: the system refused to read one of its files.
        """
        raise NotImplementedError

    def read_archived(self, key: str) -> ScopeSnapshot:
        """The state of an archived workspace; `exists` is false when there is none."""
        raise NotImplementedError

    def transaction(
        self, *scopes: ScopeLike, timeout: float | None = None
    ) -> AbstractContextManager[Transaction]:
        """Change these scopes together; see `Transaction`. Commits on leaving without error.

        Raises:
            LockTimeoutError: another writer held one of the scopes too long; retryable.
            StaleSnapshotError: on leaving, when another program rewrote a file meanwhile.
            StoreWriteError: on leaving; says whether anything was changed.
            StoreVersionError: a newer wsmem wrote here.
        """
        raise NotImplementedError

    def update(
        self, scopes: Iterable[ScopeLike], change: Callable[[Transaction], T], *, attempts: int = 8
    ) -> T:
        """Run `change` in a transaction, again from fresh snapshots when files moved under it."""
        raise NotImplementedError

    def lock(
        self, *scopes: ScopeLike, timeout: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold scopes over several transactions; same order, re-entrant in one thread."""
        raise NotImplementedError

    def recover(self) -> tuple[str, ...]:
        """Roll forward every committed change and clear what dead writers left; what was done.

        Never needed for correctness: readers and transactions do their part by themselves.
        """
        raise NotImplementedError

    def list_scopes(self, *, sessions: bool = False) -> tuple[ScopeListing, ...]:
        """Global first, then live workspaces by directory, with counters."""
        raise NotImplementedError

    def list_archived(self) -> tuple[ScopeListing, ...]:
        """Archived workspaces by directory, with counters."""
        raise NotImplementedError

    def archive(self, key: str) -> MoveOutcome:
        """Move a workspace out of recall: `moved`, `absent`, or `occupied` (already archived)."""
        raise NotImplementedError

    def restore(self, key: str) -> MoveOutcome:
        """Move a workspace back: `moved`, `absent`, or `occupied` (there is new live memory)."""
        raise NotImplementedError

    def purge_archived(self, key: str) -> bool:
        """Physically remove an archived workspace; whether there was one."""
        raise NotImplementedError

    def discard_session(self, key: str) -> bool:
        """Physically remove a session scope; whether there was one."""
        raise NotImplementedError

    def purge_entry(self, scope: ScopeLike, entry_id: str) -> PurgeReport:
        """Remove an entry's text from everything the store keeps; says what was rewritten."""
        raise NotImplementedError
