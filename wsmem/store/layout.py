"""Where everything lives under a memory root, and how files are named; touches no file.

Paths are plain text with forward slashes: they are built on every recall, where `pathlib` would
cost more than the work itself.
"""

from __future__ import annotations

import os
import re
import time
from typing import Literal, NamedTuple, Protocol

from wsmem.errors import InvalidInputError

ScopeKind = Literal["global", "workspace", "session"]

ENTRIES = "memory_entries.json"
SUMMARY = "memory_summary.md"
STATE = "state.json"
DESCRIPTOR = "scope.json"
EXTRA = "wsmem.json"
"""What wsmem keeps about a scope beyond the shared formats; other programs ignore it."""
SNAPSHOT_FILES = (ENTRIES, STATE, SUMMARY, DESCRIPTOR, EXTRA)

CHECKPOINTS = "checkpoints"
HISTORY = "summary_history"
SET_ASIDE = "set-aside"
"""Originals of files that could not be read whole, kept when they are first rewritten."""

INTERNAL = ".wsmem"
"""Locks, journals, the format marker and caches; not looked at by other programs."""

SCOPE_KEY = re.compile(r"(?:global|ws-[0-9a-f]{20}|session-[0-9a-f]{20})\Z")
HISTORY_NAME = re.compile(r"[0-9]+-[0-9a-f-]{36}\.md\Z")

_DIRECTORIES: dict[ScopeKind, str] = {"workspace": "scopes/", "session": "sessions/"}
_LOCK_ORDER: dict[ScopeKind, int] = {"workspace": 0, "global": 1, "session": 2}


class ScopeLike(Protocol):
    """Anything that names a scope: its key and the directory it stands for."""

    @property
    def key(self) -> str: ...
    @property
    def cwd(self) -> str: ...


class ScopeRef(NamedTuple):
    """A scope named by its key; `cwd` is written to `scope.json` when the scope is created."""

    key: str
    cwd: str = ""


GLOBAL = ScopeRef("global")


def kind_of(key: str) -> ScopeKind:
    """The layer a scope key belongs to.

    Raises:
        InvalidInputError: it is not exactly `global`, `ws-` or `session-` and 20 lower-case hex
            digits. Nothing else ever becomes part of a path.
    """
    if not SCOPE_KEY.match(key):
        raise InvalidInputError(f"{key!r} is not a scope key: expected global, ws-… or session-…")
    if key == "global":
        return "global"
    return "workspace" if key.startswith("ws-") else "session"


def lock_rank(key: str) -> tuple[int, str]:
    """Sort key of the one lock order: workspaces by key, then global, then sessions by key."""
    return _LOCK_ORDER[kind_of(key)], key


class Layout(NamedTuple):
    """Paths under one memory root. The root may be a symlink; it is used as given, unresolved."""

    root: str

    @classmethod
    def at(cls, root: str | os.PathLike[str]) -> Layout:
        """The layout of a root directory; a relative path is fixed to the present directory."""
        return cls(os.path.abspath(os.fspath(root)))  # noqa: PTH100 - see the module's first lines

    def scope(self, key: str) -> str:
        """Directory of a live scope."""
        return f"{self.root}/{_DIRECTORIES.get(kind_of(key), '')}{key}"

    def archived(self, key: str) -> str:
        """Directory of a workspace scope in the archive; no other kind is ever archived."""
        if kind_of(key) != "workspace":
            raise InvalidInputError(f"{key!r} is not a workspace: only workspaces are archived")
        return f"{self.root}/archived/{key}"

    @property
    def scopes(self) -> str:
        """Parent of all live workspace scopes."""
        return f"{self.root}/scopes"

    @property
    def sessions(self) -> str:
        """Parent of all session scopes."""
        return f"{self.root}/sessions"

    @property
    def archive(self) -> str:
        """Parent of all archived scopes."""
        return f"{self.root}/archived"

    @property
    def internal(self) -> str:
        """Parent of everything that is wsmem's own."""
        return f"{self.root}/{INTERNAL}"

    @property
    def journals(self) -> str:
        """Committed changes on their way into the files, and drafts of changes not committed."""
        return f"{self.root}/{INTERNAL}/journal"

    @property
    def marker(self) -> str:
        """The format marker of the whole store."""
        return f"{self.root}/{INTERNAL}/format.json"

    def lock(self, key: str) -> str:
        """Lock file of a scope, live and archived alike; it is never removed."""
        kind_of(key)
        return f"{self.root}/{INTERNAL}/locks/{key}.lock"

    def cache(self, key: str) -> str:
        """Directory for derived files of a scope; a purge empties it, anyone may delete it."""
        kind_of(key)
        return f"{self.root}/{INTERNAL}/cache/{key}"


def new_uuid() -> str:
    """A random version 4 UUID as text, without importing `uuid` (5 ms on a 24 ms start)."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def iso_time(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds, as entries carry it: `2026-09-01T00:00:00.000Z`."""
    seconds, milliseconds = divmod(at_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03d}Z"


def stage_time(at_ms: int) -> str:
    """`iso_time` with the colons replaced, as checkpoint files and their headings carry it."""
    return iso_time(at_ms).replace(":", "-")


def checkpoint_name(at_ms: int, uuid: str) -> str:
    """File name of the audit of one stage; names sort by time."""
    return f"{stage_time(at_ms)}.{uuid}.md"


def history_name(at_ms: int, uuid: str) -> str:
    """File name of a summary that was replaced at `at_ms`; names sort by time."""
    return f"{at_ms}-{uuid}.md"
