"""The documents an index took in last: too few to be worth sorting, looked through one by one.

Sorting the terms of one entry into arrays takes longer than reading them. So documents that come
one at a time are kept as they are until there are some, and only then become a segment.
"""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.items import Items
from wsmem.retrieval.segment import (
    DOCUMENT_SHIFT,
    FIELD_BITS,
    MOST_COUNTED,
    Segment,
)
from wsmem.retrieval.stream import BARRIER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.stream import TermStream

    Ints = npt.NDArray[np.int32]
    Packed = npt.NDArray[np.int64]

_MOST = 16
"""Documents kept unsorted."""
_ONE = 1 << FIELD_BITS
"""An occurrence, in a packed posting."""


class RecentDocument(NamedTuple):
    """One document as it was read."""

    stream: TermStream
    terms: list[int]
    """Those of the stream, with its barriers."""
    postings: dict[int, int]
    """Count and fields of each term it holds, packed as in a segment."""

    @classmethod
    def of(cls, stream: TermStream) -> RecentDocument:
        """The only document of a stream."""
        terms = stream.terms.tolist()
        postings: dict[int, int] = {}
        for term, field in zip(terms, stream.fields.tolist(), strict=True):
            postings[term] = (postings.get(term, 0) + _ONE) | field
        for term, _, field in stream.extras.tolist():
            postings[term] = (postings.get(term, 0) + _ONE) | field
        del postings[BARRIER]
        return cls(stream, terms, postings)


class Recent:
    """Consecutive documents of an index, the last ones; asked as a `Segment` is."""

    def __init__(self, first: int, documents: Sequence[RecentDocument]) -> None:
        self.first, self.documents = first, documents

    def __len__(self) -> int:
        return len(self.documents)

    def gathered(self, numbers: Ints) -> tuple[memoryview, Ints, Ints]:
        """Packed postings, and where those of each term begin and end among them."""
        wanted = numbers.tolist()
        held = [
            (at << DOCUMENT_SHIFT, document.postings)
            for at, document in enumerate(self.documents, self.first)
        ]
        # Few of the terms occur anywhere.
        sought = set(wanted)
        occurring = set().union(*[sought.intersection(postings) for _, postings in held])
        rows = [
            [base | postings[number] for base, postings in held if number in postings]
            if number in occurring
            else ()
            for number in wanted
        ]
        ends = np.array(list(accumulate(map(len, rows))), dtype=np.int32)
        begins = np.array([0, *ends[:-1].tolist()], dtype=np.int32)[: len(ends)]
        return np.array(list(chain.from_iterable(rows)), dtype=np.int64).data, begins, ends

    def standing_together(
        self, numbers: Ints, first: Packed, second: Packed
    ) -> tuple[Packed, Packed]:
        """Which pairs of terms are neighbours where: index of the pair and document, by pair."""
        pairs = zip(numbers[first].tolist(), numbers[second].tolist(), strict=True)
        found = [
            (at, number)
            for at, pair in enumerate(pairs)
            for number, (_, terms, postings) in enumerate(self.documents, self.first)
            if pair[0] in postings and pair[1] in postings and pair in pairwise(terms)
        ]
        if not found:
            return _NONE, _NONE
        hits = np.array(found, dtype=np.int64)
        return hits[:, 0], hits[:, 1]


_NONE: Packed = np.empty(0, dtype=np.int64)


def taken_in(
    segments: tuple[Segment | Recent, ...], stream: TermStream, *, first: int
) -> tuple[Segment | Recent, ...]:
    """The segments of an index, and one of the documents that come next.

    Args:
        segments: The present ones; only the last may be of recent documents.
        stream: What was read of the new documents.
        first: The number of the first of them.
    """
    before, recent = _parted(segments)
    countable = len(stream.terms) + len(stream.extras) <= MOST_COUNTED
    if countable and len(stream.ends) == 1 and len(recent) < _MOST:
        return (*before, Recent(first - len(recent), (*recent, RecentDocument.of(stream))))
    parts = [*(Items.of(document.stream) for document in recent), Items.of(stream)]
    return Segment.following(before, Items.joined(parts), first=first - len(recent))


def all_sorted(segments: tuple[Segment | Recent, ...]) -> tuple[Segment, ...]:
    """The segments of an index, none of them of recent documents."""
    before, recent = _parted(segments)
    if not recent:
        return before
    items = Items.joined([Items.of(document.stream) for document in recent])
    return (*before, Segment.of(items, first=segments[-1].first))


def _parted(
    segments: tuple[Segment | Recent, ...],
) -> tuple[tuple[Segment, ...], Sequence[RecentDocument]]:
    """What is sorted, and what is not."""
    last = segments[-1] if segments else None
    before = tuple([each for each in segments if isinstance(each, Segment)])
    return before, last.documents if isinstance(last, Recent) else ()
