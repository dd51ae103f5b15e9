"""What two nearly equal texts must not differ in: numbers, identifiers, polarity.

Texts that share most of their tokens are usually the same statement reworded. They are two
statements when one says 8080 and the other 8081, `getUser` and `getOrder`, 允许 and 禁止. The
comparison errs towards "different": two entries that say one thing can be merged later, a fact that
was overwritten is gone from every answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from wsmem.operations.numerals import Quantity, is_measure, quantities
from wsmem.operations.polarity import polarity
from wsmem.text.normalize import nfkc
from wsmem.text.scripts import cjk_run

if TYPE_CHECKING:
    from collections.abc import Iterable

Relation = Literal["same", "extends", "covered", "different"]
"""How a new text stands to an old one: the same particulars; all of the old one's and more; some of
the old one's and no others; or particulars that the old one does not have."""


class Particulars(NamedTuple):
    """What must agree between two wordings of one statement."""

    numbers: tuple[Quantity, ...]
    names: frozenset[str]
    """Identifiers, paths, versions; capitalised words; every Latin word of a mostly CJK text."""
    polarity: frozenset[tuple[str, int]]
    """Negations and the sides taken of opposites, with how often each occurs."""


_RUN = re.compile(r"[A-Za-z0-9_$@~./\\:#+-]+")
_LETTER = re.compile("[A-Za-z_$]")
_JOINT = re.compile(r"[_$@~/\\:#+.]|[A-Za-z][0-9]|[0-9][A-Za-z]|[a-z][A-Z]|\w-\w")
_TRAILING = ".,:;/\\-"
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：;；\n]\s*|[-*•]\s+)$")
_COMMON_CAPITALS = frozenset({"I", "A", "OK", "Note", "The"})

_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]|"
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)


def relation(new: str, old: str) -> Relation:
    """How the particulars of `new` stand to those of `old`."""
    mine, theirs = particulars(new), particulars(old)
    if mine.polarity != theirs.polarity:
        return "different"
    more = bool(_left_over(mine.numbers, theirs.numbers)) or bool(mine.names - theirs.names)
    less = bool(_left_over(theirs.numbers, mine.numbers)) or bool(theirs.names - mine.names)
    if more and less:
        return "different"
    if more:
        return "extends"
    return "covered" if less else "same"


@lru_cache(maxsize=4096)
def particulars(text: str) -> Particulars:
    """Numbers, names and polarity of a text; equal texts in another width or case agree."""
    text = nfkc(text)
    return Particulars(
        numbers=tuple(quantities(text)),
        names=frozenset(_names(text)),
        polarity=polarity(text),
    )


def _left_over(some: Iterable[Quantity], others: Iterable[Quantity]) -> list[Quantity]:
    """Quantities of `some` without a partner in `others`; a missing unit fits any unit."""
    free = list(others)
    left = []
    for quantity in some:
        partner = next((other for other in free if _agree(quantity, other)), None)
        if partner is None:
            left.append(quantity)
        else:
            free.remove(partner)
    return left


def _agree(one: Quantity, other: Quantity) -> bool:
    return one.value == other.value and (
        one.unit == other.unit or one.unit is None or other.unit is None
    )


def _names(text: str) -> Iterable[str]:
    mostly_cjk = cjk_run().search(text) is not None
    for found in _RUN.finditer(text):
        word = found[0].strip(_TRAILING)
        if not _LETTER.search(word) or is_measure(word):
            continue
        before = text[max(0, found.start() - 8) : found.start()]
        if _JOINT.search(word) or mostly_cjk or _is_name(word, before):
            yield word.lower()
    yield from (found[0].lower() for found in _WEEKDAY.finditer(text))


def _is_name(word: str, before: str) -> bool:
    """A capitalised word inside a sentence, or an acronym anywhere."""
    if word in _COMMON_CAPITALS or not word[0].isupper():
        return False
    return (word.isupper() and len(word) > 1) or not _SENTENCE_START.search(before)
