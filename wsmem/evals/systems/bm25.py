"""`bm25` and its variants: the classic peer, by the bm25s library over our own terms.

A variant is named in full, as in `bm25:bm25+,k1=1.5,b=0.9`; what is left out is as in plain `bm25`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import UnknownNameError
from wsmem.evals.systems.shared import PreparedPeer, analysed, best_first, library, peer_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import MemoryEntry

NAME = "bm25"
METHOD = "lucene"
"""Its rarity is log(1 + (N - n + 0.5) / (n + 0.5)), above zero for every term. The classic formula
gives a term that one of two documents holds a weight of zero, and so finds nothing in small scopes.
"""
METHODS = (METHOD, "robertson", "atire", "bm25l", "bm25+")
"""As the library and the literature call them (Kamphuis et al., 2020)."""
K1, B = 1.2, 0.75

_FORM = re.compile(
    r"bm25(:(?P<method>[a-z0-9+]+)(,k1=(?P<k1>\d+(\.\d+)?))?(,b=(?P<b>[01](\.\d+)?))?)?"
)


def is_variant(name: str) -> bool:
    """Whether a name is that of `bm25` or one of its variants."""
    form = _FORM.fullmatch(name)
    return form is not None and (form["method"] or METHOD) in METHODS and float(form["b"] or B) <= 1


def variant_name(method: str, *, k1: float, b: float) -> str:
    """The full name of a variant."""
    return f"{NAME}:{method},k1={k1:g},b={b:g}"


@dataclass(frozen=True, slots=True)
class Bm25System:
    """BM25 with Lucene's rarity and its usual parameters; query terms count as often as written."""

    name: str = NAME
    method: str = METHOD
    k1: float = K1
    b: float = B

    @classmethod
    def of(cls, name: str) -> Bm25System:
        """The variant of this name.

        Raises:
            UnknownNameError: it is none.
        """
        form = _FORM.fullmatch(name)
        if form is None or not is_variant(name):
            raise UnknownNameError("BM25 variant", name, METHODS, "as in bm25:atire,k1=1.5,b=0.9")
        k1, b = float(form["k1"] or K1), float(form["b"] or B)
        return cls(name=name, method=form["method"] or METHOD, k1=k1, b=b)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The variant and its parameters."""
        known = {"method": self.method, "k1": self.k1, "b": self.b}
        return known | {"library": "bm25s", "backend": "numpy"}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:  # noqa: ARG002  no clock here
        """Index the terms of every entry."""
        bm25s = library("bm25s", system=NAME, extra="eval")
        pool = analysed(entries)
        if not any(pool.terms):  # the library divides by the mean length
            return _Prepared(pool.ids, None)
        index = bm25s.BM25(k1=self.k1, b=self.b, method=self.method, backend="numpy")
        index.index(pool.terms, show_progress=False)
        return _Prepared(pool.ids, index)


@dataclass(frozen=True, slots=True)
class _Prepared(PreparedPeer):
    ids: list[str]
    index: Any
    """A `bm25s.BM25`, or `None` when no entry has a term."""

    def _found(self, query: str, limit: int) -> list[str]:
        if self.index is None or not (known := self.index.get_tokens_ids(peer_terms(query))):
            return []
        scores = self.index.get_scores_from_ids(known)
        return best_first(self.ids, scores, above=self._floor(known), limit=limit)

    def _floor(self, known: Sequence[int]) -> float:
        """What an entry without any of the terms scores: above 0 under `bm25l` and `bm25+`."""
        absent = self.index.nonoccurrence_array
        if absent is None:
            return 0.0
        # Sums of single precision numbers, made in another order than the scores.
        return float(absent[known].sum()) * (1 + 1e-5)
