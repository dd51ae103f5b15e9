"""Postings of the terms of a query, gathered from every segment of an index in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.segment import COUNT_BITS, DOCUMENT_SHIFT, FIELD_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.index import Index

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.int32]


class Postings(NamedTuple):
    """Postings of some terms, term after term."""

    within: Index
    packed: Ints
    """As a segment holds them: of each term ascending by document, dead ones included."""
    documents: Ints
    sizes: Ints
    """Postings of each term."""

    @property
    def counts(self) -> Floats:
        """How often each document holds the term."""
        counts = self.packed >> FIELD_BITS
        counts &= (1 << COUNT_BITS) - 1
        return counts.astype(np.float64)

    @property
    def fields(self) -> Ints:
        """Field bits of each posting."""
        return self.packed & ((1 << FIELD_BITS) - 1)

    def of_first(self, terms: int) -> int:
        """How many postings the first terms have together."""
        return sum(self.sizes[:terms].tolist())  # there are few: quicker than NumPy's own

    def parted(self, terms: int) -> tuple[Postings, Postings]:
        """Those of the first terms, and those of the others."""
        at = self.of_first(terms)
        first = Postings(self.within, self.packed[:at], self.documents[:at], self.sizes[:terms])
        rest = Postings(self.within, self.packed[at:], self.documents[at:], self.sizes[terms:])
        return first, rest

    def living(self) -> Ints:
        """How many of each term's postings are of living documents."""
        index = self.within
        if index.size == index.documents.size:
            return self.sizes
        dead = (~index.alive).take(self.documents).nonzero()[0]
        terms = self.sizes.cumsum().searchsorted(dead, side="right")
        return self.sizes - np.bincount(terms, minlength=len(self.sizes))

    def spread(self, values: Floats) -> Floats:
        """A value for each term, repeated for each of its postings."""
        return values.repeat(self.sizes)

    def summed(self, values: Floats) -> Floats:
        """Values of the postings, summed by document."""
        return sums(self.documents, values, self.within.documents.size)


def gathered(index: Index, numbers: Numbers) -> Postings:
    """Postings of these terms; those of one no document holds are none."""
    held = [segment.gathered(numbers) for segment in index.segments]
    if len(held) == 1:
        ((view, begins, ends),) = held
        sizes = (ends - begins).astype(np.int64)
        parts = [view[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
    else:
        sizes, parts = _joined(held, len(numbers))
    # Joining slices of plain memory is several times quicker than concatenating arrays.
    packed = np.frombuffer(b"".join(parts), dtype=np.int64)
    return Postings(index, packed, packed >> DOCUMENT_SHIFT, sizes)


def _joined(
    held: Sequence[tuple[memoryview, Numbers, Numbers]], terms: int
) -> tuple[Ints, list[memoryview]]:
    """How many postings each term has, and where: term after term, in the order of the segments."""
    views = [view for view, _, _ in held]
    bounds = np.array([rows[1:] for rows in held], dtype=np.int64)
    begins, ends = bounds.reshape(len(held), 2, terms).transpose(1, 2, 0)
    sizes = ends - begins
    # Most segments are small and hold few of the terms.
    term, segment = sizes.nonzero()
    rows = zip(
        segment.tolist(),
        begins[term, segment].tolist(),
        ends[term, segment].tolist(),
        strict=True,
    )
    return sizes.sum(axis=1), [views[at][begin:end] for at, begin, end in rows]


def sums(documents: Ints, values: Floats, size: int) -> Floats:
    """Values summed by document."""
    if not len(documents):  # bincount would answer in whole numbers
        return np.zeros(size)
    # NumPy's own types say whole numbers even so; this makes no copy.
    return np.bincount(documents, weights=values, minlength=size).astype(np.float64, copy=False)
