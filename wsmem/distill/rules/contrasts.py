"""In what a claim and a clause of an entry differ: who, where, how many, which, or the opposite."""

from __future__ import annotations

import re

from wsmem.distill.rules.lexicon import pattern
from wsmem.distill.rules.words import identifiers_in, subject_words
from wsmem.operations.numerals import quantities
from wsmem.operations.polarity import polarity
from wsmem.text.normalize import nfkc
from wsmem.text.stemming import stem

_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_CALENDAR = (
    re.compile(
        r"(?:周|星期|礼拜)[一二三四五六日天]|(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)"
    ),
    re.compile(rf"(?i:\b\d{{1,2}} (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b)"),
)
"""Days of the week and days of the year: one takes the place of another of its kind."""
BARE_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w.]*[A-Za-z])")
_PLACED = re.compile(r"([^，,。；;]{2,12}?)(?:就|是|都)?(?:在|位于)(?![用跑做])([^，,。；;]{2,12})")
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SMALL_NUMBER = re.compile(rf"\b(?:{'|'.join(_SMALL)})\b", re.IGNORECASE)
_NOUN_BEHIND = re.compile(
    r" ?(?!now|and|or|as|in|at|on|for|to|with|since|later)([A-Za-z]+)"
    r"|\s?[个条张份台核]?(?![了的吗才就也时后前以就都])([一-鿿]{1,2})"
)


def other_identifier(subject: str, content: str) -> bool:
    """Whether subject and entry are each about an identifier that the other does not know."""
    mine, theirs = identifiers_in(subject), identifiers_in(content)
    return bool(mine - theirs) and bool(theirs - mine)


def flips(claim: str, clause: str) -> bool:
    """Whether one denies what the other says, or takes the other side of a pair of opposites."""
    mine = {side for side, _ in polarity(claim)}
    theirs = {side for side, _ in polarity(clause)}
    opposed = {side[:-1] for side in mine if side != "not"} & {
        side[:-1] for side in theirs if side != "not"
    }
    if any({f"{n}+", f"{n}-"} <= (mine ^ theirs) for n in opposed):
        return True
    return ("not" in mine) != ("not" in theirs)


def other_owner(claim: str, clause: str) -> bool:
    """Whether the two put different people in charge."""
    one, other = owner_of(claim), owner_of(clause)
    return one is not None and other is not None and one != other


def other_predicate(claim: str, subject: str, clause: str) -> bool:
    """Whether a clause says of the very subject of a claim something else and no more."""
    verb = pattern("claim_verb").search(clause)
    if verb is None or subject_words(clause[: verb.start()]) != subject_words(subject):
        return False
    said = subject_words(claim[claim.find(subject) + len(subject) :])
    held = subject_words(clause[verb.end() :])
    return bool(said - held) and not held <= said


def elsewhere(claim: str, clause: str) -> bool:
    """Whether the two say of one thing, in the same words, that it is in different places."""
    one, other = _PLACED.search(claim), _PLACED.search(clause)
    if one is None or other is None or subject_words(one[1]) != subject_words(other[1]):
        return False
    return bool(subject_words(one[1])) and one[2] != other[2]


def owner_of(text: str) -> str | None:
    """Who a text puts in charge of what it is about."""
    found = pattern("owner").search(text)
    return next((name.lower() for name in found.groups() if name), None) if found else None


def _counted(text: str) -> set[str]:
    """What bare numbers of a text count or number: the words beside them, `""` for none.

    In "12 shards" the shards; in "port 8080" the port, and nothing behind it.
    """
    found: set[str] = set()
    text = _digits(text)
    for number in BARE_NUMBER.finditer(text):
        behind = _NOUN_BEHIND.match(text, number.end())
        noun = (behind[1] or behind[2] or "") if behind else ""
        found.add(stem(noun.lower()) if noun.isascii() else noun)
    return found


def _one_for_another(said: set[tuple[str, str | None]], held: set[tuple[str, str | None]]) -> bool:
    """Whether each side has a single amount, of units that do not tell them apart."""
    if len(said) != 1 or len(held) != 1:
        return False
    ((new, new_unit),), ((old, old_unit),) = said, held
    return new != old and (new_unit is None) != (old_unit is None)


def _amounts(text: str) -> set[tuple[str, str | None]]:
    return {(quantity.value, quantity.unit) for quantity in quantities(_digits(text))}


def _digits(text: str) -> str:
    """A text with the small English numbers as digits."""
    return _SMALL_NUMBER.sub(lambda found: str(_SMALL.index(found[0].lower()) + 1), nfkc(text))


def same_kind_of_value(
    claim: str, clause: str, content: str, *, both: bool = False, said_in: str = ""
) -> bool:
    """Whether a clause gives a value where the claim gives another of the same kind.

    Args:
        claim: What was said.
        clause: Of the entry.
        content: The whole entry; a value that stands anywhere in it is not new.
        both: The claim may repeat the entry's value beside its own.
        said_in: The sentence that the claim is a part of, which repeats a value that still holds.
    """
    repeated = _amounts(claim) | _amounts(said_in)
    said, held, known = _amounts(claim), _amounts(clause), _amounts(content)
    units = {
        new_unit
        for _, new_unit in said - known
        for old, old_unit in held
        if new_unit == old_unit and (both or (old, old_unit) not in repeated)
    }
    if units - {None} or (None in units and _counted(claim) & _counted(clause)):
        return True
    if _one_for_another(said, held):
        return True
    for days in _CALENDAR:
        mine, theirs = ({day.lower() for day in days.findall(text)} for text in (claim, clause))
        if mine - theirs and theirs:
            return True
    return False
