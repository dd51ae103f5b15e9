"""Runs of scripts written without blanks, numbered as pairs and as letters, very many at once.

A store holds as many pairs as letters. They are numbered by sorting, with one text made for each
distinct pair; for the few runs of one entry that would take longer than a loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wsmem.retrieval.fields import CONTENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.vocabulary import Vocabulary

    Ints = npt.NDArray[np.int32]

_CODE_BITS = 21
"""A code point has so many; two of them, or one and a document, share a number."""
_CODE = (1 << _CODE_BITS) - 1


def pair_numbers(runs: Sequence[str], vocabulary: Vocabulary) -> Ints:
    """The numbers of the terms that `unspaced_terms` gives for each run, run after run.

    Args:
        runs: None of them empty.
        vocabulary: New terms are added to it; its lock is to be held.
    """
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


def letter_rows(runs: Sequence[str], documents: Sequence[int], vocabulary: Vocabulary) -> Ints:
    """Rows of (number of a letter, document, field): every letter once a document.

    Args:
        runs: None of them empty.
        documents: The one that each of them is of.
        vocabulary: New terms are added to it; its lock is to be held.
    """
    keys = np.array(documents, dtype=np.int64).repeat(_sizes(runs))
    keys <<= _CODE_BITS
    keys |= _codes(runs)
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    codes = keys & _CODE
    found = np.flatnonzero(np.bincount(codes)).tolist()
    numbers = np.zeros(found[-1] + 1, dtype=np.int32)
    numbers[found] = [vocabulary.letters[chr(code)] for code in found]
    rows = np.empty((len(keys), 3), dtype=np.int32)
    rows[:, 0] = numbers[codes]
    rows[:, 1] = keys >> _CODE_BITS
    rows[:, 2] = CONTENT
    return rows


def _codes(runs: Sequence[str]) -> npt.NDArray[np.int64]:
    encoded = "".join(runs).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32).astype(np.int64)


def _sizes(runs: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.fromiter(map(len, runs), dtype=np.int64, count=len(runs))
