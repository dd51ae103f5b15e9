"""Cached candidates reduced to what a search has to compare: a trial in a millisecond or two.

nDCG asks only for the ranks of the relevant entries, and a rank is the number of rivals that score
higher. So every candidate of a query meets every relevant one in a *duel*: the difference of their
signals, times the weights, says who is ahead. Most duels need no weights at all. While the sign of
each weight is known, a rival that is behind in every signal never wins, and one that is ahead in
every signal always does; a relevant entry with k such rivals is out of the first k for good.
What is left is a matrix product, a comparison and a count.

Differences are in single precision here, and a duel lost in every signal stays lost when weights
are exactly 0, so a search may be off in the last digits; figures that are reported come from
`score_set`, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wsmem.evals.tuning.cached import CachedSet, discount_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Singles = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

_EVEN = 1e-12
"""Signals that differ by less are equal: sums made in another order."""
_TIE = 1e-7
"""What being first among equals weighs, relative to the largest weight; below any difference."""
_MEETS = 1e-6
"""Keeps a share that is met exactly from failing in single precision."""


class Outcome(NamedTuple):
    """What one trial gave, by set."""

    ndcg: Floats
    false_recall: Floats
    """NaN for a set without queries that should recall nothing."""


class _Block(NamedTuple):
    """Duels that stand together, without the signals in which none of them differs."""

    span: slice
    rows: Ints
    differences: Singles


@dataclass(frozen=True, kw_only=True, eq=False)
class Duels:
    """The open duels of one or more sets, set after set."""

    sets: tuple[str, ...]
    signals: tuple[str, ...]
    k: int
    differences: Singles
    """Rival less relevant entry: one row a signal, then 1 or -1 for who is first among equals."""
    shares: Singles
    """By duel: mass of evidence the rival holds, as a share of the query's ..."""
    terms: Singles
    """... and in terms of the greatest rarity."""
    ends: Ints
    """By relevant entry: where its duels end; they begin where those before end."""
    lost: Ints
    """By relevant entry: rivals that are ahead whatever the weights."""
    worth: Floats
    """By relevant entry: what rank 1 adds to its set's mean nDCG, undiscounted."""
    own_shares: Singles
    own_terms: Singles
    entry_sets: Ints
    """By relevant entry: the number of its set."""
    nothing_shares: Singles
    """By query that should recall nothing: the most evidence any entry holds, as above."""
    nothing_terms: Singles
    nothing_sets: Ints

    def __len__(self) -> int:
        return len(self.shares)

    def play(self, weights: Mapping[str, float], *, share: float, cap: float) -> Outcome:
        """One trial: rank everything by these weights and this threshold.

        Args:
            weights: By signal; absent ones are 0. Their signs are as when the duels were made.
            share: As `Profile.evidence_share`.
            cap: As `Profile.evidence_cap`.
        """
        vector = np.array([weights.get(name, 0.0) for name in self.signals])
        tie = _TIE * max(float(np.abs(vector).max(initial=0.0)), 1e-30)
        weighed = np.append(vector, tie).astype(np.float32)
        wins = np.empty(len(self), dtype=np.bool_)
        for block in self._blocks:
            np.greater(weighed[block.rows] @ block.differences, 0, out=wins[block.span])
        if share > 0:
            wins &= _enough(self.shares, self.terms, share, cap)
        count = np.concatenate([[0], np.cumsum(wins, dtype=np.int32)])[self.ends]
        rank = np.minimum(self.lost + np.diff(count, prepend=0), self.k)
        gains = self.worth * np.append(discount_table(self.k), 0.0)[rank]
        if share > 0:
            gains *= _enough(self.own_shares, self.own_terms, share, cap)
        # Without a single entry bincount would answer in whole numbers.
        ndcg = np.bincount(self.entry_sets, weights=gains, minlength=len(self.sets)).astype(float)
        asked = np.bincount(self.nothing_sets, minlength=len(self.sets))
        recalled = np.bincount(
            self.nothing_sets,
            weights=_enough(self.nothing_shares, self.nothing_terms, share, cap),
            minlength=len(self.sets),
        )
        blank = np.full(len(self.sets), np.nan)
        return Outcome(ndcg, np.divide(recalled, asked, out=blank, where=asked > 0))

    @property
    def silent(self) -> tuple[str, ...]:
        """Signals in which no duel differs: whatever their weight, the sets do not show it."""
        said = np.asarray(self.differences.any(axis=1)).tolist()
        return tuple(name for at, name in enumerate(self.signals) if not said[at])

    @cached_property
    def _blocks(self) -> list[_Block]:
        """The differences set by set: few sets have every signal, and a trial reads all of this."""
        edges = [0, *self.ends[np.flatnonzero(np.diff(self.entry_sets))].tolist(), len(self)]
        found = []
        for start, end in pairwise(edges):
            span = slice(start, end)
            rows = np.flatnonzero(self.differences[:, span].any(axis=1))
            found.append(_Block(span, rows, np.ascontiguousarray(self.differences[rows, span])))
        return found

    def of(self, sets: Sequence[str]) -> Duels:
        """The duels of some of the sets, in the order given."""
        return stacked([self._one(name) for name in sets])

    def _one(self, name: str) -> Duels:
        number = self.sets.index(name)
        entries = np.flatnonzero(self.entry_sets == number)
        queries = self.nothing_sets == number
        begin = end = 0
        if len(entries):
            first, last = int(entries[0]), int(entries[-1])
            begin = int(self.ends[first - 1]) if first else 0
            end = int(self.ends[last])
        return Duels(
            sets=(name,),
            signals=self.signals,
            k=self.k,
            differences=self.differences[:, begin:end],
            shares=self.shares[begin:end],
            terms=self.terms[begin:end],
            ends=self.ends[entries] - begin,
            lost=self.lost[entries],
            worth=self.worth[entries],
            own_shares=self.own_shares[entries],
            own_terms=self.own_terms[entries],
            entry_sets=np.zeros(len(entries), np.int64),
            nothing_shares=self.nothing_shares[queries],
            nothing_terms=self.nothing_terms[queries],
            nothing_sets=np.zeros(int(queries.sum()), np.int64),
        )


PLAIN = ("sets", "signals", "k")
"""The fields that are no arrays."""
ARRAYS = tuple(name for name in Duels.__dataclass_fields__ if name not in PLAIN)


def _enough(shares: Singles, terms: Singles, share: float, cap: float) -> npt.NDArray[np.bool_]:
    """Whether evidence reaches `share * min(all of the query, cap terms)`, and there is any."""
    found: npt.NDArray[np.bool_] = (shares >= share - _MEETS) | (terms >= share * cap - _MEETS)
    return found & (shares > 0)


def make_duels(cached: CachedSet, signs: Mapping[str, int], *, k: int = 10) -> Duels:
    """Set up the duels of a cached set.

    Args:
        cached: Must hold every signal named.
        signs: By signal that may have a weight: 1 for weights of 0 or more, -1 for 0 or less, 0
            where both may be, which leaves more duels open.
        k: Ranks that count.
    """
    entries = _Entries(cached, signs, k)
    for query in np.flatnonzero(cached.judged).tolist():
        entries.add(query)
    nothing = np.flatnonzero(cached.nothing)
    most = np.array(
        [cached.evidence[slice(*_rows(cached, q))].max(initial=0.0) for q in nothing.tolist()]
    )
    shares, terms = _in_units(most, cached.totals[nothing], cached.greatest[nothing])
    return Duels(
        sets=(cached.name,),
        signals=tuple(signs),
        k=k,
        **entries.arrays(),
        nothing_shares=shares,
        nothing_terms=terms,
        nothing_sets=np.zeros(len(nothing), np.int64),
    )


class _Entries:
    """The relevant entries of a set that weights can bring into the first k, with their duels."""

    def __init__(self, cached: CachedSet, signs: Mapping[str, int], k: int) -> None:
        self.cached, self.k = cached, k
        blank = np.zeros(len(cached.evidence))
        self.matrix = np.stack([blank, *(cached.columns.get(name, blank) for name in signs)])[1:]
        # A column whose sign is free must be equal for a duel to be decided beforehand.
        self.signs = np.array(list(signs.values()), dtype=np.float64)[:, None]
        self.ideal = cached.ideal(k)
        self.queries = int(cached.judged.sum())
        self.differences: list[Singles] = []
        self.evidence: list[Floats] = []
        self.evidence_queries: list[Ints] = []
        self.sizes: list[int] = []
        self.lost: list[int] = []
        self.worth: list[float] = []
        self.rows: list[int] = []
        self.row_queries: list[int] = []

    def add(self, query: int) -> None:
        """Take in the relevant entries of a query."""
        start, end = _rows(self.cached, query)
        if start == end:
            return
        rows = self.matrix[:, start:end]
        ties, evidence = self.cached.ties[start:end], self.cached.evidence[start:end]
        grades = self.cached.grades[start:end]
        for entry in np.flatnonzero(grades > 0).tolist():
            difference = rows - rows[:, entry : entry + 1]
            difference[np.abs(difference) < _EVEN] = 0.0
            first = np.sign(ties[entry] - ties)
            signed = difference * self.signs
            free = (difference != 0) & (self.signs == 0)
            behind = (signed < 0).any(axis=0) | free.any(axis=0)
            ahead = (signed > 0).any(axis=0) | free.any(axis=0)
            never = ~ahead & (behind | (first < 0))
            never[entry] = True
            always = ~behind & (ahead | (first > 0)) & (evidence >= evidence[entry])
            lost = int(always.sum())
            if lost >= self.k:
                continue
            rivals = np.flatnonzero(~never & ~always)
            self.differences.append(
                np.vstack([difference[:, rivals], first[rivals]]).astype(np.float32)
            )
            self.evidence.append(evidence[rivals])
            self.evidence_queries.append(np.full(len(rivals), query))
            self.sizes.append(len(rivals))
            self.lost.append(lost)
            self.worth.append(int(grades[entry]) / (self.ideal[query] * self.queries))
            self.rows.append(start + entry)
            self.row_queries.append(query)

    def arrays(self) -> dict[str, Any]:
        """The fields of `Duels` about relevant entries and their duels."""
        cached = self.cached
        height = len(self.matrix) + 1
        queries = np.concatenate([np.empty(0, np.int64), *self.evidence_queries])
        evidence = np.concatenate([np.empty(0), *self.evidence])
        shares, terms = _in_units(evidence, cached.totals[queries], cached.greatest[queries])
        rows = np.array(self.rows, dtype=np.int64)
        own = np.array(self.row_queries, dtype=np.int64)
        own_shares, own_terms = _in_units(
            cached.evidence[rows], cached.totals[own], cached.greatest[own]
        )
        return {
            "differences": np.concatenate(
                [np.empty((height, 0), np.float32), *self.differences], axis=1
            ),
            "shares": shares,
            "terms": terms,
            "ends": np.cumsum(np.array(self.sizes, dtype=np.int64)),
            "lost": np.array(self.lost, dtype=np.int64),
            "worth": np.array(self.worth, dtype=np.float64),
            "own_shares": own_shares,
            "own_terms": own_terms,
            "entry_sets": np.zeros(len(rows), np.int64),
        }


def _rows(cached: CachedSet, query: int) -> tuple[int, int]:
    return int(cached.starts[query]), int(cached.starts[query + 1])


def _in_units(evidence: Floats, totals: Floats, greatest: Floats) -> tuple[Singles, Singles]:
    """Evidence as a share of the query's, and in terms of the greatest rarity."""
    found = []
    for unit in (totals, greatest):
        blank = np.zeros(len(evidence))
        found.append(np.divide(evidence, unit, out=blank, where=unit > 0).astype(np.float32))
    return found[0], found[1]


def stacked(parts: Sequence[Duels]) -> Duels:
    """The duels of several sets as one; all made for the same signals and ranks."""
    names = tuple(name for part in parts for name in part.sets)
    first = parts[0]
    fields: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in ARRAYS}
    duels = sets = 0
    for part in parts:
        for name in ARRAYS:
            values = getattr(part, name)
            offset = duels if name == "ends" else sets if name.endswith("_sets") else 0
            fields[name].append(values + offset if offset else values)
        duels += len(part)
        sets += len(part.sets)
    return Duels(
        sets=names,
        signals=first.signals,
        k=first.k,
        **{
            # Contiguous by row, since a trial reads one signal after the other.
            name: np.ascontiguousarray(np.concatenate(values, axis=-1))
            for name, values in fields.items()
        },
    )
