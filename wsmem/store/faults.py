"""File systems that fail: for tests and benchmarks that prove what a commit survives.

`FaultyFileSystem` fails or stops at a chosen call. `PowerCutFileSystem` also forgets, when it
stops, whatever had not been fsynced, as a machine does that loses its power.
"""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wsmem.store.fs import FileSystem

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

FaultKind = Literal["error", "torn", "crash", "crash-after", "torn-crash"]
"""`error`: the call raises and has no effect. `torn`: a write leaves half of its bytes, then
raises. `crash`: the process is gone before the call; `crash-after`: after it; `torn-crash`: in the
middle of a write. A fault that only a write can have is its plain form on other calls."""

WRITING_CALLS = (
    "make_directory",
    "restrict",
    "create",
    "write",
    "set_mtime",
    "sync",
    "close",
    "replace",
    "move_directory",
    "unlink",
    "remove_directory",
    "sync_directory",
)
READING_CALLS = (
    "read",
    "open_to_read",
    "read_at",
    "stamp",
    "names",
    "is_directory",
    "link_target",
)


class SimulatedCrash(BaseException):
    """The process has ended at this point; not an `Exception`, so that nothing handles it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens, and at which call of the counted ones (the first is 1)."""

    at_call: int
    kind: FaultKind
    code: int = errno.EIO
    """The error number of an `error` or `torn`."""


class FaultyFileSystem(FileSystem):
    """The real file system until the fault; after a crash, nothing any more.

    Without real fsyncs, which matter only to a real loss of power: proofs run ten times as fast.
    """

    def __init__(
        self, fault: Fault | None = None, *, counted: tuple[str, ...] = WRITING_CALLS
    ) -> None:
        """Strike at the `fault`, counting only the `counted` calls."""
        self.fault = fault
        self.counted = counted
        self.calls: list[str] = []
        """Counted calls so far, with the last path or descriptor they got."""
        self.crashed = False
        self._open: dict[int, str] = {}

    def run(self, name: str, arguments: tuple[Any, ...], act: Callable[[], Any]) -> Any:
        """One call of a method, with the fault if it is its turn."""
        if self.crashed:
            raise SimulatedCrash
        if name == "close":
            self._open.pop(arguments[0])
        result = self._struck(name, arguments, act) if name in self.counted else act()
        if name == "create":
            self._open[result] = arguments[0]
        return result

    def _struck(self, name: str, arguments: tuple[Any, ...], act: Callable[[], Any]) -> Any:
        self.calls.append(f"{name} {arguments[-1] if name == 'replace' else arguments[0]}")
        fault = self.fault
        if fault is None or len(self.calls) != fault.at_call:
            return act()
        if name == "write" and fault.kind in {"torn", "torn-crash"}:
            descriptor, data = arguments
            FileSystem.write(self, descriptor, data[: len(data) // 2])
        if name == "close":  # whatever it says, the system closes
            act()
        if fault.kind in {"error", "torn"}:
            raise OSError(fault.code, os.strerror(fault.code))
        if fault.kind == "crash-after" and name != "close":
            result = act()
            if name == "create":
                self._open[result] = arguments[0]
        self.crash()
        raise SimulatedCrash

    def sync_all(self, fds: Sequence[int], directories: Sequence[str]) -> None:
        """One after another, so that every run makes its calls in the same order."""
        for fd in fds:
            self.sync(fd)
        for path in directories:
            self.sync_directory(path)

    def crash(self) -> None:
        """End: no call after this one does anything, and the system closes what was open."""
        self.crashed = True
        for fd in self._open:
            os.close(fd)
        self._open.clear()


class PowerCutFileSystem(FaultyFileSystem):
    """Forgets at a crash what was not fsynced: file contents, and the last names in directories.

    Within one directory names are lost from the end, as a journalling file system does; between
    directories in any combination. Contents that were not fsynced shrink to any length.
    """

    def __init__(self, fault: Fault | None, chance: random.Random) -> None:
        """Strike at the `fault`; `chance` decides what is lost."""
        super().__init__(fault)
        self._chance = chance
        self._unsynced: set[str] = set()
        self._undo: list[tuple[str, Callable[[], None]]] = []
        """The directory of every name change not yet durable, and how to take it back."""

    def run(self, name: str, arguments: tuple[Any, ...], act: Callable[[], Any]) -> Any:
        """Note what the call leaves to be made durable, before it takes effect."""
        undo = None if self.crashed else self._undo_of(name, arguments)

        def noting() -> Any:
            result = act()
            if undo:
                self._undo.append(undo)
            self._note(name, arguments)
            return result

        return super().run(name, arguments, noting)

    def crash(self) -> None:
        """Lose what was not durable, then end."""
        super().crash()
        kept: dict[str, int] = {}
        total: dict[str, int] = {}
        for directory, _ in self._undo:
            total[directory] = total.get(directory, 0) + 1
        for directory, count in total.items():
            kept[directory] = self._chance.randint(0, count)
        for directory, take_back in reversed(self._undo):
            total[directory] -= 1
            if total[directory] >= kept[directory]:
                take_back()
        for path in self._unsynced:
            file = Path(path)
            if file.is_file():
                os.truncate(file, self._chance.randint(0, file.stat().st_size))

    def _note(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "create":
            self._unsynced.add(arguments[0])
        elif name == "sync":
            self._unsynced.discard(self._open[arguments[0]])
        elif name == "replace" and arguments[0] in self._unsynced:
            self._unsynced.remove(arguments[0])
            self._unsynced.add(arguments[1])
        elif name == "sync_directory":
            self._undo = [step for step in self._undo if step[0] != arguments[0]]

    def _undo_of(
        self, name: str, arguments: tuple[Any, ...]
    ) -> tuple[str, Callable[[], None]] | None:
        """How to take back a name change, seen before it happens."""
        if name not in {"create", "unlink", "replace", "make_directory", "move_directory"}:
            return None
        path = Path(arguments[-1])
        directory = str(path.parent)
        if name == "create":
            return directory, lambda: path.unlink(missing_ok=True)
        if name == "make_directory":
            return None if path.is_dir() else (directory, lambda: shutil.rmtree(path, True))  # noqa: FBT003
        if name == "move_directory":
            return directory, lambda: _move_back(path, Path(arguments[0]))
        held = path.read_bytes() if path.is_file() else None
        if name == "unlink":
            return directory, lambda: _write_back(path, held)
        return directory, lambda: _replace_back(Path(arguments[0]), path, held)


def _move_back(path: Path, source: Path) -> None:
    if path.is_dir() and source.parent.is_dir():
        path.rename(source)


def _write_back(path: Path, held: bytes | None) -> None:
    if held is not None and path.parent.is_dir():
        path.write_bytes(held)


def _replace_back(source: Path, target: Path, held: bytes | None) -> None:
    if target.is_file():
        target.rename(source)
        _write_back(target, held)


def _leave_it(_fs: FileSystem, _what: int | str) -> None:
    """In place of an fsync."""


def _guarded(name: str) -> Callable[..., Any]:
    method = getattr(FileSystem, name)
    if name in {"sync", "sync_directory"}:
        method = _leave_it

    def call(self: FaultyFileSystem, *arguments: Any, **options: Any) -> Any:
        return self.run(name, arguments, lambda: method(self, *arguments, **options))

    return call


for _name in (*WRITING_CALLS, *READING_CALLS):
    setattr(FaultyFileSystem, _name, _guarded(_name))
