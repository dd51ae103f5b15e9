"""Signals of the terms family for one query over unindexed entries, in the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.retrieval.evidence import evidence_masses, evidence_needed
from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1, rarity
from wsmem.retrieval.text_scan import TextScan
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.profile import Profile
    from wsmem.retrieval.text_scan import Held, Occurrence
    from wsmem.text.analysis import Query

Earned = dict[str, float]
"""Signals of one entry by name."""

_SHARES = (
    "coverage",
    "word_coverage",
    "saturation",
    "length_saturation",
    "title",
    "tags",
    "retrieval_terms",
    "pairs",
)
_FIELD_SHARES = (("title", TITLE), ("tags", TAG), ("retrieval_terms", TERM))


def terms_earned(
    entries: Sequence[MemoryEntry], text: str, profile: Profile
) -> tuple[dict[int, Earned], dict[int, int]]:
    """Signals of every entry with evidence enough, and how many terms each holds; by place."""
    query = analyze_query(text)
    if not query.terms or not entries:
        return {}, {}
    texts = TextScan(entries)
    function = texts.function_words(term.text for term in query.terms if term.text.isupper())
    places = {
        term.text: texts.occurrences(term.text) for term in query.terms if term.text not in function
    }
    holding = [
        function[term.text] if term.text in function else _by_entry(places[term.text])
        for term in query.terms
    ]
    masses = [
        term.weight * rarity(len(entries), len(held))
        for term, held in zip(query.terms, holding, strict=True)
    ]
    matched = _sufficient(query, masses, holding, profile, rarity(len(entries), 1))
    earned = {at: dict.fromkeys(_SHARES, 0.0) for at in matched}
    _add_shares(earned, query, masses, holding, texts.lengths)
    if "pairs" in profile.weights:
        _add_pairs(earned, query, masses, texts, places)
    return earned, matched


def _by_entry(occurrences: Sequence[Occurrence]) -> Held:
    """Count and field bits of a term in each entry that holds it."""
    held: Held = {}
    for occurrence in occurrences:
        times, fields = held.get(occurrence.entry, (0, 0))
        held[occurrence.entry] = (times + occurrence.times, fields | occurrence.field)
    return held


def _sufficient(
    query: Query,
    masses: Sequence[float],
    holding: Sequence[Held],
    profile: Profile,
    greatest: float,
) -> dict[int, int]:
    """Entries with evidence enough, and how many terms each holds."""
    evidence = evidence_masses(query, masses)
    held: dict[int, float] = {}
    decided: set[int] = set()
    for number, entries in enumerate(holding):
        mass = evidence.masses[number]
        if mass:
            for at in entries:
                held[at] = held.get(at, 0.0) + mass
        if evidence.deciding is None or evidence.deciding[number]:
            decided.update(entries)
    needed = evidence_needed(profile, sum(evidence.masses), greatest)
    return {
        at: sum(at in entries for entries in holding)
        for at, mass in held.items()
        if mass >= needed and at in decided
    }


def _add_shares(
    earned: dict[int, Earned],
    query: Query,
    masses: Sequence[float],
    holding: Sequence[Held],
    lengths: Sequence[int],
) -> None:
    """Sum the shares in the order of the query's terms, as the index does, then scale them."""
    average = sum(lengths) / len(lengths) or 1.0
    norms = {
        at: SATURATION_K1 * (1.0 - LENGTH_B + LENGTH_B * (lengths[at] / average)) for at in earned
    }
    for term, mass, entries in zip(query.terms, masses, holding, strict=True):
        for at in _common(earned, entries):
            shares, (times, fields) = earned[at], entries[at]
            shares["coverage"] += mass
            shares["word_coverage"] += term.weight
            shares["saturation"] += mass * (times / (times + SATURATION_K1))
            shares["length_saturation"] += mass * (times / (times + norms[at]))
            if fields:
                for name, bit in _FIELD_SHARES:
                    if fields & bit:
                        shares[name] += mass
    total, weights = sum(masses) or 1.0, sum(term.weight for term in query.terms) or 1.0
    for shares in earned.values():
        for name in shares:
            shares[name] /= weights if name == "word_coverage" else total


def _common(earned: Mapping[int, Earned], entries: Held) -> Collection[int]:
    return earned.keys() & entries.keys()


def _add_pairs(
    earned: dict[int, Earned],
    query: Query,
    masses: Sequence[float],
    texts: TextScan,
    places: Mapping[str, Sequence[Occurrence]],
) -> None:
    by_term = {term.text: mass for term, mass in zip(query.terms, masses, strict=True)}
    pair_masses = [by_term.get(a, 0.0) + by_term.get(b, 0.0) for a, b in query.pairs]
    # Only entries that match can earn anything, which leaves few places to look at.
    kept = {
        term: [item for item in items if item.entry in earned] for term, items in places.items()
    }
    for (first, second), mass in zip(query.pairs, pair_masses, strict=True):
        if first not in kept:
            found = texts.preceded_by_word(kept[second], first)
        elif second not in kept:
            found = texts.followed_by_word(kept[first], second)
        else:
            found = texts.neighbours(kept[first], kept[second])
        for at in found:
            earned[at]["pairs"] += mass
    total = sum(pair_masses) or 1.0
    for shares in earned.values():
        shares["pairs"] /= total
