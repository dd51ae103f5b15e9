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
from itertools import filterfalse, pairwise
from operator import add
from typing import TYPE_CHECKING, Literal, NamedTuple

from wsmem.text.normalize import nfkc
from wsmem.text.stemming import stemmed
from wsmem.text.stopwords import (
    ENGLISH,
    FUNCTION_LETTERS,
    GENERIC,
    OFTEN_FUNCTION,
)
from wsmem.text.variants import simplified

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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

_FIRST_UNSPACED = "\u2e80"

PART_WEIGHT = 0.5
"""What a part of an identifier counts in a query beside the whole, which counts 1: a text that
writes `postgresql` still matches `PostgreSQL`, and one that has only the parts matches too."""

Role = Literal["subject", "lone", "function"]
"""What a match of a term shows: the subject; something only where nothing better was asked (a lone
letter or digit); nothing on its own (a function word)."""


_MARKED_LATIN = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_CAMEL_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD_THEN_NUMBER = re.compile("([A-Za-z]{3,}|[vV])([0-9]+)")


class Standing(NamedTuple):
    """What a term stands for in a query."""

    weight: float
    """How much of the term's rarity counts: 1 for a word asked once; one asked n times counts
    1 + ln n as much, as long questions stress their subject."""
    role: Role


_SUBJECT, _LONE = Standing(1.0, "subject"), Standing(1.0, "lone")
_HALF_FUNCTION, _HALF_GENERIC = Standing(0.45, "subject"), Standing(0.45, "lone")
_FUNCTION_WORD = Standing(0.2, "function")
_FUNCTION_PAIR = Standing(0.3, "function")
_SILENT = Standing(0.0, "function")


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
    """More than 0."""
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


class ReadQuery(NamedTuple):
    """A question as it reads, before its pairs are sorted out."""

    subject: dict[str, float]
    """Terms that show the subject, with their weights ..."""
    lone: dict[str, float]
    function: dict[str, float]
    """... and those of the other roles; some of these count nothing."""
    stream: list[str]
    letters: list[str]
    """As `Query` has them."""


def fold(text: str) -> str:
    """NFKC, Latin letters without their marks, Chinese ones simplified; case kept.

    A letter never becomes two.
    """
    text = nfkc(text)
    if text.isascii():
        return text
    if _MARKED_LATIN.search(text):
        text = _MARKED_LATIN.sub(lambda found: _bare(found[0]), text)
    return simplified(text)


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
    return run >= _FIRST_UNSPACED


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
    return standing(term).role


def term_weight(term: str) -> float:
    """How much of its rarity a term asked once counts in a query, 0 to 1."""
    return standing(term).weight


def standing(term: str) -> Standing:
    """How much of its rarity a term asked once counts, and what a match of it shows."""
    if term.isupper():  # as function words are written
        return _FUNCTION_WORD
    if len(term) == 2:
        first, second = term[0], term[1]
        if first in OFTEN_FUNCTION:
            if second in OFTEN_FUNCTION:
                return _FUNCTION_PAIR
            half = first in FUNCTION_LETTERS
        else:
            half = second in FUNCTION_LETTERS
        if half:
            return _HALF_GENERIC if term in GENERIC else _HALF_FUNCTION
    elif len(term) == 1:
        # A lone letter of the grammar stands in nearly every Chinese text.
        return _SILENT if term in FUNCTION_LETTERS else _LONE
    return _LONE if term in GENERIC else _SUBJECT


def analyze_query(text: str) -> Query:
    """Distinct weighted terms and neighbouring pairs of a question."""
    every, read = _read(text)
    weighed: dict[str, QueryTerm] = {}
    roles: tuple[Role, ...] = ("subject", "lone", "function")
    for role, terms in zip(roles, (read.subject, read.lone, read.function), strict=True):
        weighed |= {term: QueryTerm(term, weight, role) for term, weight in terms.items() if weight}
    return Query(
        terms=tuple([weighed[term] for term in dict.fromkeys(every) if term in weighed]),
        pairs=_telling_pairs(read),
        letters=tuple(read.letters),
    )


def read_query(text: str) -> ReadQuery:
    """Weighted terms, stream and letters of a question."""
    return _read(text)[1]


def _read(text: str) -> tuple[list[str], ReadQuery]:
    """Every term of a question, repeats kept, and what it says."""
    every: list[str] = []
    unspaced: list[str] = []
    parts: list[str] = []
    wholes: dict[int, str] = {}
    """By their place among every term; beside the stream."""
    for run in runs(fold(text)):
        if run >= _FIRST_UNSPACED:
            unspaced.append(run)
            every += unspaced_terms(run)
            continue
        found, whole = run_terms(run)
        every += found
        if whole is not None:
            parts += found
            wholes[len(every)] = whole
            every.append(whole)
    counts = Counter(every)
    letters = dict.fromkeys("".join(unspaced))
    return every, ReadQuery(
        *_weighed(counts, _identifier_weights(counts, parts, wholes.values()) if wholes else {}),
        stream=[term for at, term in enumerate(every) if at not in wholes] if wholes else every,
        letters=list(filterfalse(FUNCTION_LETTERS.__contains__, letters)),
    )


def _identifier_weights(
    counts: Mapping[str, int], parts: Sequence[str], wholes: Collection[str]
) -> dict[str, float]:
    """What identifiers and their parts weigh once; parts that stand by themselves as well do not.

    Args:
        counts: How often each term is asked.
        parts: Those that are part of an identifier, each as often as it is one.
        wholes: The identifiers that have parts.
    """
    inner = Counter(parts)
    return {
        **{term: PART_WEIGHT * standing(term).weight for term in inner
           if inner[term] == counts[term]},
        **dict.fromkeys(wholes, 1.0),
    }  # fmt: skip


def _weighed(
    counts: Mapping[str, int], identifiers: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Weights of terms by role: those of subject terms, of lone ones, of function terms."""
    subject: dict[str, float] = {}
    lone: dict[str, float] = {}
    function: dict[str, float] = {}
    plain = not identifiers
    for term, times in counts.items():
        found = standing(term)
        if found is _SUBJECT and times == 1 and plain:  # most are
            subject[term] = 1.0
            continue
        weight, role = found
        weight = identifiers.get(term, weight)
        if times > 1:
            weight *= 1.0 + math.log(times)
        if role == "subject":
            subject[term] = weight
        elif role == "lone":
            lone[term] = weight
        else:
            function[term] = weight
    return subject, lone, function


def _telling_pairs(read: ReadQuery) -> tuple[tuple[str, str], ...]:
    """Distinct neighbours, without those of which one counts nothing or both are grammar."""
    grammar = read.function
    silent = {term for term, weight in grammar.items() if not weight}
    return tuple(
        [
            (a, b)
            for a, b in dict.fromkeys(pairwise(read.stream))
            if (a not in grammar or b not in grammar) and silent.isdisjoint((a, b))
        ]
    )
