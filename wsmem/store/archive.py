"""Move whole scopes: out of recall, back, and away for good. Each move is one rename."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from wsmem.errors import InvalidInputError
from wsmem.store.fs import make_directories, parent, remove_tree
from wsmem.store.layout import CHECKPOINTS, HISTORY, SET_ASIDE, kind_of, new_uuid
from wsmem.store.settling import TRASH, empty_trash, locked, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.store.access import StoreAccess
    from wsmem.store.snapshot import ScopeSnapshot

MoveOutcome = Literal["moved", "absent", "occupied"]
"""What became of a move: done; nothing to move; something is where it should go, so not done."""


def archive_scope(access: StoreAccess, key: str) -> MoveOutcome:
    """Move a live workspace to the archive; refused while there is memory in its place.

    Raises:
        InvalidInputError: the key is not a workspace's; the global scope is never archived.
    """
    source, target = access.layout.scope(key), access.layout.archived(key)
    if not access.fs.is_directory(source):
        return "absent"
    with _moving(access, key):
        if not access.fs.is_directory(source):
            return "absent"
        if not _vacate(access, target, access.read_archived(key)):
            return "occupied"
        remove_tree(access.fs, access.layout.cache(key))  # nobody will want what was derived
        _move(access, source, target)
    return "moved"


def restore_scope(access: StoreAccess, key: str) -> MoveOutcome:
    """Move an archived workspace back; refused while there is memory in its place.

    Empty directories in its place, such as another program makes on a mere recall, give way.
    """
    source, target = access.layout.archived(key), access.layout.scope(key)
    if not access.fs.is_directory(source):
        return "absent"
    with _moving(access, key):
        if not access.fs.is_directory(source):
            return "absent"
        if not _vacate(access, target, access.read(key)):
            return "occupied"
        _move(access, source, target)
    return "moved"


def purge_archived(access: StoreAccess, key: str) -> bool:
    """Physically remove an archived workspace with all it holds; whether there was one."""
    return _purge(access, key, access.layout.archived(key))


def discard_session(access: StoreAccess, key: str) -> bool:
    """Physically remove a session scope; whether there was one."""
    if kind_of(key) != "session":
        raise InvalidInputError(f"{key!r} is not a session scope")
    return _purge(access, key, access.layout.scope(key))


def _purge(access: StoreAccess, key: str, directory: str) -> bool:
    if not access.fs.is_directory(directory):
        return False
    with _moving(access, key):
        if not access.fs.is_directory(directory):
            return False
        _discard(access, directory)
        with _done(access):
            remove_tree(access.fs, access.layout.cache(key))
            empty_trash(access)  # what an earlier purge was killed in the middle of, too
    return True


@contextmanager
def _moving(access: StoreAccess, key: str) -> Iterator[None]:
    """Under the scope's lock, with nothing of it kept in memory afterwards."""
    with locked(access, [key]):
        try:
            yield
        except OSError as error:
            raise write_error("moving a scope", access, error) from error
        finally:
            access.forget(key)


def _move(access: StoreAccess, source: str, target: str) -> None:
    make_directories(access.fs, parent(target), top=access.layout.root)
    access.fs.move_directory(source, target)
    with _done(access):
        for folder in (parent(target), parent(source)):
            access.fs.sync_directory(folder)


def _discard(access: StoreAccess, directory: str) -> None:
    """Remove a directory so that a crash leaves all of it or, to every reader, nothing."""
    trash = f"{parent(directory)}/{TRASH}{new_uuid()}"
    access.fs.move_directory(directory, trash)
    with _done(access):
        access.fs.sync_directory(parent(directory))
        remove_tree(access.fs, trash)
        access.fs.sync_directory(parent(directory))


@contextmanager
def _done(access: StoreAccess) -> Iterator[None]:
    """What comes after the rename: a failure no longer means that nothing changed."""
    try:
        yield
    except OSError as error:
        raise write_error("making a move durable", access, error, "unknown") from error


def _vacate(access: StoreAccess, directory: str, snapshot: ScopeSnapshot) -> bool:
    """Clear a directory for another to take its name, unless it holds anything worth keeping."""
    if not access.fs.is_directory(directory):
        return True
    if (
        snapshot.entries
        or snapshot.problems
        or snapshot.state.pending_messages
        or any(access.fs.names(f"{directory}/{n}") for n in (CHECKPOINTS, HISTORY, SET_ASIDE))
    ):
        return False
    _discard(access, directory)
    return True
