"""Terms of the `default` profile: English stems, parts of identifiers, pairs of Chinese letters.

A text becomes a stream of terms in reading order. A run of Chinese, Japanese or Korean letters
gives its overlapping pairs (a run of one gives that letter); nothing is paired across a gap. A run
of Latin letters and digits gives the stem of its word, or an identifier's parts (`getUserName`,
`Node18`) with the whole as an extra term beside the stream. A function word is written in capitals,
unstemmed, so that no stem is mistaken for one ("willing" is not "WILL").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import Literal, NamedTuple

from wsmem.text.normalize import nfkc
from wsmem.text.stemming import stemmed
from wsmem.text.stopwords import (
    ENGLISH,
    FUNCTION_LETTERS,
    GENERIC,
    has_function_letter,
    is_function_pair,
)

RUN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{1,2}(?:\+\+|#)(?![A-Za-z0-9])"  # C++, C#, F#
    r"|[A-Za-z0-9]+"
    r"|[^\W_\x00-\u2e7f]+"
    r"|(?:[^\W_\x00-\x7f](?<=[\x00-\u2e7f]))+"
)
"""One run of a folded text: a Latin word with its digits, letters of scripts written without blanks
(they start at U+2E80: Chinese, Japanese, Korean and their neighbours), or another script's word.
Plain code points instead of script tables, and a look back instead of a class with a long range:
the pattern is compiled at every start of `recall`, and this one in under a millisecond."""

PART_WEIGHT = 0.5
"""What a part of an identifier counts in a query beside the whole, which counts 1: a text that
writes `postgresql` still matches `PostgreSQL`, and one that has only the parts matches too."""

Role = Literal["subject", "lone", "function"]
"""What a match of a term shows: the subject; something only where nothing better was asked (a lone
letter or digit); nothing on its own (a function word)."""

_ENGLISH_FUNCTION_WEIGHT = 0.2
_CHINESE_FUNCTION_WEIGHT = 0.3
_HALF_FUNCTION_WEIGHT = 0.45

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
    """More than 0: how much of the term's rarity counts. 1 for a word asked once; one asked n times
    counts 1 + ln n as much, as long questions stress their subject."""
    role: Role


class Query(NamedTuple):
    """A question, analysed."""

    terms: tuple[QueryTerm, ...]
    """Distinct, in order of first appearance."""
    pairs: tuple[tuple[str, str], ...]
    """Distinct neighbours in the stream, both among the terms, not both function words."""
    letters: tuple[str, ...]
    """Distinct letters of scripts without blanks, without those of the grammar: 登入 and 登录 share
    one, though no pair."""


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


def terms_of_run(run: str) -> RunTerms:
    """Terms of a run of a script with blanks, its case as written."""
    lowered = lower(run)
    if lowered in ENGLISH:
        return RunTerms((lowered.upper(),), None)
    if not run.isascii() or not run.isalnum():
        return RunTerms((lowered,), None)
    parts = [part for part in _identifier_parts(run) if part.lower() not in ENGLISH]
    if not parts:
        return RunTerms((_stem(lowered),), None)
    return RunTerms(tuple(_stem(part.lower()) for part in parts), _stem(lowered))


run_terms = lru_cache(maxsize=8192)(terms_of_run)
"""The same, for runs that come again."""


def _stem(word: str) -> str:
    """Stems are for words: k8s and hashes have none."""
    return stemmed(word) if word.isalpha() else word


def lower(folded: str) -> str:
    """Lower case, letter for letter: a Greek sigma is the same at the end of a word."""
    return folded.lower().replace("\u03c2", "\u03c3")


def _identifier_parts(run: str) -> list[str]:
    """Split camelCase, and a number behind a word; other mixtures (k8s, hashes) stay whole."""
    if run.isalpha():
        if run.islower() or run.isupper():
            return []
        parts = _CAMEL_PART.findall(run)
        return [part for part in parts if len(part) > 1] if len(parts) > 1 else []
    numbered = _WORD_THEN_NUMBER.fullmatch(run)
    if numbered is None:
        return []
    word, number = numbered.groups()
    return [*(_identifier_parts(word) or [word]), number]


def runs(folded: str) -> list[str]:
    """The runs of a folded text, in order."""
    return RUN.findall(folded)


def is_unspaced(run: str) -> bool:
    """Whether a run that `RUN` found, or a letter of it, is of a script written without blanks."""
    return run >= "\u2e80"


def terms(text: str) -> list[str]:
    """Every term, repeats kept: the stream, with each identifier's whole behind its parts."""
    found: list[str] = []
    for run in runs(fold(text)):
        if is_unspaced(run):
            found.extend(unspaced_terms(run))
        else:
            parts, whole = run_terms(run)
            found.extend(parts)
            if whole is not None:
                found.append(whole)
    return found


def unspaced_terms(run: str) -> list[str]:
    """Overlapping pairs of a run of letters; a run of one is that letter."""
    return list(map(add, run, run[1:])) if len(run) > 1 else [run]


def term_role(term: str) -> Role:
    """What a match of this term shows."""
    if len(term) == 1:
        return "function" if term in FUNCTION_LETTERS or term.isupper() else "lone"
    if term.isupper() or (len(term) == 2 and is_function_pair(term)):
        return "function"
    if term in GENERIC:
        return "lone"
    return "subject"


def term_weight(term: str) -> float:
    """How much of its rarity a term asked once counts in a query, 0 to 1."""
    if term.isupper():
        return _ENGLISH_FUNCTION_WEIGHT
    if len(term) == 2:
        if is_function_pair(term):
            return _CHINESE_FUNCTION_WEIGHT
        return _HALF_FUNCTION_WEIGHT if has_function_letter(term) else 1.0
    # A lone letter of the grammar stands in nearly every Chinese text.
    return 0.0 if term in FUNCTION_LETTERS else 1.0


@lru_cache(maxsize=4096)
def _query_term(term: str) -> QueryTerm:
    return QueryTerm(term, term_weight(term), term_role(term))


def analyze_query(text: str) -> Query:
    """Distinct weighted terms and neighbouring pairs of a question."""
    terms: dict[str, QueryTerm] = {}
    stream: list[str] = []
    wholes: list[str] = []
    letters: dict[str, None] = {}
    for run in runs(fold(text)):
        if is_unspaced(run):
            letters |= dict.fromkeys(run)
            found, whole = unspaced_terms(run), None
        else:
            (*found,), whole = run_terms(run)
        stream.extend(found)
        for term in found:
            new = _query_term(term)
            if whole is not None:
                new = new._replace(weight=PART_WEIGHT * new.weight)
            if term not in terms or terms[term].weight < new.weight:
                terms[term] = new
        if whole is not None:
            terms[whole] = _query_term(whole)._replace(weight=1.0)
            wholes.append(whole)
    repeated = len(stream) + len(wholes) > len(terms)
    for term, times in Counter(stream + wholes).items() if repeated else ():
        if times > 1:
            weight = terms[term].weight * (1.0 + math.log(times))
            terms[term] = terms[term]._replace(weight=weight)
    counted = {term for term, item in terms.items() if item.weight}
    telling = {term for term in counted if terms[term].role != "function"}
    return Query(
        terms=tuple([item for item in terms.values() if item.weight]),
        pairs=tuple(
            [
                (a, b)
                for a, b in dict.fromkeys(pairwise(stream))
                if a in counted and b in counted and (a in telling or b in telling)
            ]
        ),
        letters=tuple([letter for letter in letters if _query_term(letter).weight]),
    )
