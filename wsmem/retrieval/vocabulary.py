"""Terms and their numbers: one growing list for all segments of an index."""

from __future__ import annotations

import threading
from array import array
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from wsmem.text.analysis import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt


class Vocabulary:
    """Numbers of terms by first appearance; it grows, and a number never changes its term.

    Indexes that grew out of one another share it: to an older one, the terms that came later are
    terms without postings.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self.numbers: defaultdict[str, int] = defaultdict()
        """Asking `numbers[term]` gives a new term the next number; hold `lock` meanwhile."""
        self.numbers.default_factory = self.numbers.__len__
        self.lock = threading.RLock()
        self._by_letter: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._filed = 0
        for term in terms:
            self.numbers[term]

    def __len__(self) -> int:
        return len(self.numbers)

    def holding(self, letter: str) -> npt.NDArray[np.int32]:
        """Terms of a script without blanks that hold a letter: it alone, and pairs of it."""
        with self.lock:
            self._file_letters()
            return np.array(self._by_letter.get(letter, ()), dtype=np.int32)

    def _file_letters(self) -> None:
        numbers = self.numbers
        for term in islice(reversed(numbers), len(numbers) - self._filed):
            if len(term) <= 2 and is_unspaced(term):
                for letter in dict.fromkeys(term):
                    self._by_letter[letter].append(numbers[term])
        self._filed = len(numbers)
