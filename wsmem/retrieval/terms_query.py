"""Signals of the terms family for every document of an index, from its postings.

Every signal but `letters` and `pairs` is a sum over the query's terms: what the term counts, times
the value of its posting. The value tables here say all there is to say about one: `term_signals`
sums each signal by itself, `term_scores` adds them up, weighted, before it sums.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wsmem.retrieval.evidence import evidence_masses
from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1, rarity
from wsmem.retrieval.term_rows import TermRows, read_rows
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy.typing as npt

    from wsmem.retrieval.index import Index
    from wsmem.retrieval.term_rows import Postings, TermRow
    from wsmem.text.analysis import Query

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def _saturation(postings: Postings) -> Floats:
    return postings.counts / (postings.counts + SATURATION_K1)


def _length_saturation(postings: Postings) -> Floats:
    norms = postings.within.documents.lengths.take(postings.documents)
    norms *= SATURATION_K1 * LENGTH_B / postings.within.average_length
    norms += SATURATION_K1 * (1.0 - LENGTH_B)
    norms += postings.counts
    return np.divide(postings.counts, norms, out=norms)


def _where(bit: int) -> Floats:
    return np.array([float(fields & bit > 0) for fields in range(1 << 3)])


VALUE_BY_FIELDS: Mapping[str, Floats] = MappingProxyType(
    {
        "coverage": np.ones(1 << 3),
        "title": _where(TITLE),
        "tags": _where(TAG),
        "retrieval_terms": _where(TERM),
    }
)
"""Value of a posting, looked up by its field bits; earns the term's share of the query's mass."""

VALUE_OF_POSTINGS: Mapping[str, Callable[[Postings], Floats]] = MappingProxyType(
    {"saturation": _saturation, "length_saturation": _length_saturation}
)
"""Value of each posting, computed; earns the term's share of the query's mass."""


_MOST_SETS = 4
"""Sets of rows an index keeps: profiles seldom change, and letters have one of their own."""


class TermHits(NamedTuple):
    """Every posting of every query term, term after term."""

    within: Index
    query: Query
    rows: list[TermRow]
    """One a query term."""
    documents: Ints
    sizes: Ints
    """Postings of each query term, those of dead documents included."""
    masses: list[float]
    """What each query term counts: its weight times its rarity."""
    total: float
    """Their sum, 1 for a query without terms."""

    @classmethod
    def of(cls, index: Index, query: Query, rows: list[TermRow], documents: Ints) -> TermHits:
        """With what follows from the rows."""
        masses = [term.weight * row.rarity for term, row in zip(query.terms, rows, strict=True)]
        sizes = np.array([row.size for row in rows], dtype=np.int64)
        return cls(index, query, rows, documents, sizes, masses, sum(masses) or 1.0)

    def summed(self, values: Floats) -> Floats:
        """Values of the postings, summed by document."""
        return _sums(self.documents, values, self.within.documents.size)

    def spread(self, values: Sequence[float] | Floats) -> Floats:
        """A value for each term, repeated for each of its postings."""
        return np.asarray(values).repeat(self.sizes)


def term_signals(
    index: Index, text: str, wanted: Collection[str]
) -> tuple[TermHits, dict[str, Floats]]:
    """The wanted signals of the family for a question, each dense: one value a document."""
    query = analyze_query(text)
    postings, rows = read_rows(index, [term.text for term in query.terms])
    hits = TermHits.of(index, query, rows, postings.documents)
    mass, total = hits.spread(hits.masses), hits.total
    signals = {
        name: hits.summed(mass * table.take(postings.fields)) / total
        for name, table in VALUE_BY_FIELDS.items()
        if name in wanted
    }
    for name, value in VALUE_OF_POSTINGS.items():
        if name in wanted:
            signals[name] = hits.summed(mass * value(postings)) / total
    if "word_coverage" in wanted:
        signals["word_coverage"] = hits.summed(hits.spread(_word_shares(query)))
    if "letters" in wanted:
        signals["letters"] = _sums(*_letters(index, query), index.documents.size)
    if "pairs" in wanted:
        signals["pairs"] = _sums(*_pairs(hits), index.documents.size)
    return hits, signals


def term_scores(index: Index, text: str, weights: Mapping[str, float]) -> tuple[TermHits, Floats]:
    """Sum of the weighted signals of the family, dense: what `term_signals` says, in one pass."""
    query = analyze_query(text)
    rows = _rows(index, weights).of([term.text for term in query.terms])
    hits = TermHits.of(index, query, rows, _joined([row.documents for row in rows], np.int64))
    values = _joined([row.values for row in rows], np.float64)
    values *= hits.spread([mass / hits.total for mass in hits.masses])
    if "word_coverage" in weights:
        values += hits.spread(weights["word_coverage"] * _word_shares(query))
    dense = hits.summed(values)
    if "letters" in weights and query.letters:
        dense += weights["letters"] * _sums(*_letters(index, query), index.documents.size)
    if "pairs" in weights and query.pairs:
        documents, shares = _pairs(hits)
        if len(documents):
            dense += weights["pairs"] * _sums(documents, shares, index.documents.size)
    return hits, dense


class TermEvidence(NamedTuple):
    """What decides on a match, see `wsmem.retrieval.evidence`."""

    held: Floats
    """Summed mass of the terms each document holds, function words left out; 0 where nothing shows
    the subject, and for dead documents."""
    total: float
    """The same sum over the whole query."""
    greatest: float
    """Mass of a full-weight term that no entry, or one, holds."""


def term_evidence(hits: TermHits) -> TermEvidence:
    """How much of what it takes to match each document holds."""
    index, size = hits.within, hits.within.documents.size
    evidence = evidence_masses(hits.query, hits.masses)
    held = hits.summed(hits.spread(evidence.masses))
    if evidence.deciding is not None:
        decided = np.zeros(size, dtype=bool)
        decided[hits.documents[hits.spread(evidence.deciding) > 0]] = True
        held *= decided
    if index.size < size:
        held *= index.alive
    return TermEvidence(held, sum(evidence.masses), rarity(index.size, 1))


def terms_held(hits: TermHits) -> Ints:
    """How many distinct query terms each document holds."""
    return np.bincount(hits.documents, minlength=hits.within.documents.size)


def _rows(index: Index, weights: Mapping[str, float]) -> TermRows:
    """Rows whose values are all signals that are looked up or computed, weighted and added."""
    by_fields = tuple([weights.get(name, 0.0) for name in VALUE_BY_FIELDS])
    of_postings = tuple([weights.get(name, 0.0) for name in VALUE_OF_POSTINGS])
    key = by_fields + of_postings
    rows = index.rows.get(key)
    if rows is None:
        table = sum(map(np.multiply, by_fields, VALUE_BY_FIELDS.values()))
        rows = TermRows(index, partial(_weighted, np.asarray(table), of_postings))
        if len(index.rows) >= _MOST_SETS:
            index.rows.clear()
        index.rows[key] = rows
    return rows


def _weighted(table: Floats, weights: Sequence[float], postings: Postings) -> Floats:
    values = table.take(postings.fields)
    for weight, value in zip(weights, VALUE_OF_POSTINGS.values(), strict=True):
        if weight:
            values += weight * value(postings)
    return values


def _word_shares(query: Query) -> Floats:
    weights = np.array([term.weight for term in query.terms])
    return weights / (float(weights.sum()) or 1.0)


def _letters(index: Index, query: Query) -> tuple[Ints, Floats]:
    """Documents that hold a letter, and its share of the letters' mass, damped by the length."""
    rows = _rows(index, {"length_saturation": 1.0}).of(query.letters)
    masses = [row.rarity for row in rows]
    shares = np.array(masses) / (sum(masses) or 1.0)
    values = _joined([row.values for row in rows], np.float64)
    documents = _joined([row.documents for row in rows], np.int64)
    return documents, values * shares.repeat([row.size for row in rows])


def _pairs(hits: TermHits) -> tuple[Ints, Floats]:
    """Documents where a pair stands together, and the pair's share of the pairs' mass."""
    numbers = {term.text: number for number, term in enumerate(hits.query.terms)}
    pairs = [(numbers[a], numbers[b]) for a, b in hits.query.pairs]
    masses = hits.masses
    mass = np.array([masses[a] + masses[b] for a, b in pairs])
    mass /= float(sum(mass.tolist())) or 1.0
    documents, values = [], []
    for at, segment in enumerate(hits.within.segments):
        spans = [row.spans[at] for row in hits.rows]
        pair, found = segment.standing_together([(spans[a], spans[b]) for a, b in pairs])
        if len(found):
            documents.append(found)
            values.append(mass[pair])
    return _joined(documents, np.int64), _joined(values, np.float64)


def _joined(parts: Sequence[npt.NDArray[Any]], kind: type) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def _sums(documents: Ints, values: Floats, size: int) -> Floats:
    """Values summed by document."""
    if not len(documents):  # bincount would answer in whole numbers
        return np.zeros(size)
    return np.bincount(documents, weights=values, minlength=size).astype(np.float64, copy=False)
