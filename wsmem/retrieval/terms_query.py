"""Signals of the terms family for every entry of an index, from its postings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.evidence import evidence_masses
from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.signals import SATURATION_K1, rarity
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from wsmem.retrieval.index import Index

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

_FIELD_SIGNALS = (("title", TITLE), ("tags", TAG), ("retrieval_terms", TERM))


class Hits(NamedTuple):
    """Every posting of every query term, term after term."""

    documents: Ints
    counts: Floats
    fields: npt.NDArray[np.uint8]
    lengths: Ints
    """Postings of each query term."""


class TermColumns(NamedTuple):
    """The family's signals for every entry of the index (dense), and what decides on a match."""

    matched: Ints
    """Distinct query terms held."""
    evidence: Floats
    """Summed mass of the terms held, function words left out; 0 where nothing shows the subject."""
    total_evidence: float
    """The same sum over the whole query."""
    greatest_mass: float
    """Mass of a full-weight term that no entry, or one, holds."""
    signals: dict[str, Floats]


def term_columns(index: Index, text: str, wanted: Collection[str]) -> TermColumns:
    """Compute the wanted signals of the family; all shares are 0 for a query without terms."""
    query = analyze_query(text)
    size = len(index)
    hits = _gather(index, [term.text for term in query.terms])
    masses = np.array(
        [
            term.weight * rarity(size, int(df))
            for term, df in zip(query.terms, hits.lengths, strict=True)
        ]
    )
    total = float(sum(masses.tolist()))
    mass = np.repeat(masses, hits.lengths)
    scale = total or 1.0

    def sums(values: Floats) -> Floats:
        # Without a single posting bincount would answer in whole numbers.
        return np.bincount(hits.documents, weights=values, minlength=size).astype(np.float64)

    weights = np.array([term.weight for term in query.terms])
    signals: dict[str, Floats] = {}
    if "coverage" in wanted:
        signals["coverage"] = sums(mass) / scale
    if "word_coverage" in wanted:
        signals["word_coverage"] = sums(np.repeat(weights, hits.lengths)) / (
            float(weights.sum()) or 1.0
        )
    if "saturation" in wanted:
        signals["saturation"] = sums(mass * (hits.counts / (hits.counts + SATURATION_K1))) / scale
    if "length_saturation" in wanted:
        k1 = index.length_norms[hits.documents]
        signals["length_saturation"] = sums(mass * (hits.counts / (hits.counts + k1))) / scale
    for name, bit in _FIELD_SIGNALS:
        if name in wanted:
            signals[name] = sums(mass * ((hits.fields & bit) > 0)) / scale
    if "pairs" in wanted:
        by_term = dict(zip((term.text for term in query.terms), masses.tolist(), strict=True))
        signals["pairs"] = _pairs(index, query.pairs, by_term)
    evidence = evidence_masses(query, masses.tolist())
    matched = np.bincount(hits.documents, minlength=size)
    held = sums(np.repeat(np.array(evidence.masses), hits.lengths))
    if evidence.deciding is not None:
        deciding = np.repeat(np.array(evidence.deciding), hits.lengths)
        held[sums(deciding) == 0] = 0.0
    return TermColumns(matched, held, sum(evidence.masses), rarity(size, 1), signals)


def _gather(index: Index, terms: list[str]) -> Hits:
    documents, counts, fields, lengths = [], [], [], []
    for term in terms:
        found = 0
        for segment, places, whole in index.placed:
            postings = segment.postings(term)
            if postings is None:
                continue
            at, times, bits = places[postings.documents], postings.counts, postings.fields
            if not whole:
                stays = at >= 0
                at, times, bits = at[stays], times[stays], bits[stays]
            documents.append(at)
            counts.append(times)
            fields.append(bits)
            found += len(at)
        lengths.append(found)
    if not documents:
        none = np.empty(0)
        return Hits(none.astype(np.int64), none, none.astype(np.uint8), np.array(lengths, np.int64))
    return Hits(
        np.concatenate(documents),
        np.concatenate(counts).astype(np.float64),
        np.concatenate(fields),
        np.array(lengths, dtype=np.int64),
    )


def _pairs(index: Index, pairs: tuple[tuple[str, str], ...], masses: dict[str, float]) -> Floats:
    """Share of the pairs' mass (that of both terms) which stands together in each entry."""
    column = np.zeros(len(index))
    if not pairs:
        return column
    pair_mass = np.array([masses.get(a, 0.0) + masses.get(b, 0.0) for a, b in pairs])
    for segment, places, whole in index.placed:
        found, documents = segment.pair_documents(pairs)
        at = places[documents]
        if not whole:
            found, at = found[at >= 0], at[at >= 0]
        column += np.bincount(at, weights=pair_mass[found], minlength=len(index))
    return column / (float(sum(pair_mass.tolist())) or 1.0)
