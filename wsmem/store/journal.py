"""The commit point: one renamed journal, after which a change in several files is a fact.

A change is staged beside each file it replaces (`.name.<id>.tmp`), everything is fsynced, and then
the journal that lists the renames is itself renamed from draft to committed. From there on readers
see the staged files in place of the old ones, and whoever comes next carries out what is left:

    draft -> staged files -> fsync all -> [rename journal] -> rename files -> fsync -> journal gone

Every staged name is used once, so carrying out a journal is idempotent and safe for any number of
processes at a time, without a lock: a rename whose source is gone has been done. Nothing in a
journal touches a name that a later change could have written, except through such a rename.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.errors import StoreVersionError, StoreWriteError
from wsmem.store.codec import FORMAT, is_newer
from wsmem.store.fs import parent
from wsmem.store.jsontext import json_bytes, parse_json

if TYPE_CHECKING:
    from wsmem.store.fs import FileStamp, FileSystem
    from wsmem.store.layout import Layout

_DRAFT, _COMMITTED, _DAMAGED = ".draft", ".json", ".damaged"


class Journal(NamedTuple):
    """One change: which files take which names, and which go."""

    id: str
    scopes: tuple[str, ...]
    """Keys of the scopes it changes; at least one, the first to be locked in front."""
    targets: tuple[str, ...]
    """Files it replaces or adds; each is staged beside itself under `staged_name`."""
    removals: tuple[str, ...] = ()
    """Files it removes. Only names that are never written twice (history) may stand here."""

    @property
    def name(self) -> str:
        """Begins the names of its files.

        The scope in it tells whose lock the writer holds, even if a crash left the file empty.
        """
        return f"{self.id}.{self.scopes[0]}"

    def staged(self, target: str) -> str:
        """Where the new version of `target` waits."""
        directory, _, name = target.rpartition("/")
        return f"{directory}/.{name}.{self.id}.tmp"

    @property
    def directories(self) -> tuple[str, ...]:
        """Every directory in which it changes a name."""
        return tuple(dict.fromkeys(parent(path) for path in (*self.targets, *self.removals)))


class StagedFile(NamedTuple):
    """What a file is to become."""

    target: str
    data: bytes
    above_ns: int = 0
    """The time of the version it replaces; the new one is dated later."""


class Staging:
    """A change on its way to the disk: open files, not yet durable."""

    def __init__(self, fs: FileSystem, layout: Layout, journal: Journal) -> None:
        """Prepare to stage what the journal lists; nothing is written yet."""
        self._fs, self._layout, self._journal = fs, layout, journal
        self._draft = f"{layout.journals}/{journal.name}{_DRAFT}"
        self._open: list[int] = []

    def announce(self) -> None:
        """Write the draft first, so that whoever finds the pieces of the change can clear them."""
        record = {
            "format": FORMAT,
            "scopes": list(self._journal.scopes),
            "targets": [_relative(self._layout, path) for path in self._journal.targets],
            "removals": [_relative(self._layout, path) for path in self._journal.removals],
        }
        self._write(self._draft, json_bytes(record))

    def add(self, file: StagedFile, now_ns: int) -> FileStamp:
        """Write the new version of one file beside the old one; its stamp for good."""
        path = self._journal.staged(file.target)
        fd = self._write(path, file.data)
        return self._fs.set_mtime(fd, path, now_ns, above_ns=file.above_ns)

    def _write(self, path: str, data: bytes) -> int:
        fd = self._fs.create(path)
        self._open.append(fd)
        self._fs.write(fd, data)
        return fd

    def commit(self) -> None:
        """Make the change durable, then a fact; the rename is the commit point of the store.

        Raises:
            OSError: before the rename; the change is not a fact and may be discarded.
            StoreWriteError: after it; the change is visible but may not survive a power cut.
        """
        self._fs.sync_all(self._open, self._journal.directories)
        self.close()
        path = f"{self._layout.journals}/{self._journal.name}{_COMMITTED}"
        self._fs.replace(self._draft, path)
        try:
            self._fs.sync_directory(self._layout.journals)
        except OSError as error:
            raise StoreWriteError("fsync of the journal", path, str(error), "unknown") from error

    def close(self) -> None:
        """Close the files that are still open, whatever became of them."""
        while self._open:
            self._fs.close(self._open.pop())


def carry_out(fs: FileSystem, layout: Layout, journal: Journal) -> None:
    """Do what is left of a committed change; any number of processes may, at once or again."""
    for target in journal.targets:
        with suppress(FileNotFoundError):  # done before, here or by another process
            fs.replace(journal.staged(target), target)
    for path in journal.removals:
        fs.unlink(path)
    # A scope may have been moved away since, as a whole, by a program that takes no locks.
    fs.sync_all((), [path for path in journal.directories if fs.is_directory(path)])
    # Not fsynced: a journal that comes back after a power cut finds nothing left to do.
    fs.unlink(f"{layout.journals}/{journal.name}{_COMMITTED}")


def discard(fs: FileSystem, layout: Layout, journal: Journal) -> bool:
    """Clear a change that is not a fact; its writer must be known to be gone or giving up.

    Returns:
        `False`, with nothing done, when the change turns out to be a fact: an interrupt may come
        right behind the rename.
    """
    if fs.stamp(f"{layout.journals}/{journal.name}{_COMMITTED}"):
        return False
    for target in journal.targets:
        with suppress(NotADirectoryError):
            fs.unlink(journal.staged(target))
    fs.unlink(f"{layout.journals}/{journal.name}{_DRAFT}")
    return True


class JournalFolder:
    """The journals of a store as they come and go; what was read once is not read again."""

    def __init__(self, fs: FileSystem, layout: Layout) -> None:
        """Watch the journals of one store."""
        self._fs, self._layout = fs, layout
        self._known: dict[str, Journal | None] = {}

    def committed(self, key: str | None = None) -> tuple[Journal, ...]:
        """Committed changes not yet carried out, of one scope or of all. Never writes.

        Raises:
            StoreVersionError: a newer wsmem left one; it must not be ignored.
        """
        return self._pick(_COMMITTED, key)

    def drafts(self, key: str | None = None) -> tuple[Journal, ...]:
        """Announced changes, of one scope or of all; dead unless their scopes are locked."""
        return self._pick(_DRAFT, key)

    def ids(self) -> frozenset[str]:
        """Ids of all changes there is any journal of, be it unreadable."""
        return frozenset(name.partition(".")[0] for name in self._names())

    def set_damaged_aside(self) -> tuple[str, ...]:
        """Rename committed journals that cannot be understood, so that they block nobody.

        What they had staged is left where it is: it may be the only copy. Returns the new paths.
        """
        moved = []
        for name in self._names():
            if name.endswith(_COMMITTED) and self._journal(name) is None:
                path = f"{self._layout.journals}/{name}"
                with suppress(FileNotFoundError):
                    self._fs.replace(path, path.removesuffix(_COMMITTED) + _DAMAGED)
                    moved.append(path.removesuffix(_COMMITTED) + _DAMAGED)
        return tuple(moved)

    def torn_drafts(self, key: str | None = None) -> tuple[str, ...]:
        """Paths of drafts a crash left incomplete; nothing had been staged for them yet.

        Of the writers that hold this scope's lock, or of all: a live one may be writing its own.
        """
        return tuple(
            f"{self._layout.journals}/{name}"
            for name in self._names()
            if name.endswith(_DRAFT if key is None else f".{key}{_DRAFT}")
            and self._journal(name) is None
        )

    def _names(self) -> list[str]:
        return self._fs.names(self._layout.journals)

    def _pick(self, suffix: str, key: str | None) -> tuple[Journal, ...]:
        names = self._names()
        if not names:
            self._known.clear()
            return ()
        chosen = (self._journal(name) for name in names if name.endswith(suffix))
        return tuple(j for j in chosen if j is not None and (key is None or key in j.scopes))

    def _journal(self, name: str) -> Journal | None:
        """The journal of that name; `None` when it is damaged or gone meanwhile."""
        if name in self._known:
            return self._known[name]
        found = self._fs.read(f"{self._layout.journals}/{name}")
        if found is None:
            return None
        journal = _parse(self._layout, name, found[0])
        if journal is not None or name.endswith(_COMMITTED):  # a draft may still be growing
            self._known[name] = journal
        return journal


def _parse(layout: Layout, name: str, data: bytes) -> Journal | None:
    try:
        raw = parse_json(data.decode())
    except ValueError:
        return None
    if not isinstance(raw, dict):
        return None
    if is_newer(raw.get("format")):
        path = f"{layout.journals}/{name}"
        raise StoreVersionError(path, repr(raw.get("format")), FORMAT)
    scopes, targets, removals = (_texts(raw.get(n)) for n in ("scopes", "targets", "removals"))
    if not scopes or targets is None or removals is None:
        return None
    return Journal(
        id=name.partition(".")[0],
        scopes=scopes,
        targets=tuple(_absolute(layout, path) for path in targets),
        removals=tuple(_absolute(layout, path) for path in removals),
    )


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _relative(layout: Layout, path: str) -> str:
    """Paths are kept relative to the root, so that a store may be moved with a journal in it."""
    return path.removeprefix(f"{layout.root}/")


def _absolute(layout: Layout, path: str) -> str:
    return path if path.startswith("/") or path[1:3] == ":/" else f"{layout.root}/{path}"
