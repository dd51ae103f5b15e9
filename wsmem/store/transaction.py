"""Collect a change to one or more scopes and commit it whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.store.changes import ScopeChange
from wsmem.store.layout import checkpoint_name
from wsmem.store.plan import CommitPlan
from wsmem.store.settling import locked, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wsmem.records import MemoryEntry, MemoryState
    from wsmem.store.access import StoreAccess
    from wsmem.store.layout import ScopeLike
    from wsmem.store.snapshot import ScopeSnapshot


class Transaction:
    """An open change; use it through `MemoryStore.transaction`, in the thread that opened it.

    Setters replace earlier calls. What is not set stays as it is on disk. Setting what is already
    there writes nothing, but a summary is always written, and the one before kept.
    """

    def __init__(self, access: StoreAccess, scopes: Sequence[ScopeLike]) -> None:
        """Open a change to scopes whose locks the caller holds."""
        self._access = access
        self._changes = {scope.key: ScopeChange(key=scope.key, cwd=scope.cwd) for scope in scopes}
        self._snapshots: dict[str, ScopeSnapshot] = {}

    def snapshot(self, scope: ScopeLike) -> ScopeSnapshot:
        """The scope as it was when first asked for here, without what has been set since."""
        key = self._change(scope).key
        if key not in self._snapshots:
            self._snapshots[key] = self._access.read(key)
        return self._snapshots[key]

    def set_entries(self, scope: ScopeLike, entries: Sequence[MemoryEntry]) -> None:
        """Replace the entries, in file order; reuse unchanged entry objects, they cost nothing."""
        self._change(scope).entries = tuple(entries)

    def set_state(self, scope: ScopeLike, state: MemoryState) -> None:
        """Replace `state.json`."""
        self._change(scope).state = state

    def set_extra(self, scope: ScopeLike, extra: Mapping[str, Any]) -> None:
        """Replace what wsmem alone keeps about the scope (`wsmem.json`): plain JSON values."""
        self._change(scope).extra = dict(extra)

    def set_summary(self, scope: ScopeLike, text: str, *, keep: int = 10) -> None:
        """Replace the summary; the one before goes to the history, where the last `keep` stay."""
        change = self._change(scope)
        change.summary, change.keep = text, keep

    def add_checkpoint(self, scope: ScopeLike, text: str, *, at_ms: int | None = None) -> str:
        """Add the audit of one stage; returns its file name."""
        moment = self._access.clock() if at_ms is None else at_ms
        name = checkpoint_name(moment, self._access.new_id())
        self._change(scope).added[name] = text
        return name

    def describe(self, scope: ScopeLike, **fields: Any) -> None:
        """Add diagnostic fields to `scope.json` (`workspaceId`, a title): plain JSON values."""
        if not fields.keys().isdisjoint({"key", "cwd"}):
            raise InvalidInputError("`key` and `cwd` are the scope's identity and cannot be set")
        self._change(scope).fields.update(fields)

    def _change(self, scope: ScopeLike) -> ScopeChange:
        try:
            return self._changes[scope.key]
        except KeyError:
            raise InvalidInputError(f"{scope.key} is not part of this transaction") from None

    # Committing

    def commit(self) -> bool:
        """Make the change a fact on disk; whether there was anything to change."""
        plan = CommitPlan(self._access)
        try:
            for change in self._changes.values():
                if not change.empty:
                    plan.add(change, self.snapshot(change))
            if plan:
                plan.carry_through(self._snapshots)
        except OSError as error:
            raise write_error("preparing", self._access, error) from error
        return bool(plan)


@contextmanager
def open_transaction(
    access: StoreAccess, scopes: Sequence[ScopeLike], timeout: float | None
) -> Iterator[Transaction]:
    """Lock, settle, hand out the transaction, and commit it unless the block raised."""
    if not scopes:
        raise InvalidInputError("a transaction needs at least one scope")
    with locked(access, [scope.key for scope in scopes], timeout):
        transaction = Transaction(access, scopes)
        yield transaction
        transaction.commit()
