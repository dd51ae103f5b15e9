"""Texts of entries as numbered terms in reading order: what postings are made from."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import CONTENT, searched_fields
from wsmem.retrieval.vocabulary import letter_term
from wsmem.text.analysis import fold, is_unspaced, run_terms, runs, unspaced_terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.vocabulary import Vocabulary

    Ints = npt.NDArray[np.int32]
    Bits = npt.NDArray[np.uint8]

BARRIER = -1
"""Stands between fields, so that nothing pairs across them; the last item of every stream."""


class TermStream(NamedTuple):
    """Every term of a batch of entries, one after the other."""

    vocabulary: Vocabulary
    terms: Ints
    """Numbers of terms, and a barrier behind every field."""
    fields: Bits
    """Field bits of each item."""
    ends: Ints
    """Where the items of each entry end."""
    extras: Ints
    """Rows of (term, document, field) beside the stream: identifiers kept whole, and letters."""
    lengths: npt.NDArray[np.int64]
    """UTF-8 bytes read from each entry."""

    @classmethod
    def read(
        cls, entries: Iterable[MemoryEntry], vocabulary: Vocabulary, *, letters: bool = False
    ) -> TermStream:
        """Analyse entries; documents are numbered from 0 in the order given.

        Args:
            entries: What to read.
            vocabulary: New terms are added to it.
            letters: Whether the letters that runs without blanks are made of are extras as well,
                each once an entry and in no particular field.
        """
        with vocabulary.lock:
            reader = _Reader(vocabulary, letters=letters)
            for document, entry in enumerate(entries):
                reader.add(document, entry)
            return reader.stream()

    @property
    def documents(self) -> Ints:
        """Which entry each item is from, ascending."""
        sizes = self.ends.copy()
        sizes[1:] -= self.ends[:-1]
        return np.arange(len(sizes), dtype=np.int32).repeat(sizes)


class _Reader:
    """Numbers terms while entries are read."""

    def __init__(self, vocabulary: Vocabulary, *, letters: bool) -> None:
        self._vocabulary, self._letters = vocabulary, letters
        self._known_runs: dict[str, int | tuple[list[int], int]] = {}
        self._terms = array("i")
        self._fields = bytearray()
        self._extras = array("i")
        self._ends = array("i")
        self._lengths = array("q")

    def add(self, document: int, entry: MemoryEntry) -> None:
        """Append one entry's fields."""
        length, terms, numbers = 0, self._terms, self._vocabulary.numbers
        known_runs = self._known_runs
        letters: set[str] = set()
        for field, text in zip(*searched_fields(entry), strict=True):
            folded = fold(text)
            length += len(folded.encode("utf-8", "surrogatepass"))
            before = len(terms)
            for run in runs(folded):
                if is_unspaced(run):
                    letters.update(run)
                    terms.extend([numbers[term] for term in unspaced_terms(run)])
                    continue
                known = known_runs.get(run)
                if known is None:
                    known = self._learn(run)
                if isinstance(known, int):
                    terms.append(known)
                else:
                    parts, whole = known
                    terms.extend(parts)
                    self._extras.extend((whole, document, field))
            terms.append(BARRIER)
            self._fields.extend(bytes((field,)) * (len(terms) - before))
        if self._letters:
            for letter in letters:
                self._extras.extend((numbers[letter_term(letter)], document, CONTENT))
        self._ends.append(len(terms))
        self._lengths.append(length)

    def _learn(self, run: str) -> int | tuple[list[int], int]:
        """The number of a plain word; those of an identifier's parts, and of the whole."""
        parts, whole = run_terms(run)
        numbers = self._vocabulary.numbers
        ids = [numbers[part] for part in parts]
        known = ids[0] if whole is None else (ids, numbers[whole])
        self._known_runs[run] = known
        return known

    def stream(self) -> TermStream:
        """What was read; nothing can be added afterwards."""
        return TermStream(
            vocabulary=self._vocabulary,
            terms=np.frombuffer(self._terms, dtype=np.int32),
            fields=np.frombuffer(self._fields, dtype=np.uint8),
            ends=np.frombuffer(self._ends, dtype=np.int32),
            extras=np.frombuffer(self._extras, dtype=np.int32).reshape(-1, 3),
            lengths=np.frombuffer(self._lengths, dtype=np.int64),
        )
