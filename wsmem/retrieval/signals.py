"""The named signals a match can earn: one list for the engine, the tuner and the notebooks.

A score is `signals . weights`. Signals of the *substring* family reproduce the public plugin; those
of the *terms* family read the analysed terms of `wsmem.text.analysis`; the *entry* family looks at
the entry alone. A profile weighs any of them, and a signal without weight is not computed.

Shares are sums over the query's distinct terms, each term counting its mass
`m(t) = weight(t) * ln(1 + (N - df + 1/2) / (df + 1/2))`, where N entries are searched and df of
them hold the term (at least 1, so that an unknown word counts as the rarest one). That is the BM25
inverse document frequency (Robertson & Zaragoza, 2009) in the form that is never negative.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

Family = Literal["substring", "terms", "entry"]

SATURATION_K1 = 1.5
"""Occurrences after which a term has earned half of what it can."""
LENGTH_B = 0.9
"""How far an entry is charged for being longer than the average. Memories are short texts, each on
one matter, so length says more than in the articles for which 0.75 is usual."""
MS_PER_DAY = 86_400_000


class Signal(NamedTuple):
    """One column of what an entry can earn for a query."""

    name: str
    family: Family
    meaning: str


SIGNALS: tuple[Signal, ...] = (
    Signal("phrase", "substring", "1 if the normalised query is a substring of the entry"),
    Signal("title_phrase", "substring", "1 if the title holds the whole normalised query"),
    Signal("tag_equals", "substring", "number of tags equal to a query token"),
    Signal(
        "term_overlaps",
        "substring",
        "number of retrieval terms that share a token with the query or lie in it",
    ),
    Signal("long_tokens", "substring", "number of matched tokens of 4 UTF-16 units or more"),
    Signal("short_tokens", "substring", "number of matched shorter tokens"),
    Signal("token_share", "substring", "share of the query's tokens that match"),
    Signal("coverage", "terms", "share of the query's mass that the entry holds"),
    Signal("word_coverage", "terms", "share of the query's terms it holds, each by its weight"),
    Signal("saturation", "terms", "mass share, each term damped by tf / (tf + k1)"),
    Signal("length_saturation", "terms", "the same with k1 scaled by the length (BM25)"),
    Signal("pairs", "terms", "mass share of neighbouring query terms that stand together"),
    Signal("letters", "terms", "mass share of single Chinese letters, damped by the length"),
    Signal("title", "terms", "mass share in a title that is not just the content's start"),
    Signal("tags", "terms", "mass share found in tags"),
    Signal("retrieval_terms", "terms", "mass share found in retrieval terms"),
    Signal("importance", "entry", "importance, 0 to 3"),
    Signal("recency", "entry", "3 - log2(1 + days since the last change), not below 0"),
    Signal("surfaced", "entry", "1 if the entry was shown to this session lately"),
)

NAMES: tuple[str, ...] = tuple(signal.name for signal in SIGNALS)
FAMILY: dict[str, Family] = {signal.name: signal.family for signal in SIGNALS}


def rarity(total: int, holding: int) -> float:
    """ln(1 + (N - df + 1/2) / (df + 1/2)) with df at least 1; positive for every N and df."""
    holding = max(holding, 1)
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


def recency(updated_ms: float | None, now: int) -> float:
    """3 - log2(1 + days), not below 0; an entry without a readable date earns nothing.

    A date in the future counts as now.
    """
    if updated_ms is None:
        return 0.0
    return max(0.0, 3.0 - math.log2(1.0 + max(0.0, now - updated_ms) / MS_PER_DAY))


def clamped_importance(importance: float) -> float:
    """Importance held within 0 and 3; NaN stays NaN."""
    return importance if math.isnan(importance) else min(3.0, max(0.0, importance))
