"""Where a request reads and writes: its scopes, under the keys their stores really have.

Reading and writing both go through `Locator.place`, so nothing is written where it would not be
read again.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from wsmem.scopes import GLOBAL, Scope, same_directory
from wsmem.store.layout import DESCRIPTOR, SCOPE_KEY, ScopeRef, kind_of
from wsmem.store.scope_codec import read_descriptor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.scopes import ScopeResolver
    from wsmem.store.store import MemoryStore

_FORGET_AFTER_S = 30.0
"""How long a directory without a store under its own keys is not looked for under others."""


class Place(NamedTuple):
    """The scopes of one request."""

    main: Scope
    """The workspace, or the global scope; its key is the one its store has."""
    session: Scope | None = None
    root_session_id: str | None = None
    is_subagent: bool = False
    archived: bool = False
    """The workspace is in the archive: out of recall, and nothing may be written to it."""
    problem: str | None = None
    """Why the request's session could not be looked up; `main` is a stand-in then."""

    @property
    def read(self) -> tuple[Scope, ...]:
        """The scopes a recall reads: global, workspace, session."""
        found = [GLOBAL]
        if not self.archived and self.main.key != GLOBAL.key:
            found.append(self.main)
        if self.session is not None:
            found.append(self.session)
        return tuple(found)


class Locator:
    """Finds the scopes of requests in one store."""

    def __init__(self, store: MemoryStore, resolver: ScopeResolver) -> None:
        self._store = store
        self._resolver = resolver
        self._missing: dict[str, float] = {}
        self._guard = threading.Lock()

    def place(self, *, cwd: str | None = None, session_id: str | None = None) -> Place:
        """The scopes of a request.

        Raises:
            RelativePathError: `cwd` is relative.
        """
        found = self._resolver.resolve(cwd=cwd, session_id=session_id)
        main = self._stored(found.main)
        return Place(
            main=main,
            session=found.session,
            root_session_id=found.root_session_id,
            is_subagent=found.is_subagent,
            archived=self._is_archived(main),
            problem=found.problem,
        )

    def _stored(self, scope: Scope) -> Scope:
        """`scope` under the key of the store it has; under its own when it has none yet."""
        if scope.layer != "workspace":
            return scope
        for key in scope.keys:
            if self._exists(key) or self._in_archive(key):
                return _under(scope, key)
        with self._guard:
            looked_at = self._missing.get(scope.key)
        if looked_at is not None and time.monotonic() - looked_at < _FORGET_AFTER_S:
            return scope
        for key in same_directory(scope, self._recorded_directories()):
            return _under(scope, key)
        with self._guard:
            self._missing[scope.key] = time.monotonic()
        return scope

    def _exists(self, key: str) -> bool:
        return self._store.exists(ScopeRef(key))

    def _in_archive(self, key: str) -> bool:
        return os.path.isdir(self._store.layout.archived(key))  # noqa: PTH112 - a path as text

    def _is_archived(self, scope: Scope) -> bool:
        return (
            scope.layer == "workspace"
            and self._in_archive(scope.key)
            and not self._exists(scope.key)
        )

    def _recorded_directories(self) -> Iterator[tuple[str, str]]:
        """Keys of the live workspaces with the directory each one's descriptor names."""
        try:
            names = sorted(os.listdir(self._store.layout.scopes))  # noqa: PTH208 - a path as text
        except OSError:
            return
        for key in names:
            if SCOPE_KEY.match(key) and kind_of(key) == "workspace":
                descriptor = f"{self._store.layout.scope(key)}/{DESCRIPTOR}"
                if os.path.exists(descriptor):  # noqa: PTH110 - a path as text
                    yield key, self._store.directory_of(ScopeRef(key))


def _recorded(descriptor: str) -> str:
    """The directory a descriptor names; empty where it is absent or damaged."""
    try:
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a path as text
            cwd = read_descriptor(file.read())[0].get("cwd")
    except OSError:
        return ""
    return cwd if isinstance(cwd, str) else ""


def _under(scope: Scope, key: str) -> Scope:
    return scope if key == scope.key else Scope(key=key, cwd=scope.cwd, layer=scope.layer)
