r"""Whose memory a request means: directory -> key, session -> root session -> workspace.

A workspace is its directory. The key is made of the normalised absolute path and of nothing else:
no title, no registry id, no position in a list. Nothing here knows the store; it says under which
keys a scope may be found, the store says which of them exist.

**Symbolic links.** The canonical key is that of the real path: links are followed as far as the
path exists, so a directory has the same key before and after it is made. The public plugin does not
follow links, so its store for a linked spelling stands under the key of that spelling, an *alias*.
`Scope.keys` holds the canonical key first, then the alias: use the first one that has a store, and
make a new one under the first. A store under a spelling nobody mentions is found by
`same_directory`, from the paths that stores themselves record.

**Windows.** Back slashes, drive letters and case mean something on Windows paths only: all paths
where `platform` is `win32`, and paths that begin with a drive or `\\` anywhere. On POSIX `/a\b`
and `/a/b` are two directories and have two keys.

**Git.** Two work trees of one repository are two directories, so two workspaces.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wsmem.errors import InvalidInputError, RelativePathError
from wsmem.text.normalize import trim

# The interpreter's own SHA-256: `hashlib` loads OpenSSL, the dearest import of a recall.
try:
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]  # since 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]  # 3.11
    except ImportError:  # an interpreter built without them
        from hashlib import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wsmem.records import Layer

GLOBAL_KEY = "global"
_LONGEST_CHAIN = 256
"""Parents followed from a session to its root; a longer chain is a defect of the registry."""

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_DRIVE = re.compile(r"[A-Za-z]:(?=/|\Z)")
_SHARE = re.compile(r"//[^/]+/[^/]+")


class Scope(NamedTuple):
    """One body of memory: of the user, of a workspace, or of one conversation."""

    key: str
    """`global`, `ws-` or `session-` and 20 hex digits; safe as a directory name."""
    cwd: str = ""
    """Normalised real path of the workspace; empty in the other layers."""
    layer: Layer = "workspace"
    aliases: tuple[str, ...] = ()
    """Other keys under which a store of this same directory may already stand."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The canonical key, then the aliases: where to look, in this order."""
        return (self.key, *self.aliases)


GLOBAL = Scope(key=GLOBAL_KEY, layer="global")


def normalize_cwd(cwd: str | None, *, platform: str | None = None, base: str | None = None) -> str:
    """The one spelling of an absolute path, by its letters alone; the disk is not asked.

    `.`, `..`, doubled and trailing separators are resolved. Nothing, blank text and a root
    directory without a drive give the empty text: the global scope, as in the public plugin. `~`
    and Unicode forms are taken as they are.

    Args:
        cwd: A directory.
        platform: `win32` for Windows rules throughout; `None` is this system.
        base: Directory a relative path is relative to.

    Raises:
        RelativePathError: `cwd` is relative and there is no `base`.
    """
    platform = sys.platform if platform is None else platform
    if not isinstance(cwd, str) or not trim(cwd):
        return ""
    windows = platform == "win32" or _WINDOWS.match(cwd) is not None
    path = _forward(cwd) if windows else cwd
    absolute = path.startswith("/") or (windows and _DRIVE.match(path) and path[2:3] == "/")
    if not absolute:
        if base is None:
            raise RelativePathError(cwd)
        return normalize_cwd(f"{normalize_cwd(base, platform=platform)}/{path}", platform=platform)
    if not windows:
        return _resolved("", path)
    root = _SHARE.match(path) or _DRIVE.match(path)
    start = root[0] if root else ""
    return _resolved(start, path[len(start) :]).lower()


def scope_key(normalized: str) -> str:
    """Key of a normalised path: `global` for the empty one."""
    return f"ws-{_digest(normalized)}" if normalized else GLOBAL_KEY


def workspace_scope(
    cwd: str | None, *, platform: str | None = None, base: str | None = None
) -> Scope:
    """The scope of a directory, links followed; the global one where there is no directory.

    Raises:
        RelativePathError: `cwd` is relative and there is no `base`. The process's own directory is
            never taken for either.
    """
    platform = sys.platform if platform is None else platform
    spelled = normalize_cwd(cwd, platform=platform, base=base)
    if not spelled:
        return GLOBAL
    real = _real(spelled, platform)
    if not real:  # a link to the root directory: kept apart by its own name
        real = spelled
    spellings = dict.fromkeys([spelled, *_plugin_spellings(cwd, platform)])
    keys = dict.fromkeys([scope_key(real), *map(scope_key, spellings)])
    canonical, *aliases = keys
    return Scope(key=canonical, cwd=real, aliases=tuple(aliases))


def candidate_keys(
    cwd: str | None, *, platform: str | None = None, base: str | None = None
) -> tuple[str, ...]:
    """Keys under which the store of a directory may stand, the canonical one first."""
    return workspace_scope(cwd, platform=platform, base=base).keys


def same_directory(
    scope: Scope, stores: Iterable[tuple[str, str]], *, platform: str | None = None
) -> Iterator[str]:
    """Keys of stores, given as pairs of key and recorded path, that stand for `scope`'s directory.

    Asks the disk once for each store, so it is meant for a scope that has no store under its own
    keys. A store whose recorded path cannot be used is passed over.
    """
    for key, recorded in stores:
        try:
            other = workspace_scope(recorded, platform=platform)
        except InvalidInputError:
            continue
        if other.layer == "workspace" and other.key == scope.key:
            yield key


def session_scope(root_session_id: str) -> Scope:
    """The layer of one conversation; the id itself never becomes part of a path."""
    return Scope(key=f"session-{_digest(root_session_id)}", layer="session")


class SessionInfo(NamedTuple):
    """What a host knows about a session."""

    id: str
    cwd: str | None = None
    parent_id: str | None = None
    """The session it was started from; a host that knows only the root gives the root."""
    is_subagent: bool = False
    """Whether a task was delegated to it, rather than opened by the user."""


class Workspace(NamedTuple):
    """A directory a host has registered."""

    path: str
    id: str = ""
    """The host's own id: metadata, new after every registration, never part of a key."""
    title: str = ""
    """For people; titles may repeat."""


class SessionRegistry(Protocol):
    """What wsmem asks its host; a soft dependency, so either method may raise anything."""

    def session(self, session_id: str) -> SessionInfo | None:
        """A session by its id, `None` when it is not known."""
        ...

    def workspaces(self) -> Sequence[Workspace] | None:
        """All registered workspaces; `None` when that cannot be said, which archives nothing."""
        ...


class InMemoryRegistry:
    """A registry for tests, scripts and hosts that tell what they know as they go."""

    def __init__(
        self, sessions: Iterable[SessionInfo] = (), workspaces: Iterable[Workspace] = ()
    ) -> None:
        self._sessions = {info.id: info for info in sessions}
        self._workspaces = {record.path: record for record in workspaces}

    def session(self, session_id: str) -> SessionInfo | None:
        """A session by its id."""
        return self._sessions.get(session_id)

    def workspaces(self) -> tuple[Workspace, ...]:
        """All registered workspaces, in the order they came."""
        return tuple(self._workspaces.values())

    def add_session(self, info: SessionInfo) -> None:
        """Add a session, or replace what is known about it."""
        self._sessions[info.id] = info

    def register(self, record: Workspace) -> None:
        """Add a workspace, or replace the record of its path."""
        self._workspaces[record.path] = record

    def unregister(self, path: str) -> None:
        """Forget a workspace; nothing happens when it is not there."""
        self._workspaces.pop(path, None)


class Resolution(NamedTuple):
    """Where a request reads and writes: one answer for both."""

    main: Scope
    """The workspace, or the global scope where there is none."""
    session: Scope | None = None
    """The conversation's own layer, shared by all sessions with the same root."""
    root_session_id: str | None = None
    is_subagent: bool = False
    problem: str | None = None
    """Why the session could not be looked up; then `main` is not to be taken for an answer."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope a recall reads: global, workspace, session, as far as there are."""
        found = (GLOBAL, self.main, self.session)
        return tuple(dict.fromkeys(scope for scope in found if scope is not None))


class ScopeResolver:
    """Turns a directory or a session into scopes, with a registry or without one."""

    def __init__(
        self, registry: SessionRegistry | None = None, *, platform: str | None = None
    ) -> None:
        self._registry = registry
        self._platform = sys.platform if platform is None else platform

    def resolve(self, *, cwd: str | None = None, session_id: str | None = None) -> Resolution:
        """The scopes of a request.

        `cwd` decides where it is given, the empty one for the global scope; otherwise the session
        does, through its root session when it is a sub-agent's. An unknown session is global.

        Raises:
            RelativePathError: `cwd` is relative.
        """
        explicit = None if cwd is None else workspace_scope(cwd, platform=self._platform)
        if not session_id:
            return Resolution(main=explicit or GLOBAL)
        try:
            chain = self._chain(session_id)
        except Exception as error:  # noqa: BLE001  a registry is foreign code and a soft dependency
            problem = f"the session registry failed: {type(error).__name__}"
            main = explicit or GLOBAL
            session = session_scope(session_id)
            return Resolution(
                main=main,
                session=session,
                root_session_id=session_id,
                problem=None if explicit else problem,
            )
        root = _root_id(chain, session_id)
        found = Resolution(
            main=explicit or GLOBAL,
            session=session_scope(root),
            root_session_id=root,
            is_subagent=bool(chain) and chain[0].is_subagent,
        )
        if explicit is not None:
            return found
        try:
            return found._replace(main=workspace_scope(_cwd(chain), platform=self._platform))
        except RelativePathError:
            return found._replace(problem="the session's directory is a relative path")

    def registered_keys(self) -> frozenset[str] | None:
        """Every key of every registered workspace; `None` when the registry cannot say.

        A scope whose key was in an earlier answer and is not in this one has been unregistered. A
        record whose path cannot be used names nothing.
        """
        if self._registry is None:
            return None
        try:
            records = self._registry.workspaces()
            if records is None:
                return None
            paths = [record.path for record in records]
        except Exception:  # noqa: BLE001  as above: a registry that cannot be read archives nothing
            return None
        keys: set[str] = set()
        for path in paths:
            try:
                keys.update(candidate_keys(path, platform=self._platform))
            except RelativePathError:
                continue
        return frozenset(keys - {GLOBAL_KEY})

    def _chain(self, session_id: str) -> list[SessionInfo]:
        """The session and its parents, as far as they are known; a ring is walked once."""
        chain: list[SessionInfo] = []
        seen: set[str] = set()
        current: str | None = session_id
        while self._registry and current and current not in seen and len(chain) < _LONGEST_CHAIN:
            seen.add(current)
            info = self._registry.session(current)
            if info is None:
                break
            chain.append(info)
            current = info.parent_id
        return chain


def _root_id(chain: Sequence[SessionInfo], session_id: str) -> str:
    """Id of the root session: the last known parent's parent, known or not.

    In a ring there is no root; its smallest id stands for it, so that all its sessions agree.
    """
    if not chain:
        return session_id
    ids = [info.id for info in chain]
    last = chain[-1].parent_id
    if not last:
        return ids[-1]
    return min(ids[ids.index(last) :]) if last in ids else last


def _cwd(chain: Sequence[SessionInfo]) -> str | None:
    """Directory of a session: a sub-agent's is its root's, however it was started itself."""
    if not chain:
        return None
    if not chain[0].is_subagent:
        return chain[0].cwd
    if not chain[-1].parent_id:
        return chain[-1].cwd
    # The root itself is not known, or there is none: the nearest to it that has a directory.
    return next((info.cwd for info in reversed(chain) if info.cwd), None)


def _forward(path: str) -> str:
    """A Windows path with forward slashes and without the prefixes that change nothing."""
    path = path.replace("\\", "/")
    if path[:8].upper() == "//?/UNC/":
        return "//" + path[8:]
    bare = path[4:] if path[:4] in ("//?/", "//./") else path
    bare = bare[1:] if _DRIVE.match(bare, 1) and bare[0] == "/" else bare  # "/c:/proj"
    return bare if _DRIVE.match(bare) else path


def _resolved(root: str, path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join([root, *parts])


def _real(path: str, platform: str) -> str:
    """The path with links followed, where it is a path of this system; itself otherwise."""
    foreign = (platform == "win32") != (os.name == "nt")
    windows = not path.startswith("/") or path.startswith("//")  # a drive or a share, on POSIX too
    if foreign or (windows and os.name != "nt"):
        return path
    try:
        return normalize_cwd(os.path.realpath(path), platform=platform)
    except (OSError, ValueError):  # not readable, or not a path the system can have
        return path


def _plugin_spellings(cwd: str | None, platform: str) -> Iterator[str]:
    """How the public plugin spells a directory, where it keeps a prefix that we take off."""
    if cwd and platform == "win32":
        path = cwd.replace("\\", "/").lower()
        if path.startswith(("//?/", "//./")):
            yield _resolved(path[:3], path[3:])


def _digest(text: str) -> str:
    # A name that is not valid Unicode still has a key of its own.
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20])
