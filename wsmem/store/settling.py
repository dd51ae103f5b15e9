"""Before anything is written: locks held, earlier commits finished, remains of the dead cleared."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError, LockTimeoutError, StoreWriteError
from wsmem.store.fs import remove_tree
from wsmem.store.journal import carry_out, discard
from wsmem.store.layout import CHECKPOINTS, HISTORY, SET_ASIDE, kind_of
from wsmem.store.listing import archived_keys, live_keys
from wsmem.store.locks import hold_locks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wsmem.store.access import StoreAccess

TRASH = ".purged-"
"""Begins the name of a directory on its way out, beside the directory it was."""

_log = logging.getLogger("wsmem.store")

_STAGED = re.compile(r"\..+\.([0-9a-f-]{36})\.tmp\Z")


@contextmanager
def locked(
    access: StoreAccess, keys: Sequence[str], timeout: float | None = None
) -> Iterator[None]:
    """Hold the locks of these scopes, with everything committed to them carried out."""
    access.prepare_writing()
    paths = {key: access.layout.lock(key) for key in keys}
    with hold_locks(paths, timeout=access.lock_timeout if timeout is None else timeout):
        try:
            settle(access, keys)
        except OSError as error:
            raise write_error("carrying out an earlier change", access, error) from error
        yield


def settle(access: StoreAccess, keys: Sequence[str]) -> None:
    """Under the locks of `keys`: finish what was committed, clear what was not.

    A draft of a change to a scope whose lock we hold has lost its writer.
    """
    for path in access.journals.set_damaged_aside():
        _log.warning("a journal could not be understood; it is kept as %s", path)
    for key in keys:
        for committed in access.journals.committed(key):
            carry_out(access.fs, access.layout, committed)
        for draft in access.journals.drafts(key):
            discard(access.fs, access.layout, draft)
        for path in access.journals.torn_drafts(key):
            access.fs.unlink(path)
        if key not in access.swept:
            _sweep(access, key)
            access.swept.add(key)


def _sweep(access: StoreAccess, key: str) -> None:
    """Remove staged files of a scope that no journal speaks of: a power cut took their drafts."""
    places = [access.layout.scope(key)]
    if kind_of(key) == "workspace":
        places.append(access.layout.archived(key))
    for place in places:
        for folder in (place, *(f"{place}/{n}" for n in (CHECKPOINTS, HISTORY, SET_ASIDE))):
            _sweep_folder(access, folder)


def _sweep_folder(access: StoreAccess, folder: str) -> list[str]:
    """Needs no lock: whoever staged a file seen here and is alive has a journal seen later."""
    staged = [
        (name, found[1]) for name in access.fs.names(folder) if (found := _STAGED.match(name))
    ]
    if not staged:
        return []
    spoken_of = access.journals.ids()
    gone = [f"{folder}/{name}" for name, journal in staged if journal not in spoken_of]
    for path in gone:
        access.fs.unlink(path)
    return gone


def recover(access: StoreAccess) -> tuple[str, ...]:
    """Carry out every committed change, clear drafts and trash; a line for each thing done.

    A scope whose lock is taken is passed over: its writer is alive and sees to it.
    """
    access.prepare_writing()
    done = [f"journal set aside: {path}" for path in access.journals.set_damaged_aside()]
    try:
        for journal in access.journals.committed():
            carry_out(access.fs, access.layout, journal)
            done.append(f"change carried out: {journal.id} in {', '.join(journal.scopes)}")
        for journal in access.journals.drafts():
            with suppress(LockTimeoutError), locked(access, journal.scopes, 0):
                done.append(f"unfinished change cleared: {journal.id}")
        for path in access.journals.torn_drafts():
            key = path.split(".")[-2]
            with suppress(LockTimeoutError, InvalidInputError), locked(access, [key], 0):
                done.append(f"unfinished change cleared: {path}")
        for key in (*live_keys(access), *archived_keys(access)):
            _sweep(access, key)
        _sweep_folder(access, access.layout.internal)
        done += [f"removal finished: {path}" for path in empty_trash(access)]
    except OSError as error:
        raise write_error("recovering", access, error) from error
    return tuple(done)


def empty_trash(access: StoreAccess) -> tuple[str, ...]:
    """Finish removals of whole scopes that a crash interrupted; the directories removed."""
    removed = []
    for folder in (access.layout.archive, access.layout.scopes, access.layout.sessions):
        for name in access.fs.names(folder):
            if name.startswith(TRASH):
                remove_tree(access.fs, f"{folder}/{name}")
                removed.append(f"{folder}/{name}")
    return tuple(removed)


def write_error(
    step: str, access: StoreAccess, error: OSError, outcome: str = "unchanged"
) -> StoreWriteError:
    """What the system said, in our terms."""
    path = error.filename if isinstance(error.filename, str) else access.layout.root
    return StoreWriteError(step, path, error.strerror or str(error), outcome)
