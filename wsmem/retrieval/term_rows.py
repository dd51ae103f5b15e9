"""Where the terms of a query occur in an index: postings gathered, decoded and kept at hand."""

from __future__ import annotations

import threading
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.segment import COUNT_BITS, DOCUMENT_SHIFT, FIELD_BITS
from wsmem.retrieval.signals import rarity
from wsmem.retrieval.vocabulary import letter_term
from wsmem.text.analysis import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from wsmem.retrieval.index import Index
    from wsmem.retrieval.segment import Span

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

_UNKNOWN = -1
"""Instead of the number of a term that no entry holds."""
_MOST_KEPT = 500_000
"""Postings kept at hand for the terms asked for lately: 8 MB."""
_ROW_COST = 40
"""What a row takes besides its postings, in postings."""


class Postings(NamedTuple):
    """Postings of some terms, term after term."""

    within: Index
    documents: Ints
    """Of each term ascending, each once; dead ones included."""
    counts: Floats
    fields: Ints


class TermRow(NamedTuple):
    """One term of an index."""

    size: int
    """How many postings it has."""
    rarity: float
    spans: tuple[Span, ...]
    """Where it stands in the stream of each segment."""
    documents: Ints
    values: Floats
    """What each posting is worth, in whatever sense the reader asked for."""


class TermRows:
    """Rows of an index, kept for the next query.

    Terms come again, the commonest most of all: their postings are decoded and valued once, the
    oldest given up for new ones. Safe to share between threads.

    Args:
        index: Where to look terms up.
        value: What postings are worth, each for itself.
    """

    def __init__(self, index: Index, value: Callable[[Postings], Floats]) -> None:
        self._index, self._value = index, value
        self._kept: dict[str, TermRow] = {}
        self._room = _MOST_KEPT
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, terms: Sequence[str]) -> list[TermRow]:
        """The row of each of these distinct terms."""
        rows = [self._kept.get(term) for term in terms]
        missing = [term for term, row in zip(terms, rows, strict=True) if row is None]
        made = dict(zip(missing, self._read(missing), strict=True)) if missing else {}
        return [row or made[term] for term, row in zip(terms, rows, strict=True)]

    def _read(self, terms: Sequence[str]) -> list[TermRow]:
        postings, rows = read_rows(self._index, terms)
        values, end, made = self._value(postings), 0, []
        for row in rows:
            own = slice(end, end := end + row.size)
            # Copies: a slice that is kept would keep the postings of all the terms beside it.
            documents, worth = postings.documents[own].copy(), values[own].copy()
            made.append(row._replace(documents=documents, values=worth))
        with self._lock:
            for term, row in zip(terms, made, strict=True):
                if term not in self._kept and row.size < _MOST_KEPT:
                    self._kept[term] = row
                    self._room -= row.size + _ROW_COST
            while self._room < 0:
                self._room += self._kept.pop(next(iter(self._kept))).size + _ROW_COST
        return made


def read_rows(index: Index, terms: Sequence[str]) -> tuple[Postings, list[TermRow]]:
    """Postings of terms, all in one go, and their rows, which leave these to be filled in."""
    numbers = list(map(index.vocabulary.numbers.get, terms, repeat(_UNKNOWN)))
    groups = _packed(index, terms, numbers)
    sizes = [sum(map(len, rows)) for rows in groups]
    postings = _decoded(index, [row for rows in groups for row in rows])
    spans = list(zip(*(segment.spans(numbers) for segment in index.segments), strict=True))
    living = _living(index, postings.documents, sizes)
    rows = [
        TermRow(size, rarity(index.size, alive), own, postings.documents[:0], postings.counts[:0])
        for size, alive, own in zip(sizes, living, spans or repeat((), len(sizes)), strict=True)
    ]
    return postings, rows


def _packed(index: Index, terms: Sequence[str], numbers: Sequence[int]) -> list[Sequence[Ints]]:
    """Packed postings of each term, segment by segment."""
    if not index.segments:
        return [() for _ in terms]
    filed = index.vocabulary.numbers.get
    # A lone Chinese letter occurs wherever a run holds it.
    sought = [
        filed(letter_term(term), _UNKNOWN) if len(term) == 1 and is_unspaced(term) else number
        for term, number in zip(terms, numbers, strict=True)
    ]
    return list(zip(*(segment.rows(sought) for segment in index.segments), strict=True))


def _decoded(index: Index, rows: list[Ints]) -> Postings:
    packed = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    documents = packed >> DOCUMENT_SHIFT
    counts = packed >> FIELD_BITS
    counts &= (1 << COUNT_BITS) - 1
    packed &= (1 << FIELD_BITS) - 1
    return Postings(index, documents, counts.astype(np.float64), packed)


def _living(index: Index, documents: Ints, sizes: Sequence[int]) -> Sequence[int]:
    """How many of each term's postings are of living documents."""
    if index.size == index.documents.size or not len(documents):
        return sizes
    dead = np.flatnonzero(~index.alive[documents])
    terms = np.searchsorted(np.cumsum(sizes), dead, side="right")
    lost: list[int] = np.bincount(terms, minlength=len(sizes)).tolist()
    return [size - less for size, less in zip(sizes, lost, strict=True)]
