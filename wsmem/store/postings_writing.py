"""Write a scope's postings; see `wsmem.store.postings` for what the file is and when it is good.

Nobody waits for it: it takes as long as building an index, and the lock is held only while the
finished file is put in its place.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import LockTimeoutError
from wsmem.retrieval.persisted.fingerprint import fingerprint
from wsmem.store.codec import read_entries
from wsmem.store.fs import make_directories
from wsmem.store.jsontext import parse_item
from wsmem.store.layout import kind_of, new_uuid
from wsmem.store.postings import (
    POSTINGS,
    OpenFiles,
    entries_path,
    has_postings,
    open_postings,
    postings_path,
    version_of,
)
from wsmem.store.settling import locked, write_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.store.access import StoreAccess
    from wsmem.store.postings import Version

    RingsOf = Callable[[tuple[MemoryEntry, ...]], Sequence[str]]

SETTLED_S = 2.0
"""How long entries must have been left alone: the coarsest clock of a file system in use (FAT)."""

_SPACE = " \t\r\n"

WriteOutcome = Literal["written", "current", "absent", "unsettled", "unsuitable", "changed", "busy"]
"""`current`: there is a good one already. `absent`: there are no entries. `unsettled`: they were
written just now; later. `unsuitable`: they cannot be read whole, or there are more than a file can
count. `changed`: they changed while they were read; again. `busy`: the scope is being written."""


def write_postings(
    access: StoreAccess,
    key: str,
    *,
    rings_of: RingsOf,
    pause: Callable[[], bool] = lambda: True,
) -> WriteOutcome:
    """Bring the postings of a live scope up to its entries.

    Args:
        access: The store.
        key: The scope.
        rings_of: What a recall says of the entries' chains, to be said without reading them.
        pause: Called before each entry is analysed; may sleep, `False` stops the work.

    Raises:
        BuildStoppedError: `pause` said so; what was there is still there.
        StoreWriteError: the system refused; what was there is still there.
        UnreadableFileError: the entries cannot be read.
    """
    files = OpenFiles(access.fs)
    try:
        stamp = access.reader.generation(key, access.layout.scope(key)).entries
        if stamp is None:
            return _drop(access, key)
        present = open_postings(access, key, stamp, files)
        if present is not None and present.postings.pages.intact():
            return "current"
        if access.journals.committed(key):
            return "busy"
        version, data = _read_settled(access, key, files)
        if data is None:
            return "unsettled"
        built = _built(key, data, version, rings_of, pause)
        return "unsuitable" if built is None else _put(access, key, built, version)
    except OSError as error:
        raise write_error("writing postings", access, error) from error
    finally:
        files.close()


def _drop(access: StoreAccess, key: str) -> WriteOutcome:
    """Words of entries that are gone are not kept."""
    if has_postings(access, key):
        try:
            with locked(access, [key], timeout=0):
                if access.fs.stamp(entries_path(access, key)) is None:
                    drop_postings(access, key)
        except LockTimeoutError:
            return "busy"
    return "absent"


def drop_postings(access: StoreAccess, key: str) -> None:
    """Remove the postings of a scope, whose lock is held, with what a dead writer left of some."""
    folder = access.layout.cache(key)
    for name in access.fs.names(folder):
        if name == POSTINGS or name.startswith(f".{POSTINGS}."):
            access.fs.unlink(f"{folder}/{name}")


def _read_settled(access: StoreAccess, key: str, files: OpenFiles) -> tuple[Version, bytes | None]:
    """The entries' bytes and their version; none while they may be written again unnoticed."""
    found = files.open(entries_path(access, key))
    if found is None:
        return [], None
    fd, status = found
    touched_ns = status.st_mtime_ns if sys.platform == "win32" else status.st_ctime_ns
    if time.time_ns() - touched_ns < SETTLED_S * 1e9:
        return [], None
    data = access.fs.read_at(fd, 0, status.st_size)
    same = version_of(os.fstat(fd)) == version_of(status) and len(data) == status.st_size
    return version_of(status), data if same else None


def _built(
    key: str, data: bytes, version: Version, rings_of: RingsOf, pause: Callable[[], bool]
) -> bytes | None:
    """The file for these entries; `None` when they are not a plain list, all of it read."""
    from wsmem.retrieval.persisted.building import Record, build_postings  # noqa: PLC0415 - NumPy

    try:
        spans = _spans(data)
        entries, problems = read_entries(data, layer=kind_of(key))
        if len(spans) != len(entries) or any(p.kind in {"damaged", "newer"} for p in problems):
            return None
        records = [
            Record(entry, start, data[start:end])
            for entry, (start, end) in zip(entries, spans, strict=True)
        ]
        return build_postings(records, _head(entries, version, rings_of), pause=pause)
    except ValueError:
        return None


def _head(entries: tuple[MemoryEntry, ...], version: Version, rings_of: RingsOf) -> dict[str, Any]:
    return {"mark": fingerprint(), "source": version, "rings": list(rings_of(entries))}


def _spans(data: bytes) -> list[tuple[int, int]]:
    """Where each item of a JSON list stands, in bytes.

    Raises:
        ValueError: it is no list, or not in strict UTF-8.
    """
    text = data.decode()
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise ValueError("not a list")
    spans: list[tuple[int, int]] = []
    at, offset, counted = _skip(text, at + 1), 0, 0
    while text[at : at + 1] != "]":
        _, end = parse_item(text, at)
        start = offset + len(text[counted:at].encode())
        offset, counted = start + len(text[at:end].encode()), end
        spans.append((start, offset))
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise ValueError("not a list")
    return spans


def _skip(text: str, at: int) -> int:
    """Where the next thing begins."""
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _put(access: StoreAccess, key: str, built: bytes, version: Version) -> WriteOutcome:
    """Give the file its name, unless the entries are others by now."""
    folder = access.layout.cache(key)
    staged = f"{folder}/.{POSTINGS}.{new_uuid()}.tmp"
    try:
        with locked(access, [key], timeout=0):
            found = access.fs.stamp(entries_path(access, key))
            if found is None or version_of(os.stat(entries_path(access, key))) != version:  # noqa: PTH116
                return "changed"
            make_directories(access.fs, folder, top=access.layout.root)
            drop_postings(access, key)
            fd = access.fs.create(staged)
            try:
                access.fs.write(fd, built)
            finally:
                access.fs.close(fd)
            # Not fsynced: what a power cut leaves of it has wrong checksums, and is not used.
            access.fs.replace(staged, postings_path(access, key))
    except LockTimeoutError:
        return "busy"
    except OSError:
        access.fs.unlink(staged)
        raise
    return "written"
