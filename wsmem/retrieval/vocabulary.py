"""Terms and their numbers: one growing list for all segments of an index."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]

FIRST_UNSPACED = 0x2E80
"""The first code point of scripts written without blanks (see `wsmem.text.analysis.RUN`)."""
_NONE = -1


def letter_term(letter: str) -> str:
    """What a letter of a script without blanks is filed under, wherever in a run it stands.

    No text gives such a term; the letter itself is one where it stands alone.
    """
    return f"\0{letter}"


class Letters:
    """Numbers of letters, each that of its `letter_term`, in a table by code point."""

    def __init__(self, numbers: defaultdict[str, int]) -> None:
        self._numbers = numbers
        self._table = np.empty(0, dtype=np.int32)

    def of(self, codes: npt.NDArray[np.int64]) -> Ints:
        """The number of each letter; new letters get one, so the vocabulary's lock is to be held.

        Args:
            codes: Code points less those of `FIRST_UNSPACED`.
        """
        top = int(codes.max(initial=-1))
        if top >= len(self._table):
            table = np.full(top + 1, _NONE, dtype=np.int32)
            table[: len(self._table)] = self._table
            self._table = table
        found = self._table[codes]
        if (new := found < 0).any():
            for code in set(codes[new].tolist()):
                self._table[code] = self._numbers[letter_term(chr(code + FIRST_UNSPACED))]
            found = self._table[codes]
        return found


class Vocabulary:
    """Numbers of terms by first appearance; it grows, and a number never changes its term.

    Indexes that grew out of one another share it: to an older one, the terms that came later are
    terms without postings.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self.numbers: defaultdict[str, int] = defaultdict()
        """Asking `numbers[term]` gives a new term the next number; hold `lock` meanwhile."""
        self.numbers.default_factory = self.numbers.__len__
        self.letters = Letters(self.numbers)
        self.runs: dict[str, int | tuple[list[int], int]] = {}
        """Of runs read lately, the number of a plain word; those of an identifier's parts, and of
        the whole. Whoever adds to it sees to its size."""
        self.lock = threading.RLock()
        for term in terms:
            self.numbers[term]

    def __len__(self) -> int:
        return len(self.numbers)
