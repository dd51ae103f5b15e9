"""Near-duplicates: contents that share most of their tokens, found without comparing them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.records import MemoryEntry

THRESHOLD_PERCENT = 68
"""Least token Dice, in hundredths, of a near-duplicate; in whole numbers so that 0.68 counts."""

_WASTE_FACTOR, _WASTE_FLOOR = 2, 1_000
"""An index is rebuilt when it holds this many times more dead contents than live ones."""


def content_tokens(content: str) -> frozenset[str]:
    """What a content is compared by; one without any token is its own only token."""
    return frozenset(lexical_tokens(content)) or frozenset((normalize_text(content),))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the shared share: 1 for equal sets, 0 for disjoint ones."""
    return 2 * len(one & other) / (len(one) + len(other))


def is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two contents' tokens make them near-duplicates."""
    return 200 * len(one & other) >= THRESHOLD_PERCENT * (len(one) + len(other))


def _prefix(tokens: frozenset[str]) -> list[int]:
    """Hashes by which a content is filed and looked up.

    A near-duplicate of n tokens shares at least `o = 0.68 n / 1.32` of them. When both contents put
    their tokens in one order, here that of their hashes, two that share so many have one in common
    among the first `n - o + 1` of each (the prefix filter of set-similarity joins; Chaudhuri et
    al., 2006), so half of the postings need not exist.
    """
    least_shared = -(-THRESHOLD_PERCENT * len(tokens) // (200 - THRESHOLD_PERCENT))
    return sorted(map(hash, tokens))[: len(tokens) - least_shared + 1]


class _Postings:
    """Contents by the hashes of their prefix; only appended to, so that indexes can share one."""

    def __init__(self) -> None:
        self.tokens: list[frozenset[str]] = []
        self.places: dict[int, list[int]] = {}
        self._lock = threading.Lock()

    def append(self, content: str) -> int:
        tokens = content_tokens(content)
        places = self.places
        with self._lock:
            number = len(self.tokens)
            self.tokens.append(tokens)
            for key in _prefix(tokens):
                held = places.get(key)
                if held is None:
                    places[key] = [number]
                else:
                    held.append(number)
        return number


class NearDuplicates:
    """The recallable entries of one list, by the tokens of their content; immutable.

    `updated` gives the index of a changed list for the price of what changed.
    """

    def __init__(
        self, entries: Iterable[MemoryEntry], *, previous: NearDuplicates | None = None
    ) -> None:
        self.postings: _Postings = previous.postings if previous else _Postings()
        """Shared with every index this one came from or led to."""
        self.live: dict[int, MemoryEntry] = {}
        """The entries by their number in the postings."""
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
                number = self.postings.append(entry.content)
            self.live[number] = entry

    def updated(self, entries: Sequence[MemoryEntry]) -> NearDuplicates:
        """The index of `entries`, sharing what is known about contents that did not change."""
        wasteful = len(self.postings.tokens) > _WASTE_FACTOR * len(entries) + _WASTE_FLOOR
        return NearDuplicates(entries, previous=None if wasteful else self)

    def near(self, tokens: frozenset[str]) -> list[tuple[MemoryEntry, float]]:
        """Entries whose content is a near-duplicate of one with these tokens, in no order."""
        places, held = self.postings.places, self.postings.tokens
        numbers = {number for key in _prefix(tokens) for number in places.get(key, ())}
        return [
            (self.live[number], dice(tokens, held[number]))
            for number in numbers & self.live.keys()
            if is_near(tokens, held[number])
        ]
