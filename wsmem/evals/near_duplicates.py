"""Pairs of texts that say the same: equal when folded, or with nearly the same words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from wsmem.text.analysis import fold, terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JACCARD = 0.9
"""Share of all their words that two texts must have in common to be near-duplicates."""

_SOUNDLESS = re.compile(r"[\W_]+")


class Pair(NamedTuple):
    """Two texts by their keys, the one that was given first as `first`."""

    first: str
    second: str
    similarity: float
    """1 when they are equal but for case, width and punctuation; else shared over all words."""


def normalised(text: str) -> str:
    """A text without case, width, punctuation and blanks; as it is if nothing else is left."""
    folded = fold(text).casefold()
    return _SOUNDLESS.sub("", folded) or folded.strip()


def near_duplicates(texts: Mapping[str, str], *, threshold: float = JACCARD) -> list[Pair]:
    """Pairs of near-duplicates in the order in which the second of each was given.

    A text is paired with the most similar of those before it, so three equal texts are two pairs.
    Words are the terms of the engine: stems, Chinese letters in pairs, identifiers with their
    parts, function words too. Numbers are words, so that "port 80" and "port 81" differ; in a
    long text one word in ten may.
    """
    sets = {key: frozenset(terms(text)) for key, text in texts.items()}
    rarity = Counter(word for words in sets.values() for word in words)
    order = {key: _by_rarity(words, rarity) for key, words in sets.items()}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    equal: dict[str, str] = {}
    pairs: list[Pair] = []
    for key, text in texts.items():
        twin = equal.setdefault(normalised(text), key)
        if twin != key:
            pairs.append(Pair(twin, key, 1.0))
            continue
        # Two sets this similar must share one of the rarest words of each (prefix filtering).
        words = order[key]
        prefix = words[: len(words) - math.ceil(threshold * len(words)) + 1]
        candidates = dict.fromkeys(other for word in prefix for other in holders[word])
        scored = [(_jaccard(sets[key], sets[other]), other) for other in candidates]
        best = max(scored, key=lambda found: found[0], default=(0.0, ""))
        if best[0] >= threshold:
            pairs.append(Pair(best[1], key, best[0]))
        for word in prefix:
            holders[word].append(key)
    return pairs


def _by_rarity(words: frozenset[str], rarity: Mapping[str, int]) -> Sequence[str]:
    return sorted(words, key=lambda word: (rarity[word], word))


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    together = len(left | right)
    return len(left & right) / together if together else 0.0
