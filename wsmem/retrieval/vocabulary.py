"""Terms and their numbers: one growing list for all segments of an index."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_LETTER = "\0"


def letter_term(letter: str) -> str:
    """What a letter of a script without blanks is filed under, wherever in a run it stands.

    No text gives such a term; the letter itself is one where it stands alone.
    """
    return f"{_LETTER}{letter}"


class _Letters(dict[str, int]):
    """Numbers by letter, so that no text has to be made to look one up."""

    def __init__(self, numbers: defaultdict[str, int]) -> None:
        self._numbers = numbers

    def __missing__(self, letter: str) -> int:
        number = self[letter] = self._numbers[letter_term(letter)]
        return number


class Vocabulary:
    """Numbers of terms by first appearance; it grows, and a number never changes its term.

    Indexes that grew out of one another share it: to an older one, the terms that came later are
    terms without postings.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self.numbers: defaultdict[str, int] = defaultdict()
        """Asking `numbers[term]` gives a new term the next number; hold `lock` meanwhile."""
        self.numbers.default_factory = self.numbers.__len__
        self.letters = _Letters(self.numbers)
        """Likewise for letters, each under its `letter_term`; holds all that have a number."""
        self.runs: dict[str, int | tuple[list[int], int]] = {}
        """Of runs read lately, the number of a plain word; those of an identifier's parts, and of
        the whole. Whoever adds to it sees to its size."""
        self.lock = threading.RLock()
        for term in terms:
            number = self.numbers[term]
            if term.startswith(_LETTER):
                self.letters[term[1:]] = number

    def __len__(self) -> int:
        return len(self.numbers)
