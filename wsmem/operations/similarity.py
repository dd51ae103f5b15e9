"""Near-duplicates: contents that share most of their tokens, found without comparing them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from wsmem.records import MemoryEntry

THRESHOLD_PERCENT = 68
"""Least token Dice, in hundredths, of a near-duplicate; in whole numbers so that 0.68 counts."""

_WASTE_FACTOR, _WASTE_FLOOR = 2, 1_000
"""An index is rebuilt when it holds this many times more dead contents than live ones."""


def content_tokens(content: str) -> frozenset[str]:
    """What a content is compared by; one without any token is its own only token."""
    return frozenset(_token_list(content))


def _token_list(content: str) -> list[str]:
    return lexical_tokens(content) or [normalize_text(content)]


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the shared share: 1 for equal sets, 0 for disjoint ones."""
    return 2 * len(one & other) / (len(one) + len(other))


def is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two contents' tokens make them near-duplicates."""
    return 200 * len(one & other) >= THRESHOLD_PERCENT * (len(one) + len(other))


def _prefix(tokens: Collection[str]) -> list[int]:
    """Hashes by which a content is filed and looked up.

    A near-duplicate of n tokens shares at least `o = 0.68 n / 1.32` of them. When both contents put
    their tokens in one order, here that of their hashes, two that share so many have one in common
    among the first `n - o + 1` of each (the prefix filter of set-similarity joins; Chaudhuri et
    al., 2006), so half of the postings need not exist.
    """
    return sorted(map(hash, tokens))[: len(tokens) - _least(len(tokens)) + 1]


def _least(count: int) -> int:
    """Fewest tokens a near-duplicate of one with so many has, and shares with it."""
    return -(-THRESHOLD_PERCENT * count // (200 - THRESHOLD_PERCENT))


class _Contents:
    """Token lists by number, only appended to, so that successive indexes share them.

    Filing them by prefix takes longer than comparing a handful of contents with all; it is done
    when somebody has the time (`file`), and look-ups go through the files only when all is filed.
    """

    def __init__(self) -> None:
        self.tokens: list[list[str]] = []
        self.asked = 0
        """How many look-ups there were."""
        self._places: dict[int, list[int]] = {}
        self._filed = 0
        self._lock = threading.Lock()

    def append(self, content: str) -> int:
        """Take in a content; its number."""
        tokens = _token_list(content)
        with self._lock:
            number = len(self.tokens)
            self.tokens.append(tokens)
            if self._filed == number > 0:  # all before it is filed: keep it so
                self._file(number)
        return number

    def file(self) -> None:
        """File what is not filed yet, letting others in between."""
        while self._filed < len(self.tokens):
            with self._lock:
                for number in range(self._filed, min(self._filed + 200, len(self.tokens))):
                    self._file(number)

    def numbers_like(self, tokens: frozenset[str]) -> set[int] | None:
        """Contents that may be near-duplicates of one with these tokens; `None` if not filed."""
        self.asked += 1
        if self._filed < len(self.tokens):
            return None
        places = self._places
        return {number for key in _prefix(tokens) for number in places.get(key, ())}

    def _file(self, number: int) -> None:
        for key in _prefix(self.tokens[number]):
            held = self._places.get(key)
            if held is None:
                self._places[key] = [number]
            else:
                held.append(number)
        self._filed = number + 1


class NearDuplicates:
    """The recallable entries of one list, by the tokens of their content; immutable.

    `updated` gives the index of a changed list for the price of what changed.
    """

    def __init__(
        self, entries: Iterable[MemoryEntry], *, previous: NearDuplicates | None = None
    ) -> None:
        self.contents: _Contents = previous.contents if previous else _Contents()
        """Shared with every index this one came from or led to."""
        self.live: dict[int, MemoryEntry] = {}
        """The entries by the number of their content."""
        known = {} if previous is None else previous.live
        by_object = {id(entry): number for number, entry in known.items()}
        by_content = {entry.content: number for number, entry in known.items()}
        for entry in entries:
            if not entry.recallable:
                continue
            number = by_object.get(id(entry))
            if number is None:  # changed, or the same text read again from disk
                number = by_content.get(entry.content)
            if number is None or number in self.live:
                number = self.contents.append(entry.content)
            self.live[number] = entry

    def updated(self, entries: Sequence[MemoryEntry]) -> NearDuplicates:
        """The index of `entries`, sharing what is known about contents that did not change."""
        wasteful = len(self.contents.tokens) > _WASTE_FACTOR * len(entries) + _WASTE_FLOOR
        return NearDuplicates(entries, previous=None if wasteful else self)

    def file(self) -> None:
        """Make look-ups quick; worth it where many will come, and safe in any thread."""
        self.contents.file()

    @property
    def asked(self) -> int:
        """How many look-ups there were, in this index and those it shares contents with."""
        return self.contents.asked

    def near(self, tokens: frozenset[str]) -> list[tuple[MemoryEntry, float]]:
        """Entries whose content is a near-duplicate of one with these tokens, in no order."""
        numbers = self.contents.numbers_like(tokens)
        held = self.contents.tokens
        fewest, most = _least(len(tokens)), (200 - THRESHOLD_PERCENT) * len(tokens)
        found = []
        for number in self.live if numbers is None else numbers & self.live.keys():
            others = held[number]
            count = len(others)
            if count < fewest or THRESHOLD_PERCENT * count > most:
                continue
            shared = len(tokens.intersection(others))
            if 200 * shared >= THRESHOLD_PERCENT * (len(tokens) + count):
                found.append((self.live[number], 2 * shared / (len(tokens) + count)))
        return found
