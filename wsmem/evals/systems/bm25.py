"""`bm25`: the classic peer, by the bm25s library over the same terms as our `default` profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wsmem.errors import SystemUnavailableError
from wsmem.evals.systems.shared import analysed, peer_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wsmem.records import MemoryEntry

NAME = "bm25"
METHOD = "lucene"
"""Its rarity is log(1 + (N - n + 0.5) / (n + 0.5)), above zero for every term. The classic formula
gives a term that one of two documents holds a weight of zero, and so finds nothing in small scopes.
"""
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Bm25System:
    """BM25 with Lucene's rarity and its usual parameters; query terms count as often as written."""

    name: str = NAME

    @property
    def settings(self) -> Mapping[str, Any]:
        """The variant and its parameters."""
        return {"method": METHOD, "k1": K1, "b": B, "library": "bm25s", "backend": "numpy"}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:  # noqa: ARG002  no clock here
        """Index the terms of every entry."""
        try:
            import bm25s  # noqa: PLC0415  heavy, and an extra
        except ImportError as error:
            raise SystemUnavailableError(
                NAME, "bm25s is not installed; run: pip install 'wsmem[eval]'"
            ) from error
        pool = analysed(entries)
        if not any(pool.terms):  # the library divides by the mean length
            return _Prepared(pool.ids, None)
        index = bm25s.BM25(k1=K1, b=B, method=METHOD, backend="numpy")
        index.index(pool.terms, show_progress=False)
        return _Prepared(pool.ids, index)


@dataclass(frozen=True, slots=True)
class _Prepared:
    ids: list[str]
    index: Any
    """A `bm25s.BM25`, or `None` when no entry has a term."""

    def search(
        self,
        query: str,
        *,
        limit: int,
        surfaced: Collection[str] = (),  # noqa: ARG002  every query is its first
    ) -> list[str]:
        if self.index is None:
            return []
        known = self.index.get_tokens_ids(peer_terms(query))
        if not known:
            return []
        scores = self.index.get_scores_from_ids(known)
        matching = np.flatnonzero(scores > 0)
        # Stable, so that equal scores stay in tie order.
        best = matching[np.argsort(-scores[matching], kind="stable")][:limit]
        return [self.ids[position] for position in best]
