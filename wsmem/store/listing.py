"""Which scopes there are, with counters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError, UnreadableFileError
from wsmem.scopes import candidate_keys, scope_key
from wsmem.store.codec import Problem
from wsmem.store.heads import read_head
from wsmem.store.layout import DESCRIPTOR, SCOPE_KEY, STATE, ScopeKind, kind_of
from wsmem.store.scope_codec import read_descriptor

if TYPE_CHECKING:
    from wsmem.store.access import StoreAccess
    from wsmem.store.heads import ScopeHead
    from wsmem.store.snapshot import ScopeSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeListing:
    """A scope at a glance."""

    key: str
    cwd: str
    kind: ScopeKind
    entry_count: int = 0
    """Entries a recall may return."""
    has_summary: bool = False
    pending: int = 0
    """Messages waiting to be distilled."""
    checkpoint_count: int = 0
    last_checkpoint_at: int = 0
    updated_at: str | None = None
    """The latest change to an entry a recall may return."""
    problems: tuple[Problem, ...] = ()


def list_live(access: StoreAccess, *, sessions: bool) -> tuple[ScopeListing, ...]:
    """Global, whether it exists or not; workspaces by directory; sessions by key if asked for."""
    listed = [_listing(access, "global", "", archived=False)]
    listed += [_listing(access, *named, archived=False) for named in _workspaces(access, "scopes")]
    if sessions:
        names = access.fs.names(access.layout.sessions)
        keys = [name for name in names if SCOPE_KEY.match(name) and kind_of(name) == "session"]
        listed += [_listing(access, key, "", archived=False) for key in keys]
    return tuple(listed)


def list_waiting(access: StoreAccess) -> tuple[ScopeHead, ...]:
    """The global scope and workspaces that have messages to be distilled, by directory."""
    heads = []
    for key, cwd in [("global", ""), *_workspaces(access, "scopes")]:
        with suppress(UnreadableFileError):
            head = read_head(access, key, (STATE,))
            if head.state.pending_messages:
                heads.append(head._replace(cwd=cwd))
    return tuple(heads)


def list_archived(access: StoreAccess) -> tuple[ScopeListing, ...]:
    """Archived workspaces by directory."""
    named = _workspaces(access, "archived")
    return tuple(_listing(access, key, cwd, archived=True) for key, cwd in named)


def live_keys(access: StoreAccess) -> list[str]:
    """Keys of all scopes with a directory outside the archive, listed or not."""
    layout = access.layout
    names = access.fs.names(layout.scopes) + access.fs.names(layout.sessions)
    keys = [name for name in names if SCOPE_KEY.match(name)]
    return ["global", *keys] if access.fs.is_directory(layout.scope("global")) else keys


def archived_keys(access: StoreAccess) -> list[str]:
    """Keys of all archived scopes, listed or not."""
    return [name for name in access.fs.names(access.layout.archive) if SCOPE_KEY.match(name)]


def _workspaces(access: StoreAccess, folder: str) -> list[tuple[str, str]]:
    """Keys and directories of the workspaces in a folder, those a descriptor vouches for.

    A directory whose descriptor is absent, damaged, or names a directory with another key belongs
    to nobody we could name. Order is by directory, letters before their capitals.
    """
    parent = access.layout.scopes if folder == "scopes" else access.layout.archive
    found = []
    for key in access.fs.names(parent):
        if SCOPE_KEY.match(key) and kind_of(key) == "workspace":
            cwd = _recorded_directory(access, f"{parent}/{key}/{DESCRIPTOR}")
            if cwd.strip() and _stands_for(key, cwd):
                found.append((key, cwd))
    return sorted(found, key=lambda named: (named[1].casefold(), named[1].swapcase(), named[0]))


def _recorded_directory(access: StoreAccess, path: str) -> str:
    try:
        found = access.fs.read(path)
    except OSError:
        return ""
    cwd = read_descriptor(found[0])[0].get("cwd") if found else ""
    return cwd if isinstance(cwd, str) else ""


def _stands_for(key: str, cwd: str) -> bool:
    """Whether a directory has this key, in some spelling; the disk is asked only in doubt."""
    if scope_key(cwd) == key:
        return True
    try:
        return key in candidate_keys(cwd)
    except InvalidInputError:
        return False


def _listing(access: StoreAccess, key: str, cwd: str, *, archived: bool) -> ScopeListing:
    try:
        snapshot = access.read_archived(key) if archived else access.read_in_passing(key)
    except UnreadableFileError as error:
        name = error.path.rpartition("/")[2]
        problem = Problem(file=name, kind="damaged", detail=f"cannot be read ({error.reason})")
        return ScopeListing(key=key, cwd=cwd, kind=kind_of(key), problems=(problem,))
    return _counted(snapshot, cwd or snapshot.cwd)


def _counted(snapshot: ScopeSnapshot, cwd: str) -> ScopeListing:
    shown = [entry for entry in snapshot.entries if entry.recallable]
    return ScopeListing(
        key=snapshot.key,
        cwd=cwd,
        kind=kind_of(snapshot.key),
        entry_count=len(shown),
        has_summary=bool(snapshot.summary.strip()),
        pending=len(snapshot.state.pending_messages),
        checkpoint_count=snapshot.state.checkpoint_count,
        last_checkpoint_at=snapshot.state.last_checkpoint_at,
        updated_at=max((entry.updated_at for entry in shown if entry.updated_at), default=None),
        problems=snapshot.problems,
    )
