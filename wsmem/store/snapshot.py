"""One committed state of a scope, read without writing and without waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from wsmem.errors import UnreadableFileError
from wsmem.records import MemoryState
from wsmem.store.codec import Problem, read_entries
from wsmem.store.entry_set import EntrySet, places_differing
from wsmem.store.layout import DESCRIPTOR, ENTRIES, EXTRA, SNAPSHOT_FILES, STATE, SUMMARY, kind_of
from wsmem.store.parts import marks_of_file, reread_entries
from wsmem.store.scope_codec import read_descriptor, read_extra, read_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wsmem.records import MemoryEntry
    from wsmem.store.entry_set import Prior
    from wsmem.store.fs import FileStamp, FileSystem
    from wsmem.store.journal import Journal, JournalFolder

T = TypeVar("T")

_ATTEMPTS = 200
_PAUSE_S = 0.002
"""Between attempts: together 0.4 s, many times what carrying out a commit takes."""


class Generation(NamedTuple):
    """Which version of each file a snapshot holds; equal generations are the same state."""

    entries: FileStamp | None
    state: FileStamp | None
    summary: FileStamp | None
    descriptor: FileStamp | None
    extra: FileStamp | None


EMPTY_GENERATION = Generation(None, None, None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSnapshot:
    """A scope as it was committed; immutable, safe to share between threads."""

    key: str
    cwd: str = ""
    """The directory in `scope.json`, empty when there is none."""
    exists: bool = False
    """Whether any of its files is there."""
    entry_set: EntrySet = field(compare=False, repr=False)
    state: MemoryState = field(default_factory=MemoryState)
    summary: str = ""
    descriptor: Mapping[str, Any] = field(default_factory=dict)
    """`scope.json`, with fields wsmem does not know."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What wsmem alone keeps about the scope, `wsmem.json`."""
    generation: Generation = EMPTY_GENERATION
    problems: tuple[Problem, ...] = ()
    """What could not be read; the originals are kept when their files are first rewritten."""

    @property
    def entries(self) -> tuple[MemoryEntry, ...]:
        """All entries in file order, whatever their status."""
        return self.entry_set.entries

    @property
    def has_summary(self) -> bool:
        """Whether there is a summary file, be it empty."""
        return self.generation.summary is not None

    def entry(self, entry_id: str) -> MemoryEntry | None:
        """The entry with this id, whatever its status."""
        return self.entry_set.by_id.get(entry_id)

    def derive(
        self, name: str, build: Callable[[tuple[MemoryEntry, ...], Prior[T] | None], T]
    ) -> T:
        """See `EntrySet.derive`."""
        return self.entry_set.derive(name, build)


class FileReading(NamedTuple):
    """A scope's files, all of one moment."""

    generation: Generation
    data: tuple[bytes | None, ...]
    """Bytes of each; `None` for one that is absent or known already."""


class ScopeReader:
    """Reads scopes from their directories, seeing through journals on their way."""

    def __init__(self, fs: FileSystem, journals: JournalFolder) -> None:
        """Read with these file system and journals."""
        self._fs, self._journals = fs, journals

    def generation(self, key: str, directory: str) -> Generation:
        """The versions that `read` would give now: one directory listing and a stat per file."""
        with _reporting(directory):
            pending = self._journals.committed(key)
            return Generation(*(self._stamp(path, pending) for path in _paths(directory)))

    def read(self, key: str, directory: str, *, since: Generation | None = None) -> FileReading:
        """All files as of one moment; those that still are the versions of `since` are not read.

        A commit that lands in between is noticed and the reading begins again: it looks at the
        journals, reads, and looks again.

        Raises:
            UnreadableFileError: the system refused a file, or it never held still.
        """
        for attempt in range(_ATTEMPTS):
            with _reporting(directory):
                before = self._journals.committed(key)
                reading = self._read_files(_paths(directory), before, since or EMPTY_GENERATION)
                if reading is not None and self._journals.committed(key) == before:
                    return reading
            if attempt:
                time.sleep(_PAUSE_S)
        raise UnreadableFileError(directory, "it is being rewritten without a pause")

    def _read_files(
        self, paths: tuple[str, ...], pending: tuple[Journal, ...], since: Generation
    ) -> FileReading | None:
        """The files at these paths; `None` when one of them changed meanwhile."""
        stamps = Generation(*(self._stamp(path, pending) for path in paths))
        data: list[bytes | None] = []
        for path, stamp, known in zip(paths, stamps, since, strict=True):
            if stamp is None or stamp == known:
                data.append(None)
                continue
            found = self._read(path, pending)
            if found is None or found[1] != stamp or len(found[0]) != stamp.size:
                return None
            data.append(found[0])
        if Generation(*(self._stamp(path, pending) for path in paths)) != stamps:
            return None
        return FileReading(stamps, tuple(data))

    def _stamp(self, path: str, pending: tuple[Journal, ...]) -> FileStamp | None:
        for staged in self._staged(path, pending):
            if stamp := self._fs.stamp(staged):
                return stamp
        return self._fs.stamp(path)

    def _read(self, path: str, pending: tuple[Journal, ...]) -> tuple[bytes, FileStamp] | None:
        for staged in self._staged(path, pending):
            if found := self._fs.read(staged):
                return found
        return self._fs.read(path)

    def _staged(self, path: str, pending: tuple[Journal, ...]) -> list[str]:
        """Where a committed new version of a file may still be waiting."""
        if not pending:
            return []
        target = self._fs.link_target(path)
        return [journal.staged(target) for journal in pending if target in journal.targets]


def assemble(
    key: str, reading: FileReading, before: ScopeSnapshot | None, *, marked: bool = False
) -> ScopeSnapshot:
    """The snapshot of a reading; what did not change since `before` is taken from it.

    Args:
        key: the scope.
        reading: its files.
        before: the snapshot this one takes the place of.
        marked: whether to note which bytes each entry was read from, a tenth of the time it takes
            to read them: the next version is then read in no time.
    """
    stamps = reading.generation
    old = before.generation if before else EMPTY_GENERATION
    parts = {
        name: _Part(name, data, stamp, stamp is not None and stamp == old_stamp)
        for name, data, stamp, old_stamp in zip(
            SNAPSHOT_FILES, reading.data, stamps, old, strict=True
        )
    }
    entry_set = _entry_set(key, parts[ENTRIES], before, marked=marked)
    state, state_problems = _part(parts[STATE], before, "state", MemoryState(), read_state)
    summary, summary_problems = _part(parts[SUMMARY], before, "summary", "", _read_summary)
    empty: dict[str, Any] = {}
    descriptor, scope_problems = _part(
        parts[DESCRIPTOR], before, "descriptor", empty, read_descriptor
    )
    extra, extra_problems = _part(parts[EXTRA], before, "extra", empty, read_extra)
    cwd = descriptor.get("cwd")
    return ScopeSnapshot(
        key=key,
        cwd=cwd if isinstance(cwd, str) else "",
        exists=any(stamp is not None for stamp in stamps),
        entry_set=entry_set,
        state=state,
        summary=summary,
        descriptor=descriptor,
        extra=extra,
        generation=stamps,
        problems=entry_set.problems
        + state_problems
        + summary_problems
        + scope_problems
        + extra_problems,
    )


class _Part(NamedTuple):
    name: str
    data: bytes | None
    stamp: FileStamp | None
    unchanged: bool


def _entry_set(key: str, part: _Part, before: ScopeSnapshot | None, *, marked: bool) -> EntrySet:
    if before is not None and (part.unchanged or (part.stamp is None and not before.entries)):
        return before.entry_set
    previous = before.entry_set if before is not None else None
    if part.data is None:
        return EntrySet((), previous=previous)
    layer = kind_of(key)
    known = previous.by_id if previous else None
    if previous and known and (by_mark := previous.by_mark()):
        again = reread_entries(part.data, layer=layer, known=known, by_mark=by_mark)
        if again is not None:
            return EntrySet(
                again.entries,
                problems=again.problems,
                previous=previous,
                marks=again.marks,
                parsed=again.parsed,
                changed=places_differing(previous.entries, again.entries),
            )
    entries, problems = read_entries(part.data, layer=layer, known=known)
    clean = all(problem.kind == "duplicate" for problem in problems)
    marks = marks_of_file(part.data, len(entries)) if marked and clean else None
    return EntrySet(
        entries,
        problems=problems,
        previous=previous,
        marks=marks,
        parsed=len(entries),
        changed=places_differing(previous.entries, entries) if previous else None,
    )


def _part(
    part: _Part,
    before: ScopeSnapshot | None,
    attribute: str,
    default: T,
    parse: Callable[[bytes], tuple[T, tuple[Problem, ...]]],
) -> tuple[T, tuple[Problem, ...]]:
    if part.unchanged and before is not None:
        kept = tuple(problem for problem in before.problems if problem.file == part.name)
        return cast("T", getattr(before, attribute)), kept
    return parse(part.data) if part.data is not None else (default, ())


def _read_summary(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8; unreadable bytes are shown as U+FFFD"
        problem = Problem(file=SUMMARY, kind="damaged", detail=detail)
        return data.decode("utf-8-sig", "replace"), (problem,)


def _paths(directory: str) -> tuple[str, ...]:
    return tuple(f"{directory}/{name}" for name in SNAPSHOT_FILES)


class _reporting:  # noqa: N801 - reads as a statement; contextlib would cost an import
    """Turn what the system refuses into `UnreadableFileError`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            path = error.filename if isinstance(error.filename, str) else self._path
            raise UnreadableFileError(path, error.strerror or str(error)) from error
