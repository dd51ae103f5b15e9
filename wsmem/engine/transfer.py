"""Take memory out of a store as one JSON document, and into another.

An export holds entries as they stand in the files, credentials redacted, and nothing else: no
messages, no audits, no history. An import adds what is not there yet and changes nothing that is.
Everything up to `Transfer` is pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from wsmem.engine.keeping import writable, write_entries
from wsmem.engine.recalling import describe
from wsmem.errors import (
    ArchivedScopeError,
    InputFileError,
    InvalidInputError,
    RelativePathError,
    StoreVersionError,
    WsmemError,
)
from wsmem.records import Layer, MemoryEntry
from wsmem.redaction.redact import redact_value
from wsmem.scopes import normalize_cwd
from wsmem.store.codec import complete_entry, entry_text, entry_to_stored
from wsmem.store.jsontext import parse_json
from wsmem.store.layout import ScopeRef, iso_time, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wsmem.engine.locating import Locator
    from wsmem.scopes import Scope
    from wsmem.settings import Settings
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore
    from wsmem.store.transaction import Transaction

FORMAT = "wsmem-export"
VERSION = 1
"""The newest version of the document that this code reads and writes."""

_LAYERS: tuple[Layer, ...] = tuple(layer for layer in get_args(Layer) if layer != "session")
"""A conversation's own layer stays where it is: its key means nothing in another store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A document, and what it does not hold."""

    document: Mapping[str, Any]
    redacted: int
    """Texts in which a credential was replaced."""
    problems: tuple[str, ...] = ()
    """What could not be read and so is not in the document."""

    @property
    def entry_count(self) -> int:
        """Entries in the document."""
        return sum(len(scope["entries"]) for scope in self.document["scopes"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignScope:
    """One scope of a document, as it was found there."""

    layer: Layer
    cwd: str
    items: tuple[Any, ...]
    """Records of entries; nothing in them has been checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An entry that was not imported."""

    entry_id: str
    """Empty when it has none."""
    reason: str
    """Never repeats what the entry says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """What becomes of each entry of a document in one scope."""

    additions: tuple[MemoryEntry, ...] = ()
    identical: int = 0
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeImport:
    """What an import did to one scope, or would do."""

    scope: str
    cwd: str
    added: tuple[str, ...] = ()
    """Ids, in the order of the document."""
    identical: int = 0
    refused: tuple[Refusal, ...] = ()
    error: str | None = None
    """Why nothing could be imported into this scope."""


def export_document(snapshots: Sequence[ScopeSnapshot], *, at_ms: int) -> Export:
    """The document of these scopes, in their order and with their entries in file order."""
    scopes, redacted = [], 0
    for snapshot in snapshots:
        records = [entry_to_stored(entry) for entry in snapshot.entries]
        shown = [redact_value(record) for record in records]
        redacted += sum(map(_changed_texts, records, shown))
        scopes.append(
            {
                "key": snapshot.key,
                "cwd": snapshot.cwd,
                "layer": kind_of(snapshot.key),
                "entries": shown,
            }
        )
    document = {
        "format": FORMAT,
        "version": VERSION,
        "exportedAt": iso_time(at_ms),
        "scopes": scopes,
    }
    problems = tuple(f"{s.key}: {problem}" for s in snapshots for problem in s.problems)
    return Export(document=document, redacted=redacted, problems=problems)


def read_document(data: bytes, *, source: str) -> tuple[ForeignScope, ...]:
    """The scopes of a document, their entries not yet looked at.

    Args:
        data: The file.
        source: Its name, for errors.

    Raises:
        InputFileError: it is not a document of this kind.
        StoreVersionError: a newer wsmem wrote it.
    """
    try:
        raw = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputFileError(source, None, f"byte {error.start} is not UTF-8") from None
    except ValueError as error:
        raise InputFileError(source, None, f"is not valid JSON ({error})") from None
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise InputFileError(source, None, f'does not say "format": "{FORMAT}"')
    version = raw.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputFileError(source, None, "has no version number")
    if version > VERSION:
        raise StoreVersionError(source, f"{FORMAT} {version}", VERSION)
    if not isinstance(raw.get("scopes"), list):
        raise InputFileError(source, None, 'has no list of "scopes"')
    return tuple(_foreign_scope(item, n, source) for n, item in enumerate(raw["scopes"], start=1))


def plan_import(existing: Sequence[MemoryEntry], items: Iterable[Any], *, layer: str) -> ImportPlan:
    """Which entries of a document are new here, which are here already, which are refused.

    An entry is here already when every field is the same, or was before credentials were redacted
    on the way out. One that has the id of another entry is refused: neither may be lost.
    """
    known = {entry.id: entry_to_stored(entry) for entry in existing}
    added: dict[str, MemoryEntry] = {}
    refused: list[Refusal] = []
    identical = 0
    for number, item in enumerate(items, start=1):
        record, fault = _read_record(item, layer)
        entry_id = _id_of(item)
        if record is None:
            refused.append(Refusal(entry_id=entry_id, reason=f"entry {number} {fault}"))
        elif entry_id not in known:
            if redact_value(record) is record:
                known[entry_id] = record
                added[entry_id] = MemoryEntry.from_stored(record)
            else:
                refused.append(Refusal(entry_id=entry_id, reason="it holds a credential"))
        elif record in (known[entry_id], redact_value(known[entry_id])):
            identical += 1
        else:
            where = "the file has" if entry_id in added else "there is"
            reason = f"{where} another entry with this id, and it is not the same"
            refused.append(Refusal(entry_id=entry_id, reason=reason))
    return ImportPlan(additions=tuple(added.values()), identical=identical, refused=tuple(refused))


class Transfer:
    """Exports from and imports into one store. Synchronous.

    Args:
        store: The store.
        settings: How its summaries are rebuilt.
        locator: Finds scopes, the same as for every other reading and writing.
        clock: Milliseconds since the epoch.
    """

    def __init__(
        self,
        store: MemoryStore,
        settings: Settings,
        locator: Locator,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._settings = settings
        self._locator = locator
        self._clock = clock

    def export(self, *, cwd: str = "") -> Export:
        """The memory of one workspace, in use or archived; the global one without a directory.

        Raises:
            InvalidInputError: there is no memory of this workspace.
            StoreError: its files cannot be read.
        """
        place = self._locator.place(cwd=cwd)
        key = place.main.key
        snapshot = (
            self._store.read_archived(key) if place.archived else self._store.read_scope(place.main)
        )
        if not snapshot.exists and place.main.layer == "workspace":
            raise InvalidInputError(f"there is no memory of {place.main.cwd}; nothing was exported")
        if not snapshot.cwd:
            snapshot = replace(snapshot, cwd=place.main.cwd)
        return export_document([snapshot], at_ms=self._clock())

    def export_all(self) -> Export:
        """Global memory and that of every workspace in use; neither archive nor conversations.

        Raises:
            StoreError: files of one of them cannot be read.
        """
        listed = self._store.list_scopes()
        snapshots = [
            replace(self._store.read_scope(ScopeRef(listing.key)), cwd=listing.cwd)
            for listing in listed
        ]
        return export_document(snapshots, at_ms=self._clock())

    def import_scopes(
        self, scopes: Sequence[ForeignScope], *, cwd: str | None = None, dry_run: bool = False
    ) -> tuple[ScopeImport, ...]:
        """Add what is new, each scope in one commit; a scope that fails stops no other.

        Args:
            scopes: What a document holds.
            cwd: A workspace that takes the place of the document's only one.
            dry_run: Only say what would be done.

        Raises:
            InvalidInputError: the document cannot be redirected to `cwd`.
        """
        if cwd is not None:
            scopes = [_redirected(scopes, cwd)]
        failed: list[ScopeImport] = []
        targets: dict[str, Scope] = {}
        items: dict[str, list[Any]] = {}
        for foreign in scopes:
            try:
                scope = writable(self._locator.place(cwd=foreign.cwd)).main
            except WsmemError as error:
                key = error.scope if isinstance(error, ArchivedScopeError) else ""
                failed.append(ScopeImport(scope=key, cwd=foreign.cwd, error=describe(error)))
                continue
            targets[scope.key] = scope  # two spellings of one directory are one scope
            items.setdefault(scope.key, []).extend(foreign.items)
        done = [
            self._import_scope(scope, items[key], dry_run=dry_run) for key, scope in targets.items()
        ]
        return (*done, *failed)

    def _import_scope(self, scope: Scope, items: Sequence[Any], *, dry_run: bool) -> ScopeImport:
        try:
            plan = plan_import(self._store.read_scope(scope).entries, items, layer=scope.layer)
            if plan.additions and not dry_run:
                plan = self._store.update([scope], lambda tx: self._add(tx, scope, items))
        except WsmemError as error:
            return ScopeImport(scope=scope.key, cwd=scope.cwd, error=describe(error))
        return ScopeImport(
            scope=scope.key,
            cwd=scope.cwd,
            added=tuple(entry.id for entry in plan.additions),
            identical=plan.identical,
            refused=plan.refused,
        )

    def _add(self, transaction: Transaction, scope: Scope, items: Sequence[Any]) -> ImportPlan:
        present = transaction.snapshot(scope).entries
        plan = plan_import(present, items, layer=scope.layer)
        if plan.additions:
            entries = {scope.layer: (*present, *plan.additions)}
            write_entries(transaction, {scope.layer: scope}, entries, self._settings)
        return plan


def _redirected(scopes: Sequence[ForeignScope], cwd: str) -> ForeignScope:
    """The only scope of a document, as that of another workspace."""
    if len(scopes) != 1:
        count = len(scopes) or "no"
        raise InvalidInputError(
            f"the file holds {count} scopes, and only a file of one can go to another workspace; "
            "nothing was imported"
        )
    if scopes[0].layer != "workspace":
        raise InvalidInputError(
            "the file holds global memory, which belongs to no workspace; nothing was imported"
        )
    return replace(scopes[0], cwd=cwd)


def _foreign_scope(item: Any, number: int, source: str) -> ForeignScope:
    if not isinstance(item, dict):
        raise InputFileError(source, None, f"scope {number} is no object")
    layer, cwd, entries = item.get("layer"), item.get("cwd"), item.get("entries")
    if layer not in _LAYERS:
        raise InputFileError(source, None, f"scope {number}: layer is none of {', '.join(_LAYERS)}")
    if not isinstance(entries, list):
        raise InputFileError(source, None, f'scope {number} has no list of "entries"')
    if layer == "global":
        return ForeignScope(layer="global", cwd="", items=tuple(entries))
    if not isinstance(cwd, str):
        raise InputFileError(source, None, f"scope {number} does not name its directory")
    try:
        directory = normalize_cwd(cwd)
    except RelativePathError:
        problem = f"scope {number}: its directory is a relative path"
        raise InputFileError(source, None, problem) from None
    if not directory:  # it would be taken for the global scope
        raise InputFileError(source, None, f"scope {number} names no workspace's directory")
    return ForeignScope(layer="workspace", cwd=cwd, items=tuple(entries))


def _read_record(item: Any, layer: str) -> tuple[dict[str, Any] | None, str]:
    """A record as reading it back from the store will give it; `None` with what is wrong with it.

    Nothing is altered but that missing fields get their defaults.
    """
    record, faults = complete_entry(item, layer=layer)
    if record is None or faults:
        return None, faults[0]
    if not record["id"].strip():
        return None, "has an empty id"
    try:
        read_back = parse_json(entry_text(record).decode())  # numbers JSON cannot say become null
        redact_value(read_back)
    except (RecursionError, ValueError):
        return None, "is nested too deeply"
    return complete_entry(read_back, layer=layer)[0], ""


def _id_of(item: Any) -> str:
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, str) else ""


def _changed_texts(before: Any, after: Any) -> int:
    """How many texts differ between two values of the same shape."""
    if before is after:
        return 0
    if isinstance(before, dict):
        return sum(_changed_texts(before[key], after[key]) for key in before)
    if isinstance(before, (list, tuple)):
        return sum(map(_changed_texts, before, after))
    return int(before != after)
