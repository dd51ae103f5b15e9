"""Which entries may be among the best of a query, without weighing all that hold a common word.

The score of an entry is at most the sum of what each of its terms may bring, and what the signals
bring that no term bounds. What a few promising entries really earn sets the mark; whoever cannot
reach it even by its bound is not weighed. That is the idea of MaxScore (Turtle & Flood, 1995). The
answer is the same as with all entries weighed.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

from wsmem.retrieval.signals import FAMILY
from wsmem.retrieval.terms_scan import MASS_SHARES, length_norm, share_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from wsmem.retrieval.profile import Profile
    from wsmem.retrieval.terms_scan import Question
    from wsmem.retrieval.terms_source import TermSource

    Scores = dict[int, float]
    """Scores of the entries that match, by number."""

_FEW = 256
"""So many entries are weighed at once rather than chosen from."""
_PROBED = 32
"""Entries beyond the limit that are weighed first, to set the mark."""
_LENGTH_STEPS = 16
"""Lengths are told apart by this part of the average."""
_SLACK = 1e-6
"""Far above what the order of additions changes, and above the digits that make a tie."""
_ENTRY_MOST = {"importance": 3.0, "recency": 3.0, "surfaced": 1.0}


def weigh_contenders(
    source: TermSource,
    question: Question,
    profile: Profile,
    limit: int,
    *,
    weigh: Callable[[set[int]], Scores],
    beside_terms: Callable[[int], float],
) -> Scores:
    """Scores of at least the `limit` best entries and all that tie with the last of them.

    Args:
        source: What is searched.
        question: The query.
        profile: The weights.
        limit: How many are wanted.
        weigh: Gives the scores of these entries, without those that do not match.
        beside_terms: What the signals of the entry alone give one.
    """
    proving = [
        term.text
        for term, mass in zip(question.query.terms, question.evidence.masses, strict=True)
        if mass
    ]
    if sum(map(source.frequency, proving)) <= _FEW:
        return weigh({at for term in proving for at in source.documents(term)})
    bounds = _Bounds(source, question, profile)
    reach = bounds.reach(proving)
    rest, most = bounds.beside(proving), _most_beside_terms(profile)
    scores: Scores = {}
    waiting = set(reach)
    for probed in (limit + _PROBED, 8 * (limit + _PROBED)):
        if len(waiting) <= probed + _FEW:
            break
        chosen = set(heapq.nlargest(probed, waiting, key=reach.__getitem__))
        scores |= weigh(chosen)
        waiting -= chosen
        if len(scores) >= limit:
            mark = heapq.nlargest(limit, scores.values())[-1] - rest - _SLACK
            waiting = {
                at
                for at in waiting
                if reach[at] + most >= mark and reach[at] + beside_terms(at) >= mark
            }
    return scores | weigh(waiting)


def _most_beside_terms(profile: Profile) -> float:
    return sum(
        max(0.0, weight) * _ENTRY_MOST[name]
        for name, weight in profile.weights.items()
        if FAMILY[name] == "entry"
    )


class _Bounds:
    """What the terms of a question may bring at most."""

    def __init__(self, source: TermSource, question: Question, profile: Profile) -> None:
        self._source, self._question, self._profile = source, question, profile
        self._average = source.total_length / source.size or 1.0
        self._norm = length_norm(source.shortest, self._average)
        terms, masses = question.query.terms, question.masses
        mass, weight = sum(masses) or 1.0, sum(term.weight for term in terms) or 1.0
        self._shares = {term.text: m / mass for term, m in zip(terms, masses, strict=True)}
        words = max(0.0, profile.weights.get("word_coverage", 0.0))
        pairs = max(0.0, profile.weights.get("pairs", 0.0))
        sides = Counter(term for pair in question.query.pairs for term in pair)
        paired = sum(self._shares.get(term, 0.0) * count for term, count in sides.items()) or 1.0
        self._added = {
            term.text: words * term.weight / weight
            + pairs * sides[term.text] * self._shares[term.text] / paired
            for term in terms
        }
        """What a term brings however often and wherever it stands."""

    def reach(self, terms: Collection[str]) -> dict[int, float]:
        """What these terms may bring each entry that holds any of them."""
        found: dict[int, float] = {}
        get, scale = found.get, _LENGTH_STEPS / self._average
        by_held = _Table(self._profile, self._average)
        for term in terms:
            share, added = self._shares[term], self._added[term]
            holding = self._source.held(term, None)
            lengths = self._source.lengths(holding.keys())
            for at, held in holding.items():
                bound = by_held[held][int(lengths[at] * scale)]
                found[at] = get(at, 0.0) + share * bound + added
        return found

    def beside(self, terms: Collection[str]) -> float:
        """What other terms may bring any entry, and signals of the family that no term bounds."""
        weights = self._profile.weights
        unbound = FAMILY.keys() - MASS_SHARES - {"pairs", "word_coverage"}
        most_of = {"letters": 1.0 / (1.0 + self._norm)}
        most = sum(
            max(0.0, weight) * most_of.get(name, 1.0)
            for name, weight in weights.items()
            if name in unbound and FAMILY[name] == "terms"
        )
        each = sum(max(0.0, weight) for name, weight in weights.items() if name in MASS_SHARES)
        others = self._shares.keys() - set(terms)
        return most + sum(each * self._shares[term] + self._added[term] for term in others)


class _Table(dict[tuple[int, int], "_ByLength"]):
    """What a term may bring of its share, by how often and where an entry holds it."""

    def __init__(self, profile: Profile, average: float) -> None:
        super().__init__()
        self._profile, self._average = profile, average

    def __missing__(self, held: tuple[int, int]) -> _ByLength:
        self[held] = by_length = _ByLength(self._profile, self._average, held)
        return by_length


class _ByLength(dict[int, float]):
    """The same by the entry's length, rounded down to a step."""

    def __init__(self, profile: Profile, average: float, held: tuple[int, int]) -> None:
        super().__init__()
        self._profile, self._average, self._held = profile, average, held

    def __missing__(self, step: int) -> float:
        norm = length_norm(step * self._average / _LENGTH_STEPS, self._average)
        self[step] = bound = share_bound(self._profile, *self._held, norm)
        return bound
