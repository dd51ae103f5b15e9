"""Which rules a text needs at all: marks looked for with plain substring search, in lower case.

Nothing is faster in Python than `in`. Ordinary prose passes no gate, so its cost is this module's.
"""

from __future__ import annotations

Gates = tuple[tuple[str, tuple[str, ...]], ...]
"""Pairs of a mark and words: the gate is open if the mark and one of its words occur.

The mark is a cheap first look for a whole group of words that contain it; the empty one is in every
text.
"""


def is_open(lowered: str, gates: Gates) -> bool:
    """Whether a text in lower case passes one of the gates."""
    for mark, words in gates:
        if mark in lowered:
            for word in words:  # a generator inside any() would double the cost
                if word in lowered:
                    return True
    return False
