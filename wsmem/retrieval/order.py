"""The order of matches: by score, then by stated rules for ties."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import Match, MemoryEntry
    from wsmem.retrieval.profile import Profile

TIE_DIGITS = 9
"""Scores that agree so far are ties: sums made in another order differ only below that."""


def in_order(matches: Sequence[Match], profile: Profile) -> list[Match]:
    """Matches best first; those given earlier count as earlier in the store.

    Ties go to the entry changed last (its date compared as text), then to the smaller id; under
    substring matching, as in the public plugin, to the one earlier in the store.
    """
    if profile.matching == "substring":
        return _in_plugin_order(matches)
    ordered = sorted(matches, key=lambda match: match.entry.id)
    ordered.sort(key=lambda match: _date(match.entry, ""), reverse=True)
    ordered.sort(key=lambda match: -round(match.score, TIE_DIGITS))
    return ordered


def best(matches: Sequence[Match], limit: int | None) -> list[Match]:
    """The `limit` best scores and everything that ties with the last of them, as ordered."""
    if limit is None or len(matches) <= limit or any(math.isnan(match.score) for match in matches):
        return list(matches)
    if limit < 1:
        return []
    rounded = [round(match.score, TIE_DIGITS) for match in matches]
    last = heapq.nlargest(limit, rounded)[-1]
    return [match for match, score in zip(matches, rounded, strict=True) if score >= last]


def _in_plugin_order(matches: Sequence[Match]) -> list[Match]:
    # A missing date reads "undefined" there, which is newer than any; NaN ties with everything.
    ordered = sorted(matches, key=lambda match: _date(match.entry, "undefined"), reverse=True)
    if any(math.isnan(match.score) for match in matches):
        return ordered
    ordered.sort(key=lambda match: -round(match.score, TIE_DIGITS))
    return ordered


def _date(entry: MemoryEntry, missing: str) -> str:
    return missing if entry.updated_at is None else entry.updated_at
