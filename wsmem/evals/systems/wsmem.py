"""`wsmem:PROFILE` and `wsmem:PROFILE@host`: the engine's public `recall` under one weight profile.

The first asks for a deep ranking without a budget of bytes, which is what compares with the peers.
The second asks as a host does, under the default settings: 8 entries in 5 000 bytes, frame and
summary included. What does not fit was not given, so it does not count as found.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def names() -> tuple[str, ...]:
    """The systems of the profiles that ship with wsmem."""
    return tuple(PREFIX + name + line for name in profile_names() for line in ("", HOST))


def profile_of(name: str) -> str:
    """The profile in a system's name: that of a shipped one or the path of a file."""
    return name.removeprefix(PREFIX).removesuffix(HOST)


@dataclass(frozen=True, slots=True)
class WsmemSystem:
    """How the engine ranks, as deep as is asked for."""

    name: str
    profile: Profile
    store: PoolStore | None = None
    """Where pools stand; `None` makes a store for each pool."""

    @classmethod
    def of(cls, name: str, store: PoolStore | None = None) -> WsmemSystem:
        """The system of this name.

        Raises:
            ProfileError: the profile cannot be read.
        """
        return cls(name, load_profile(profile_of(name)), store)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The whole profile, provenance included."""
        return self.profile.to_json()

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Ranking:
        """Write the store if that is still to be done, and build the index where it pays."""
        store = PoolStore() if self.store is None else self.store
        return _Ranking(store.open(entries, profile=self.profile, now=now))


@dataclass(frozen=True, slots=True)
class HostSystem:
    """What a host is really given: the same ranking cut to the default settings' limits."""

    name: str
    profile: Profile
    store: PoolStore | None = None
    """Where pools stand; `None` makes a store for each pool."""

    @classmethod
    def of(cls, name: str, store: PoolStore | None = None) -> HostSystem:
        """The system of this name.

        Raises:
            ProfileError: the profile cannot be read.
        """
        return cls(name, load_profile(profile_of(name)), store)

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
        store = PoolStore() if self.store is None else self.store
        return _Serving(store.open(entries, profile=self.profile, now=now))


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
