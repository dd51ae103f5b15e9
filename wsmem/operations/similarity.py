"""Near-duplicates: contents that share most of their tokens, found without comparing them all."""

from __future__ import annotations

import threading
from itertools import chain
from typing import TYPE_CHECKING

from wsmem.operations.token_keys import keys_of, merged, numbers_sharing
from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.operations.token_keys import Keys
    from wsmem.records import MemoryEntry

THRESHOLD_PERCENT = 68
"""Least token Dice, in hundredths, of a near-duplicate; in whole numbers so that 0.68 counts."""

KEYED_FROM = 1_000
"""Contents that are compared one by one in some milliseconds."""

_WASTE_FACTOR, _WASTE_FLOOR = 2, 1_000
"""An index is rebuilt when it holds this many times more dead contents than live ones."""


def content_tokens(content: str) -> frozenset[str]:
    """What a content is compared by; one without any token is its own only token."""
    return frozenset(lexical_tokens(content) or (normalize_text(content),))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the shared share: 1 for equal sets, 0 for disjoint ones."""
    return 2 * len(one & other) / (len(one) + len(other))


def is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two contents' tokens make them near-duplicates."""
    left, right = len(one), len(other)
    if 200 * min(left, right) < THRESHOLD_PERCENT * (left + right):  # though all were shared
        return False
    return 200 * len(one & other) >= THRESHOLD_PERCENT * (left + right)


def _least(count: int) -> int:
    """Fewest tokens a near-duplicate of one with so many has, and shares with it."""
    return -(-THRESHOLD_PERCENT * count // (200 - THRESHOLD_PERCENT))


class _Contents:
    """Contents by number, only added to, so that successive indexes share them.

    Some hundred are compared one by one. Where there are more, they become one sorted array of what
    their tokens are (`token_keys`), which names the few worth comparing; their texts, which those
    who ask have in their entries, are then not kept.
    """

    def __init__(self) -> None:
        self._keyed: tuple[int, Keys | None] = (0, None)
        """How many contents are in the array, and the array."""
        self._waiting: list[str] = []
        """Those that are not."""
        self._tokens: dict[int, frozenset[str]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return self._keyed[0] + len(self._waiting)

    def append(self, content: str) -> int:
        """Take in a content; its number."""
        with self._lock:
            self._waiting.append(content)
            return self._keyed[0] + len(self._waiting) - 1

    def prepare(self) -> None:
        """Put contents into the array if there are many that are not in it."""
        with self._lock:
            if len(self._waiting) < KEYED_FROM:
                return
            count, keys = self._keyed
            fresh = keys_of(self._waiting, first=count)
            self._keyed = (
                count + len(self._waiting),
                fresh if keys is None else merged(keys, fresh),
            )
            self._waiting, self._tokens = [], {}

    def worth_comparing(self, tokens: frozenset[str]) -> Iterable[int]:
        """Numbers of contents that may be near-duplicates of one with these tokens."""
        self.prepare()
        count, keys = self._keyed
        waiting = range(count, len(self))
        if keys is None:
            return waiting
        return chain(numbers_sharing(keys, tokens, fewest=_least(len(tokens))), waiting)

    def tokens(self, number: int, content: str) -> frozenset[str]:
        """What a content, that with this number, is compared by."""
        found = self._tokens.get(number)
        if found is None:
            found = content_tokens(content)
            if number >= self._keyed[0]:  # it will be compared with the next one, too
                self._tokens[number] = found
        return found


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
        others = []
        for entry in entries:
            number = by_object.pop(id(entry), None)
            if number is not None:
                self.live[number] = entry
            elif entry.recallable:
                others.append(entry)
        # Changed in something else, or the same text read again from disk.
        by_content = {known[number].content: number for number in by_object.values()}
        for entry in others:
            number = by_content.pop(entry.content, None)
            self.live[self.contents.append(entry.content) if number is None else number] = entry

    def updated(self, entries: Sequence[MemoryEntry]) -> NearDuplicates:
        """The index of `entries`, sharing what is known about contents that did not change."""
        wasteful = len(self.contents) > _WASTE_FACTOR * len(entries) + _WASTE_FLOOR
        return NearDuplicates(entries, previous=None if wasteful else self)

    def prepare(self) -> None:
        """Do now what the first look-up would do; safe in any thread."""
        self.contents.prepare()

    def near(self, tokens: frozenset[str]) -> list[tuple[MemoryEntry, float]]:
        """Entries whose content is a near-duplicate of one with these tokens, in no order."""
        found = []
        for number in self.contents.worth_comparing(tokens):
            entry = self.live.get(number)
            if entry is not None:
                others = self.contents.tokens(number, entry.content)
                if is_near(tokens, others):
                    found.append((entry, dice(tokens, others)))
        return found
