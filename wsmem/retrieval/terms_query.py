"""Signals of the terms family for every document of an index, from its postings.

Every signal but `letters` and `pairs` is a sum over the query's terms: what the term counts, times
the value of its posting. The value tables here say all there is to say about one: `term_signals`
sums each signal by itself, `term_scores` adds them up, weighted, before it sums.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import TAG, TERM, TITLE
from wsmem.retrieval.gathering import Postings, gathered, sums
from wsmem.retrieval.signals import SATURATION_K1, rarity
from wsmem.text.analysis import is_unspaced, read_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import numpy.typing as npt

    from wsmem.retrieval.index import Index

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.int32]

_UNKNOWN = 2**31 - 1
"""Instead of the number of a term that no entry holds."""


def _saturation(postings: Postings) -> Floats:
    return postings.counts / (postings.counts + SATURATION_K1)


def _length_saturation(postings: Postings) -> Floats:
    counts = postings.counts
    norms = postings.within.length_norms.take(postings.documents)
    norms += counts
    return np.divide(counts, norms, out=norms)


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


class Question(NamedTuple):
    """A query against an index: its terms, what each counts, and every posting of them.

    Terms come by what they prove, see `evidence_masses`: first those that show the subject, then
    the lone ones, then function words. So do their postings.
    """

    postings: Postings
    """Of the terms."""
    numbers: Numbers
    """What the index calls the terms."""
    weights: Floats
    masses: Floats
    """What each term counts: its weight times its rarity."""
    spread: Floats
    """The same for each posting."""
    total: float
    """Sum of the masses, 1 for a query without terms."""
    subject: int
    """How many terms show the subject ..."""
    proving: int
    """... and how many prove anything; those come first."""
    pairs: tuple[Ints, Ints]
    """First and second of neighbours, as places among the terms."""
    letters: Postings
    letter_shares: Floats
    """Each letter's share of the letters' mass."""

    @property
    def documents(self) -> Ints:
        """Those of the postings."""
        return self.postings.documents

    @classmethod
    def of(cls, index: Index, text: str, wanted: Collection[str]) -> Question:
        """Analyse a question and look its terms up; letters only if their signal is wanted."""
        query = read_query(text)
        spoken = query.function  # those that count nothing are left out
        if 0.0 in spoken.values():
            spoken = {term: weight for term, weight in spoken.items() if weight}
        texts = [*query.subject, *query.lone, *spoken]
        weights = np.array([*query.subject.values(), *query.lone.values(), *spoken.values()])
        subject, proving = len(query.subject), len(texts) - len(spoken)
        letters = query.letters if "letters" in wanted else []
        numbers, filed = _numbers(index, texts, subject, letters)
        found = gathered(index, filed)
        postings, of_letters = found.parted(len(texts))
        rarities = _rarities(index.size, found.living())
        masses = weights * rarities[: len(texts)]
        letter_masses = rarities[len(texts) :]
        return cls(
            postings=postings,
            numbers=numbers,
            weights=weights,
            masses=masses,
            spread=postings.spread(masses),
            total=_sum(masses) or 1.0,
            subject=subject,
            proving=proving,
            pairs=_pairs_of(query.stream, texts, proving),
            letters=of_letters,
            letter_shares=letter_masses / (_sum(letter_masses) or 1.0),
        )


def _numbers(
    index: Index, terms: list[str], subject: int, letters: list[str]
) -> tuple[Numbers, Numbers]:
    """What the index calls terms; and what their postings are filed under, letters behind them."""
    vocabulary = index.vocabulary
    numbers = list(map(vocabulary.numbers.get, terms, repeat(_UNKNOWN)))
    filed = [*numbers, *map(vocabulary.letters.get, letters, repeat(_UNKNOWN))]
    # A lone Chinese letter, which is never the subject, occurs wherever a run holds it.
    alone = [at for at in range(subject, len(terms)) if len(terms[at]) == 1]
    for at in filter(lambda at: is_unspaced(terms[at]), alone):
        filed[at] = vocabulary.letters.get(terms[at], _UNKNOWN)
    both = np.array(filed, dtype=np.int32)
    return np.array(numbers, dtype=np.int32) if alone else both[: len(terms)], both


def _sum(values: Floats) -> float:
    """The sum of what a query has of something: too little for NumPy's own to be quick."""
    return float(sum(values.tolist()))


def _rarities(total: int, holding: Ints) -> Floats:
    """`signals.rarity` of many: 1 + (N - df + 1/2) / (df + 1/2) is (N + 1) / (df + 1/2)."""
    return np.log((total + 1.0) / (np.maximum(holding, 1) + 0.5))


def _pairs_of(stream: list[str], terms: list[str], proving: int) -> tuple[Ints, Ints]:
    """Distinct neighbours in a stream of which at least one proves something."""
    count = len(terms)
    # What counts nothing is in no pair; its place is behind all others.
    places = list(map(dict(zip(terms, range(count), strict=True)).get, stream, repeat(count)))
    keys = {a << 32 | b for a, b in pairwise(places) if a < proving or b < proving}
    pairs = np.fromiter(keys, np.int64, len(keys))
    first, second = pairs >> 32, pairs & 0xFFFF_FFFF
    if count in places:
        known = np.maximum(first, second) < count
        first, second = first[known], second[known]
    return first, second


def term_signals(
    index: Index, text: str, wanted: Collection[str]
) -> tuple[Question, dict[str, Floats]]:
    """The wanted signals of the family for a question, each dense: one value a document."""
    question = Question.of(index, text, wanted)
    postings, total = question.postings, question.total
    signals = {
        name: postings.summed(question.spread * table.take(postings.fields)) / total
        for name, table in VALUE_BY_FIELDS.items()
        if name in wanted
    }
    for name, value in VALUE_OF_POSTINGS.items():
        if name in wanted:
            signals[name] = postings.summed(question.spread * value(postings)) / total
    if "word_coverage" in wanted:
        signals["word_coverage"] = postings.summed(postings.spread(_word_shares(question)))
    if "letters" in wanted:
        signals["letters"] = _letters(question, 1.0)
    if "pairs" in wanted:
        signals["pairs"] = np.zeros(index.documents.size)
        _add_pairs(question, 1.0, signals["pairs"])
    return question, signals


def term_scores(index: Index, text: str, weights: Mapping[str, float]) -> tuple[Question, Floats]:
    """Sum of the weighted signals of the family, dense: what `term_signals` says, in one pass."""
    question = Question.of(index, text, weights)
    postings = question.postings
    by_fields = _by_fields(*map(weights.get, VALUE_BY_FIELDS, repeat(0.0)))
    values = (by_fields / question.total).take(postings.fields)
    for name, value in VALUE_OF_POSTINGS.items():
        if name in weights:
            worth = value(postings)
            worth *= weights[name] / question.total
            values += worth
    values *= question.spread
    if "word_coverage" in weights:
        values += postings.spread(weights["word_coverage"] * _word_shares(question))
    scores = postings.summed(values)
    if len(question.letters.documents):
        scores += _letters(question, weights["letters"])
    if "pairs" in weights:
        _add_pairs(question, weights["pairs"], scores)
    return question, scores


@lru_cache(maxsize=64)
def _by_fields(*weights: float) -> Floats:
    """What the field bits of a posting earn it, all signals of `VALUE_BY_FIELDS` together."""
    return np.asarray(sum(map(np.multiply, weights, VALUE_BY_FIELDS.values())))


class TermEvidence(NamedTuple):
    """What decides on a match, see `wsmem.retrieval.evidence`."""

    held: Floats
    """Summed mass of the terms each document holds, function words left out; 0 where nothing shows
    the subject, and for dead documents."""
    total: float
    """The same sum over the whole query."""
    greatest: float
    """Mass of a full-weight term that no entry, or one, holds."""


def term_evidence(question: Question) -> TermEvidence:
    """How much of what it takes to match each document holds."""
    documents, subject, proving = question.documents, question.subject, question.proving
    index, at = question.postings.within, question.postings.of_first(proving)
    held = sums(documents[:at], question.spread[:at], index.documents.size)
    if 0 < subject < proving:
        decided = np.zeros(index.documents.size, dtype=bool)
        decided[documents[: question.postings.of_first(subject)]] = True
        held *= decided
    if index.size < index.documents.size:
        held *= index.alive
    return TermEvidence(held, _sum(question.masses[:proving]), rarity(index.size, 1))


def terms_held(question: Question) -> Ints:
    """How many distinct query terms each document holds."""
    return np.bincount(question.documents, minlength=question.postings.within.documents.size)


def _word_shares(question: Question) -> Floats:
    return question.weights / (float(question.weights.sum()) or 1.0)


def _letters(question: Question, weight: float) -> Floats:
    """Weighted share of the letters' mass that each document holds, damped by its length.

    A letter is counted once a document, so what its posting is worth depends on the document alone.
    """
    letters = question.letters
    held = letters.summed(letters.spread(weight * question.letter_shares))
    held *= letters.within.worth_of_one
    return held


def _add_pairs(question: Question, weight: float, scores: Floats) -> None:
    """Add the weighted share of the pairs' mass that stands together in each document."""
    first, second = question.pairs
    if not len(first):
        return
    mass: Floats | None = None
    for segment in question.postings.within.segments:
        pairs, documents = segment.standing_together(question.numbers, first, second)
        if len(pairs):
            if mass is None:
                mass = question.masses.take(first) + question.masses.take(second)
                mass *= weight / _sum(mass)
            scores += sums(documents, mass.take(pairs), len(scores))
