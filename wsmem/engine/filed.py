"""Search scopes by their postings where they have good ones: their entries stay unread.

For a process that answers one question. Scopes without postings are scanned, all of them together
are one corpus, and the ranking is that of every other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.engine.corpora import conflict_groups
from wsmem.retrieval.persisted.ranking import EntriesPart, PostingsPart, rank_parts
from wsmem.store.postings import OpenPostings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from wsmem.records import Match
    from wsmem.retrieval.persisted.ranking import Part
    from wsmem.retrieval.profile import Profile
    from wsmem.store.snapshot import ScopeSnapshot


class FiledCorpus:
    """What one recall searches, at least a part of it by postings.

    Any method may find a file damaged.

    Args:
        scopes: Global first, then workspace, then session.

    Raises:
        PostingsUnusable: a file is not what it should be.
    """

    def __init__(self, scopes: Sequence[ScopeSnapshot | OpenPostings]) -> None:
        self._scopes = scopes
        self._parts: list[Part] = [
            PostingsPart(scope.postings, scope.entry)
            if isinstance(scope, OpenPostings)
            else EntriesPart(scope.entries)
            for scope in scopes
        ]

    def search(
        self,
        query: str,
        limit: int,
        *,
        now: int,
        profile: Profile,
        surfaced: Collection[str],
    ) -> list[Match]:
        """Rank the entries of all scopes."""
        return rank_parts(self._parts, query, profile, now=now, limit=limit, surfaced=surfaced)

    def conflict_groups(self) -> dict[str, list[str]]:
        """Ids of the recallable members of each conflict group, of all scopes."""
        groups: dict[str, list[str]] = {}
        for scope in self._scopes:
            own = (
                scope.postings.groups()
                if isinstance(scope, OpenPostings)
                else conflict_groups(scope.entries)
            )
            for group, members in own.items():
                groups.setdefault(group, []).extend(members)
        return groups
