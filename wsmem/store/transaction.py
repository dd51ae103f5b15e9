"""Collect a change to one or more scopes and commit it whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import MemoryEntry, MemoryState
    from wsmem.store.layout import ScopeLike
    from wsmem.store.snapshot import ScopeSnapshot


class Transaction:
    """An open change; use it through `MemoryStore.transaction`, in the thread that opened it.

    Setters replace earlier calls. What is not set stays as it is on disk. Setting what is already
    there writes nothing.
    """

    def snapshot(self, scope: ScopeLike) -> ScopeSnapshot:
        """The scope as committed when the transaction began (not what has been set since)."""
        raise NotImplementedError

    def set_entries(self, scope: ScopeLike, entries: Sequence[MemoryEntry]) -> None:
        """Replace the entries, in file order; reuse unchanged entry objects, they cost nothing."""
        raise NotImplementedError

    def set_state(self, scope: ScopeLike, state: MemoryState) -> None:
        """Replace `state.json`."""
        raise NotImplementedError

    def set_extra(self, scope: ScopeLike, extra: Mapping[str, Any]) -> None:
        """Replace what wsmem alone keeps about the scope (`wsmem.json`): plain JSON values."""
        raise NotImplementedError

    def set_summary(self, scope: ScopeLike, text: str, *, keep: int = 20) -> None:
        """Replace the summary; the one before goes to the history, which keeps the newest `keep`."""
        raise NotImplementedError

    def add_checkpoint(self, scope: ScopeLike, text: str, *, at_ms: int | None = None) -> str:
        """Add the audit of one stage; returns its file name."""
        raise NotImplementedError

    def describe(self, scope: ScopeLike, **fields: Any) -> None:
        """Add diagnostic fields to `scope.json` (`workspaceId`, a title), beside `key` and `cwd`."""
        raise NotImplementedError
