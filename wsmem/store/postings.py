"""Postings of a scope's entries in a file beside them: opened by whoever answers one question.

The file stands among the scope's derived files, where other programs do not look and a purge clears
everything away. It holds no sentence, but the words of all entries; so it is written only under the
scope's lock, and a purge, which holds that lock, never has one appear behind its back.

It is good for one version of `memory_entries.json` alone: the same inode, size, time of writing,
and time of change, which no program can set. Two versions written within one tick of the file
system's clock could still look alike, so a file is made only of entries that have been left alone
for a while: whatever is written after they were read has a later time. Every entry
shown is compared with its checksum besides.

It is read piece by piece rather than mapped: a mapped file that is cut short under its reader ends
the process, and a read gives an error that sends the recall to the entries themselves.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from wsmem.retrieval.persisted.fingerprint import fingerprint
from wsmem.retrieval.persisted.layout import Pages, PostingsUnusable
from wsmem.retrieval.persisted.postings import Postings
from wsmem.store.codec import read_entries
from wsmem.store.heads import read_head
from wsmem.store.layout import ENTRIES, kind_of

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry
    from wsmem.retrieval.persisted.postings import Location
    from wsmem.store.access import StoreAccess
    from wsmem.store.fs import FileStamp, FileSystem
    from wsmem.store.heads import ScopeHead

POSTINGS = "postings"
"""Name of the file in `layout.cache(key)`."""
WORTHWHILE = 1_000
"""Entries from which a file answers sooner than a scan; see `benchmarks/recall_start.py`."""

Version = list[int]
"""What tells one version of the entries from another: inode, size, and the two times (ns)."""


class OpenPostings:
    """The postings of one scope, and the entries they were made of, both held open."""

    def __init__(self, fs: FileSystem, key: str, postings: Postings, entries: int) -> None:
        self.postings = postings
        self.key = key
        self.entries_read = 0
        """How many entries were read."""
        self.rings: list[str] = postings.pages.head["rings"]
        """What `engine.chains` found in the entries."""
        self._fs, self._entries = fs, entries

    def entry(self, location: Location) -> MemoryEntry:
        """One entry, from where its JSON stands.

        Raises:
            PostingsUnusable: something else stands there.
        """
        data = self._fs.read_at(self._entries, location.start, location.size)
        if len(data) != location.size or crc32(data) != location.check:
            raise PostingsUnusable("the entries are not the ones it was made of")
        self.entries_read += 1
        return read_entries(b"[" + data + b"]", layer=kind_of(self.key))[0][0]


class OpenFiles:
    """Files held open until the recall is over."""

    def __init__(self, fs: FileSystem) -> None:
        self._fs = fs
        self._fds: list[int] = []

    def open(self, path: str) -> tuple[int, os.stat_result] | None:
        """A file and what the system knows of it; `None` when it is absent."""
        fd = self._fs.open_to_read(path)
        if fd is None:
            return None
        self._fds.append(fd)
        return fd, os.fstat(fd)

    def close(self) -> None:
        """Close all of them."""
        while self._fds:
            os.close(self._fds.pop())


class FiledScope(NamedTuple):
    """A scope by what is known of it without reading its entries."""

    head: ScopeHead
    postings: OpenPostings


def open_scope(access: StoreAccess, key: str, files: OpenFiles) -> FiledScope | None:
    """See `MemoryStore.open_postings`."""
    if not has_postings(access, key):
        return None
    head = read_head(access, key)
    postings = open_postings(access, key, head.entries, files)
    return None if postings is None else FiledScope(head, postings)


def has_postings(access: StoreAccess, key: str) -> bool:
    """Whether there is a file at all, be it good or not."""
    return access.fs.stamp(postings_path(access, key)) is not None


def open_postings(
    access: StoreAccess, key: str, entries: FileStamp | None, files: OpenFiles
) -> OpenPostings | None:
    """The postings of a live scope, if there is a file that is good for these entries.

    Args:
        access: The store.
        key: The scope.
        entries: The version of the entries that is wanted.
        files: Holds what is opened.
    """
    if entries is None:
        return None
    with suppress(Exception):  # whatever is wrong with it, the entries themselves are there
        source = files.open(entries_path(access, key))
        found = files.open(postings_path(access, key))
        mark = fingerprint()
        if source is None or found is None or mark is None:
            return None
        fd, status = found
        pages = Pages(lambda start, size: access.fs.read_at(fd, start, size), status.st_size)
        version = version_of(source[1])
        if (
            pages.head["mark"] != mark
            or pages.head["source"] != version
            or version[:3] != [*entries]
        ):
            return None
        return OpenPostings(access.fs, key, Postings(pages), source[0])
    return None


def postings_path(access: StoreAccess, key: str) -> str:
    """Where the postings of a scope are kept."""
    return f"{access.layout.cache(key)}/{POSTINGS}"


def entries_path(access: StoreAccess, key: str) -> str:
    """Where the entries of a live scope are."""
    return f"{access.layout.scope(key)}/{ENTRIES}"


def version_of(status: os.stat_result) -> Version:
    """The version of the entries in a file of which the system knows this."""
    changed_ns = 0 if sys.platform == "win32" else status.st_ctime_ns  # there: time of creation
    return [status.st_ino, status.st_size, status.st_mtime_ns, changed_ns]
