"""Postings of analysed terms for a batch of documents, as flat arrays that never change.

An index is one or more segments: a large one and what was added since. Every array is in compressed
rows: the rows of the term at place `t` are `rows[starts[t]:starts[t + 1]]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wsmem.retrieval.items import BESIDE, FIELDS, PLACE_SHIFT, PLACES, TERM_SHIFT, Items
from wsmem.retrieval.stream import BARRIER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Packed = npt.NDArray[np.int64]

FIELD_BITS, COUNT_BITS = 8, 16
MOST_COUNTED = (1 << COUNT_BITS) - 1
"""Occurrences beyond are not told apart."""
DOCUMENT_SHIFT = FIELD_BITS + COUNT_BITS
"""A posting is one number, `document << 24 | count << 8 | fields`: one slice a term, not three."""
_FEW_PAIRS = 16
"""As many as a question has: going through them is done before arrays for all are made."""
_FEW_PLACES = 32
_NUMBER_BITS = 29
_NUMBERS = (1 << _NUMBER_BITS) - 1
"""Documents within a batch, beside their term in one number."""
_GROWTH = 4
"""A segment is merged into the one before once it has a quarter of its documents, so that their
number stays logarithmic and each document is merged a logarithmic number of times."""
_MOST_SORTED_AGAIN = 256
"""Documents that are sorted anew rather than merged, which has more to prepare than to do."""


class Rows(NamedTuple):
    """A value list for each term."""

    values: npt.NDArray[Any]
    starts: Ints
    """Where each term's values start, and one past the end."""

    def bounds(self, places: Ints) -> tuple[Ints, Ints]:
        """Where the values of rows begin and end; a row past the last one is empty."""
        return self.starts.take(places), self.starts.take(places + 1, mode="clip")


class Segment:
    """Consecutive documents of an index, from `first` on.

    Args:
        first: Number of the first document.
        terms: Numbers of the terms that occur, ascending.
        postings: Packed, ascending by document, for each term.
        positions: Where each term stands in the stream, ascending.
        stream: Numbers of terms in reading order, and barriers; the last item is one.
        ends: Where the items of each document end in the stream.
        items: What it was made of, if it is small.
    """

    def __init__(
        self,
        *,
        first: int,
        terms: Ints,
        postings: Rows,
        positions: Rows,
        stream: Ints,
        ends: Ints,
        items: Items | None = None,
    ) -> None:
        self.first, self.terms, self.stream, self.ends = first, terms, stream, ends
        self.postings, self.positions, self.items = postings, positions, items
        self._terms = np.int32(len(terms))
        self._dense = not len(terms) or int(terms[-1]) == len(terms) - 1

    def __len__(self) -> int:
        return len(self.ends)

    def is_small_beside(self, documents: int) -> bool:
        """Whether it should be one with so many documents that follow."""
        return len(self) <= _GROWTH * documents

    @classmethod
    def of(cls, items: Items, *, first: int) -> Segment:
        """Sort items by term into postings and positions."""
        keys = items.sorted()
        places = keys >> PLACE_SHIFT
        places &= PLACES
        terms, postings, begins = _postings(keys, items.documents[places], first)
        standing = (keys & BESIDE) == 0
        before = np.zeros(len(keys) + 1, dtype=np.int32)
        standing.cumsum(out=before[1:])
        return cls(
            first=first,
            terms=terms,
            postings=postings,
            positions=Rows(places[standing].astype(np.int32), before[begins]),
            stream=items.stream,
            ends=items.ends,
            items=items if len(items.ends) <= _MOST_SORTED_AGAIN else None,
        )

    @classmethod
    def following(
        cls, before: Sequence[Segment], items: Items, *, first: int
    ) -> tuple[Segment, ...]:
        """Segments, and one of the documents that come next, merged with what is small beside it.

        Small ones are sorted anew with these, larger ones merged; the order is kept.
        """
        keep, size, parts = len(before), len(items.ends), [items]
        while keep and (last := before[keep - 1]).is_small_beside(size):
            if last.items is None or size + len(last) > _MOST_SORTED_AGAIN:
                break
            parts.append(last.items)
            size, first, keep = size + len(last), last.first, keep - 1
        tail = [cls.of(Items.joined(parts[::-1]) if len(parts) > 1 else items, first=first)]
        while keep and before[keep - 1].is_small_beside(size):
            tail.append(before[keep - 1])
            size, keep = size + len(tail[-1]), keep - 1
        return (*before[:keep], cls.merged(tail[::-1]) if len(tail) > 1 else tail[0])

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

    def places(self, numbers: Ints) -> Ints:
        """Where the rows of terms are, one past the last for a term that does not occur."""
        if self._dense:
            return np.minimum(numbers, self._terms)
        at = self.terms.searchsorted(numbers)
        found = self.terms.take(at, mode="clip") == numbers
        return np.where(found, at, self._terms)

    def gathered(self, numbers: Ints) -> tuple[memoryview, Ints, Ints]:
        """Packed postings, and where those of each term begin and end among them."""
        return self.postings.values.data, *self.postings.bounds(self.places(numbers))

    def standing_together(
        self, numbers: Ints, first: Packed, second: Packed
    ) -> tuple[Packed, Packed]:
        """Which pairs of terms are neighbours where: index of the pair and document, by pair.

        Args:
            numbers: Terms.
            first: Which of them begin the pairs that are sought ...
            second: ... and which end those.
        """
        begins, ends = self.positions.bounds(self.places(numbers))
        if len(first) <= _FEW_PAIRS:
            pairs = zip(first.tolist(), second.tolist(), strict=True)
            return self._one_by_one(numbers, begins, (ends - begins).tolist(), pairs)
        return self._at_once(numbers, begins, ends - begins, first, second)

    def _one_by_one(
        self, numbers: Ints, begins: Ints, sizes: list[int], pairs: Iterable[tuple[int, int]]
    ) -> tuple[Packed, Packed]:
        """Go through the rarer term of each pair."""
        names, starts = numbers.tolist(), begins.tolist()
        stream, positions = self.stream.data, self.positions.values.data
        owners: list[int] = []
        places: list[int] = []
        for pair, (first, second) in enumerate(pairs):
            if not (sizes[first] and sizes[second]):
                continue
            rarer, other, step = first, second, 1
            if sizes[second] < sizes[first]:
                rarer, other, step = second, first, -1
            wanted, begin, end = names[other], starts[rarer], starts[rarer] + sizes[rarer]
            # The stream ends with a barrier: a step off its end, or to -1, its last item, is one.
            if end - begin <= _FEW_PLACES:
                found = [at for at in positions[begin:end] if stream[at + step] == wanted]
            else:
                row = self.positions.values[begin:end]
                found = row[self.stream.take(row + np.int32(step)) == wanted].tolist()
            if found:
                places += found
                owners += [pair] * len(found)
        if not owners:
            return _NONE, _NONE
        return self._documents(np.array(owners), np.array(places))

    def _at_once(
        self, numbers: Ints, begins: Ints, sizes: Ints, first: Packed, second: Packed
    ) -> tuple[Packed, Packed]:
        """Go through the rarer terms of all pairs."""
        swapped = sizes.take(second) < sizes.take(first)
        rarer = first + (second - first) * swapped
        own = sizes.take(rarer)
        stops = own.cumsum()
        at = (begins.take(rarer) - stops + own).repeat(own)
        at += np.arange(len(at))
        places = self.positions.values.take(at)
        beside = self.stream.take(places + (1 - 2 * swapped).repeat(own))
        hits = (beside == numbers.take(first + second - rarer).repeat(own)).nonzero()[0]
        return self._documents(stops.searchsorted(hits, side="right"), places.take(hits))

    def _documents(self, pairs: Packed, places: Packed) -> tuple[Packed, Packed]:
        """Documents of places, each once a pair."""
        if not len(pairs):
            return _NONE, _NONE
        documents = self.ends.searchsorted(places, side="right")
        # Pairs come one after the other and documents ascend, so repeats are neighbours.
        new = _run_begins(pairs * len(self.ends) + documents)
        return pairs[new], documents[new] + self.first


_NONE: Packed = np.empty(0, dtype=np.int64)


def _postings(keys: Packed, documents: Ints, first: int) -> tuple[Ints, Rows, Packed]:
    """The terms that occur, ascending, and where: counts and fields of each document together.

    Args:
        keys: Sorted keys of items.
        documents: Which document each of them is of, from 0 on.
        first: Number of the first document.

    Returns:
        Terms, their postings, and where in `keys` each term begins, and one past the end.
    """
    held = keys >> TERM_SHIFT
    held <<= _NUMBER_BITS
    held |= documents
    begins = _run_begins(held)
    held = held[begins]
    # Without documents there is nothing to reduce, and NumPy would not do it.
    postings = np.bitwise_or.reduceat(keys & FIELDS, begins) if len(begins) else held.copy()
    counts = _closed(begins, len(keys))
    postings |= np.minimum(counts[1:] - begins, MOST_COUNTED) << FIELD_BITS
    postings |= ((held & _NUMBERS) + first) << DOCUMENT_SHIFT
    held >>= _NUMBER_BITS
    rows = _run_begins(held)
    starts = _closed(rows, len(held))
    return held[rows].astype(np.int32), Rows(postings, starts.astype(np.int32)), counts[starts]


def _closed(begins: Packed, end: int) -> Packed:
    """Where rows begin, and one past the last."""
    closed = np.empty(len(begins) + 1, dtype=np.int64)
    closed[:-1] = begins
    closed[-1] = end
    return closed


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
