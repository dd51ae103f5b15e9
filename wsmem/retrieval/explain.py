"""Why an entry ranks where it does: every signal, weight and contribution of every candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wsmem.records import Match
from wsmem.retrieval.order import in_order
from wsmem.retrieval.ranking import candidates, weigh
from wsmem.retrieval.signals import NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.index import Index
    from wsmem.retrieval.profile import Profile


class Part(NamedTuple):
    """What one signal adds to a score."""

    value: float
    weight: float
    contribution: float
    """`value * weight`; 0 where a value that is not a number does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedMatch:
    """A match with the parts of its score."""

    entry: MemoryEntry
    score: float
    matched: int
    parts: Mapping[str, Part]
    """By signal, in the order of `signals.SIGNALS`, signals without weight included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Every candidate of a query, best first."""

    query: str
    profile: str
    rows: tuple[ExplainedMatch, ...]


def explain(
    index: Index,
    query: str,
    profile: Profile,
    *,
    now: int,
    surfaced: Collection[str] = (),
) -> Explanation:
    """Rank as `wsmem.retrieval.ranking.rank` does without a limit, and show the arithmetic."""
    found = candidates(index, query, profile, now=now, surfaced=surfaced, wanted=NAMES)
    scores = weigh(found, profile)
    rows: dict[int, ExplainedMatch] = {}
    matches: list[Match] = []
    for at, document in enumerate(found.documents.tolist()):
        match = Match(
            entry=index.entry(document), score=float(scores[at]), matched=int(found.matched[at])
        )
        values = {name: float(found.signals[name][at]) for name in NAMES}
        rows[id(match)] = ExplainedMatch(
            entry=match.entry,
            score=match.score,
            matched=match.matched,
            parts={name: _part(value, name, profile) for name, value in values.items()},
        )
        matches.append(match)
    return Explanation(
        query=query,
        profile=profile.name,
        rows=tuple(rows[id(match)] for match in in_order(matches, profile)),
    )


def _part(value: float, name: str, profile: Profile) -> Part:
    weight = profile.weights.get(name, 0.0)
    spoiled = math.isnan(value) and (not weight or profile.matching == "terms")
    return Part(value, weight, 0.0 if spoiled else value * weight)
