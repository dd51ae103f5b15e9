"""Short answers that decide: an option picked, a proposal of the assistant taken up.

What they settle stands in somebody else's words, so it is taken from there: "option 2 then" says
nothing later. A plain "ok" decides nothing, and an offer to do a job is no proposal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.lexicon import pattern, says
from wsmem.distill.rules.verdicts import has_grounds
from wsmem.distill.rules.words import subject_words
from wsmem.distill.rules.writing import is_substantial, joined
from wsmem.operations.statements import own_words
from wsmem.redaction.redact import redact
from wsmem.text.scripts import cjk_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence

_MOST_OFFERED = 2_000
"""Characters at the end of what the assistant said that are searched for a proposal."""
_MOST_PROPOSED = 300
"""Characters of the longest proposal that is taken up."""
_LEAST_DESCRIBED = 3
"""Characters that a numbered option must have more than."""
_MARKS = " ，,。.；;：:！!？?"
_SHARED = 0.6
"""Share of the words of an answer's opening that stand among the options."""

_PIECE = re.compile(r"[^。！？；;!?\n]+?(?:[。！？；;!?]+|\.(?=\s|$)|\n|$)")
_OPENING = re.compile(
    r"^(.{1,60}?)(?:\s*(?:[，,。;；：:！!—]|\.(?!\w))|\s+[—-]\s|$| (?:because|since|as)\b)"
)
_LEAD = re.compile(
    r"^(?:(?:好[的吧]?|行|嗯|那就|那|还是|就|先|我?们?选|用|走|定|做|放|上|我要|要|"
    r"ok(?:ay)?|yes|then|so|let'?s (?:go with|use|do|take)|go with|going with|use|the)[，, ]*)+",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"(?:[吧了呗]|好了|就行|就够|够了|先|优先|"
    r"(?:'s| is) (?:fine|ok(?:ay)?|enough|plenty)| works| then| it is|"
    r" first| please| for (?:me|us|now))+$",
    re.IGNORECASE,
)
_NUMBER_NAMES = ("一1aA", "二两2bB", "三3cC", "四4dD")
_NUMBERED = re.compile(
    r"(?:方案|选项|办法|选|第)\s?([一二三四1-4A-Da-d])(?![A-Za-z0-9])|(?<![A-Za-z0-9])([A-D])\s?方案"
    r"|\b(?:option|plan|variant|approach|number)\s([1-4a-d])\b"
    r"|\b(first|second|third)\b(?: one| option)?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|(?<=[\s(（。；;：:]))([A-Da-d1-4])\s?[)）.:：、]\s*(?=\S)", re.MULTILINE)
_BARE_PICK = re.compile(
    r"^(?:(?:hm+|ok(?:ay)?|then|well|yes|嗯|那就|那|就|选|好)[，,. ]*)*([A-Da-d1-4])"
    r"(?:\s?(?:吧|好了|please|pls|then|it is))*\s*(?:[.,;:，。；：！!—-]+\s*|$)",
    re.IGNORECASE,
)
_ORDINALS = {"first": "1", "second": "2", "third": "3"}
_COUNTS = re.compile(
    r"^(?:(?:hm+|ok(?:ay)?|then|well|yes|嗯|那就|那|就|选|好)[，,. ]*)*"
    r"(?:the )?(?:(?P<first>first|former|前者|前面?那?个|第一[个种])"
    r"|second|latter|后者|后面?那?个|第二[个种])"
    r"(?: one| option)?(?:吧|好了|please|then|it is|\s)*(?:[.,;:，。；：！!—-]|$)",
    re.IGNORECASE,
)
_FORMER = re.compile(r"前者|\bthe former\b", re.IGNORECASE)
_LATTER = re.compile(r"后者|\bthe latter\b", re.IGNORECASE)
_SIDE_BY_SIDE = re.compile(
    r"^[^，,。.]{1,30}(?:还是|或者)[^，,。.]{1,30}$|^[\w\s,.#+/-]{1,60}\b(?:vs\.?|versus)\s[\w\s.#+/-]{1,40}$",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r",? or (?:else )?|[，,；;]?\s?(?:还是|或者|要么)", re.IGNORECASE)
_BEFORE_ALTERNATIVES = re.compile(r"^.*(?:[:：]|\beither\b)\s*", re.IGNORECASE)
_ORDERS = re.compile(
    r"\b(?:which|what|where)\b.{0,40}\bfirst\s*\?|\bfirst,? or\b|\bshould i (?:start|begin)\b"
    r"|先.{1,12}哪|先[^，,。]{1,12}还是先",
    re.IGNORECASE,
)
"""What only asks in which order to work."""
_LEADS_UP = re.compile(
    r"^.{0,60}?(?:我(?:的)?(?:建议|推荐|倾向(?:于)?|会)|建议(?:是)?|推荐|"
    r"\bi(?:'d| would)? ?(?:suggest|recommend|propose)(?: that| to)?|"
    r"my (?:suggestion|recommendation) is(?: to)?)"
    r"[：:，,]?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What an answer answers."""

    asked: str
    """The user's last question before it, or nothing."""
    offered: str
    """What the assistant said just before it."""


def proposal_taken_up(spoken: Sequence[Sentence], exchange: Exchange) -> str | None:
    """The assistant's proposal that an answer takes up for good, in the assistant's words.

    Args:
        spoken: The sentence that may take it up, and those that go with it.
        exchange: What it answers.
    """
    text = spoken[0].unquoted
    offered = own_words(redact(exchange.offered[-_MOST_OFFERED:]))
    if not offered or gates.is_question(text, states=True) or says("postpones", without_pick(text)):
        return None
    named = _numbered(text, offered) or _lettered(spoken, offered) or _counted(spoken, offered)
    if named:
        return named
    rest = _behind(text, "accepts")
    if rest is None:
        rest = _behind(text, "nods")
        if rest is None or not _repeats(rest, offered):
            return None
    proposal = _proposal(offered)
    if proposal is None or len(proposal) > _MOST_PROPOSED:
        return None
    return proposal


def picks_option(sentences: Sequence[Sentence], exchange: Exchange) -> bool:
    """Whether a message opens with one of the options that stand open: "REST, because …"."""
    first = sentences[0]
    text = first.unquoted
    if gates.is_question(text, states=True) or says("postpones", text):
        return False
    if says("task", text) and not says("choice", exchange.asked):
        return False
    if _ORDERS.search(exchange.offered):
        return False
    chosen = says("choice", exchange.asked) or says("choice", exchange.offered)
    opening = _OPENING.match(text)
    if not chosen or opening is None:
        return False
    option = _TRAIL.sub("", _LEAD.sub("", opening[1]).strip())
    words = _words(option)
    known = _words(f"{exchange.asked} {exchange.offered}")
    if not words or len(words & known) < _SHARED * len(words):
        return False
    if has_grounds(text, sentences[1:]):
        return True
    explained = is_substantial(text[opening.end() :]) or len(sentences) > 1
    return bool(exchange.asked) and (explained or says("picks", text))


def question_in(offered: str) -> str:
    """What the assistant left to the user: its final question, or else its last alternatives."""
    pieces = _pieces(offered[-_MOST_OFFERED:])
    if pieces and gates.is_question(pieces[-1]):
        return pieces[-1]
    return next((piece for piece in reversed(pieces) if _alternatives(piece)), "")


def weighs(sentence: Sentence) -> bool:
    """Whether a sentence only sets two options side by side: "A vs B"."""
    return _SIDE_BY_SIDE.search(sentence.unquoted) is not None


def is_bare_yes(sentence: Sentence) -> bool:
    """Whether a sentence is a yes to a proposal and nothing more."""
    return _behind(sentence.unquoted, "accepts") == ""


def _pieces(text: str) -> list[str]:
    """The sentences of what the assistant said."""
    return [piece for found in _PIECE.finditer(text) if (piece := found[0].strip())]


def _behind(text: str, concept: str) -> str | None:
    """What follows a concept a text begins with; `None` when it does not."""
    found = pattern(concept).match(text)
    return None if found is None else text[found.end() :].strip(" ，,。.!！：:—-")


def _repeats(rest: str, offered: str) -> bool:
    """Whether a text says again what was offered."""
    words = _words(rest)
    return len(words) > 1 and len(words & _words(offered)) >= _SHARED * len(words)


def _proposal(offered: str) -> str | None:
    """The design put forward in what the assistant said, without jobs and asides."""
    found = [
        piece
        for piece in _pieces(offered)
        if says("proposes", piece)
        and not any(says(name, piece) for name in ("offers_work", "injection"))
        and is_substantial(piece)
    ]
    if not found:
        return None
    stripped = [_LEADS_UP.sub("", piece) for piece in found[-2:]]
    return joined(text for text in stripped if is_substantial(text)) or None


def _numbered(text: str, offered: str) -> str | None:
    """The option a text names by its number, as the assistant described it."""
    marks = [_Mark(found.end(), _number(found)) for found in _NUMBERED.finditer(offered)]
    named = _NUMBERED.search(text)
    if named is not None:
        wanted = _number(named)
    elif _LATTER.search(text) and len(marks) > 1:
        wanted = marks[1].number
    elif _FORMER.search(text) and marks:
        wanted = marks[0].number
    else:
        return None
    for mark in marks:
        described = re.match(
            r"[：:、,.，)）\s]*(?:是|is)?\s*([^。；;\n]+?)(?=[。；;\n]|\.\s|\.?$)",
            offered[mark.end :],
        )
        if mark.number == wanted and described and len(described[1]) > _LEAST_DESCRIBED:
            return described[1]
    return None


def _counted(spoken: Sequence[Sentence], offered: str) -> str | None:
    """The one of the assistant's alternatives that an answer names by its place: "the second".

    Only with a reason, as for a bare letter.
    """
    text = spoken[0].unquoted
    named = _COUNTS.match(text)
    if named is None or not has_grounds(text, spoken[1:]):
        return None
    found = [options for piece in _pieces(offered) if (options := _alternatives(piece))]
    place = 0 if named["first"] else 1
    if not found:
        return None
    chosen = found[-1][place]
    return chosen + ("。" if cjk_run().search(chosen) else ".")


def _alternatives(piece: str) -> list[str]:
    """The two ways that a sentence leaves open; none unless it offers a choice of exactly two."""
    if not says("choice", piece) or says("offers_work", piece) or _ORDERS.search(piece):
        return []
    ways = _ALTERNATIVE.split(_BEFORE_ALTERNATIVES.sub("", piece))
    ways = [way.strip(_MARKS) for way in ways]
    return ways if len(ways) == 2 and all(map(is_substantial, ways)) else []


def _lettered(spoken: Sequence[Sentence], offered: str) -> str | None:
    """The item of an offered list that an answer names by its mark alone: "B. Nobody hears it".

    Only with a reason: a bare letter may as well pick the next job.
    """
    text = spoken[0].unquoted
    picked = _BARE_PICK.match(text)
    if picked is None or not has_grounds(text, spoken[1:]):
        return None
    items = list(_ITEM.finditer(offered))
    for item, following in pairwise([*items, None]):
        end = following.start() if following else len(offered)
        if item is not None and item[1].lower() == picked[1].lower() and len(items) > 1:
            described = offered[item.end() : end].partition("\n")[0].strip(" ，,；;。.(（")
            return described if len(described) > _LEAST_DESCRIBED else None
    return None


def without_pick(text: str) -> str:
    """An answer without the bare mark, or place, of an item that it begins with."""
    return _COUNTS.sub("", _BARE_PICK.sub("", text))


@dataclass(frozen=True, slots=True)
class _Mark:
    end: int
    number: int


def _number(found: re.Match[str]) -> int:
    name = next(group for group in found.groups() if group)
    name = _ORDINALS.get(name.lower(), name)
    return next((n for n, names in enumerate(_NUMBER_NAMES) if name in names), -1)


def _words(text: str) -> frozenset[str]:
    """Words to compare, single Latin letters and Chinese letters left of pairs included."""
    if not cjk_run().search(text):
        return subject_words(text)
    return subject_words(text) | frozenset(re.findall(r"[a-z0-9][\w+#]*", text.lower()))
