"""Terms of the `default` profile: English stems, parts of identifiers, pairs of CJK letters.

A text becomes a stream of terms in reading order. A run of CJK letters gives its overlapping pairs
(a run of one letter gives that letter); nothing is paired across a gap. A run of Latin letters and
digits gives its word, or the parts of an identifier (`getUserName`, `snake_case`, `Node18`) with
the whole as an extra term beside the stream. Stop words stay in the stream, with no weight.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from wsmem.text.normalize import nfkc
from wsmem.text.scripts import CJK_RANGES
from wsmem.text.stemming import stem
from wsmem.text.stopwords import term_weight

RUN = re.compile(
    rf"[{CJK_RANGES}]+"
    r"|(?<![A-Za-z0-9])[A-Za-z]{1,2}(?:\+\+|#)(?![A-Za-z0-9])"  # C++, C#, F#
    r"|[A-Za-z0-9]+"
    rf"|(?:(?![{CJK_RANGES}])[^\W_A-Za-z0-9])+"
)
"""One run of a folded text: CJK letters, a Latin word with its digits, or another script's word."""

PART_WEIGHT = 0.5
"""What a part of an identifier counts in a query beside the whole, which counts 1: a text that
writes `postgresql` still matches `PostgreSQL`, and one that has only the parts matches too."""

_MARKED_LATIN = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_CAMEL_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD_THEN_NUMBER = re.compile("([A-Za-z]{3,}|[vV])([0-9]+)")


class RunTerms(NamedTuple):
    """What one run of Latin letters and digits contributes."""

    parts: tuple[str, ...]
    """Terms in the stream, in order."""
    whole: str | None
    """The identifier as one term when it has parts, beside the stream."""


class QueryTerm(NamedTuple):
    """One distinct term of a query."""

    text: str
    weight: float
    """0 < weight <= 1: how much of the term's rarity counts."""
    strong: bool
    """Whether a match is evidence on its own: a lone letter or digit is not."""


class Query(NamedTuple):
    """A question, analysed."""

    terms: tuple[QueryTerm, ...]
    """Distinct, without stop words, in order of first appearance."""
    pairs: tuple[tuple[str, str], ...]
    """Distinct neighbours in the stream of which at least one is no stop word."""


def fold(text: str) -> str:
    """NFKC with Latin letters stripped of their marks, case kept; a letter never becomes two."""
    text = nfkc(text)
    if not text.isascii() and _MARKED_LATIN.search(text):
        text = _MARKED_LATIN.sub(lambda found: _bare(found[0]), text)
    return text


@lru_cache(maxsize=1024)
def _bare(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() else letter


@lru_cache(maxsize=65_536)
def run_terms(run: str) -> RunTerms:
    """Terms of one run that is not CJK, its case as written."""
    lowered = run.lower()
    if not run.isascii() or not run.isalnum():
        return RunTerms((lowered,), None)
    parts = _identifier_parts(run)
    if len(parts) < 2:
        return RunTerms((stem(lowered),), None)
    return RunTerms(tuple(stem(part.lower()) for part in parts), stem(lowered))


def _identifier_parts(run: str) -> list[str]:
    """Split camelCase, and a number behind a word; other mixtures (k8s, hashes) stay whole."""
    if run.isalpha():
        if run.islower() or run.isupper():
            return []
        return [part for part in _CAMEL_PART.findall(run) if len(part) > 1]
    numbered = _WORD_THEN_NUMBER.fullmatch(run)
    if numbered is None:
        return []
    word, number = numbered.groups()
    return [*(_identifier_parts(word) or [word]), number]


def runs(folded: str) -> list[str]:
    """The runs of a folded text, in order."""
    return RUN.findall(folded)


def is_cjk_run(run: str) -> bool:
    """Whether a run that `RUN` found is one of CJK letters (told by its first letter)."""
    return run[0] > "\u10ff" and _CJK_LETTER.match(run) is not None


_CJK_LETTER = re.compile(f"[{CJK_RANGES}]")


def terms(text: str) -> list[str]:
    """Every term with a weight, repeats kept: the stream with each identifier's whole behind it."""
    found: list[str] = []
    for run in runs(fold(text)):
        if is_cjk_run(run):
            found.extend(cjk_terms(run))
        else:
            parts, whole = run_terms(run)
            found.extend(parts)
            if whole is not None:
                found.append(whole)
    return [term for term in found if term_weight(term)]


def cjk_terms(run: str) -> list[str]:
    """Overlapping pairs of a run of CJK letters; a run of one is that letter."""
    return [a + b for a, b in pairwise(run)] if len(run) > 1 else [run]


def analyze_query(text: str) -> Query:
    """Distinct weighted terms and neighbouring pairs of a question."""
    weights: dict[str, float] = {}
    stream: list[str] = []
    for run in runs(fold(text)):
        if is_cjk_run(run):
            found, whole = cjk_terms(run), None
        else:
            parts, whole = run_terms(run)
            found = list(parts)
        factor = 1.0 if whole is None else PART_WEIGHT
        for term in found:
            weights[term] = max(weights.get(term, 0.0), factor * term_weight(term))
        if whole is not None:
            weights[whole] = 1.0
        stream.extend(found)
    return Query(
        terms=tuple(
            QueryTerm(term, weight, strong=len(term) > 1) for term, weight in weights.items() if weight
        ),
        pairs=tuple(
            dict.fromkeys(pair for pair in pairwise(stream) if weights[pair[0]] or weights[pair[1]])
        ),
    )
