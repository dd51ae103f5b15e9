"""Rank the entries of an index for a query: signals, times weights, in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.records import Match
from wsmem.retrieval.evidence import evidence_needed
from wsmem.retrieval.order import TIE_DIGITS, in_order
from wsmem.retrieval.signals import FAMILY, MS_PER_DAY, NAMES
from wsmem.retrieval.terms_query import term_columns

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from wsmem.retrieval.index import Index
    from wsmem.retrieval.profile import Profile

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


class Candidates(NamedTuple):
    """Entries that match a query, and what each signal gives them (one row a signal)."""

    documents: Ints
    matched: Ints
    signals: dict[str, Floats]
    evidence: Floats
    """Terms matching: mass each holds of what proves something (see `evidence`); else ones."""
    total_evidence: float = 1.0
    """The same of the whole query."""
    greatest_mass: float = 1.0
    """Mass of one term of full weight and greatest rarity."""


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
    found = candidates(index, query, profile, now=now, surfaced=surfaced, wanted=profile.weights)
    scores = weigh(found, profile)
    kept = _best(scores, limit)
    matches = [
        Match(
            entry=index.entries[int(found.documents[at])],
            score=float(scores[at]),
            matched=int(found.matched[at]),
        )
        for at in kept
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
    """The one place where signals are computed: for the engine, the tuner and the notebooks."""
    dense: dict[str, Floats] = {}
    families = {FAMILY[name] for name in wanted} | {profile.matching}
    if not len(index):
        none = np.empty(0, np.int64)
        return Candidates(none, none, {name: np.empty(0) for name in wanted}, np.empty(0))
    if "terms" in families:
        terms = term_columns(index, query, wanted)
        dense |= terms.signals
    if "substring" in families:
        substrings = index.substrings.columns(query)
        dense |= {name: column for name, column in substrings.signals.items() if name in wanted}
    if profile.matching == "terms":
        needed = evidence_needed(profile, terms.total_evidence, terms.greatest_mass)
        documents = np.flatnonzero(terms.evidence >= needed)
        matched = terms.matched[documents]
    else:
        documents = np.flatnonzero(substrings.matched)
        matched = substrings.matched[documents]
    signals = {name: column[documents] for name, column in dense.items()}
    signals |= _entry_signals(index, documents, now, surfaced, wanted)
    if profile.matching != "terms":
        return Candidates(documents, matched, signals, np.ones(len(documents)))
    evidence = terms.evidence[documents]
    return Candidates(
        documents, matched, signals, evidence, terms.total_evidence, terms.greatest_mass
    )


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


def _best(scores: Floats, limit: int | None) -> list[int]:
    """Places of the best scores, with everything that ties with the last of them; ascending."""
    if limit is None or len(scores) <= limit:
        return list(range(len(scores)))
    if limit < 1:
        return []
    rounded = np.round(scores, TIE_DIGITS)
    if np.isnan(rounded).any():
        return list(range(len(scores)))
    last = np.partition(rounded, len(rounded) - limit)[len(rounded) - limit]
    return np.flatnonzero(rounded >= last).tolist()


def _entry_signals(
    index: Index, documents: Ints, now: int, surfaced: Collection[str], wanted: Collection[str]
) -> dict[str, Floats]:
    signals: dict[str, Floats] = {}
    if "importance" in wanted:
        signals["importance"] = index.importances[documents]
    if "recency" in wanted:
        days = np.maximum(0.0, now - index.changed[documents]) / MS_PER_DAY
        signals["recency"] = np.nan_to_num(np.maximum(0.0, 3.0 - np.log2(1.0 + days)))
    if "surfaced" in wanted:
        shown = frozenset(surfaced)
        entries = index.entries
        signals["surfaced"] = (
            np.array([entries[at].id in shown for at in documents.tolist()], dtype=np.float64)
            if shown
            else np.zeros(len(documents))
        )
    return signals
