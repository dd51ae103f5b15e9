"""A scope without its entries: what can be known of it in no time however many it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wsmem.store.layout import DESCRIPTOR, ENTRIES, SNAPSHOT_FILES
from wsmem.store.snapshot import EMPTY_GENERATION, EntrySet, Generation, ScopeSnapshot, assemble

if TYPE_CHECKING:
    from collections.abc import Collection

    from wsmem.store.access import StoreAccess
    from wsmem.store.codec import Problem
    from wsmem.store.fs import FileStamp
    from wsmem.store.snapshot import FileReading


class ScopeHead(NamedTuple):
    """The committed state of a scope, its entries not read."""

    key: str
    cwd: str
    summary: str
    entries: FileStamp | None
    """Which version of the entries belongs to it."""
    problems: tuple[Problem, ...]
    """What could not be read of the other files."""


def read_head(access: StoreAccess, key: str) -> ScopeHead:
    """The state of a live scope beside its entries; errors as in `MemoryStore.read_scope`."""
    reading = _read(access, key, [name for name in SNAPSHOT_FILES if name != ENTRIES])
    # Entries of the version at hand count as known, so they are not looked at.
    known = EMPTY_GENERATION._replace(entries=reading.generation.entries)
    nothing = ScopeSnapshot(key=key, entry_set=EntrySet(()), generation=known)
    snapshot = assemble(key, reading, nothing)
    return ScopeHead(
        key=key,
        cwd=snapshot.cwd,
        summary=snapshot.summary,
        entries=reading.generation.entries,
        problems=snapshot.problems,
    )


def scope_exists(access: StoreAccess, key: str) -> bool:
    """Whether a live scope has any file."""
    return access.reader.generation(key, access.layout.scope(key)) != EMPTY_GENERATION


def directory_of(access: StoreAccess, key: str) -> str:
    """The directory a live scope's descriptor names, empty when it names none."""
    reading = _read(access, key, [DESCRIPTOR])
    known = reading.generation._replace(descriptor=None)
    nothing = ScopeSnapshot(key=key, entry_set=EntrySet(()), generation=known)
    return assemble(key, reading, nothing).cwd


def _read(access: StoreAccess, key: str, names: Collection[str]) -> FileReading:
    """These files of a live scope; others only if they change meanwhile."""
    directory = access.layout.scope(key)
    present = access.reader.generation(key, directory)
    others = (
        None if name in names else stamp
        for name, stamp in zip(SNAPSHOT_FILES, present, strict=True)
    )
    return access.reader.read(key, directory, since=Generation(*others))
