"""A scope without its entries: what can be known of it in no time however many it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.store.entry_set import EntrySet
from wsmem.store.layout import DESCRIPTOR, EXTRA, SNAPSHOT_FILES, STATE, SUMMARY
from wsmem.store.snapshot import EMPTY_GENERATION, Generation, ScopeSnapshot, assemble

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from wsmem.records import MemoryState
    from wsmem.store.access import StoreAccess
    from wsmem.store.codec import Problem
    from wsmem.store.fs import FileStamp
    from wsmem.store.snapshot import FileReading


class ScopeHead(NamedTuple):
    """The committed state of a scope, its entries not read."""

    key: str
    cwd: str
    summary: str
    state: MemoryState
    descriptor: Mapping[str, Any]
    extra: Mapping[str, Any]
    entries: FileStamp | None
    """Which version of the entries belongs to it."""
    problems: tuple[Problem, ...]
    """What could not be read of the other files."""


HEAD = (STATE, SUMMARY, DESCRIPTOR, EXTRA)
"""The files of a scope beside its entries."""
REGISTRATION = (DESCRIPTOR, EXTRA)
"""Those that tell whether a registry knew it."""


def read_head(access: StoreAccess, key: str, names: Collection[str] = HEAD) -> ScopeHead:
    """The state of a live scope beside its entries; errors as in `MemoryStore.read_scope`.

    Args:
        access: The store.
        key: The scope.
        names: Which of these files are read; what the others say is left empty.
    """
    reading = _read(access, key, names)
    # Files of the version at hand count as known, so they are not looked at.
    known = [
        None if name in names else stamp
        for name, stamp in zip(SNAPSHOT_FILES, reading.generation, strict=True)
    ]
    nothing = ScopeSnapshot(key=key, entry_set=EntrySet(()), generation=Generation(*known))
    snapshot = assemble(key, reading, nothing)
    return ScopeHead(
        key=key,
        cwd=snapshot.cwd,
        summary=snapshot.summary,
        state=snapshot.state,
        descriptor=snapshot.descriptor,
        extra=snapshot.extra,
        entries=reading.generation.entries,
        problems=snapshot.problems,
    )


def scope_exists(access: StoreAccess, key: str) -> bool:
    """Whether a live scope has any file."""
    return access.reader.generation(key, access.layout.scope(key)) != EMPTY_GENERATION


def directory_of(access: StoreAccess, key: str) -> str:
    """The directory a live scope's descriptor names, empty when it names none."""
    return read_head(access, key, (DESCRIPTOR,)).cwd


def _read(access: StoreAccess, key: str, names: Collection[str]) -> FileReading:
    """These files of a live scope; others only if they change meanwhile."""
    directory = access.layout.scope(key)
    present = access.reader.generation(key, directory)
    others = (
        None if name in names else stamp
        for name, stamp in zip(SNAPSHOT_FILES, present, strict=True)
    )
    return access.reader.read(key, directory, since=Generation(*others))
