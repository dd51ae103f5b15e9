"""A set's candidates with all their signals, and what any profile gives on them.

Scoring a cached set with a profile gives the figures of `wsmem eval`, and takes no text analysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wsmem.errors import InvalidInputError
from wsmem.retrieval.evidence import evidence_needed
from wsmem.retrieval.order import TIE_DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from wsmem.retrieval.profile import Profile

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class CachedSet:
    """The scored queries of one split with their candidates. Queries are numbered by their place.

    Rows are candidates, query after query; a query's rows are `starts[q]` to `starts[q + 1]`.
    """

    name: str
    split: str
    checksums: Mapping[str, str]
    signals: tuple[str, ...]
    """Which were computed; one that is 0 in every row has no column."""
    queries: tuple[str, ...]
    scopes: tuple[str | None, ...]
    nothing: Bits
    """By query: whether nothing is relevant to it, so that nothing should be recalled."""
    totals: Floats
    """By query: summed mass of the terms that prove something."""
    greatest: Floats
    """By query: mass of one term of full weight and greatest rarity."""
    starts: Ints
    evidence: Floats
    ties: Ints
    """By row: place of the entry among its pool's when all scores are equal, the first 0."""
    grades: Ints
    columns: Mapping[str, Floats]
    label_starts: Ints
    labels: Ints
    """Grades of all relevant documents of each query, found or not, falling; as `starts`."""

    @property
    def judged(self) -> Bits:
        """By query: whether a document is relevant to it."""
        found: Bits = np.diff(self.label_starts) > 0
        return found

    @cached_property
    def row_queries(self) -> Ints:
        """The query of each row."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    def ideal(self, k: int) -> Floats:
        """By query: the greatest discounted gain that k ranks can hold; 0 where none is judged."""
        discounts, found = discount_table(k), np.zeros(len(self.queries))
        for query, (start, end) in enumerate(
            zip(self.label_starts[:-1].tolist(), self.label_starts[1:].tolist(), strict=True)
        ):
            best = self.labels[start : min(end, start + k)]
            found[query] = float(best @ discounts[: len(best)])
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScores:
    """What a profile gives on a cached set, query by query."""

    ndcg: Floats
    """NaN for a query without relevant documents."""
    recalled: Bits
    """Whether anything was recalled."""
    nothing: Bits

    @property
    def mean(self) -> float:
        """Mean nDCG over the judged queries; NaN without any."""
        known = self.ndcg[~np.isnan(self.ndcg)]
        return float(known.mean()) if len(known) else float("nan")

    @property
    def false_recall(self) -> float | None:
        """Share of the nothing-queries that recalled something; `None` without any."""
        return float(self.recalled[self.nothing].mean()) if self.nothing.any() else None


def discount_table(k: int) -> Floats:
    """1 / log2(1 + rank) for ranks 1 to k (Järvelin & Kekäläinen 2002, as trec_eval has it)."""
    found: Floats = 1.0 / np.log2(np.arange(k) + 2.0)
    return found


def score_set(cached: CachedSet, profile: Profile, *, k: int = 10) -> SetScores:
    """nDCG@k of every query, as `wsmem eval` finds it for this profile.

    Raises:
        InvalidInputError: the profile does not match by terms, or weighs a signal not cached.
    """
    if profile.matching != "terms":
        raise InvalidInputError(f"profile {profile.name}: only terms matching is cached")
    missing = sorted(set(profile.weights) - set(cached.signals))
    if missing:
        raise InvalidInputError(f"{cached.name}: signal {missing[0]!r} is not in the cache")
    scores = np.zeros(len(cached.evidence))
    for name, weight in profile.weights.items():
        if name in cached.columns:
            scores += weight * cached.columns[name]
    needed = np.array(
        [
            evidence_needed(profile, total, greatest)
            for total, greatest in zip(
                cached.totals.tolist(), cached.greatest.tolist(), strict=True
            )
        ]
    )
    matching = np.flatnonzero(cached.evidence >= needed[cached.row_queries])
    queries = cached.row_queries[matching]
    found = np.bincount(queries, minlength=len(cached.queries))
    rounded = np.round(scores[matching], TIE_DIGITS)
    order = np.lexsort((cached.ties[matching], -rounded, queries))
    ranks = np.arange(len(order)) - np.repeat(np.cumsum(found) - found, found)
    grades = cached.grades[matching[order]]
    counts = (ranks < k) & (grades > 0)
    gains = np.bincount(
        queries[counts],
        weights=grades[counts] * discount_table(k)[ranks[counts]],
        minlength=len(cached.queries),
    )
    ideal = cached.ideal(k)
    ndcg = np.divide(gains, ideal, out=np.full(len(ideal), np.nan), where=ideal > 0)
    return SetScores(ndcg=ndcg, recalled=found > 0, nothing=cached.nothing)
