"""The order of matches: by score, then by stated rules for ties."""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.retrieval.profile import Profile

TIE_DIGITS = 9
"""Scores that agree so far are ties: sums made in another order differ only below that."""
CLEAR = 2 * 10.0**-TIE_DIGITS
"""Scores further apart do not round to the same."""


class Dated(Protocol):
    """What decides between entries of one score."""

    @property
    def id(self) -> str: ...
    @property
    def updated_at(self) -> str | None: ...


class Scored(Protocol):
    """A match, of an entry that may not have been read yet."""

    @property
    def entry(self) -> Dated: ...
    @property
    def score(self) -> float: ...


ScoredT = TypeVar("ScoredT", bound=Scored)


def in_order(matches: Sequence[ScoredT], profile: Profile) -> list[ScoredT]:
    """Matches best first; those given earlier count as earlier in the store.

    Ties go to the entry changed last (its date compared as text), then to the smaller id; under
    substring matching, as in the public plugin, to the one earlier in the store.
    """
    if profile.matching == "substring":
        return _in_plugin_order(matches)
    exact = [match.score for match in matches]
    places = sorted(range(len(matches)), key=exact.__getitem__, reverse=True)
    if all(exact[a] - exact[b] > CLEAR for a, b in pairwise(places)):
        return [matches[at] for at in places]  # as nearly always, without rounding
    scores = [-round(score, TIE_DIGITS) for score in exact]
    places.sort()
    if len(set(scores)) < len(scores):
        places.sort(key=lambda at: matches[at].entry.id)
        places.sort(key=lambda at: _date(matches[at].entry, ""), reverse=True)
    places.sort(key=scores.__getitem__)
    return [matches[at] for at in places]


def best(matches: Sequence[ScoredT], limit: int | None) -> list[ScoredT]:
    """The `limit` best scores and everything that ties with the last of them, as ordered."""
    if limit is None or len(matches) <= limit or any(math.isnan(match.score) for match in matches):
        return list(matches)
    if limit < 1:
        return []
    rounded = [round(match.score, TIE_DIGITS) for match in matches]
    last = heapq.nlargest(limit, rounded)[-1]
    return [match for match, score in zip(matches, rounded, strict=True) if score >= last]


def _in_plugin_order(matches: Sequence[ScoredT]) -> list[ScoredT]:
    # A missing date reads "undefined" there, which is newer than any; NaN ties with everything.
    ordered = sorted(matches, key=lambda match: _date(match.entry, "undefined"), reverse=True)
    if any(math.isnan(match.score) for match in matches):
        return ordered
    ordered.sort(key=lambda match: -round(match.score, TIE_DIGITS))
    return ordered


def _date(entry: Dated, missing: str) -> str:
    return missing if entry.updated_at is None else entry.updated_at
