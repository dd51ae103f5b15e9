"""Signals of the terms family for one query, entry by entry, in the standard library.

The one place for the scan and for postings kept in a file; `wsmem.retrieval.terms_query` is the
same for the arrays of an index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wsmem.retrieval.evidence import Evidence, evidence_masses, evidence_needed
from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1, rarity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from wsmem.retrieval.profile import Profile
    from wsmem.retrieval.terms_source import Held, TermSource
    from wsmem.text.analysis import Query

Earned = dict[str, float]
"""Signals of one entry by name."""

_SHARES = (
    "coverage",
    "word_coverage",
    "saturation",
    "length_saturation",
    "letters",
    "title",
    "tags",
    "retrieval_terms",
    "pairs",
)
MASS_SHARES = frozenset(
    {"coverage", "saturation", "length_saturation", "title", "tags", "retrieval_terms"}
)
"""Those to which a term adds at most its share of the query's mass; every share is 0 to 1.

Postings in a file are not weighed one by one where these bounds show that an entry cannot be among
the best: a signal of another kind is bounded by 1, or its bound is written in `contenders`."""

_FIELD_SHARES = (("title", TITLE), ("tags", TAG), ("retrieval_terms", TERM))


class Question(NamedTuple):
    """A query weighed against the entries that are searched."""

    query: Query
    masses: tuple[float, ...]
    """Of each term."""
    evidence: Evidence
    needed: float
    """Mass of what proves something that an entry must hold to match."""

    @classmethod
    def of(cls, source: TermSource, query: Query, profile: Profile) -> Question:
        """Weigh the terms of a query by how rare they are."""
        masses = tuple(
            term.weight * rarity(source.size, source.frequency(term.text)) for term in query.terms
        )
        evidence = evidence_masses(query, masses)
        greatest = rarity(source.size, 1)
        needed = evidence_needed(profile, sum(evidence.masses), greatest)
        return cls(query, masses, evidence, needed)


def terms_earned(
    source: TermSource,
    question: Question,
    profile: Profile,
    among: AbstractSet[int] | None = None,
) -> tuple[dict[int, Earned], dict[int, int]]:
    """Signals of every entry with evidence enough, and how many terms each holds; by number.

    Args:
        source: Counts the terms.
        question: The query, weighed against the same source.
        profile: Says which signals are wanted.
        among: Only these entries are looked at; all when `None`.
    """
    query = question.query
    if not query.terms or not source.size:
        return {}, {}
    holding = [source.held(term.text, among) for term in query.terms]
    matched = _sufficient(question, holding, among)
    earned = {at: dict.fromkeys(_SHARES, 0.0) for at in matched}
    average = source.total_length / source.size or 1.0
    lengths = source.lengths(earned.keys())
    norms = {at: length_norm(lengths[at], average) for at in earned}
    _add_shares(earned, question, holding, norms)
    if "letters" in profile.weights:
        _add_letters(earned, query.letters, source, norms)
    if "pairs" in profile.weights:
        _add_pairs(earned, question, source)
    return earned, matched


def _sufficient(
    question: Question, holding: Sequence[Held], among: AbstractSet[int] | None
) -> dict[int, int]:
    """Entries with evidence enough, and how many terms each holds."""
    evidence = question.evidence
    held: dict[int, float] = {}
    decided: set[int] = set()
    for number, entries in enumerate(holding):
        mass = evidence.masses[number]
        if mass:
            for at in entries:
                held[at] = held.get(at, 0.0) + mass
        if evidence.deciding is None or evidence.deciding[number]:
            decided.update(entries)
    matched = {
        at: 0
        for at, mass in held.items()
        if mass >= question.needed and at in decided and (among is None or at in among)
    }
    for entries in holding:
        for at in _common(matched, entries):
            matched[at] += 1
    return matched


def _add_shares(
    earned: dict[int, Earned],
    question: Question,
    holding: Sequence[Held],
    norms: Mapping[int, float],
) -> None:
    """Sum the shares in the order of the query's terms, as the index does, then scale them."""
    terms, masses = question.query.terms, question.masses
    for term, mass, entries in zip(terms, masses, holding, strict=True):
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
    total, weights = sum(masses) or 1.0, sum(term.weight for term in terms) or 1.0
    for shares in earned.values():
        for name in shares:
            shares[name] /= weights if name == "word_coverage" else total


def share_bound(profile: Profile, times: int, fields: int, norm: float) -> float:
    """Score a term's share of the mass may bring: the sum of what `_add_shares` adds, or more.

    Args:
        profile: Its weights; those below zero may bring nothing.
        times: How often the entry holds the term.
        fields: In which fields.
        norm: BM25's k1 scaled by the entry's length, or less.
    """
    bounds = {
        "saturation": times / (times + SATURATION_K1),
        "length_saturation": times / (times + norm),
        **{name: float(bool(fields & bit)) for name, bit in _FIELD_SHARES},
    }
    return sum(
        max(0.0, weight) * bounds.get(name, 1.0)
        for name, weight in profile.weights.items()
        if name in MASS_SHARES
    )


def length_norm(length: float, average: float) -> float:
    """BM25's k1 scaled by an entry's length against the average."""
    return SATURATION_K1 * (1.0 - LENGTH_B + LENGTH_B * (length / average))


def _common(some: Mapping[int, object], entries: Held) -> Collection[int]:
    return some.keys() & entries.keys()


def _add_letters(
    earned: dict[int, Earned],
    letters: Sequence[str],
    source: TermSource,
    norms: Mapping[int, float],
) -> None:
    """Each letter counts once an entry, by its rarity, whatever its pairs are."""
    masses = [rarity(source.size, source.frequency(letter)) for letter in letters]
    total = sum(masses) or 1.0
    for letter, mass in zip(letters, masses, strict=True):
        for at in _common(earned, source.held(letter, earned.keys())):
            earned[at]["letters"] += mass / (1.0 + norms[at]) / total


def _add_pairs(earned: dict[int, Earned], question: Question, source: TermSource) -> None:
    query = question.query
    by_term = {term.text: mass for term, mass in zip(query.terms, question.masses, strict=True)}
    pair_masses = [by_term.get(a, 0.0) + by_term.get(b, 0.0) for a, b in query.pairs]
    found = source.neighbours(query.pairs, earned.keys())
    for entries, mass in zip(found, pair_masses, strict=True):
        for at in entries:
            earned[at]["pairs"] += mass
    total = sum(pair_masses) or 1.0
    for shares in earned.values():
        shares["pairs"] /= total
