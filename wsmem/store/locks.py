"""One lock per scope, across processes, threads and tasks, taken in one order.

Between processes it is a lock file held through `filelock`; the file stays when the lock is
released, since a waiter may already have it open. Within the process a queue stands in front of it,
because a lock file only knows processes and polling is unfair to threads. In memory a lock is kept
for as long as somebody holds it or waits for it.

A holder is a thread, or one asyncio task in it. The same holder may take a lock again. A task that
asks for a lock which another task of its own thread holds is refused at once: waiting would stop
the thread that must release it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wsmem.errors import LockOrderError, LockTimeoutError
from wsmem.store.layout import lock_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filelock import BaseFileLock

_POLL_S = 0.003
_Owner = tuple[int, int]


class _ScopeLock:
    """The lock of one path in this process: an owner, a depth, and the file lock behind it."""

    __slots__ = ("depth", "file", "free", "owner", "users", "waiting")

    def __init__(self) -> None:
        self.free = threading.Condition()
        self.owner: _Owner | None = None
        self.depth = 0
        self.waiting: list[object] = []
        """Who waits, first come first served."""
        self.file: BaseFileLock | None = None
        self.users = 0
        """Who holds it, as often as they took it, and who waits; changed under `_registry`."""


_locks: dict[str, _ScopeLock] = {}
_registry = threading.Lock()


def _forget_after_fork() -> None:
    """A child starts without locks: those its parent's threads hold would never be released."""
    global _registry  # noqa: PLW0603 - the parent may have been inside the old one
    _registry = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


@contextmanager
def hold_locks(paths: dict[str, str], *, timeout: float) -> Iterator[None]:
    """Hold the locks of these scopes, given as files by key: all of them or none, in one order.

    Args:
        paths: Lock files by scope key; their directory must exist.
        timeout: Seconds to wait for all of them together.

    Raises:
        LockTimeoutError: not all could be had in time.
        LockOrderError: the caller already holds one that comes later in the order.
    """
    # One lock however the root is spelled: through a symlink or not.
    paths = {key: os.path.realpath(path) for key, path in paths.items()}
    keys = sorted(paths, key=lock_rank)
    deadline = time.monotonic() + timeout
    owner = _current_owner()
    _check_order(keys, paths, owner)
    taken: list[str] = []
    try:
        for key in keys:
            _acquire(key, paths[key], owner, deadline)
            taken.append(key)
        yield
    finally:
        for key in reversed(taken):
            _release(paths[key])


def held_by_caller(path: str) -> bool:
    """Whether the calling thread or task holds the lock of this path."""
    lock = _locks.get(os.path.realpath(path))
    return lock is not None and lock.owner == _current_owner()


def _current_owner() -> _Owner:
    """This thread, and the task running in it, if any."""
    task: Any = None
    if asyncio := sys.modules.get("asyncio"):  # not imported: then there is no task either
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
    return threading.get_ident(), id(task) if task is not None else 0


def _check_order(keys: Sequence[str], paths: dict[str, str], owner: _Owner) -> None:
    """Refuse an order that can deadlock with somebody who keeps to it."""
    new = [key for key in keys if (lock := _locks.get(paths[key])) is None or lock.owner != owner]
    if not new:
        return
    folder = os.path.dirname(paths[new[0]])  # noqa: PTH120 - text paths, see layout
    for path, lock in list(_locks.items()):
        if lock.owner == owner and os.path.dirname(path) == folder:  # noqa: PTH120
            held = os.path.basename(path).removesuffix(".lock")  # noqa: PTH119
            if lock_rank(held) > lock_rank(new[0]):
                raise LockOrderError(new[0], held)


def _acquire(key: str, path: str, owner: _Owner, deadline: float) -> None:
    with _registry:
        lock = _locks.setdefault(path, _ScopeLock())
        lock.users += 1
    try:
        _take(lock, key, path, owner, deadline)
    except BaseException:
        _drop(lock, path)
        raise


def _drop(lock: _ScopeLock, path: str) -> None:
    """Count one user less, and forget a lock that nobody uses: there may be many scopes."""
    with _registry:
        lock.users -= 1
        # A forked child starts with an empty table, and what stands there now may be another lock.
        if lock.users == 0 and _locks.get(path) is lock:
            del _locks[path]


def _take(lock: _ScopeLock, key: str, path: str, owner: _Owner, deadline: float) -> None:
    started = time.monotonic()
    with lock.free:
        if lock.owner == owner:
            lock.depth += 1
            return
        if lock.owner is not None and lock.owner[0] == owner[0]:
            raise LockTimeoutError(key, 0.0, "another task of this thread")
        _queue(lock, key, started, deadline)
        lock.owner, lock.depth = owner, 1
    try:
        _acquire_file(lock, key, path, started, deadline)
    except BaseException:
        _leave(lock)
        raise


def _queue(lock: _ScopeLock, key: str, started: float, deadline: float) -> None:
    """Wait until the lock is free in this process and it is our turn."""
    ticket = object()
    lock.waiting.append(ticket)
    try:
        while lock.owner is not None or lock.waiting[0] is not ticket:
            if not lock.free.wait(max(0.0, deadline - time.monotonic())) and (
                time.monotonic() >= deadline
            ):
                waited = time.monotonic() - started
                raise LockTimeoutError(key, waited, "another thread of this process")
    finally:
        lock.waiting.remove(ticket)
        lock.free.notify_all()


def _acquire_file(lock: _ScopeLock, key: str, path: str, started: float, deadline: float) -> None:
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 40 ms that readers never pay

    if lock.file is None:
        lock.file = FileLock(path, mode=0o600, thread_local=False)
    try:
        remaining = max(0.0, deadline - time.monotonic())
        lock.file.acquire(timeout=remaining, poll_interval=_POLL_S)
    except Timeout:
        raise LockTimeoutError(key, time.monotonic() - started, "another process") from None


def _release(path: str) -> None:
    lock = _locks[path]
    try:
        with lock.free:
            lock.depth -= 1
            if lock.depth:
                return
        try:
            if lock.file is not None:
                lock.file.release()
        finally:
            _leave(lock)
    finally:
        _drop(lock, path)


def _leave(lock: _ScopeLock) -> None:
    with lock.free:
        lock.owner, lock.depth = None, 0
        lock.free.notify_all()
