"""Postings of analysed terms for a batch of entries, as flat arrays that never change.

An index is one or more segments: a large one and what was added since. Every array is in compressed
rows: the rows of term `t` are `rows[starts[t]:starts[t + 1]]`.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import searched_fields
from wsmem.text.analysis import cjk_terms, fold, is_cjk_run, run_terms, runs
from wsmem.text.scripts import is_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Ints = npt.NDArray[np.int32]

_BARRIER = -1
"""Stands in the stream between fields, so that nothing pairs across them."""


class Postings(NamedTuple):
    """Where one term occurs in a segment."""

    documents: Ints
    """Ascending, each once."""
    counts: npt.NDArray[np.uint16]
    fields: npt.NDArray[np.uint8]
    """Bits of `fields.TITLE`, `TAG`, `TERM`: in which of them the term occurs."""


class Segment:
    """Entries in the order given; documents are numbered from 0 in that order."""

    def __init__(self, entries: Sequence[MemoryEntry]) -> None:
        self.entries = tuple(entries)
        stream = _Stream()
        for document, entry in enumerate(self.entries):
            stream.add(document, entry)
        self.vocabulary = stream.freeze()
        self.lengths = np.array(stream.lengths, dtype=np.float64)
        self._place(stream)

    def _place(self, stream: _Stream) -> None:
        """Sort the stream by term into postings and positions."""
        size = len(self.vocabulary)
        self.stream: Ints = np.frombuffer(stream.terms, dtype=np.int32)
        self.stream_documents: Ints = np.repeat(
            np.arange(len(self.entries), dtype=np.int32), np.diff([0, *stream.ends])
        )
        stream_fields = np.frombuffer(stream.fields, dtype=np.uint8)
        positions = np.flatnonzero(self.stream != _BARRIER).astype(np.int32)
        terms = self.stream[positions]
        self.positions = positions[np.argsort(terms, kind="stable")]
        self.position_starts = _row_starts(terms, size)

        extra = np.frombuffer(stream.extras, dtype=np.int32).reshape(-1, 3)
        all_terms = np.concatenate([terms, extra[:, 0]])
        all_documents = np.concatenate([self.stream_documents[positions], extra[:, 1]])
        all_fields = np.concatenate([stream_fields[positions], extra[:, 2].astype(np.uint8)])
        key = all_terms.astype(np.int64) * max(1, len(self.entries)) + all_documents
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        self.documents: Ints = all_documents[order][first]
        counts = np.diff(first, append=len(order))
        self.counts = np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)
        self.fields = (
            np.bitwise_or.reduceat(all_fields[order], first)
            if len(first)
            else np.empty(0, dtype=np.uint8)
        )
        self.starts = _row_starts(all_terms[order][first], size)

    def postings(self, term: str) -> Postings | None:
        """Where a term occurs, `None` if nowhere.

        A lone CJK letter occurs wherever a pair holds it; it is counted once an entry and in no
        particular field.
        """
        if len(term) == 1 and is_cjk(term):
            return self._letter_postings(term)
        at = self.vocabulary.get(term)
        if at is None:
            return None
        rows = slice(self.starts[at], self.starts[at + 1])
        return Postings(self.documents[rows], self.counts[rows], self.fields[rows])

    def _letter_postings(self, letter: str) -> Postings | None:
        rows = [
            self.documents[self.starts[at] : self.starts[at + 1]]
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
            if len(term) <= 2 and is_cjk(term[0]):
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
            span_a = self.position_starts[a + 1] - self.position_starts[a]
            span_b = self.position_starts[b + 1] - self.position_starts[b]
            rarer, other, shift = (a, b, 1) if span_a <= span_b else (b, a, -1)
            starts.append(self.position_starts[rarer])
            counts.append(min(span_a, span_b))
            shifts.append(shift)
            wanted.append(other)
            numbers.append(number)
        if not starts:
            empty = np.empty(0, dtype=np.int32)
            return empty, empty
        rows = np.concatenate(
            [
                self.positions[start : start + count]
                for start, count in zip(starts, counts, strict=True)
            ]
        )
        neighbours = rows + np.repeat(np.array(shifts, dtype=np.int32), counts)
        # The stream ends with a barrier, so a step off its end (or to -1, its last item) is one.
        hits = self.stream[neighbours] == np.repeat(np.array(wanted, dtype=np.int32), counts)
        number = np.repeat(np.array(numbers, dtype=np.int64), counts)[hits]
        key = np.unique(number * len(self.entries) + self.stream_documents[rows[hits]])
        found, documents = np.divmod(key, len(self.entries))
        return found.astype(np.int32), documents.astype(np.int32)


class _Stream:
    """Terms of entries as they are read, numbered by first appearance."""

    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict()
        self._vocabulary.default_factory = self._vocabulary.__len__
        self._known_runs: dict[str, tuple[list[int], int]] = {}
        self.terms = array("i")
        self.fields = bytearray()
        self.extras = array("i")
        """Triples (term, document, field) of identifiers kept whole beside the stream."""
        self.ends: list[int] = []
        self.lengths: list[int] = []

    def add(self, document: int, entry: MemoryEntry) -> None:
        """Append one entry's fields; its length is the UTF-8 bytes of what was read."""
        length = 0
        for field, text in searched_fields(entry):
            folded = fold(text)
            length += len(folded.encode("utf-8", "surrogatepass"))
            before = len(self.terms)
            for run in runs(folded):
                if is_cjk_run(run):
                    vocabulary = self._vocabulary
                    self.terms.extend([vocabulary[term] for term in cjk_terms(run)])
                    continue
                parts, whole = self._run(run)
                self.terms.extend(parts)
                if whole >= 0:
                    self.extras.extend((whole, document, field))
            self.terms.append(_BARRIER)
            self.fields.extend(bytes((field,)) * (len(self.terms) - before))
        self.ends.append(len(self.terms))
        self.lengths.append(length)

    def _run(self, run: str) -> tuple[list[int], int]:
        known = self._known_runs.get(run)
        if known is None:
            parts, whole = run_terms(run)
            ids = [self._vocabulary[part] for part in parts]
            known = ids, -1 if whole is None else self._vocabulary[whole]
            self._known_runs[run] = known
        return known

    def freeze(self) -> dict[str, int]:
        """The vocabulary, which grows no more."""
        self._vocabulary.default_factory = None
        return self._vocabulary


def _row_starts(sorted_or_not: npt.NDArray[np.int32], size: int) -> npt.NDArray[np.int64]:
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(sorted_or_not, minlength=size), out=starts[1:])
    return starts
