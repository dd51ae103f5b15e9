"""Signals of the terms family for every document of an index, from its postings.

Every signal but `pairs` is a sum over the query's terms: what the term counts, times the value of
its posting. The value tables here say all there is to say about one: `term_signals` sums each
signal by itself, `term_scores` adds them up, weighted, before it sums.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.evidence import evidence_masses
from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.segment import COUNT_BITS, DOCUMENT_SHIFT, FIELD_BITS, pack
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1, rarity
from wsmem.text.analysis import analyze_query, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from wsmem.retrieval.index import Index
    from wsmem.text.analysis import Query, QueryTerm

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


class TermHits(NamedTuple):
    """Every posting of every query term, term after term."""

    within: Index
    query: Query
    documents: Ints
    counts: Floats
    fields: Ints
    sizes: Ints
    """Postings of each query term, those of dead documents included."""
    masses: list[float]
    """What each query term counts: its weight times its rarity."""
    total: float
    """Their sum, 1 for a query without terms."""


def _saturation(hits: TermHits) -> Floats:
    return hits.counts / (hits.counts + SATURATION_K1)


def _length_saturation(hits: TermHits) -> Floats:
    norms = hits.within.documents.lengths.take(hits.documents)
    norms *= SATURATION_K1 * LENGTH_B / hits.within.average_length
    norms += SATURATION_K1 * (1.0 - LENGTH_B)
    norms += hits.counts
    return np.divide(hits.counts, norms, out=norms)


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

VALUE_OF_POSTINGS: Mapping[str, Callable[[TermHits], Floats]] = MappingProxyType(
    {"saturation": _saturation, "length_saturation": _length_saturation}
)
"""Value of each posting, computed; earns the term's share of the query's mass."""


def term_hits(index: Index, text: str) -> TermHits:
    """Analyse a question and gather its postings."""
    query = analyze_query(text)
    rows: list[Ints] = []
    sizes: list[int] = []
    for term in query.terms:
        found = _postings(index, term.text)
        rows += found
        sizes.append(sum(map(len, found)))
    packed = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    documents = packed >> DOCUMENT_SHIFT
    counts = packed >> FIELD_BITS
    counts &= (1 << COUNT_BITS) - 1
    packed &= (1 << FIELD_BITS) - 1
    masses = _masses(index, query.terms, _living(index, documents, sizes))
    return TermHits(
        within=index,
        query=query,
        documents=documents,
        counts=counts.astype(np.float64),
        fields=packed,
        sizes=np.array(sizes, dtype=np.int64),
        masses=masses,
        total=sum(masses) or 1.0,
    )


def term_signals(hits: TermHits, wanted: Collection[str]) -> dict[str, Floats]:
    """The wanted signals of the family, each dense: one value a document of the index."""
    mass = np.repeat(np.array(hits.masses), hits.sizes)
    signals = {
        name: _summed(hits, mass * table.take(hits.fields)) / hits.total
        for name, table in VALUE_BY_FIELDS.items()
        if name in wanted
    }
    for name, value in VALUE_OF_POSTINGS.items():
        if name in wanted:
            signals[name] = _summed(hits, mass * value(hits)) / hits.total
    if "word_coverage" in wanted:
        signals["word_coverage"] = _summed(hits, np.repeat(_word_shares(hits), hits.sizes))
    if "pairs" in wanted:
        documents, values = _pairs(hits)
        signals["pairs"] = _sums(documents, values, hits.within.documents.size)
    return signals


def term_scores(hits: TermHits, weights: Mapping[str, float]) -> Floats:
    """Sum of the weighted signals of the family, dense: what `term_signals` says, in one pass."""
    values = _table(tuple(weights.get(name, 0.0) for name in VALUE_BY_FIELDS)).take(hits.fields)
    for name, value in VALUE_OF_POSTINGS.items():
        if name in weights:
            values += weights[name] * value(hits)
    values *= np.repeat(np.array(hits.masses) / hits.total, hits.sizes)
    if "word_coverage" in weights:
        values += np.repeat(weights["word_coverage"] * _word_shares(hits), hits.sizes)
    documents = hits.documents
    if "pairs" in weights and hits.query.pairs:
        at, shares = _pairs(hits)
        if len(at):
            documents = np.concatenate([documents, at])
            values = np.concatenate([values, weights["pairs"] * shares])
    return _sums(documents, values, hits.within.documents.size)


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
    documents, sizes = _of_terms(hits, evidence.masses)
    masses = np.array([mass for mass in evidence.masses if mass])
    held = _sums(documents, np.repeat(masses, sizes), size)
    if evidence.deciding is not None:
        decided = np.zeros(size, dtype=bool)
        decided[_of_terms(hits, evidence.deciding)[0]] = True
        held *= decided
    if index.size < size:
        held *= index.alive
    return TermEvidence(held, sum(evidence.masses), rarity(index.size, 1))


def terms_held(hits: TermHits) -> Ints:
    """How many distinct query terms each document holds."""
    return np.bincount(hits.documents, minlength=hits.within.documents.size)


def _postings(index: Index, term: str) -> list[Ints]:
    """Packed postings of a term in every segment that has it.

    A lone Chinese letter occurs wherever a pair holds it; it is counted once a document and in no
    particular field.
    """
    if len(term) == 1 and is_unspaced(term):
        rows = [row for pair in index.vocabulary.holding(term) for row in _rows(index, pair)]
        if not rows:
            return []
        held = np.zeros(index.documents.size, dtype=bool)
        held[np.concatenate(rows) >> DOCUMENT_SHIFT] = True
        found = np.flatnonzero(held)
        return [pack(found, np.ones_like(found), np.zeros_like(found))]
    number = index.vocabulary.numbers.get(term)
    return [] if number is None else _rows(index, number)


def _rows(index: Index, number: int) -> list[Ints]:
    rows = [segment.postings_of(number) for segment in index.segments]
    return [row for row in rows if row is not None]


def _living(index: Index, documents: Ints, sizes: Sequence[int]) -> Sequence[int]:
    """How many of each term's postings are of living documents."""
    if index.size == index.documents.size or not len(documents):
        return sizes
    dead = np.flatnonzero(~index.alive[documents])
    terms = np.searchsorted(np.cumsum(sizes), dead, side="right")
    lost: list[int] = np.bincount(terms, minlength=len(sizes)).tolist()
    return [size - less for size, less in zip(sizes, lost, strict=True)]


def _masses(index: Index, terms: Iterable[QueryTerm], living: Iterable[int]) -> list[float]:
    return [
        term.weight * rarity(index.size, size) for term, size in zip(terms, living, strict=True)
    ]


def _word_shares(hits: TermHits) -> Floats:
    weights = np.array([term.weight for term in hits.query.terms])
    return weights / (float(weights.sum()) or 1.0)


def _of_terms(hits: TermHits, chosen: Sequence[float]) -> tuple[Ints, Ints]:
    """Documents of the postings of those terms whose value is not 0, and how many each has."""
    if all(chosen):
        return hits.documents, hits.sizes
    parts, sizes, end = [], [], 0
    for size, value in zip(hits.sizes.tolist(), chosen, strict=True):
        end += size
        if value:
            parts.append(hits.documents[end - size : end])
            sizes.append(size)
    documents = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    return documents, np.array(sizes, dtype=np.int64)


def _pairs(hits: TermHits) -> tuple[Ints, Floats]:
    """Documents where a pair stands together, and the pair's share of the pairs' mass."""
    masses = dict(zip((term.text for term in hits.query.terms), hits.masses, strict=True))
    pair_masses = [masses.get(a, 0.0) + masses.get(b, 0.0) for a, b in hits.query.pairs]
    numbers = hits.within.vocabulary.numbers.get
    known = [(numbers(a, -1), numbers(b, -1)) for a, b in hits.query.pairs]
    shares = np.array(pair_masses) / (sum(pair_masses) or 1.0)
    documents, values = [], []
    for segment in hits.within.segments:
        pair, at = segment.standing_together(known)
        if len(at):
            documents.append(at)
            values.append(shares[pair])
    if not documents:
        return np.empty(0, dtype=np.int64), np.empty(0)
    return np.concatenate(documents), np.concatenate(values)


@lru_cache(maxsize=64)
def _table(weights: tuple[float, ...]) -> Floats:
    """The tables of `VALUE_BY_FIELDS`, weighted, in one."""
    table = np.zeros(1 << 3)
    for weight, values in zip(weights, VALUE_BY_FIELDS.values(), strict=True):
        table += weight * values
    return table


def _summed(hits: TermHits, values: Floats) -> Floats:
    return _sums(hits.documents, values, hits.within.documents.size)


def _sums(documents: Ints, values: Floats, size: int) -> Floats:
    """Values summed by document."""
    if not len(documents):  # bincount would answer in whole numbers
        return np.zeros(size)
    return np.bincount(documents, weights=values, minlength=size).astype(np.float64, copy=False)
