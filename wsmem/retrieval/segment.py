"""Postings of analysed terms for a batch of entries, as flat arrays that never change.

An index is one or more segments: a large one and what was added since. Every array is in compressed
rows: the rows of term `t` are `rows[starts[t]:starts[t + 1]]`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.signals import clamped_importance
from wsmem.retrieval.stream import BARRIER, TermStream
from wsmem.text.analysis import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Ints = npt.NDArray[np.int32]


class Postings(NamedTuple):
    """Where one term occurs in a segment."""

    documents: Ints
    """Ascending, each once."""
    counts: npt.NDArray[np.uint16]
    fields: npt.NDArray[np.uint8]
    """Bits of `fields.TITLE`, `TAG`, `TERM`: in which of them the term occurs."""


class Segment:
    """Entries in the order given; documents are numbered from 0 in that order."""

    def __init__(self, entries: Sequence[MemoryEntry], stream: TermStream) -> None:
        self.entries = tuple(entries)
        self.vocabulary = stream.vocabulary
        self.importances = np.array(
            [clamped_importance(entry.importance) for entry in self.entries], dtype=np.float64
        )
        """Importance within 0 to 3; NaN where it is not a number."""
        self.changed = np.array(
            [np.nan if (ms := changed_ms(entry)) is None else ms for entry in self.entries],
            dtype=np.float64,
        )
        """When each entry last changed, in ms since the epoch; NaN where no date can be read."""
        self.stream = stream
        self._place()

    @classmethod
    def of(cls, entries: Sequence[MemoryEntry]) -> Segment:
        """Analyse entries and index them."""
        return cls(entries, TermStream.read(entries))

    @classmethod
    def merged(cls, parts: Sequence[tuple[Segment, npt.NDArray[np.bool_]]]) -> Segment:
        """One segment of several, with only the documents that each mask keeps."""
        entries = [
            segment.entries[at] for segment, keep in parts for at in np.flatnonzero(keep).tolist()
        ]
        return cls(entries, TermStream.joined([(part.stream, keep) for part, keep in parts]))

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """UTF-8 bytes read from each entry."""
        return self.stream.lengths

    def _place(self) -> None:
        """Sort the stream by term into postings and positions."""
        stream, size = self.stream, len(self.vocabulary)
        positions = np.flatnonzero(stream.terms != BARRIER).astype(np.int32)
        terms = stream.terms[positions]
        self._positions = positions[np.argsort(terms, kind="stable")]
        self._position_starts = _row_starts(terms, size)
        all_terms = np.concatenate([terms, stream.extras[:, 0]])
        all_documents = np.concatenate([stream.documents[positions], stream.extras[:, 1]])
        all_fields = np.concatenate(
            [stream.fields[positions], stream.extras[:, 2].astype(np.uint8)]
        )
        key = all_terms.astype(np.int64) * max(1, len(self.entries)) + all_documents
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        self._documents: Ints = all_documents[order][first]
        counts = np.diff(first, append=len(order))
        self._counts = np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)
        self._fields = (
            np.bitwise_or.reduceat(all_fields[order], first)
            if len(first)
            else np.empty(0, dtype=np.uint8)
        )
        self._starts = _row_starts(all_terms[order][first], size)

    def postings(self, term: str) -> Postings | None:
        """Where a term occurs, `None` if nowhere.

        A lone Chinese letter occurs wherever a pair holds it; it is counted once an entry and in no
        particular field.
        """
        if len(term) == 1 and is_unspaced(term):
            return self._letter_postings(term)
        at = self.vocabulary.get(term)
        if at is None:
            return None
        rows = slice(self._starts[at], self._starts[at + 1])
        return Postings(self._documents[rows], self._counts[rows], self._fields[rows])

    def _letter_postings(self, letter: str) -> Postings | None:
        rows = [
            self._documents[self._starts[at] : self._starts[at + 1]]
            for at in self._terms_by_letter.get(letter, ())
        ]
        if not rows:
            return None
        documents = np.unique(np.concatenate(rows))
        return Postings(
            documents,
            np.ones(len(documents), dtype=np.uint16),
            np.zeros(len(documents), dtype=np.uint8),
        )

    @cached_property
    def _terms_by_letter(self) -> dict[str, list[int]]:
        found: defaultdict[str, list[int]] = defaultdict(list)
        for term, at in self.vocabulary.items():
            if len(term) <= 2 and is_unspaced(term):
                for letter in dict.fromkeys(term):
                    found[letter].append(at)
        return dict(found)

    def pair_documents(self, pairs: Sequence[tuple[str, str]]) -> tuple[Ints, Ints]:
        """Which pairs stand together where: (index of the pair, document), each once, by pair."""
        starts, counts, shifts, wanted, numbers = [], [], [], [], []
        for number, (first, second) in enumerate(pairs):
            a, b = self.vocabulary.get(first), self.vocabulary.get(second)
            if a is None or b is None:
                continue
            span_a = self._position_starts[a + 1] - self._position_starts[a]
            span_b = self._position_starts[b + 1] - self._position_starts[b]
            rarer, other, shift = (a, b, 1) if span_a <= span_b else (b, a, -1)
            starts.append(self._position_starts[rarer])
            counts.append(min(span_a, span_b))
            shifts.append(shift)
            wanted.append(other)
            numbers.append(number)
        if not starts:
            empty = np.empty(0, dtype=np.int32)
            return empty, empty
        rows = np.concatenate(
            [
                self._positions[start : start + count]
                for start, count in zip(starts, counts, strict=True)
            ]
        )
        neighbours = rows + np.repeat(np.array(shifts, dtype=np.int32), counts)
        # The stream ends with a barrier, so a step off its end (or to -1, its last item) is one.
        hits = self.stream.terms[neighbours] == np.repeat(np.array(wanted, dtype=np.int32), counts)
        number = np.repeat(np.array(numbers, dtype=np.int64), counts)[hits]
        key = np.unique(number * len(self.entries) + self.stream.documents[rows[hits]])
        found, documents = np.divmod(key, len(self.entries))
        return found.astype(np.int32), documents.astype(np.int32)


def _row_starts(sorted_or_not: npt.NDArray[np.int32], size: int) -> npt.NDArray[np.int64]:
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(sorted_or_not, minlength=size), out=starts[1:])
    return starts
