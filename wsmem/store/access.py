"""What every part of the store shares: the files, their layout, and the snapshots read so far."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wsmem.errors import DamagedFileError, StoreVersionError, StoreWriteError
from wsmem.store.codec import FORMAT, is_newer
from wsmem.store.fs import FileSystem, make_directories
from wsmem.store.journal import JournalFolder
from wsmem.store.jsontext import parse_json
from wsmem.store.layout import Layout, new_uuid
from wsmem.store.snapshot import ScopeReader, ScopeSnapshot, assemble

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

_MAX_SNAPSHOTS = 64
"""Scopes kept in memory; the one unused longest goes first."""


def system_clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class StoreAccess:
    """One memory root as this process sees it."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        fs: FileSystem | None,
        clock: Callable[[], int] | None,
        new_id: Callable[[], str] | None,
        lock_timeout: float,
        lasting: bool = True,
    ) -> None:
        """See `MemoryStore`."""
        self.layout = Layout.at(root)
        self.fs = fs or FileSystem()
        self.clock = clock or system_clock
        self.new_id = new_id or new_uuid
        self.lock_timeout = lock_timeout
        self.lasting = lasting
        self.journals = JournalFolder(self.fs, self.layout)
        self.reader = ScopeReader(self.fs, self.journals)
        self.swept: set[str] = set()
        """Scopes in whose directories this process has looked for what dead writers left."""
        self._snapshots: OrderedDict[str, ScopeSnapshot] = OrderedDict()
        self._expected: dict[str, ScopeSnapshot] = {}
        self._reading: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    # Reading

    def read(self, key: str) -> ScopeSnapshot:
        """The committed state of a live scope, from memory if the files are still the same."""
        directory = self.layout.scope(key)
        if snapshot := self._remembered(key, directory):
            return snapshot
        with self._guard:
            lock = self._reading.setdefault(key, threading.Lock())
        with lock:  # one thread parses, the others get its snapshot
            if snapshot := self._remembered(key, directory):
                return snapshot
            before = self._snapshots.get(key)
            reading = self.reader.read(key, directory, since=before.generation if before else None)
            snapshot = assemble(key, reading, before, marked=self.lasting)
            self.remember(snapshot)
            return snapshot

    def held(self, key: str) -> ScopeSnapshot | None:
        """The committed state of a live scope if it is in memory; files are looked at, not read."""
        return self._remembered(key, self.layout.scope(key))

    def read_in_passing(self, key: str) -> ScopeSnapshot:
        """The same, without keeping in memory what was not: for walks over all scopes."""
        directory = self.layout.scope(key)
        return self._remembered(key, directory) or assemble(
            key, self.reader.read(key, directory), None
        )

    def read_archived(self, key: str) -> ScopeSnapshot:
        """The state of an archived scope; not kept in memory."""
        return assemble(key, self.reader.read(key, self.layout.archived(key)), None)

    def _remembered(self, key: str, directory: str) -> ScopeSnapshot | None:
        """The snapshot in memory that has the present versions of the files."""
        known = [s for s in (self._snapshots.get(key), self._expected.get(key)) if s is not None]
        if not known:
            return None
        generation = self.reader.generation(key, directory)
        for snapshot in known:
            if snapshot.generation == generation:
                with self._guard:
                    if key in self._snapshots:
                        self._snapshots.move_to_end(key)
                return snapshot
        return None

    def remember(self, snapshot: ScopeSnapshot) -> None:
        """Keep a snapshot until its files change or other scopes crowd it out."""
        with self._guard:
            self._snapshots[snapshot.key] = snapshot
            self._snapshots.move_to_end(snapshot.key)
            if len(self._snapshots) > _MAX_SNAPSHOTS:
                self._snapshots.popitem(last=False)

    def forget(self, key: str) -> None:
        """Drop what is in memory of a scope."""
        with self._guard:
            self._snapshots.pop(key, None)

    @contextmanager
    def expecting(self, snapshots: Iterable[ScopeSnapshot]) -> Iterator[None]:
        """While these are being committed, let readers have them as soon as they are facts.

        Without this a reader in this process would parse files whose content is in memory.
        """
        coming = {snapshot.key: snapshot for snapshot in snapshots}
        self._expected.update(coming)
        try:
            yield
            for snapshot in coming.values():
                self.remember(snapshot)
        finally:
            for key in coming:
                self._expected.pop(key, None)

    # Before writing

    def prepare_writing(self) -> None:
        """Make sure that this code may write here, and that its own directories exist.

        Raises:
            StoreVersionError: a newer wsmem wrote here.
            DamagedFileError: the format marker says nothing legible.
            StoreWriteError: the directories cannot be made.
        """
        self._check_marker()
        try:
            for name in ("locks", "journal"):
                make_directories(self.fs, f"{self.layout.internal}/{name}", top=self.layout.root)
        except OSError as error:
            path = error.filename if isinstance(error.filename, str) else self.layout.root
            raise StoreWriteError("making directories", path, _why(error)) from error

    def has_marker(self) -> bool:
        """Whether the store carries its format marker."""
        return self.fs.stamp(self.layout.marker) is not None

    def _check_marker(self) -> None:
        path = self.layout.marker
        try:
            found = self.fs.read(path)
        except OSError as error:
            raise DamagedFileError(path, f"cannot be read ({_why(error)})") from error
        if found is None:
            return
        try:
            raw = parse_json(found[0].decode())
        except ValueError:
            raw = None
        if not isinstance(raw, dict) or "format" not in raw:
            raise DamagedFileError(path, "it does not say which format the store has")
        if is_newer(raw["format"]):
            raise StoreVersionError(path, repr(raw["format"]), FORMAT)


def _why(error: OSError) -> str:
    return error.strerror or str(error)
