"""Rank entries for one query without an index and with the standard library only.

One recall in a fresh process must not pay for an index: reading the texts once, for this query's
terms alone, is several times cheaper. The ranking is the one `rank` gives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wsmem.records import Match
from wsmem.retrieval.evidence import evidence_masses, evidence_needed
from wsmem.retrieval.fields import TAG, TERM, TITLE, changed_ms
from wsmem.retrieval.order import best, in_order
from wsmem.retrieval.signals import (
    LENGTH_B,
    SATURATION_K1,
    clamped_importance,
    rarity,
    recency,
)
from wsmem.retrieval.substring import SubstringQuery, SubstringText
from wsmem.retrieval.text_scan import TextScan
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.profile import Profile
    from wsmem.retrieval.text_scan import Occurrence
    from wsmem.text.analysis import Query

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
        earned = _entry_earned(entry, now, shown)
        for family in families:
            earned.update(family.get(at, {}))
        matches.append(Match(entry=entry, score=_score(earned, profile), matched=count))
    return in_order(best(matches, limit), profile)[:limit]


def _score(earned: Earned, profile: Profile) -> float:
    score = 0.0
    for name, weight in profile.weights.items():
        value = weight * earned.get(name, 0.0)
        if profile.matching == "substring" or not math.isnan(value):
            score += value
    return score


def _entry_earned(entry: MemoryEntry, now: int, shown: frozenset[str]) -> Earned:
    return {
        "importance": clamped_importance(entry.importance),
        "recency": recency(changed_ms(entry), now),
        "surfaced": float(entry.id in shown),
    }


def _substring_earned(
    entries: Sequence[MemoryEntry], text: str
) -> tuple[dict[int, Earned], dict[int, int]]:
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


def _terms_earned(
    entries: Sequence[MemoryEntry], text: str, profile: Profile
) -> tuple[dict[int, Earned], dict[int, int]]:
    query = analyze_query(text)
    if not query.terms or not entries:
        return {}, {}
    texts = TextScan(entries)
    occurrences = texts.occurrences([term.text for term in query.terms])
    holding = [_by_entry(occurrences[term.text]) for term in query.terms]
    masses = [
        term.weight * rarity(len(entries), len(held))
        for term, held in zip(query.terms, holding, strict=True)
    ]
    matched = _sufficient(query, masses, holding, profile, rarity(len(entries), 1))
    earned = {at: _zero_shares() for at in matched}
    _add_shares(earned, query, masses, holding, texts.lengths)
    if "pairs" in profile.weights:
        _add_pairs(earned, query, masses, texts, occurrences)
    return earned, matched


def _by_entry(occurrences: Sequence[Occurrence]) -> dict[int, tuple[int, int]]:
    """Count and field bits of a term in each entry that holds it, in entry order."""
    held: dict[int, tuple[int, int]] = {}
    for occurrence in occurrences:
        count, fields = held.get(occurrence.entry, (0, 0))
        held[occurrence.entry] = (count + occurrence.times, fields | occurrence.field)
    return held


def _sufficient(
    query: Query,
    masses: Sequence[float],
    holding: Sequence[dict[int, tuple[int, int]]],
    profile: Profile,
    greatest: float,
) -> dict[int, int]:
    """Entries with evidence enough, and how many terms each holds."""
    evidence = evidence_masses(query, masses)
    held: dict[int, float] = {}
    decided: set[int] = set()
    matched: dict[int, int] = {}
    for number, entries in enumerate(holding):
        for at in entries:
            held[at] = held.get(at, 0.0) + evidence.masses[number]
            matched[at] = matched.get(at, 0) + 1
        if evidence.deciding is None or evidence.deciding[number]:
            decided.update(entries)
    needed = evidence_needed(profile, sum(evidence.masses), greatest)
    return {at: matched[at] for at, mass in held.items() if mass >= needed and at in decided}


def _zero_shares() -> Earned:
    return dict.fromkeys(
        (
            "coverage",
            "word_coverage",
            "saturation",
            "length_saturation",
            "title",
            "tags",
            "retrieval_terms",
            "pairs",
        ),
        0.0,
    )


def _add_shares(
    earned: dict[int, Earned],
    query: Query,
    masses: Sequence[float],
    holding: Sequence[dict[int, tuple[int, int]]],
    lengths: Sequence[int],
) -> None:
    """Sum the shares in the order of the query's terms, as the index does, then scale them."""
    average = sum(lengths) / len(lengths) or 1.0
    for term, mass, entries in zip(query.terms, masses, holding, strict=True):
        for at, (count, fields) in entries.items():
            shares = earned.get(at)
            if shares is None:
                continue
            k1 = SATURATION_K1 * (1.0 - LENGTH_B + LENGTH_B * (lengths[at] / average))
            shares["coverage"] += mass
            shares["word_coverage"] += term.weight
            shares["saturation"] += mass * (count / (count + SATURATION_K1))
            shares["length_saturation"] += mass * (count / (count + k1))
            for name, bit in (("title", TITLE), ("tags", TAG), ("retrieval_terms", TERM)):
                if fields & bit:
                    shares[name] += mass
    total, weights = sum(masses) or 1.0, sum(term.weight for term in query.terms) or 1.0
    for shares in earned.values():
        for name in shares:
            shares[name] /= weights if name == "word_coverage" else total


def _add_pairs(
    earned: dict[int, Earned],
    query: Query,
    masses: Sequence[float],
    texts: TextScan,
    occurrences: dict[str, list[Occurrence]],
) -> None:
    by_term = {term.text: mass for term, mass in zip(query.terms, masses, strict=True)}
    pair_masses = [by_term.get(a, 0.0) + by_term.get(b, 0.0) for a, b in query.pairs]
    for (first, second), mass in zip(query.pairs, pair_masses, strict=True):
        for at in texts.neighbours(occurrences.get(first, ()), occurrences.get(second, ())):
            if at in earned:
                earned[at]["pairs"] += mass
    total = sum(pair_masses) or 1.0
    for shares in earned.values():
        shares["pairs"] /= total
