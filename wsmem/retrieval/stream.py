"""Texts of entries as numbered terms in reading order: what postings are made from."""

from __future__ import annotations

from array import array
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import CONTENT, searched_fields
from wsmem.retrieval.unspaced import letter_rows, pair_numbers
from wsmem.text.analysis import fold, is_unspaced, runs, terms_of_run, unspaced_terms
from wsmem.text.utf8 import utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.vocabulary import Vocabulary

    Ints = npt.NDArray[np.int32]
    Bits = npt.NDArray[np.uint8]

BARRIER = -1
"""Stands between fields, so that nothing pairs across them; the last item of every stream."""
_PENDING = -2
"""Stands for a pair of letters until it has a number."""
_MOST_KNOWN = 16_384
"""Runs whose terms are kept at hand: up to 3 MB."""
_FEW = 24
"""Runs without blanks that are numbered one by one, as those of one entry are; then all at once."""
_FIRST = itemgetter(0)
_LATER = array("i", [_PENDING])


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
            reader = _Reader(vocabulary)
            for document, entry in enumerate(entries):
                reader.add(document, entry)
            return reader.stream(letters=letters)


class _Reader:
    """Numbers terms while entries are read.

    Where there are many letters of scripts without blanks, they are only collected on the way and
    numbered all at once: there are as many pairs of them as letters.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._terms = array("i")
        self._fields = array("i")
        self._extras = array("i")
        self._ends = array("i")
        self._lengths = array("q")
        self._unspaced: list[str] = []
        self._unspaced_in: list[int] = []

    def add(self, document: int, entry: MemoryEntry) -> None:
        """Append one entry's fields."""
        length, terms, known_runs = 0, self._terms, self._vocabulary.runs
        for field, text in zip(*searched_fields(entry), strict=True):
            folded = fold(text)
            length += utf8_length(folded)
            before = len(terms)
            for run in runs(folded):
                known = known_runs.get(run)
                if known is None:
                    if is_unspaced(run):
                        self._add_unspaced(document, run)
                        continue
                    known = self._learn(run)
                if isinstance(known, int):
                    terms.append(known)
                else:
                    parts, whole = known
                    terms.extend(parts)
                    self._extras.extend((whole, document, field))
            terms.append(BARRIER)
            self._fields.extend((field, len(terms) - before))
        self._ends.append(len(terms))
        self._lengths.append(length)

    def _add_unspaced(self, document: int, run: str) -> None:
        if len(self._unspaced) < _FEW:
            numbers = self._vocabulary.numbers
            self._terms.extend([numbers[term] for term in unspaced_terms(run)])
        else:
            self._terms.extend(_LATER * (len(run) - 1 or 1))
        self._unspaced.append(run)
        self._unspaced_in.append(document)

    def _learn(self, run: str) -> int | tuple[list[int], int]:
        parts, whole = terms_of_run(run)
        numbers, known_runs = self._vocabulary.numbers, self._vocabulary.runs
        known: int | tuple[list[int], int]
        if whole is None:
            known = numbers[parts[0]]
        else:
            known = [numbers[part] for part in parts], numbers[whole]
        if len(known_runs) >= _MOST_KNOWN:
            known_runs.clear()
        known_runs[run] = known
        return known

    def stream(self, *, letters: bool) -> TermStream:
        """What was read; nothing can be added afterwards."""
        terms = np.frombuffer(self._terms, dtype=np.int32)
        if later := self._unspaced[_FEW:]:
            terms[terms == _PENDING] = pair_numbers(later, self._vocabulary)
        if letters and not later:
            self._add_letters()
        extras = np.frombuffer(self._extras, dtype=np.int32).reshape(-1, 3)
        if letters and later:
            rows = letter_rows(self._unspaced, self._unspaced_in, self._vocabulary)
            extras = np.concatenate([extras, rows])
        fields = np.frombuffer(self._fields, dtype=np.int32).reshape(-1, 2)
        return TermStream(
            vocabulary=self._vocabulary,
            terms=terms,
            fields=fields[:, 0].astype(np.uint8).repeat(fields[:, 1]),
            ends=np.frombuffer(self._ends, dtype=np.int32),
            extras=extras,
            lengths=np.frombuffer(self._lengths, dtype=np.int64),
        )

    def _add_letters(self) -> None:
        """Add each letter of the few runs there are, once a document."""
        numbers = self._vocabulary.letters
        for document, held in groupby(zip(self._unspaced_in, self._unspaced, strict=True), _FIRST):
            found = [numbers[letter] for letter in set("".join([run for _, run in held]))]
            rows = zip(found, repeat(document), repeat(CONTENT), strict=False)
            self._extras.extend(chain.from_iterable(rows))
