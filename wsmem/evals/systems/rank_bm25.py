"""`rank-bm25`: the BM25 many scripts import, in plain Python, over the terms of our `default`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from wsmem.evals.systems.shared import PreparedPeer, analysed, best_first, library, peer_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import MemoryEntry

NAME = "rank-bm25"
VARIANT = "BM25Plus"
"""Its rarity is log((N + 1) / n), above zero for every term. The library's Okapi variant gives a
term that half of the entries hold a weight of zero, and so finds nothing in small scopes."""
K1, B, DELTA = 1.2, 0.75, 1.0


@dataclass(frozen=True, slots=True)
class RankBm25System:
    """BM25+ (Lv and Zhai, 2011); query terms count as often as written."""

    name: str = NAME

    @property
    def settings(self) -> Mapping[str, Any]:
        """The variant and its parameters."""
        parameters = {"variant": VARIANT, "k1": K1, "b": B, "delta": DELTA}
        return {**parameters, "library": metadata.version(NAME)}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:  # noqa: ARG002  no clock here
        """Count the terms of every entry."""
        rank_bm25 = library("rank_bm25", system=NAME, extra="peers")
        pool = analysed(entries)
        if not any(pool.terms):  # the library divides by the mean length
            return _Prepared(pool.ids, None)
        return _Prepared(pool.ids, rank_bm25.BM25Plus(pool.terms, k1=K1, b=B, delta=DELTA))


@dataclass(frozen=True, slots=True)
class _Prepared(PreparedPeer):
    ids: list[str]
    index: Any
    """A `rank_bm25.BM25Plus`, or `None` when no entry has a term."""

    def _found(self, query: str, limit: int) -> list[str]:
        known = () if self.index is None else self.index.idf
        wanted = [term for term in peer_terms(query) if term in known]
        if not wanted:
            return []
        scores = self.index.get_scores(wanted)
        # This variant gives every entry something for every term; more is what a match gets.
        return best_first(self.ids, scores, above=self._without_match(wanted), limit=limit)

    def _without_match(self, wanted: Sequence[str]) -> float:
        """What an entry with none of the terms scores, added in the library's own order."""
        total = 0.0
        for term in wanted:
            total += self.index.idf[term] * DELTA
        return total
