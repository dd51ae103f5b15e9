"""Statistics of a query's terms read out of the texts themselves: what the scan counts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.retrieval.text_scan import TextScan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.terms_source import Held
    from wsmem.retrieval.text_scan import Occurrence
    from wsmem.text.analysis import Query


class ScannedTerms:
    """A `TermSource` over entries nobody indexed, for one query.

    Args:
        entries: Recallable ones only; an entry's number is its place here.
        query: The only query whose terms and letters may be asked for.
    """

    def __init__(self, entries: Sequence[MemoryEntry], query: Query) -> None:
        self.size = len(entries)
        self._texts = TextScan(entries)
        self.total_length = sum(self._texts.lengths)
        self.shortest = min(self._texts.lengths, default=0)
        function = self._texts.function_words(
            term.text for term in query.terms if term.text.isupper()
        )
        self._places = {
            term.text: self._texts.occurrences(term.text)
            for term in query.terms
            if term.text not in function
        }
        self._holding = function | {
            term: _by_entry(occurrences) for term, occurrences in self._places.items()
        }

    def frequency(self, term: str) -> int:
        """How many entries hold a term."""
        return len(self._of(term))

    def documents(self, term: str) -> Collection[int]:
        """Those entries."""
        return self._of(term)

    def held(self, term: str, among: AbstractSet[int] | None) -> Held:
        """Counts and fields of a term in all entries that hold it."""
        del among
        return self._of(term)

    def lengths(self, among: AbstractSet[int]) -> Sequence[int]:
        """UTF-8 bytes of all entries."""
        del among
        return self._texts.lengths

    def neighbours(
        self, pairs: Sequence[tuple[str, str]], among: AbstractSet[int]
    ) -> list[set[int]]:
        """For each pair, the entries of `among` where its terms stand together."""
        # Only entries that match can earn anything, which leaves few places to look at.
        kept = {
            term: [item for item in items if item.entry in among]
            for term, items in self._places.items()
        }
        return [self._together(first, second, kept) for first, second in pairs]

    def _of(self, term: str) -> Held:
        if term not in self._holding:  # a letter that is no term of the query
            self._holding[term] = dict.fromkeys(self._texts.holding(term), (1, 0))
        return self._holding[term]

    def _together(self, first: str, second: str, kept: dict[str, list[Occurrence]]) -> set[int]:
        if first not in kept:
            return self._texts.preceded_by_word(kept[second], first)
        if second not in kept:
            return self._texts.followed_by_word(kept[first], second)
        return self._texts.neighbours(kept[first], kept[second])


def _by_entry(occurrences: Sequence[Occurrence]) -> Held:
    """Count and field bits of a term in each entry that holds it."""
    held: Held = {}
    for occurrence in occurrences:
        times, fields = held.get(occurrence.entry, (0, 0))
        held[occurrence.entry] = (times + occurrence.times, fields | occurrence.field)
    return held
