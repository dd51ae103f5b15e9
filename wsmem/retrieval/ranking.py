"""Rank the entries of an index for a query: signals, times weights, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.records import Match
from wsmem.retrieval.evidence import evidence_needed
from wsmem.retrieval.order import CLEAR, in_order
from wsmem.retrieval.signals import FAMILY, MS_PER_DAY, NAMES
from wsmem.retrieval.terms_query import (
    term_evidence,
    term_scores,
    term_signals,
    terms_held,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from wsmem.retrieval.index import Index
    from wsmem.retrieval.profile import Profile

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

_RECENT_MS = 7 * MS_PER_DAY
"""An entry that changed longer ago earns no recency: 3 = log2(1 + 7)."""
_BLOCK = 256
"""Scores of which only the greatest is looked at first, when there are many."""


class Candidates(NamedTuple):
    """Entries that match a query, and what each signal gives them (one row a signal)."""

    documents: Ints
    """As `Index.entry` takes them."""
    matched: Ints
    signals: dict[str, Floats]
    evidence: Floats
    """Terms matching: mass each holds of what proves something (see `evidence`); else ones."""
    total_evidence: float = 1.0
    """The same of the whole query."""
    greatest_mass: float = 1.0
    """Mass of one term of full weight and greatest rarity."""


class _Scored(NamedTuple):
    """Entries that match a query, with their scores."""

    documents: Ints
    matched: Ints
    scores: Floats

    def at(self, places: Ints) -> _Scored:
        """Some of them."""
        return _Scored(self.documents[places], self.matched[places], self.scores[places])


def rank(
    index: Index,
    query: str,
    profile: Profile,
    *,
    now: int,
    limit: int | None = 8,
    surfaced: Collection[str] = (),
) -> list[Match]:
    """Entries that match, best first.

    Ties go to the entry changed last (its date compared as text), then to the smaller id; under
    substring matching to the earlier place in the index, as in the public plugin.

    Args:
        index: The entries to search.
        query: The question, in any language; one without terms matches nothing.
        profile: What each signal is worth, and what counts as a match.
        now: Milliseconds since the epoch; recency is measured from here.
        limit: At most so many matches; `None` for all.
        surfaced: Ids of entries shown lately.
    """
    if profile.matching == "terms" and not profile.uses("substring"):
        scored = _scored_at_once(index, query, profile, now=now, surfaced=surfaced, limit=limit)
    else:
        found = candidates(
            index, query, profile, now=now, surfaced=surfaced, wanted=profile.weights
        )
        scored = _Scored(found.documents, found.matched, weigh(found, profile))
        # What is not a number ties with everything.
        scored = scored.at(_best(scored.scores, None if np.isnan(scored.scores).any() else limit))
    documents, held, scores = scored
    matches = [
        Match(entry=entry, score=score, matched=matched)
        for entry, score, matched in zip(
            map(index.entry, documents.tolist()), scores.tolist(), held.tolist(), strict=True
        )
    ]
    return in_order(matches, profile)[:limit]


def candidates(
    index: Index,
    query: str,
    profile: Profile,
    *,
    now: int,
    surfaced: Collection[str] = (),
    wanted: Collection[str] = NAMES,
) -> Candidates:
    """Every signal of every match, for the tuner and the notebooks; in the order of the entries."""
    families = {FAMILY[name] for name in wanted} | {profile.matching}
    if not len(index):
        none = np.empty(0, np.int64)
        return Candidates(none, none, {name: np.empty(0) for name in wanted}, np.empty(0))
    documents = index.in_order.astype(np.int64)
    signals: dict[str, Floats] = {}
    if "terms" in families:
        hits, dense = term_signals(index, query, wanted)
        signals |= {name: column[documents] for name, column in dense.items()}
    if "substring" in families:
        substrings = index.substrings.columns(query)
        signals |= {name: column for name, column in substrings.signals.items() if name in wanted}
    if profile.matching == "terms":
        evidence = term_evidence(hits)
        held, total, greatest = evidence.held[documents], evidence.total, evidence.greatest
        matched = terms_held(hits)[documents]
        kept = np.flatnonzero(held >= evidence_needed(profile, total, greatest))
    else:
        held, total, greatest = np.ones(len(index)), 1.0, 1.0
        matched = substrings.matched
        kept = np.flatnonzero(matched)
    signals = {name: column[kept] for name, column in signals.items()}
    documents = documents[kept]
    signals |= _entry_signals(index, documents, now, surfaced, wanted)
    return Candidates(documents, matched[kept], signals, held[kept], total, greatest)


def weigh(found: Candidates, profile: Profile) -> Floats:
    """Scores: weighted signals added in the order of `signals.SIGNALS`.

    Under terms matching a signal that is not a number (an unreadable importance) counts as 0; the
    public plugin lets it spoil the score, and so does substring matching.
    """
    scores = np.zeros(len(found.documents))
    for name, weight in profile.weights.items():
        earned = weight * found.signals[name]
        scores += earned if profile.matching == "substring" else np.nan_to_num(earned)
    return scores


def _scored_at_once(
    index: Index,
    query: str,
    profile: Profile,
    *,
    now: int,
    surfaced: Collection[str],
    limit: int | None,
) -> _Scored:
    """What `candidates` and `weigh` find, cut to the best: without a column for every signal."""
    hits, dense = term_scores(index, query, profile.weights)
    evidence = term_evidence(hits)
    needed = evidence_needed(profile, evidence.total, evidence.greatest)
    documents = (evidence.held >= needed).nonzero()[0]
    scores = dense[documents]
    weights = profile.weights
    if "importance" in weights:
        importances = index.documents.importances[documents]
        if index.documents.spoiled:
            np.nan_to_num(importances, copy=False)
        scores += weights["importance"] * importances
    if "recency" in weights:
        recent, earned = _recent(index.documents.changed[documents], now)
        if len(recent):
            scores[recent] += weights["recency"] * earned
    scored = _Scored(documents, terms_held(hits)[documents], scores)
    penalty = weights.get("surfaced", 0.0)
    if not surfaced or not penalty:
        return scored.at(_best(scores, limit))
    return _after_surfaced(index, scored, frozenset(surfaced), penalty, limit)


def _after_surfaced(
    index: Index, scored: _Scored, shown: frozenset[str], weight: float, limit: int | None
) -> _Scored:
    """The best once what was shown lately earns its weight, which is rarely looked for in all."""
    room = limit if limit is None or weight > 0 else limit + len(shown)
    if weight > 0:
        room = None
    while True:
        best = scored.at(_best(scored.scores, room))
        lately = _surfaced(index, best.documents, shown)
        # Whatever is left out would have to pass `limit` entries that keep what they had.
        if room is None or limit is None or len(lately) - int(lately.sum()) >= limit:
            break
        if len(best.documents) == len(scored.documents):
            break
        room *= 2
    return best._replace(scores=best.scores + weight * lately)


def _best(scores: Floats, limit: int | None) -> Ints:
    """Places of the best scores, with everything that may tie with the last of them; ascending."""
    count = len(scores)
    if limit is None or count <= limit:
        return np.arange(count)
    if limit < 1:
        return np.empty(0, dtype=np.int64)
    # The last of the best is at least the `limit`-th of what is greatest in each block.
    blocks = count // _BLOCK
    least = scores
    if blocks > limit:
        least = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    kept = (scores >= _greatest(least, limit) - CLEAR).nonzero()[0]
    if least is not scores:
        kept = kept[scores[kept] >= _greatest(scores[kept], limit) - CLEAR]
    return kept


def _greatest(values: Floats, nth: int) -> float:
    """The n-th greatest value."""
    ordered = values.copy()
    ordered.partition(len(values) - nth)
    return float(ordered[len(values) - nth])


def _entry_signals(
    index: Index, documents: Ints, now: int, surfaced: Collection[str], wanted: Collection[str]
) -> dict[str, Floats]:
    signals: dict[str, Floats] = {}
    if "importance" in wanted:
        signals["importance"] = index.documents.importances[documents]
    if "recency" in wanted:
        recent, earned = _recent(index.documents.changed[documents], now)
        signals["recency"] = np.zeros(len(documents))
        signals["recency"][recent] = earned
    if "surfaced" in wanted:
        signals["surfaced"] = _surfaced(index, documents, frozenset(surfaced))
    return signals


def _recent(changed: Floats, now: int) -> tuple[Ints, Floats]:
    """Which of many earn recency, and how much (see `signals.recency`); there are few."""
    recent = (changed > now - _RECENT_MS).nonzero()[0]
    days = np.maximum(0.0, now - changed[recent]) / MS_PER_DAY if len(recent) else changed[:0]
    return recent, 3.0 - np.log2(1.0 + days) if len(recent) else days


def _surfaced(index: Index, documents: Ints, shown: frozenset[str]) -> Floats:
    if not shown:
        return np.zeros(len(documents))
    entry = index.entry
    return np.array([entry(at).id in shown for at in documents.tolist()], dtype=np.float64)
