"""`wsmem:PROFILE`: the engine's own ranking under one weight profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.systems.shared import index_of
from wsmem.retrieval.profile import load_profile, profile_names
from wsmem.retrieval.ranking import rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.index import Index
    from wsmem.retrieval.profile import Profile

PREFIX = "wsmem:"


def names() -> tuple[str, ...]:
    """The systems of the profiles that ship with wsmem."""
    return tuple(PREFIX + name for name in profile_names())


@dataclass(frozen=True, slots=True)
class WsmemSystem:
    """The index and ranking that a recall uses, without its entry and byte limits."""

    name: str
    profile: Profile

    @classmethod
    def of(cls, name: str) -> WsmemSystem:
        """The system called `wsmem:` and a shipped profile's name or the path of a profile file.

        Raises:
            ProfileError: the profile cannot be read.
        """
        return cls(name, load_profile(name.removeprefix(PREFIX)))

    @property
    def settings(self) -> Mapping[str, Any]:
        """The whole profile, provenance included."""
        return self.profile.to_json()

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:
        """Build the index, or take the one another profile has built."""
        return _Prepared(index_of(entries), self.profile, now)


@dataclass(frozen=True, slots=True)
class _Prepared:
    index: Index
    profile: Profile
    now: int

    def search(self, query: str, *, limit: int) -> list[str]:
        matches = rank(self.index, query, self.profile, now=self.now, limit=limit)
        return [match.entry.id for match in matches]
