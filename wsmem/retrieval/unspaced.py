"""Runs of scripts written without blanks, numbered as pairs and as letters: a few, or very many.

A store holds as many pairs as letters. Those of many entries are numbered by sorting, with one text
made for each distinct pair; for the few letters of one entry that would take longer than a loop.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import CONTENT
from wsmem.retrieval.vocabulary import FIRST_UNSPACED
from wsmem.text.analysis import unspaced_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.vocabulary import Vocabulary

    Ints = npt.NDArray[np.int32]

_CODE_BITS = 21
"""A code point has so many; two of them, or one and a document, share a number."""
_CODE = (1 << _CODE_BITS) - 1
_FEW = 1_000
"""Letters of fewer runs are numbered one by one."""


class UnspacedRuns(NamedTuple):
    """Runs in reading order, each with the document it is of; none is empty."""

    runs: Sequence[str]
    documents: Sequence[int]
    """Ascending."""

    def pairs(self, vocabulary: Vocabulary) -> Ints:
        """The numbers of the terms that `unspaced_terms` gives for each run, run after run."""
        if len(self.runs) < _FEW:
            numbers = vocabulary.numbers
            found = array("i")
            for run in self.runs:
                found.extend([numbers[term] for term in unspaced_terms(run)])
            return np.frombuffer(found, dtype=np.int32)
        return _pairs_at_once(self.runs, vocabulary)

    def letters(self, vocabulary: Vocabulary) -> Ints:
        """Rows of (number of a letter, document, field): every letter once a document."""
        keys = np.array(self.documents, dtype=np.int64).repeat(_sizes(self.runs))
        keys <<= _CODE_BITS
        keys |= _codes(self.runs)
        keys.sort()
        new = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        keys = keys[new]
        rows = np.empty((len(keys), 3), dtype=np.int32)
        rows[:, 0] = vocabulary.letters.of((keys & _CODE) - FIRST_UNSPACED)
        rows[:, 1] = keys >> _CODE_BITS
        rows[:, 2] = CONTENT
        return rows


def _codes(runs: Sequence[str]) -> npt.NDArray[np.int64]:
    encoded = "".join(runs).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32).astype(np.int64)


def _sizes(runs: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.fromiter(map(len, runs), dtype=np.int64, count=len(runs))


def _pairs_at_once(runs: Sequence[str], vocabulary: Vocabulary) -> Ints:
    codes, sizes = _codes(runs), _sizes(runs)
    second = np.append(codes[1:], 0)
    lasts = sizes.cumsum() - 1
    second[lasts] = 0
    begins = np.ones(len(codes), dtype=bool)
    begins[lasts[sizes > 1]] = False  # the last letter begins a pair only where it is alone
    codes <<= _CODE_BITS
    codes |= second
    distinct, which = np.unique(codes[begins], return_inverse=True)
    letters = np.empty((len(distinct), 2), dtype=np.uint32)
    letters[:, 0] = distinct >> _CODE_BITS
    letters[:, 1] = distinct & _CODE
    numbers = vocabulary.numbers
    # NumPy's texts lose their zeros: a letter alone is itself.
    found = [numbers[term] for term in letters.view("U2").ravel().tolist()]
    return np.array(found, dtype=np.int32)[which]
