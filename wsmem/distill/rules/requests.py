"""What a request to remember is about: words behind it, before it, or the sentences around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.cues import is_lasting
from wsmem.distill.rules.lexicon import nothing_but, pattern, says
from wsmem.distill.rules.writing import (
    is_filler,
    is_substantial,
    joined,
    without_address,
    without_secrets,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence

_SOURCES = 2
"""Sentences before a bare "remember that" that it is taken to mean."""
_MOST_ITEMS = 8
"""Sentences behind "remember these:" without list marks that are taken to be its items."""

_SHORT_POINTER = 10
"""Characters of a content that may do nothing but point back."""

_MOST_WIDENING = 60
"""Characters of the longest sentence that only says that the one before it holds anywhere."""

_GAP = re.compile(r"[\s：:，,、。!！—-]*")
_POINTER = re.compile(r"这|那|\b(?:this|that|it|these|one)\b", re.IGNORECASE)
_REMEMBERS = re.compile(
    r"(?:\b(?:i|we|they|he|she|do you)(?: still| also| vaguely| clearly)?|"
    r"(?<![帮给替跟和让])我们?|他|她)\s*$",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"^(?:因为|不然|否则|原因|理由|毕竟|because|otherwise|since|reason)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One thing that is to be remembered."""

    text: str
    sources: tuple[Sentence, ...]
    """The sentences it was taken from."""


def requested(
    sentences: Sequence[Sentence], place: int, earlier: Sequence[Sentence]
) -> list[Wanted]:
    """What the request in sentence `place` is about.

    Args:
        sentences: Of the message.
        place: Of the request.
        earlier: The user's message before this one, which a bare "remember that" may mean.
    """
    sentence = sentences[place]
    mark = pattern("request").search(sentence.unquoted)
    if mark is None or _is_no_request(sentence.unquoted, mark):
        return []
    following = sentences[place + 1 :]
    content = _around(sentence, mark)
    ends_open = sentence.text.rstrip().endswith(("：", ":"))
    if (content and _heads_a_list(content)) or (ends_open and not is_substantial(content)):
        return _items(following)
    if is_substantial(content) and not (place and _points_back(content)):
        spoken = [sentence, *(other for other in following[:1] if _belongs(other))]
        said = joined([content, *(other.text for other in spoken[1:])])
        return [*_kept(said, spoken), *_further_items(following)]
    source = _statements_before(sentences[:place])
    if not source and place == 0 and following and _states(following[0]):
        source = [following[0]]
    source = source or _statements_before(earlier)
    return _kept(joined(other.text for other in source), source)


def _is_no_request(text: str, mark: re.Match[str]) -> bool:
    if gates.is_question(text, states=True) or says("injection", text) or says("banter", text):
        return True
    if _REMEMBERS.search(text[: mark.start()]):
        return True
    return gates.is_foreign(text[: mark.end()]) or gates.is_supposed(text[: mark.start()])


def _kept(said: str, spoken: Sequence[Sentence]) -> list[Wanted]:
    """A statement out of a request, unless nothing of it lasts."""
    said = without_secrets(without_address(said))
    # "Has to stay on Java 8 until the bank has moved" is bounded, not of the moment.
    bounded = pattern("dated").sub("", said) if says("duty", said) else said
    if (says("moment", bounded) and not is_lasting(said)) or says("injection", said):
        return []
    return [Wanted(text=said, sources=tuple(spoken))] if is_substantial(said) else []


def _around(sentence: Sentence, mark: re.Match[str]) -> str:
    """The content of a request that stands in the same sentence: behind it, or before it."""
    before, after = sentence.text[: mark.start()], sentence.text[mark.end() :]
    ahead = _before(before)
    announced = re.match(r"\s*[：:]|\s*[—-]", after) is not None or mark[0].endswith((":", "："))
    if ahead and not announced and _POINTER.search(mark[0] + before[-4:]):
        return ahead  # "…, please keep that in the rules next to the other one"
    behind = _behind(after)
    if says("comment", behind):
        return ahead  # "… Keep that somewhere, it will bite us again"
    if is_substantial(behind) or _heads_a_list(behind):
        lead = re.split(r"[，,；;：:。]", before)[-1].strip()
        run_on = not re.match(r"\s*[：:，,]|\s+that\b", after) and after.strip() == behind.strip()
        return joined([lead, behind]) if run_on and is_substantial(lead) else behind
    return ahead


def _behind(after: str) -> str:
    """What follows a request, without the words that only lead to it."""
    opened = nothing_but("after_request").match(after)
    rest = after[opened.end() :] if opened else after
    return rest[_GAP.match(rest).end() :] if rest else ""  # type: ignore[union-attr]  # matches always


def _before(before: str) -> str:
    """The clauses before a request, without those that only lead to it."""
    kept = [clause for clause in re.split(r"(?<=[，,；;])", before) if clause.strip()]
    while kept and is_filler(kept[-1]):
        kept.pop()
    said = "".join(kept).rstrip("，,；;、 ")
    return said if is_substantial(without_address(said)) else ""


def _points_back(content: str) -> bool:
    """Whether a content only says "do it like that": what is meant stands before it."""
    return len(content) <= _SHORT_POINTER and says("deictic", content)


def _heads_a_list(text: str) -> bool:
    stripped = text.strip()
    return bool(stripped) and pattern("list_ahead").fullmatch(stripped) is not None


def _items(following: Sequence[Sentence]) -> list[Wanted]:
    """The items announced by "remember these:"."""
    listed = [other for other in following if other.listed]
    found: list[Wanted] = []
    for item in listed or following[:_MOST_ITEMS]:
        if _may_be_kept(item):
            found += _kept(pattern("next_item").sub("", item.text), [item])
    return found


def _further_items(following: Sequence[Sentence]) -> list[Wanted]:
    """Items that go on with "second, …", "also …"."""
    found: list[Wanted] = []
    for other in following:
        mark = pattern("next_item").match(other.text)
        if mark is None or not _may_be_kept(other) or says("task", other.text[mark.end() :]):
            break
        found += _kept(other.text[mark.end() :], [other])
    return found


def _belongs(sentence: Sentence) -> bool:
    """Whether a sentence gives the reason for the one before it, or says that it holds anywhere."""
    if not _may_be_kept(sentence):
        return False
    far = any(says(name, sentence.unquoted) for name in ("everywhere", "anywhere"))
    widens = far and len(sentence.text) <= _MOST_WIDENING
    return widens or _WHY.match(sentence.text) is not None


def _may_be_kept(sentence: Sentence) -> bool:
    text = sentence.unquoted
    asks = gates.is_question(text, states=True)
    return not asks and not gates.is_foreign(text) and not says("not_to_keep", text)


def _states(sentence: Sentence) -> bool:
    text = sentence.unquoted
    if not _may_be_kept(sentence) or gates.is_question(text) or gates.is_supposed(text):
        return False
    return is_substantial(sentence.bare) and not says("moment", text) and not says("task", text)


def _statements_before(sentences: Sequence[Sentence]) -> list[Sentence]:
    found: list[Sentence] = []
    for other in reversed(sentences):
        if len(found) >= _SOURCES or not _states(other):
            break
        found.insert(0, other)
    return found
