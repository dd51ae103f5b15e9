"""`wsmem:PROFILE`, `…@host`, `…@grown`: the engine's public `recall` under one weight profile.

The first asks for a deep ranking without a budget of bytes, which is what compares with the peers.
`@host` asks as a host does, under the default settings: 8 entries in 5 000 bytes, frame and
summary included. What does not fit was not given, so it does not count as found.
`@grown` asks as the first does, but in a store that was in use before its youngest entries came and
others were superseded, so that the index has followed changes. The answers must be the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.evals.systems.base import Served
from wsmem.evals.systems.pool_store import UNBOUNDED, PoolStore
from wsmem.retrieval.profile import load_profile, profile_names
from wsmem.settings import Settings
from wsmem.text.utf8 import utf8_length

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wsmem.evals.systems.pool_store import OpenPool
    from wsmem.records import MemoryEntry
    from wsmem.retrieval.profile import Profile

PREFIX = "wsmem:"
HOST = "@host"
GROWN = "@grown"
_LATE = 4
"""One of so many entries, the youngest ones, comes to a grown store while it is in use."""


def names() -> tuple[str, ...]:
    """The systems of the profiles that ship with wsmem."""
    return tuple(PREFIX + name + line for name in profile_names() for line in ("", HOST, GROWN))


def profile_of(name: str) -> str:
    """The profile in a system's name: that of a shipped one or the path of a file."""
    return name.removeprefix(PREFIX).removesuffix(HOST).removesuffix(GROWN)


def system_of(name: str, store: PoolStore | None = None) -> WsmemSystem | HostSystem | GrownSystem:
    """The system of this name.

    Args:
        name: One of `names()`, or one with the path of a profile's file in place of its name.
        store: Where its pools stand; `None` makes a store for each. A grown store is always new.

    Raises:
        ProfileError: the profile cannot be read.
    """
    profile = load_profile(profile_of(name))
    if name.endswith(GROWN):
        return GrownSystem(name, profile)
    return (HostSystem if name.endswith(HOST) else WsmemSystem)(name, profile, store)


@dataclass(frozen=True, slots=True)
class _ProfileSystem:
    name: str
    profile: Profile

    @property
    def settings(self) -> Mapping[str, Any]:
        """The whole profile, provenance included."""
        return self.profile.to_json()


@dataclass(frozen=True, slots=True)
class WsmemSystem(_ProfileSystem):
    """How the engine ranks, as deep as is asked for."""

    store: PoolStore | None = None

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Ranking:
        """Write the store if that is still to be done, and build the index where it pays."""
        store = self.store or PoolStore()
        return _Ranking(store.open(entries, profile=self.profile, now=now))


@dataclass(frozen=True, slots=True)
class HostSystem(_ProfileSystem):
    """What a host is really given: the same ranking cut to the default settings' limits."""

    store: PoolStore | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The limits, and the profile with its provenance."""
        settings = Settings(memory_dir="/")
        return {
            "recall_limit": settings.recall_limit,
            "recall_max_bytes": settings.recall_max_bytes,
            "summary_max_bytes": settings.summary_max_bytes,
            "language": settings.language,
            "profile": self.profile.to_json(),
        }

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Serving:
        """Write the store if that is still to be done, and build the index where it pays."""
        store = self.store or PoolStore()
        return _Serving(store.open(entries, profile=self.profile, now=now))


@dataclass(frozen=True, slots=True)
class GrownSystem(_ProfileSystem):
    """The same ranking in a store that changed under a warm index."""

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Ranking:
        """Write an earlier state, use it, then commit the entries as they are."""
        pool = PoolStore().open(earlier(entries), profile=self.profile, now=now)
        pool.warm()
        pool.change(entries)
        return _Ranking(pool)


def earlier(entries: Sequence[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """The workspace before its youngest entries came, and before any was superseded or deleted.

    What belongs to the user's global layer stays as it is.
    """
    own = [entry for entry in entries if entry.scope != "global"]
    own.sort(key=lambda entry: (entry.updated_at or "", entry.id))
    late = {entry.id for entry in own[len(own) - len(own) // _LATE :]}
    return tuple(
        entry if entry.recallable or entry.scope == "global" else replace(entry, status="active")
        for entry in entries
        if entry.id not in late
    )


@dataclass(frozen=True, slots=True)
class _Ranking:
    pool: OpenPool

    def search(self, query: str, *, limit: int, surfaced: Collection[str] = ()) -> list[str]:
        context = self.pool.recall(query, limit=limit, max_bytes=UNBOUNDED, surfaced=surfaced)
        return [match.id for match in context.matches]


@dataclass(frozen=True, slots=True)
class _Serving:
    pool: OpenPool

    def search(self, query: str, *, limit: int, surfaced: Collection[str] = ()) -> list[str]:
        return self.serve(query, surfaced=surfaced).ids[:limit]

    def serve(self, query: str, *, surfaced: Collection[str] = ()) -> Served:
        context = self.pool.recall(query, surfaced=surfaced)
        return Served([match.id for match in context.matches], utf8_length(context.text))
