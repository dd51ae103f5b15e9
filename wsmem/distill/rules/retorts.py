"""Terse corrections: answers that only say what is wrong with what was just recalled.

"Wrong, it's 20 not 50" names no subject. It is about the memory that the assistant, or the user a
moment ago, repeated, if that is one memory and it holds the value that is denied. What replaces
it is the memory itself with the new value in the place of the old.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.corrections import old_phrases
from wsmem.distill.rules.lexicon import nothing_but, pattern, patterns, says
from wsmem.distill.rules.words import names_in, qualified_apart, subject_words, unknown_words
from wsmem.operations.numerals import quantities
from wsmem.text.normalize import nfkc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wsmem.distill.rules.hearing import Turn
    from wsmem.distill.rules.sentences import Sentence
    from wsmem.records import MemoryEntry

_RESTATED = 0.5
"""Share of an entry's words in a line that repeats it without saying that it does."""
_RECALLED = 2
"""Words of an entry in a line that says it repeats a memory."""
_MARGIN = 1.4
"""How many more words of the one entry than of the next must have been repeated."""
_MOST_RECALLED = 2_000
"""Characters at the end of what the assistant said that may repeat an entry."""
_MOST_BETWEEN = 5
"""Characters between two names that are replaced as one: "eslint and prettier"."""

_CLAUSE = re.compile(r"[，,；;。！!]\s*|\.\s+|\s[—-]\s")
_SENTENCE = re.compile(r"[。！？?!；;\n]|\.(?=\s|$)")
_DENIED = re.compile(
    r"(?:而?不是|(?:(?<=\s)|^|,\s?)(?:and )?(?:not|isn't|it's not))\s*[^，,；;。]*$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.:]\d+)*(?![\d.]*\d)")
_TAIL = re.compile(r"\s?(?:[A-Za-z%]+|[一-鿿]{1,3})?")
_REACH = 8
"""Characters behind a number in which its unit is looked for."""
_SPEAKER = re.compile(r"\bi(?:'(?:ve|m|d))?\b|我(?!们)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+#/-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retort:
    """A memory that a terse answer corrects."""

    entry: MemoryEntry
    content: str
    """The memory with the new value in it."""


@dataclass(frozen=True, slots=True)
class _Swap:
    """A value of an entry and what comes in its place."""

    start: int
    end: int
    new: str


def retort_in(turn: Turn, place: int, entries: Sequence[MemoryEntry]) -> Retort | None:
    """The one memory that a sentence corrects by the value alone, or `None`.

    Args:
        turn: The user's message with what was said before it.
        place: Of the sentence in it.
        entries: That may be meant.
    """
    sentence = turn.sentences[place]
    text = gates.without_unchanged(sentence.unquoted)
    if not _denies(text, turn.sentences[:place]) or not _is_settled(text):
        return None
    telling = _telling(text)
    if not telling or any(says(name, telling) for name in ("others", "task", "directs")):
        return None
    lines = _lines_before(turn, place)
    found: list[tuple[int, Retort]] = []
    for entry in entries:
        local = entry.scope == "global" and says("local_exception", text)
        if local or _denies_something_else(text[: text.find(telling)], entry):
            continue
        repeated = max((_repeated(entry, line) for line in lines), default=0)
        told = lines if repeated else [text]
        repeated = repeated or _announced(text, entry)
        swap = _swap(entry, telling, text, told) if repeated else None
        if swap is not None:
            content = f"{entry.content[: swap.start]}{swap.new}{entry.content[swap.end :]}"
            found.append((repeated, Retort(entry=entry, content=content.strip())))
    found.sort(key=lambda one: -one[0])
    if not found or (len(found) > 1 and found[0][0] < _MARGIN * found[1][0]):
        return None
    return found[0][1]


def _denies(text: str, before: Sequence[Sentence]) -> bool:
    """Whether a sentence, or one before it in the message, denies what was said."""
    return bool(old_phrases(text)) or any(
        says("rejects", said) or says("wrong", said)
        for said in (text, *(other.unquoted for other in before))
    )


def _denies_something_else(text: str, entry: MemoryEntry) -> bool:
    """Whether what a sentence calls wrong is a thing that an entry does not know."""
    for clause in _CLAUSE.split(text):
        found = pattern("wrong").search(f"{clause}，")
        if found is not None and unknown_words(clause[: found.start()], _whole(entry)):
            return True
    return False


def _is_settled(text: str) -> bool:
    """Whether a sentence states something for good."""
    if gates.is_question(text, states=True) or gates.REMOVED in text or gates.is_foreign(text):
        return False
    if gates.is_supposed(text) or gates.is_conditional(text) or says("unsure", text):
        return False
    if says("banter", text) or says("disagrees", text) or says("task_of_change", text):
        return False
    return not gates.is_of_the_moment(text, lasting=True)


def _lines_before(turn: Turn, place: int) -> list[str]:
    """What may have repeated a memory: the assistant's line, the user's own words before."""
    own = [other.unquoted for other in turn.sentences[:place]]
    return [line for line in (turn.offered[-_MOST_RECALLED:], turn.earlier, *own) if line]


def _repeated(entry: MemoryEntry, line: str) -> int:
    """How many words of an entry a line has, if it repeats the entry; else 0."""
    if qualified_apart(line, entry.content):
        return 0
    known = subject_words(entry.content)
    shared = len(known & subject_words(line))
    names = names_in(entry.content)
    recalled = says("recalls", line) and (
        shared >= _RECALLED or (bool(names) and names <= names_in(line))
    )
    return shared if recalled or (known and shared >= _RESTATED * len(known)) else 0


def _announced(text: str, entry: MemoryEntry) -> int:
    """How many words of an entry stand in a clause that says that the entry is wrong."""
    clauses = _CLAUSE.split(text)
    wrong = [clause for clause in clauses[:-1] if says("wrong", f"{clause}，")]
    if not wrong or unknown_words(wrong[0], _whole(entry)):
        return 0
    return len(subject_words(wrong[0]) & subject_words(_whole(entry)))


def _telling(text: str) -> str:
    """The clause of a sentence that gives the new value."""
    clauses = [_DENIED.sub("", clause).strip() for clause in _CLAUSE.split(text)]
    opening = pattern("rejects").match(text)
    kept = [
        clause
        for clause in clauses
        if clause and (_NUMBER.search(clause) or not says("rejects", f"{clause},"))
    ]
    if not kept and opening:
        kept = [text[opening.end() :].strip()]
    holding = [clause for clause in kept if _NUMBER.search(clause) or _new_value(clause)]
    return holding[0] if holding else ""


def _new_value(clause: str) -> re.Match[str] | None:
    """Where a clause names what holds instead; the group `new` is the phrase."""
    return next((one for p in patterns("new_value") for one in p.finditer(clause)), None)


def _swap(entry: MemoryEntry, telling: str, text: str, lines: Sequence[str]) -> _Swap | None:
    """The value of an entry that a clause replaces, and by what."""
    return _number_swap(entry, telling, text, lines) or _name_swap(entry, telling, lines)


@dataclass(frozen=True, slots=True)
class _Number:
    start: int
    end: int
    value: str
    unit: str | None
    noun: str
    """What stands directly behind it."""


def _number_swap(entry: MemoryEntry, telling: str, text: str, lines: Sequence[str]) -> _Swap | None:
    said = list(_numbers(telling))
    if len(said) != 1:
        return None
    new = said[0]
    held = list(_numbers(entry.content))
    # "是 3 个人": what stands behind the entry's number, too, belongs to the value.
    tails = [_shared_start(telling[new.end :], entry.content[number.end :]) for number in held]
    behind = new.end + max(len(new.noun), *tails, 0)
    rest = f"{telling[: new.start]} {telling[behind:]}"
    if unknown_words(rest, _whole(entry)) or not _gives_a_value(rest, entry):
        return None  # it is something else that has this value
    if any(number.value == new.value and number.unit == new.unit for number in held):
        return None
    if any(_ambiguous(line, entry, held) for line in lines):
        return None
    denied = {number.value for phrase in old_phrases(text) for number in _numbers(phrase)}
    if denied:
        found = [number for number in held if number.value in denied]
    else:
        told = {number.value for line in lines for number in _numbers(line)}
        if _other_amounts(new, lines, held):
            return None  # "I found 30 rows": it may be those that are 40
        found = [number for number in held if number.value in told and _same_kind(new, number)]
        found = found or [n for n in held if n.value in told and new.unit is None and not new.noun]
    if len(found) != 1:
        return None
    old = found[0]
    if not _may_count(new, old, entry):
        return None
    brings_unit = new.noun.strip() and new.noun.strip() != old.noun.strip() and old.unit
    behind = old.end + len(old.noun) if brings_unit and new.unit else old.end
    written = telling[new.start : new.end + (len(new.noun) if brings_unit and new.unit else 0)]
    return _Swap(old.start, behind, written)


def _ambiguous(line: str, entry: MemoryEntry, held: Sequence[_Number]) -> bool:
    """Whether a line also gives a number of an entry to something else."""
    values, known = {number.value for number in held}, subject_words(_whole(entry))
    for piece in _SENTENCE.split(line):
        words = subject_words(piece)
        if words and not words & known and values & {number.value for number in _numbers(piece)}:
            return True
    return False


def _shared_start(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                min(len(one), len(other)))  # fmt: skip


def _gives_a_value(rest: str, entry: MemoryEntry) -> bool:
    """Whether what stands around a number names an entry's subject, or does no more than "is"."""
    if subject_words(rest) & subject_words(_whole(entry)):
        return True
    return nothing_but("copula").fullmatch(rest.strip(" ，,、.。！!：:—-")) is not None


def _other_amounts(new: _Number, lines: Sequence[str], held: Sequence[_Number]) -> bool:
    """Whether a line gives an amount of the kind of the new one that is not an entry's."""
    values = {number.value for number in held} | {new.value}
    given = (number for line in lines for number in _numbers(line))
    return any(number.value not in values and _same_kind(new, number) for number in given)


def _may_count(new: _Number, old: _Number, entry: MemoryEntry) -> bool:
    """Whether what a number is said to count is what the entry counts: no files for megabytes."""
    noun = new.noun.strip()
    if new.unit is not None:
        return new.unit == old.unit or (old.unit is None and not old.noun.strip())
    if not noun or noun[:1] == old.noun.strip()[:1]:
        return True
    return not unknown_words(noun, _whole(entry)) and (noun.isascii() or old.unit is None)


def _same_kind(new: _Number, old: _Number) -> bool:
    if new.unit is not None or old.unit is not None:
        return new.unit == old.unit
    return not new.noun or not old.noun or new.noun.strip()[:1] == old.noun.strip()[:1]


def _numbers(text: str) -> Iterator[_Number]:
    """The numbers of a text in digits, with their places."""
    for found in _NUMBER.finditer(text):
        near = nfkc(text[found.start() : found.end() + _REACH])
        counted = quantities(near)
        unit = counted[0].unit if counted else None
        tail = _TAIL.match(text, found.end())
        yield _Number(
            found.start(),
            found.end(),
            counted[0].value if counted else found[0],
            unit,
            _noun(tail[0] if tail else "", has_unit=unit is not None),
        )


def _noun(tail: str, *, has_unit: bool) -> str:
    """A word behind a number that counts with it; none for "20 not 50"."""
    if has_unit or not tail.strip():
        return tail
    bare = tail.strip().lower()
    if bare in {"not", "now", "and", "in", "at", "on", "for", "to", "is", "or", "instead", "per"}:
        return ""
    return tail if bare.isascii() else tail[: len(tail) - len(tail.lstrip()) + 1]


def _name_swap(entry: MemoryEntry, telling: str, lines: Sequence[str]) -> _Swap | None:
    found = _new_value(telling)
    if found is None or not (says("changed", telling) or names_in(telling)):
        return None
    if _SPEAKER.search(telling) and entry.scope != "global" and entry.type != "preference":
        return None  # "I switched to the main branch" is the speaker's doing, no change of the rule
    new, left = found["new"].strip(), f"{telling[: found.start()]} {telling[found.end() :]}"
    if unknown_words(left, " ".join([_whole(entry), *lines])):
        return None
    if _CLAUSE.search(new) or new.lower() in entry.content.lower():
        return None
    span = _told_span(entry.content, lines) or _named_span(entry.content, lines)
    return None if span is None else _Swap(*span, new)


def _told_span(content: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where an entry holds what the user names as told before: "I know I told you tabs"."""
    for line in lines:
        for told in pattern("told_before").finditer(line):
            phrase = next((group for group in told.groups() if group), "").strip()
            at = content.lower().find(phrase.lower()) if phrase else -1
            if at >= 0:
                return at, at + len(phrase)
    return None


def _named_span(content: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Where an entry holds names that were repeated, if they stand together."""
    told = {name for line in lines for name in _latin(line)}
    names = names_in(content)
    spans = [
        found.span()
        for found in _NAME.finditer(content)
        if found[0].lower().rstrip("._/-") in names & told
    ]
    if not spans or any(two[0] - one[1] > _MOST_BETWEEN for one, two in pairwise(spans)):
        return None
    return spans[0][0], spans[-1][1]


def _latin(text: str) -> set[str]:
    return {found[0].lower().rstrip("._/-") for found in _NAME.finditer(nfkc(text))}


def _whole(entry: MemoryEntry) -> str:
    return f"{entry.title} {entry.content} {' '.join(entry.tags)}"
