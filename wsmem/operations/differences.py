"""What two nearly equal texts must not differ in: numbers, identifiers, polarity.

Texts that share most of their tokens are usually the same statement reworded. They are two
statements when one says 8080 and the other 8081, `getUser` and `getOrder`, 允许 and 禁止. The
comparison errs towards "different": two entries that say one thing can be merged later, a fact that
was overwritten is gone from every answer.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from wsmem.operations.numerals import Quantity, is_measure, quantities
from wsmem.operations.polarity import polarity
from wsmem.text.normalize import nfkc
from wsmem.text.scripts import cjk_run
from wsmem.text.stemming import stem
from wsmem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable

Relation = Literal["same", "extends", "covered", "different"]
"""How a new text stands to an old one: the same particulars; all of the old one's and more; some of
the old one's and no others; or particulars that the old one does not have."""


class Particulars(NamedTuple):
    """What must agree between two wordings of one statement."""

    numbers: tuple[Quantity, ...]
    names: tuple[str, ...]
    """Identifiers, paths, versions; capitalised words; every Latin word of a mostly CJK text;
    distinct, in order."""
    polarity: frozenset[tuple[str, int]]
    """Negations and the sides taken of opposites, with how often each occurs."""
    labels: Counter[str]
    """Letters and words of which one takes the place of another: A and B, 甲 and 乙, 东 and 西."""


_SERIES = (
    "甲乙丙丁戊己庚辛壬癸", "东西南北東", "上下", "左右", "前后", "内外", "男女", "春夏秋冬",
    "早晚", "大小", "高低", "新旧", "进出", "买卖", "增减", "主从", "首末", "父母子女",
    "红黄蓝绿白黑",
)  # fmt: skip
_WORD_SERIES = (
    "first second third fourth fifth last", "alpha beta gamma delta epsilon zeta eta theta iota",
    "north south east west", "red green blue yellow black white", "upper lower", "inner outer",
    "one two three four five six seven eight nine ten", "old new", "small medium large",
    "parent child", "source target", "input output",
)  # fmt: skip
_SERIES_OF = {member: number for number, series in enumerate(_SERIES) for member in series} | {
    word: 100 + number for number, series in enumerate(_WORD_SERIES) for word in series.split()
}
_LETTER_SERIES = -1
_LONGEST_WORD = 4
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W_]")
_LABEL = re.compile(rf"[{''.join(_SERIES)}]|(?<![A-Za-z0-9_.-])[A-Za-z]+(?![A-Za-z0-9_-])")
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
    if mine.polarity != theirs.polarity or _takes_another_place(mine.labels, theirs.labels):
        return "different"
    if _one_word_replaced(new, old):
        return "different"
    more = bool(_left_over(mine.numbers, theirs.numbers)) or bool({*mine.names} - {*theirs.names})
    less = bool(_left_over(theirs.numbers, mine.numbers)) or bool({*theirs.names} - {*mine.names})
    if (more and less) or _swapped(mine, theirs):
        return "different"
    if more:
        return "extends"
    return "covered" if less else "same"


@lru_cache(maxsize=4096)
def particulars(text: str) -> Particulars:
    """Numbers, names, polarity and labels; equal texts in another width or case agree."""
    text = nfkc(text)
    return Particulars(
        numbers=tuple(quantities(text)),
        names=tuple(dict.fromkeys(_names(text))),
        polarity=polarity(text),
        labels=Counter(_labels(text)),
    )


def _one_word_replaced(new: str, old: str) -> bool:
    """Whether one word stands in the place of another and all else is equal: npm and pnpm.

    A rewording seldom touches a single word. In Chinese the word is two to four letters of which
    none is the same, so that 使用 and 采用 pass.
    """
    mine, theirs = _words(new), _words(old)
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    stop = 0
    shorter = min(len(mine), len(theirs)) - start
    while stop < shorter and mine[-1 - stop] == theirs[-1 - stop]:
        stop += 1
    one, other = mine[start : len(mine) - stop], theirs[start : len(theirs) - stop]
    if len(one) == len(other) == 1:
        return stem(one[0]) != stem(other[0]) and all(map(_says_what, (one[0], other[0])))
    letters = [*one, *other]
    return (
        len(one) == len(other)
        and 2 <= len(one) <= _LONGEST_WORD
        and not any(letter.isascii() for letter in letters)
        and {*one}.isdisjoint(other)
    )


def _says_what(word: str) -> bool:
    """Whether a Latin word is about something: no unit, no function word, no single letter."""
    return word.isascii() and len(word) > 1 and not is_measure(word) and word not in ENGLISH


def _words(text: str) -> list[str]:
    """Latin words and numbers, and single letters of other scripts; no punctuation."""
    return _WORD.findall(nfkc(text).lower())


def _swapped(mine: Particulars, theirs: Particulars) -> bool:
    """Whether both texts have the same particulars in other roles: fact 2 of 1, and fact 1 of 2."""
    shared = {*mine.names} & {*theirs.names}
    if [name for name in mine.names if name in shared] != [
        name for name in theirs.names if name in shared
    ]:
        return True
    roles, other_roles = _roles(mine.numbers), _roles(theirs.numbers)
    return any(
        roles[context] != other_roles[context] and len(roles[context]) == len(other_roles[context])
        for context in roles.keys() & other_roles.keys()
    )


def _roles(numbers: Iterable[Quantity]) -> dict[str, list[str]]:
    """Values of the numbers that stand behind each word, in order."""
    found: dict[str, list[str]] = {}
    for quantity in numbers:
        found.setdefault(quantity.context, []).append(quantity.value)
    return found


def _takes_another_place(mine: Counter[str], theirs: Counter[str]) -> bool:
    """Whether a label of one text stands where the other has another of the same series."""
    gained = {_series(label) for label in (mine - theirs)}
    lost = {_series(label) for label in (theirs - mine)}
    return not gained.isdisjoint(lost)


def _labels(text: str) -> Iterable[str]:
    for found in _LABEL.finditer(text):
        label = found[0].lower()
        if len(label) == 1 or label in _SERIES_OF:
            yield label


def _series(label: str) -> int:
    return _SERIES_OF.get(label, _LETTER_SERIES)


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
