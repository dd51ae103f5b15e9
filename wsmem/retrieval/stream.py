"""Texts of entries as numbered terms in reading order: what postings are made from."""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import searched_fields
from wsmem.text.analysis import fold, is_unspaced, run_terms, runs, unspaced_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Ints = npt.NDArray[np.int32]
    Bits = npt.NDArray[np.uint8]

BARRIER = -1
"""Stands between fields, so that nothing pairs across them; the last item of every stream."""


class TermStream(NamedTuple):
    """Every term of a batch of entries, one after the other."""

    vocabulary: dict[str, int]
    terms: Ints
    """Numbers of terms, and a barrier behind every field."""
    fields: Bits
    """Field bits of each item."""
    documents: Ints
    """Which entry each item is from, ascending."""
    extras: Ints
    """Rows of (term, document, field): identifiers kept whole, beside the stream."""
    lengths: npt.NDArray[np.float64]
    """UTF-8 bytes read from each entry."""

    @classmethod
    def read(cls, entries: Iterable[MemoryEntry]) -> TermStream:
        """Analyse entries; documents are numbered in the order given."""
        reader = _Reader()
        for document, entry in enumerate(entries):
            reader.add(document, entry)
        return reader.stream()

    @classmethod
    def joined(cls, parts: Sequence[tuple[TermStream, npt.NDArray[np.bool_]]]) -> TermStream:
        """One stream of several, with only the documents that each mask keeps."""
        vocabulary = dict(parts[0][0].vocabulary)
        kept = []
        offset = 0
        for stream, keep in parts:
            numbers = np.array(
                [vocabulary.setdefault(term, len(vocabulary)) for term in stream.vocabulary],
                dtype=np.int32,
            )
            kept.append(stream.renumbered(numbers, keep, offset))
            offset += int(keep.sum())
        return cls(
            vocabulary=vocabulary,
            terms=np.concatenate([part.terms for part in kept]),
            fields=np.concatenate([part.fields for part in kept]),
            documents=np.concatenate([part.documents for part in kept]),
            extras=np.concatenate([part.extras for part in kept]),
            lengths=np.concatenate([part.lengths for part in kept]),
        )

    def renumbered(self, numbers: Ints, keep: npt.NDArray[np.bool_], offset: int) -> TermStream:
        """The kept documents, numbered from `offset`, with terms numbered anew."""
        place = (np.cumsum(keep) - 1 + offset).astype(np.int32)
        items, extras = keep[self.documents], self.extras[keep[self.extras[:, 1]]]
        terms = self.terms[items]
        new_terms = np.full(len(terms), BARRIER, dtype=np.int32)
        words = terms != BARRIER
        new_terms[words] = numbers[terms[words]]
        new_extras = np.empty_like(extras)
        if len(extras):
            new_extras[:, 0] = numbers[extras[:, 0]]
            new_extras[:, 1] = place[extras[:, 1]]
            new_extras[:, 2] = extras[:, 2]
        return self._replace(
            terms=new_terms,
            fields=self.fields[items],
            documents=place[self.documents[items]],
            extras=new_extras,
            lengths=self.lengths[keep],
        )


class _Reader:
    """Numbers terms by first appearance while entries are read."""

    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict()
        self._vocabulary.default_factory = self._vocabulary.__len__
        self._known_runs: dict[str, tuple[list[int], int]] = {}
        self._terms = array("i")
        self._fields = bytearray()
        self._extras = array("i")
        self._ends: list[int] = []
        self._lengths: list[int] = []

    def add(self, document: int, entry: MemoryEntry) -> None:
        """Append one entry's fields."""
        length, terms = 0, self._terms
        for field, text in zip(*searched_fields(entry), strict=True):
            folded = fold(text)
            length += len(folded.encode("utf-8", "surrogatepass"))
            before = len(terms)
            for run in runs(folded):
                if is_unspaced(run):
                    vocabulary = self._vocabulary
                    terms.extend([vocabulary[term] for term in unspaced_terms(run)])
                    continue
                parts, whole = self._run(run)
                terms.extend(parts)
                if whole >= 0:
                    self._extras.extend((whole, document, field))
            terms.append(BARRIER)
            self._fields.extend(bytes((field,)) * (len(terms) - before))
        self._ends.append(len(terms))
        self._lengths.append(length)

    def _run(self, run: str) -> tuple[list[int], int]:
        known = self._known_runs.get(run)
        if known is None:
            parts, whole = run_terms(run)
            ids = [self._vocabulary[part] for part in parts]
            known = ids, -1 if whole is None else self._vocabulary[whole]
            self._known_runs[run] = known
        return known

    def stream(self) -> TermStream:
        """What was read; nothing can be added afterwards."""
        sizes = np.diff([0, *self._ends])
        return TermStream(
            vocabulary=dict(self._vocabulary),
            terms=np.frombuffer(self._terms, dtype=np.int32),
            fields=np.frombuffer(self._fields, dtype=np.uint8),
            documents=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            extras=np.frombuffer(self._extras, dtype=np.int32).reshape(-1, 3),
            lengths=np.array(self._lengths, dtype=np.float64),
        )
