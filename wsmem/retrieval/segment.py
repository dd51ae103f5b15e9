"""Postings of analysed terms for a batch of documents, as flat arrays that never change.

An index is one or more segments: a large one and what was added since. Every array is in compressed
rows: the rows of the term at place `t` are `rows[starts[t]:starts[t + 1]]`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wsmem.retrieval.stream import BARRIER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.stream import TermStream

    Ints = npt.NDArray[np.int32]
    Packed = npt.NDArray[np.int64]

FIELD_BITS, COUNT_BITS = 8, 16
MOST_COUNTED = (1 << COUNT_BITS) - 1
"""Occurrences beyond are not told apart."""
DOCUMENT_SHIFT = FIELD_BITS + COUNT_BITS
"""A posting is one number, `document << 24 | count << 8 | fields`: one slice a term, not three."""
_NUMBER_BITS = 29
"""For documents within a batch, beside 3 bits for fields, in the keys that are sorted."""


class Rows(NamedTuple):
    """A value list for each term."""

    values: npt.NDArray[Any]
    starts: Ints
    """Where each term's values start, and one past the end."""


class Span(NamedTuple):
    """Where a term stands in a segment's stream."""

    number: int
    start: int
    """The first of its positions."""
    size: int


class Segment:
    """Consecutive documents of an index, from `first` on.

    Args:
        first: Number of the first document.
        terms: Numbers of the terms that occur, ascending.
        postings: Packed, ascending by document, for each term.
        positions: Where each term stands in the stream, ascending.
        stream: Numbers of terms in reading order, and barriers; the last item is one.
        ends: Where the items of each document end in the stream.
    """

    def __init__(
        self, *, first: int, terms: Ints, postings: Rows, positions: Rows, stream: Ints, ends: Ints
    ) -> None:
        self.first, self.terms, self.stream, self.ends = first, terms, stream, ends
        self.postings, self.positions = postings, positions
        self._terms = len(terms)
        self._dense = not len(terms) or int(terms[-1]) == len(terms) - 1
        # Single items of a memory view are plain numbers, several times quicker than NumPy's.
        self._term_view = terms.data
        self._posting_starts = postings.starts.data
        self._position_starts = positions.starts.data

    def __len__(self) -> int:
        return len(self.ends)

    @classmethod
    def of(cls, stream: TermStream, *, first: int) -> Segment:
        """Sort a stream by term into postings and positions."""
        places = (stream.terms != BARRIER).nonzero()[0]
        occurrences = stream.terms[places].astype(np.int64)
        key = occurrences << 32
        key |= places
        key.sort()
        terms, postings = _postings(stream, occurrences, places, first)
        return cls(
            first=first,
            terms=terms,
            postings=postings,
            positions=Rows(
                (key & 0xFFFF_FFFF).astype(np.int32),
                _starts((key >> 32).searchsorted(terms, side="right")),
            ),
            stream=stream.terms,
            ends=stream.ends,
        )

    @classmethod
    def merged(cls, parts: Sequence[Segment]) -> Segment:
        """One segment of several that follow each other."""
        terms = _distinct(np.concatenate([part.terms for part in parts]))
        places = [terms.searchsorted(part.terms) for part in parts]
        streams, ends, positions, offset = [], [], [], 0
        for part in parts:
            streams.append(part.stream)
            ends.append(part.ends + np.int32(offset))
            positions.append(
                part.positions._replace(values=part.positions.values + np.int32(offset))
            )
            offset += len(part.stream)
        return cls(
            first=parts[0].first,
            terms=terms,
            postings=_merged_rows(len(terms), places, [part.postings for part in parts]),
            positions=_merged_rows(len(terms), places, positions),
            stream=np.concatenate(streams),
            ends=np.concatenate(ends),
        )

    def kept(self, keep: npt.NDArray[np.bool_]) -> tuple[Segment, Ints]:
        """Only the documents a mask keeps, numbered anew from 0, and the terms that still occur.

        Terms are numbered anew as well: the term that had the number `occurring[n]` has `n`.
        """
        numbers = np.cumsum(keep) - 1
        documents = self.postings.values >> DOCUMENT_SHIFT
        held = keep[documents]
        postings = self.postings.values[held]
        postings += (numbers[documents[held]] - documents[held]) << DOCUMENT_SHIFT
        sizes = np.diff(self.ends, prepend=np.int32(0))
        items = np.repeat(keep, sizes)
        moved = np.cumsum(items, dtype=np.int32) - np.int32(1)
        standing = items[self.positions.values]
        row_sizes = _row_sums(held, self.postings.starts)
        occurs = row_sizes > 0
        occurring = self.terms[occurs]
        renumbered = np.full(int(self.terms[-1]) + 2 if len(self.terms) else 1, BARRIER, np.int32)
        renumbered[occurring] = np.arange(len(occurring), dtype=np.int32)
        segment = Segment(
            first=0,
            terms=np.arange(len(occurring), dtype=np.int32),
            postings=Rows(postings, _starts(np.cumsum(row_sizes[occurs]))),
            positions=Rows(
                moved[self.positions.values[standing]],
                _starts(np.cumsum(_row_sums(standing, self.positions.starts)[occurs])),
            ),
            # The barrier, -1, looks up the last item, which is a barrier too.
            stream=renumbered[self.stream[items]],
            ends=np.cumsum(sizes[keep], dtype=np.int32),
        )
        return segment, occurring

    def place(self, number: int) -> int:
        """Where a term's rows are, -1 if it does not occur."""
        if self._dense:
            return number if number < self._terms else -1
        at = bisect_left(self._term_view, number)
        return at if at < self._terms and self._term_view[at] == number else -1

    def rows(self, numbers: Sequence[int]) -> list[Packed]:
        """Packed postings of each term, none for one that does not occur."""
        values, starts, place = self.postings.values, self._posting_starts, self.place
        return [
            values[starts[at] : starts[at + 1]] if (at := place(number)) >= 0 else _NONE
            for number in numbers
        ]

    def spans(self, numbers: Sequence[int]) -> list[Span]:
        """Where each term stands in the stream."""
        starts, place = self._position_starts, self.place
        return [
            Span(number, starts[at], starts[at + 1] - starts[at])
            if (at := place(number)) >= 0
            else Span(number, 0, 0)
            for number in numbers
        ]

    def standing_together(self, pairs: Sequence[tuple[Span, Span]]) -> tuple[Packed, Packed]:
        """Which pairs of terms are neighbours where: index of the pair and document, by pair."""
        positions = self.positions.values
        rows, sizes = [], []
        steps: list[int] = []
        for number, (first, second) in enumerate(pairs):
            rarer, other, step = (
                (first, second, 1) if first.size <= second.size else (second, first, -1)
            )
            _, start, size = rarer
            if size:
                rows.append(positions[start : start + size])
                sizes.append(size)
                steps += (number, other.number, step)
        if not rows:
            return _NONE, _NONE
        places = np.concatenate(rows)
        numbers, others, ahead = np.array(steps).reshape(-1, 3).T.repeat(sizes, axis=1)
        # The stream ends with a barrier, so a step off its end (or to -1, its last item) is one.
        ahead += places
        hits = (self.stream[ahead] == others).nonzero()[0]
        if not len(hits):
            return _NONE, _NONE
        found = numbers[hits]
        documents = self.ends.searchsorted(places[hits], side="right")
        # Pairs come one after the other and documents ascend, so repeats are neighbours.
        new = _run_begins(found * len(self.ends) + documents)
        return found[new], documents[new] + self.first


_NONE: Packed = np.empty(0, dtype=np.int64)


def _postings(
    stream: TermStream, occurrences: Packed, places: Packed, first: int
) -> tuple[Ints, Rows]:
    """The terms that occur, ascending, and where: counts and fields of each document together.

    Args:
        stream: The texts.
        occurrences: The terms in it, without the barriers.
        places: Where they stand.
        first: Number of the first document.
    """
    extras = stream.extras
    key = np.concatenate([occurrences, extras[:, 0]])
    key <<= _NUMBER_BITS
    key |= np.concatenate([stream.documents[places], extras[:, 1]])
    key <<= 3
    key |= np.concatenate([stream.fields[places], extras[:, 2].astype(np.uint8)])
    key.sort()
    fields = (key & 7).astype(np.uint8)
    key >>= 3
    begins = _run_begins(key)
    postings = np.bitwise_or.reduceat(fields, begins).astype(np.int64) if len(begins) else begins
    counts = np.append(begins[1:], len(key)) - begins
    postings |= np.minimum(counts, MOST_COUNTED) << FIELD_BITS
    key = key[begins]
    postings |= ((key & ((1 << _NUMBER_BITS) - 1)) + first) << DOCUMENT_SHIFT
    key >>= _NUMBER_BITS
    rows = _run_begins(key)
    return key[rows].astype(np.int32), Rows(postings, np.append(rows, len(key)).astype(np.int32))


def _run_begins(values: npt.NDArray[np.integer]) -> Packed:
    """Where a value differs from the one before."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new.nonzero()[0]


def _distinct(values: Ints) -> Ints:
    values.sort()
    return values[_run_begins(values)]


def _starts(ends: npt.NDArray[np.integer]) -> Ints:
    starts = np.zeros(len(ends) + 1, dtype=np.int32)
    starts[1:] = ends
    return starts


def _row_sums(flags: npt.NDArray[np.bool_], starts: Ints) -> Packed:
    """How many flags are set in each row."""
    running = np.zeros(len(flags) + 1, dtype=np.int64)
    np.cumsum(flags, out=running[1:])
    return running[starts[1:]] - running[starts[:-1]]


def _merged_rows(count: int, places: Sequence[Packed], parts: Sequence[Rows]) -> Rows:
    """Rows of so many terms, those of the first part first.

    Args:
        count: How many terms there are.
        places: Of each part, which of them its rows are of.
        parts: Rows to merge.
    """
    sizes = np.zeros(count, dtype=np.int32)
    each = [rows.starts[1:] - rows.starts[:-1] for rows in parts]
    for at, own in zip(places, each, strict=True):
        sizes[at] += own
    starts = _starts(sizes.cumsum())
    values = np.empty(int(starts[-1]), dtype=parts[0].values.dtype)
    free = starts[:-1].copy()
    for at, own, rows in zip(places, each, parts, strict=True):
        # Every row moves as a whole, to where the rows of the parts before end.
        moved = (free[at] - rows.starts[:-1]).repeat(own)
        moved += np.arange(len(moved), dtype=np.int32)
        values[moved] = rows.values
        free[at] += own
    return Rows(values, starts)
