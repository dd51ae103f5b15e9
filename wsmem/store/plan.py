"""One commit over all its scopes: which files, staged how, and what readers then have in memory."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from wsmem.errors import StaleSnapshotError, StoreVersionError, StoreWriteError
from wsmem.store.changes import Outcome, ScopeChange, outcome_of
from wsmem.store.codec import FORMAT
from wsmem.store.fs import make_directories
from wsmem.store.history import names_to_drop
from wsmem.store.journal import (
    Journal,
    StagedFile,
    Staging,
    carry_out,
    discard,
)
from wsmem.store.jsontext import json_bytes, replace_surrogates
from wsmem.store.layout import (
    CHECKPOINTS,
    ENTRIES,
    HISTORY,
    SET_ASIDE,
    SNAPSHOT_FILES,
    history_name,
    lock_rank,
    new_uuid,
    stage_time,
)
from wsmem.store.settling import write_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.store.access import StoreAccess
    from wsmem.store.fs import FileStamp
    from wsmem.store.snapshot import ScopeSnapshot

_log = logging.getLogger("wsmem.store")


class CommitPlan:
    """The files of one commit."""

    def __init__(self, access: StoreAccess) -> None:
        """Plan a commit; nothing is written before `carry_through`."""
        self._access = access
        self._files: list[StagedFile] = []
        self._removals: list[str] = []
        self._directories: dict[str, None] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._before: dict[str, ScopeSnapshot] = {}
        self._targets: dict[str, dict[str, str]] = {}
        self._scopes: dict[str, None] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._files or self._removals)

    def add(self, change: ScopeChange, before: ScopeSnapshot) -> None:
        """Plan the files of one scope.

        Raises:
            StoreVersionError: a newer wsmem wrote one of its files.
            InvalidInputError: a value has no place in the file format.
        """
        key = change.key
        directory = self._access.layout.scope(key)
        for problem in before.problems:
            if problem.kind == "newer":
                raise StoreVersionError(f"{directory}/{problem.file}", problem.detail, FORMAT)
        if change.entries is not None and not before.entry_set.has_texts:
            self._take_texts(f"{directory}/{ENTRIES}", before)
        outcome = outcome_of(change, before)
        if not (outcome.files or change.added or change.rewritten):
            return
        self._outcomes[key], self._before[key] = outcome, before
        self._scopes[key] = None
        for folder in (directory, f"{directory}/{CHECKPOINTS}", f"{directory}/{HISTORY}"):
            self._directories[folder] = None
        losing = {problem.file for problem in before.problems if problem.loses}
        for name in sorted(losing & outcome.files.keys()):
            self._set_aside(directory, name)
        if change.summary is not None and change.keep is not None and before.has_summary:
            self._keep_summary(directory, before.summary, change.keep)
        for name, text in change.added.items():
            self._add(f"{directory}/{CHECKPOINTS}/{name}", replace_surrogates(text))
        for path, data in change.rewritten.items():
            self._add(f"{directory}/{path}", data)
        stamps = dict(zip(SNAPSHOT_FILES, before.generation, strict=True))
        self._targets[key] = {
            name: self._add(f"{directory}/{name}", data, stamps[name])
            for name, data in outcome.files.items()
        }

    def add_file(self, key: str, path: str, data: bytes) -> None:
        """Plan one more file of a scope whose lock is held, in the archive for example."""
        self._scopes[key] = None
        self._add(path, data)

    @property
    def targets(self) -> tuple[str, ...]:
        """Every file that is written."""
        return tuple(file.target for file in self._files)

    def _add(self, path: str, data: bytes, old: FileStamp | None = None) -> str:
        target = self._access.fs.link_target(path)
        above_ns = old.mtime_ns if old else 0
        self._files.append(StagedFile(target=target, data=data, above_ns=above_ns))
        return target

    def _set_aside(self, directory: str, name: str) -> None:
        """Keep the original of a file that is rewritten without what could not be read in it."""
        folder = f"{directory}/{SET_ASIDE}"
        target = f"{folder}/{name}.{stage_time(self._access.clock())}.{new_uuid()}"
        if found := self._access.fs.read(f"{directory}/{name}"):
            self._directories[folder] = None
            self._add(target, found[0])
            _log.warning("%s/%s could not be read whole; kept as %s", directory, name, target)

    def _take_texts(self, path: str, before: ScopeSnapshot) -> None:
        """Take what is unchanged from the file: reading is many times quicker than encoding."""
        with suppress(OSError):
            found = self._access.fs.read(path)
            if found is not None and found[1] == before.generation.entries:
                before.entry_set.take_texts(found[0])

    def _keep_summary(self, directory: str, text: str, keep: int) -> None:
        folder = f"{directory}/{HISTORY}"
        name = history_name(self._access.clock(), self._access.new_id())
        kept, dropped = names_to_drop(self._access.fs.names(folder), adding=name, keep=keep)
        if kept:
            self._add(f"{folder}/{name}", replace_surrogates(text))
        self._removals += [f"{folder}/{old}" for old in dropped]

    def carry_through(self, read: Mapping[str, ScopeSnapshot]) -> None:
        """Stage the files, make sure that nothing in `read` moved, commit, put them in place.

        Raises:
            StaleSnapshotError: another program wrote meanwhile; nothing was changed.
            StoreWriteError: the system refused; says whether anything was changed.
        """
        access = self._access
        if not access.has_marker():
            self._add(access.layout.marker, json_bytes({"format": FORMAT}))
        journal = Journal(
            id=new_uuid(),
            scopes=tuple(sorted(self._scopes, key=lock_rank)),
            targets=self.targets,
            removals=tuple(self._removals),
        )
        try:
            self._commit(journal, read)
        except OSError as error:
            outcome = "unchanged" if self._give_up(journal) else "unknown"
            raise write_error("writing", access, error, outcome) from error
        except StoreWriteError:
            raise
        except BaseException:
            self._give_up(journal)
            raise
        try:
            carry_out(access.fs, access.layout, journal)
        except OSError as error:  # a fact all the same: readers see it, the next writer ends it
            _log.warning("a committed change waits to be carried out: %s", error)

    def _commit(self, journal: Journal, read: Mapping[str, ScopeSnapshot]) -> None:
        access, fs = self._access, self._access.fs
        for folder in self._directories:
            make_directories(fs, folder, top=access.layout.root)
        staging = Staging(fs, access.layout, journal)
        try:
            staging.announce()
            now_ns = time.time_ns()
            stamps = {file.target: staging.add(file, now_ns) for file in self._files}
            for key, snapshot in read.items():
                directory = access.layout.scope(key)
                if access.reader.generation(key, directory) != snapshot.generation:
                    raise StaleSnapshotError(key)
            with access.expecting(self._after(stamps)):
                staging.commit()
        finally:
            staging.close()

    def _after(self, stamps: Mapping[str, FileStamp]) -> list[ScopeSnapshot]:
        """The snapshots that hold from the commit point on."""
        after = []
        for key, outcome in self._outcomes.items():
            new = {name: stamps[target] for name, target in self._targets[key].items()}
            after.append(outcome.snapshot(self._before[key], new))
        return after

    def _give_up(self, journal: Journal) -> bool:
        """Clear what was staged, as far as the system lets us; `False` when it is a fact."""
        with suppress(OSError):
            return discard(self._access.fs, self._access.layout, journal)
        return True
