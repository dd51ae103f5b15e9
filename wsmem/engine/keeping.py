"""Remember, forget, purge: what a user or an agent asks for on purpose. Synchronous."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.engine.reports import ForgetResult, RememberInput, RememberResult
from wsmem.errors import (
    AlreadyDeletedError,
    ArchivedScopeError,
    EntryNotFoundError,
    InvalidIdError,
    InvalidInputError,
    OtherWorkspaceError,
    RefusedMemoryError,
    SessionLookupError,
    ShortIdError,
)
from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.operations.changes import tombstone
from wsmem.operations.ledger import Ledger
from wsmem.operations.parsing import Proposal
from wsmem.operations.similarity import NearDuplicates
from wsmem.records import MemoryOperation
from wsmem.scopes import GLOBAL
from wsmem.store.layout import iso_time, kind_of
from wsmem.store.summary import render_summary
from wsmem.store.wording import wording_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wsmem.engine.locating import Locator, Place
    from wsmem.operations.apply import IdSource
    from wsmem.operations.outcome import Outcome
    from wsmem.records import Layer, MemoryEntry
    from wsmem.scopes import Scope
    from wsmem.settings import Settings
    from wsmem.store.entry_set import Prior
    from wsmem.store.purge import PurgeReport
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore
    from wsmem.store.transaction import Transaction

_MAX_ID = 200


class Keeper:
    """Changes single entries of one store."""

    def __init__(
        self,
        store: MemoryStore,
        settings: Settings,
        locator: Locator,
        *,
        clock: Callable[[], int],
        ids: IdSource,
    ) -> None:
        self._store = store
        self._settings = settings
        self._locator = locator
        self._clock = clock
        self._ids = ids

    def remember(self, request: RememberInput) -> RememberResult:
        """Keep a statement, in an entry of its own or in one that nearly says it.

        Raises:
            RefusedMemoryError: it says nothing, or holds a credential.
            InvalidInputError: the session layer was asked for without a session.
            ArchivedScopeError: the workspace is archived.
            SessionLookupError: nobody can say which workspace is meant.
            StoreError: it could not be written; nothing was.
        """
        place = writable(self._locator.place(cwd=request.cwd, session_id=request.session_id))
        scope = _scope_of(request.layer, place)
        layer = scope.layer
        proposal = Proposal(operation=_as_operation(request))

        def change(transaction: Transaction) -> Outcome:
            ledger = ledger_of(transaction.snapshot(scope))
            under = Circumstances(
                home=layer,
                default_layer=layer,
                at=iso_time(self._clock()),
                ids=self._ids,
                explicit=True,
            )
            outcome = apply_operations({layer: ledger}, [proposal], under)
            write_entries(transaction, {layer: scope}, outcome.entries, self._settings)
            return outcome

        outcome = self._store.update([scope], change)
        record = outcome.audit[0]
        if record.effect == "refused" or record.entry_id is None:
            raise RefusedMemoryError(record.reason)
        return RememberResult(
            scope=scope.key,
            entry_id=record.entry_id,
            added=int(record.effect == "added"),
            updated=int(record.effect == "updated"),
            ignored=int(record.effect == "unchanged"),
            reason=record.reason,
        )

    def forget(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> ForgetResult:
        """Take an entry out of every answer; its record stays, marked as deleted.

        Reaches what a recall from the same place shows: workspace, global and session layer.

        Raises:
            InvalidIdError: no whole id; `ShortIdError` when it is the beginning of one.
            EntryNotFoundError: there is no such entry.
            AlreadyDeletedError: it was forgotten before.
            OtherWorkspaceError: it belongs to another workspace.
            StoreError: it could not be written; nothing was.
        """
        place = writable(self._locator.place(cwd=cwd, session_id=session_id))
        scope = self._holder(entry_id, place)

        def change(transaction: Transaction) -> None:
            snapshot = transaction.snapshot(scope)
            entry = snapshot.entry(entry_id)
            if entry is None:
                raise EntryNotFoundError(entry_id, scope.key)
            if entry.status == "deleted":
                raise AlreadyDeletedError(entry_id, scope.key)
            gone = tombstone(entry, at=iso_time(self._clock()))
            entries = [gone if other is entry else other for other in snapshot.entries]
            write_entries(transaction, {scope.layer: scope}, {scope.layer: entries}, self._settings)

        self._store.update([scope], change)
        return ForgetResult(scope=scope.key, entry_id=entry_id)

    def purge(
        self, entry_id: str, *, cwd: str | None = None, session_id: str | None = None
    ) -> PurgeReport:
        """Remove an entry, forgotten or not, from everything the store keeps.

        Raises:
            InvalidIdError: no whole id; `ShortIdError` when it is the beginning of one.
            EntryNotFoundError: there is no such entry.
            OtherWorkspaceError: it belongs to another workspace.
            StoreError: it could not be written.
        """
        place = writable(self._locator.place(cwd=cwd, session_id=session_id))
        scope = self._holder(entry_id, place)
        report = self._store.purge_entry(
            scope,
            entry_id,
            summarise=lambda entries: summary_of(scope, entries, self._settings),
        )
        if not report.found:
            raise EntryNotFoundError(entry_id, scope.key)
        return report

    def _holder(self, entry_id: str, place: Place) -> Scope:
        """The scope, of those a recall from `place` reads, that has this entry."""
        if not entry_id or entry_id.strip() != entry_id or len(entry_id) > _MAX_ID:
            raise InvalidIdError(entry_id[:_MAX_ID], place.main.key)
        nearest_first = sorted(place.read, key=lambda scope: scope.layer == "global")
        snapshots = [(scope, self._store.read_scope(scope)) for scope in nearest_first]
        for scope, snapshot in snapshots:
            if snapshot.entry(entry_id) is not None:
                return scope
        begun = [
            entry.id
            for _, snapshot in snapshots
            for entry in snapshot.entries
            if entry.status != "deleted" and entry.id.startswith(entry_id)
        ]
        if begun:
            raise ShortIdError(entry_id, place.main.key, tuple(begun))
        if self._is_elsewhere(entry_id, place):
            raise OtherWorkspaceError(entry_id, place.main.key)
        raise EntryNotFoundError(entry_id, place.main.key)

    def _is_elsewhere(self, entry_id: str, place: Place) -> bool:
        near = {scope.key for scope in place.read}
        return any(
            self._store.read_scope(listing).entry(entry_id) is not None
            for listing in self._store.list_scopes()
            if listing.key not in near
        )


def writable(place: Place) -> Place:
    """`place`, if it may be written to.

    Raises:
        SessionLookupError: nobody can say which workspace is meant.
        ArchivedScopeError: the workspace is archived.
    """
    if place.problem is not None:
        raise SessionLookupError(place.problem)
    if place.archived:
        raise ArchivedScopeError(place.main.key, place.main.cwd)
    return place


def ledger_of(snapshot: ScopeSnapshot) -> Ledger:
    """The entries of a snapshot, ready to be changed, with an index that follows them."""
    return Ledger(snapshot.entries, duplicates=duplicates_of(snapshot))


def duplicates_of(snapshot: ScopeSnapshot) -> NearDuplicates:
    """The near-duplicate index of a snapshot's entries, which follows their changes."""
    return snapshot.derive("near-duplicates", _near_duplicates)


def write_entries(
    transaction: Transaction,
    scopes: Mapping[Layer, Scope],
    entries: Mapping[Layer, Sequence[MemoryEntry]],
    settings: Settings,
) -> None:
    """Put changed entries into a transaction, and with them their summaries."""
    for layer, changed in entries.items():
        scope = scopes[layer]
        transaction.set_entries(scope, changed)
        write_summary(transaction, scope, changed, settings)


def write_summary(
    transaction: Transaction, scope: Scope, entries: Sequence[MemoryEntry], settings: Settings
) -> None:
    """Rebuild the summary of a scope; the one before goes to the history."""
    text = summary_of(scope, entries, settings)
    transaction.set_summary(scope, text, keep=settings.keep_summary_versions)


def summary_of(scope: Scope, entries: Sequence[MemoryEntry], settings: Settings) -> str:
    """The summary of these entries."""
    return render_summary(
        entries,
        kind=kind_of(scope.key),
        max_bytes=settings.summary_max_bytes,
        wording=wording_of(settings.language),
    )


def _near_duplicates(
    entries: tuple[MemoryEntry, ...], prior: Prior[NearDuplicates] | None
) -> NearDuplicates:
    return NearDuplicates(entries) if prior is None else prior.value.updated(entries)


def _scope_of(layer: Layer, place: Place) -> Scope:
    if layer == "global":
        return GLOBAL
    if layer == "workspace":
        return place.main
    if place.session is None:
        raise InvalidInputError("the session layer needs a session id; nothing was written")
    return place.session


def _as_operation(request: RememberInput) -> MemoryOperation:
    return MemoryOperation(
        op="add",
        content=request.content,
        type=request.type,
        title=request.title,
        description=request.description,
        tags=tuple(request.tags),
        retrieval_terms=tuple(request.retrieval_terms),
        importance=request.importance,
    )
