"""Every call by which the store touches files; wrap `FileSystem` to make any of them fail.

Each method is one or two system calls, so that a test can stop the world between any two steps of
a commit. What the steps mean together is decided in `journal`.
"""

# Thin wrappers over system calls on every recall: pathlib would add objects and start-up time.
# ruff: noqa: PTH101, PTH102, PTH104, PTH105, PTH106, PTH108, PTH112, PTH114, PTH116, PTH120, PTH208

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_TOO_OPEN = 0o077

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# Without blocking: a pipe in place of a file must not stop a recall.
_READ = os.O_RDONLY | _BINARY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)

# Steps tried until a rewritten file's time differs from its predecessor's: file systems keep time
# in units of 1 ns (ext4, APFS), 100 ns (NTFS), 1 ms, 1 s, or 2 s (FAT).
_TIME_UNITS_NS = (1, 100, 1_000_000, 1_000_000_000, 2_000_000_000)


class FileStamp(NamedTuple):
    """What tells one version of a file from another without reading it."""

    inode: int
    size: int
    mtime_ns: int


class FileSystem:
    """The real file system. Absent files are answers, not errors; other `OSError`s pass through."""

    # Reading

    def read(self, path: str) -> tuple[bytes, FileStamp] | None:
        """The bytes of a file and its stamp before they were read; `None` when it is absent."""
        try:
            fd = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file", path)
            stamp = _stamp(status)
            with open(fd, "rb", closefd=False) as file:
                return file.read(), stamp
        finally:
            os.close(fd)

    def open_to_read(self, path: str) -> int | None:
        """Open a file for `read_at`; `None` when it is absent."""
        try:
            fd = os.open(path, _READ)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return fd

    def read_at(self, fd: int, start: int, size: int) -> bytes:
        """Bytes of an open file from an offset on; fewer only at its end."""
        if hasattr(os, "pread"):
            return os.pread(fd, size, start)
        os.lseek(fd, start, os.SEEK_SET)
        return os.read(fd, size)

    def stamp(self, path: str) -> FileStamp | None:
        """The stamp of a file, following symlinks; `None` when it is absent."""
        try:
            return _stamp(os.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, path: str) -> list[str]:
        """Sorted names in a directory; none when it is absent."""
        try:
            return sorted(os.listdir(path))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_directory(self, path: str) -> bool:
        """Whether a directory (or a symlink to one) is there."""
        return os.path.isdir(path)

    def link_target(self, path: str) -> str:
        """`path` with a final symlink resolved, so that replacing it leaves the link a link."""
        return os.path.realpath(path) if os.path.islink(path) else path

    # Writing

    def make_directory(self, path: str) -> bool:
        """Create one directory for the owner alone; whether it was new.

        One that exists, perhaps made by another program, loses what it grants to others.
        """
        try:
            os.mkdir(path, DIRECTORY_MODE)
        except FileExistsError:
            mode = os.stat(path).st_mode
            if not stat.S_ISDIR(mode):
                raise
            if mode & _TOO_OPEN and sys.platform != "win32":
                self.restrict(path)
            return False
        self.restrict(path)  # mkdir is subject to the umask
        return True

    def restrict(self, path: str) -> None:
        """Take a directory's permissions from everyone but its owner, where we may."""
        try:
            os.chmod(path, DIRECTORY_MODE)
        except PermissionError:  # someone else's directory: the files in it are still 0600
            return

    def create(self, path: str) -> int:
        """Open a file that must not exist for writing, mode 0600 whatever the umask."""
        fd = os.open(path, _NEW_FILE | _BINARY, FILE_MODE)
        if sys.platform != "win32":
            os.fchmod(fd, FILE_MODE)
        return fd

    def write(self, fd: int, data: bytes) -> None:
        """Write all of `data`; a full disk may leave a part of it."""
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    def set_mtime(self, fd: int, path: str, mtime_ns: int, *, above_ns: int) -> FileStamp:
        """Date an open file, strictly later than `above_ns` in the file system's own unit.

        The kernel's clock ticks a few hundred times a second and inodes are reused, so two quick
        rewrites of equal size could otherwise carry one stamp.
        """
        target = fd if os.utime in os.supports_fd else path
        for unit in _TIME_UNITS_NS:
            mtime_ns = max(mtime_ns, above_ns + unit)
            os.utime(target, ns=(mtime_ns, mtime_ns))
            stamp = _stamp(os.fstat(fd))
            if stamp.mtime_ns > above_ns:
                break
        return stamp

    def sync(self, fd: int) -> None:
        """Bring a file's bytes and size to the disk."""
        os.fsync(fd)

    def sync_all(self, fds: Sequence[int], directories: Sequence[str]) -> None:
        """Bring open files and the names in directories to the disk, all at once.

        A busy disk takes nearly as long for one fsync as for several at a time: a commit of six
        files measured 7-19 ms one after another and 1-3 ms together.
        """
        _together(
            [partial(self.sync, fd) for fd in fds]
            + [partial(self.sync_directory, path) for path in directories]
        )

    def close(self, fd: int) -> None:
        """Close an open file."""
        os.close(fd)

    def replace(self, source: str, target: str) -> None:
        """Rename a file over another in the same directory, atomically."""
        os.replace(source, target)

    def move_directory(self, source: str, target: str) -> None:
        """Rename a directory to a name that is free or an empty directory, atomically."""
        os.rename(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file that may already be gone."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory that may already be gone."""
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return

    def sync_directory(self, path: str) -> None:
        """Bring the names in a directory to the disk."""
        if sys.platform == "win32":  # directories cannot be opened; NTFS journals its names
            return
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _together(acts: Sequence[Callable[[], None]]) -> None:
    """Do all of these at once, then raise the first error there was."""
    errors: list[BaseException] = []

    def run(act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - raised below, in the caller's thread
            errors.append(error)

    started: list[threading.Thread] = []
    for act in acts[1:]:
        thread = threading.Thread(target=run, args=(act,))
        try:
            thread.start()
        except RuntimeError:  # no more threads: then one after another
            run(act)
        else:
            started.append(thread)
    if acts:
        run(acts[0])
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_ino, status.st_size, status.st_mtime_ns)


def parent(path: str) -> str:
    """The directory a path is in."""
    return os.path.dirname(path)


def make_directories(fs: FileSystem, path: str, *, top: str) -> None:
    """Create `path` and its missing parents durably, and restrict every one from `top` down.

    Parents above `top` (the memory root) are created for the owner alone but, where they exist,
    left as they are: they belong to the user.
    """
    chain = [path]
    while chain[-1] != top and len(chain[-1]) > len(top):
        chain.append(parent(chain[-1]))
    above = parent(top)
    missing: list[str] = []
    while not fs.is_directory(above) and above != parent(above):
        missing.append(above)
        above = parent(above)
    for directory in [*reversed(missing), *reversed(chain)]:
        if fs.make_directory(directory):
            fs.sync_directory(parent(directory))


def remove_tree(fs: FileSystem, path: str) -> None:
    """Remove a directory and everything in it; symlinks in it are removed, never followed."""
    for name in fs.names(path):
        child = f"{path}/{name}"
        if fs.is_directory(child) and not os.path.islink(child):
            remove_tree(fs, child)
        else:
            fs.unlink(child)
    fs.remove_directory(path)
