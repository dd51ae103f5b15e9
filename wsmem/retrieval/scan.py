"""Rank entries for one query without an index and with the standard library only.

One recall in a fresh process must not pay for an index: reading the texts once, for this query's
terms alone, is several times cheaper. The ranking is the one `rank` gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.records import Match
from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.order import best, in_order
from wsmem.retrieval.scanned_terms import ScannedTerms
from wsmem.retrieval.scoring import entry_earned, score_of
from wsmem.retrieval.terms_scan import Question, terms_earned
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.profile import Profile

Earned = dict[str, float]
"""Signals of one entry by name."""


def scan(
    entries: Iterable[MemoryEntry],
    query: str,
    profile: Profile,
    *,
    now: int,
    limit: int | None = 8,
    surfaced: Collection[str] = (),
) -> list[Match]:
    """Rank as `wsmem.retrieval.ranking.rank` does; see there for arguments, order and ties."""
    searched = [entry for entry in entries if entry.recallable]
    # Every match, and beside it every signal of the families the profile weighs.
    families: list[dict[int, Earned]] = []
    if profile.matching == "terms" or profile.uses("terms"):
        terms, matched = _terms_earned(searched, query, profile)
        families.append(terms)
    if profile.matching == "substring" or profile.uses("substring"):
        substrings, tokens = _substring_earned(searched, query)
        families.append(substrings)
        if profile.matching == "substring":
            matched = tokens
    shown = frozenset(surfaced)
    matches = []
    for at, count in sorted(matched.items()):
        entry = searched[at]
        earned = entry_earned(entry.importance, changed_ms(entry), shown=entry.id in shown, now=now)
        for family in families:
            earned.update(family.get(at, {}))
        matches.append(Match(entry=entry, score=score_of(earned, profile), matched=count))
    return in_order(best(matches, limit), profile)[:limit]


def _terms_earned(
    entries: Sequence[MemoryEntry], text: str, profile: Profile
) -> tuple[dict[int, Earned], dict[int, int]]:
    query = analyze_query(text)
    if not query.terms or not entries:
        return {}, {}
    source = ScannedTerms(entries, query)
    return terms_earned(source, Question.of(source, query, profile), profile)


def _substring_earned(
    entries: Sequence[MemoryEntry], text: str
) -> tuple[dict[int, Earned], dict[int, int]]:
    from wsmem.retrieval.substring import SubstringQuery, SubstringText  # noqa: PLC0415  rare

    query = SubstringQuery.of(text)
    found: dict[int, Earned] = {}
    matched: dict[int, int] = {}
    if not query.tokens:
        return found, matched
    for at, entry in enumerate(entries):
        earned = SubstringText.of(entry).earned(query)
        if earned is not None:
            found[at] = earned._asdict()
            matched[at] = int(earned.long_tokens + earned.short_tokens)
    return found, matched
