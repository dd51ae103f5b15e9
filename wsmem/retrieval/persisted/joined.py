"""Several sources of statistics searched as one, with the frequencies of all."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from wsmem.retrieval.terms_source import Held, TermSource


class JoinedTerms:
    """A `TermSource` over the entries of several, numbered one source after the other.

    Args:
        sources: The largest in front: its numbers are used as they are.
    """

    def __init__(self, sources: Sequence[TermSource]) -> None:
        self.size = sum(source.size for source in sources)
        self.total_length = sum(source.total_length for source in sources)
        self.shortest = min((source.shortest for source in sources if source.size), default=0)
        starts = accumulate((source.size for source in sources), initial=0)
        self._parts = list(zip(sources, starts, strict=False))
        self._dealt: tuple[AbstractSet[int], list[AbstractSet[int]]] | None = None

    def frequency(self, term: str) -> int:
        """How many entries hold a term."""
        return sum(source.frequency(term) for source, _ in self._parts)

    def documents(self, term: str) -> list[int]:
        """Those entries."""
        return [at + start for source, start in self._parts for at in source.documents(term)]

    def held(self, term: str, among: AbstractSet[int] | None) -> Held:
        """Counts and fields of a term in the entries of `among` that hold it."""
        found: Held = {}
        own = [None] * len(self._parts) if among is None else self._deal(among)
        for (source, start), mine in zip(self._parts, own, strict=True):
            held = source.held(term, mine)
            found |= {at + start: value for at, value in held.items()} if start else held
        return found

    def lengths(self, among: AbstractSet[int]) -> dict[int, int]:
        """UTF-8 bytes of each of these entries."""
        found: dict[int, int] = {}
        for (source, start), mine in zip(self._parts, self._deal(among), strict=True):
            lengths = source.lengths(mine)
            found |= {at + start: lengths[at] for at in mine}
        return found

    def neighbours(
        self, pairs: Sequence[tuple[str, str]], among: AbstractSet[int]
    ) -> list[list[int]]:
        """For each pair, the entries of `among` where its terms stand together."""
        found: list[list[int]] = [[] for _ in pairs]
        for (source, start), mine in zip(self._parts, self._deal(among), strict=True):
            for row, entries in zip(found, source.neighbours(pairs, mine), strict=True):
                row.extend(at + start for at in entries)
        return found

    def _deal(self, among: AbstractSet[int]) -> list[AbstractSet[int]]:
        """The entries of `among` by source, in each one's own numbers.

        The last answer is kept: a query asks for one set of entries term after term.
        """
        if self._dealt is None or self._dealt[0] is not among:
            own: list[AbstractSet[int]] = [
                frozenset(at - start for at in among if start <= at < start + source.size)
                for source, start in self._parts
            ]
            self._dealt = among, own
        return self._dealt[1]
