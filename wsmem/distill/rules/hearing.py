"""The statements of a conversation that deserve to be kept: cues, gates and context together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.answers import (
    Exchange,
    is_bare_yes,
    picks_option,
    proposal_taken_up,
    question_in,
    weighs,
    without_pick,
)
from wsmem.distill.rules.cues import cue_of, is_lasting, is_soft
from wsmem.distill.rules.facts import announced_fact, standing_obstacle
from wsmem.distill.rules.lexicon import nothing_but, pattern, says
from wsmem.distill.rules.requests import requested
from wsmem.distill.rules.sentences import sentences_of
from wsmem.distill.rules.verdicts import (
    first_clause,
    has_grounds,
    is_verdict,
    main_of,
    without_reasons,
)
from wsmem.distill.rules.wishes import is_wish
from wsmem.distill.rules.writing import (
    is_substantial,
    joined,
    without_address,
    without_secrets,
)
from wsmem.redaction.redact import contains_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wsmem.distill.rules.cues import Cue
    from wsmem.distill.rules.sentences import Sentence
    from wsmem.records import MemoryMessage

_ELABORATIONS = 2
"""Sentences behind a decision that are taken to be its reason."""

_CLOSED = 3
"""Sentences before "that's final" that are taken to be final."""

_CJK = re.compile(r"[一-鿿]")


@dataclass(slots=True, kw_only=True)
class Heard:
    """One statement to keep."""

    text: str
    """What was said, without the request around it."""
    cue: Cue
    message: MemoryMessage
    used: list[Sentence] = field(default_factory=list)
    """The sentences it consists of."""


@dataclass(slots=True)
class Turn:
    """One message of the user, cut up, with what was said before it."""

    message: MemoryMessage
    sentences: list[Sentence]
    asked: str = ""
    """The user's last question before it."""
    offered: str = ""
    """What the assistant said just before it."""

    earlier: str = ""
    """What the user said in the message before it."""

    @property
    def exchange(self) -> Exchange:
        """What the message answers."""
        return Exchange(self.asked, self.offered)


def turns_of(messages: Iterable[MemoryMessage]) -> list[Turn]:
    """The user's messages as turns, in order."""
    turns: list[Turn] = []
    offered = asked = earlier = ""
    for message in messages:
        if message.role != "user":
            offered = message.text
            continue
        turn = Turn(message, sentences_of(message.text), asked, offered, earlier)
        earlier = message.text
        turns.append(turn)
        questions = [s.text for s in turn.sentences if gates.is_question(s.text) or weighs(s)]
        asked, offered = (questions[-1] if questions else ""), ""
    return turns


def hear(turns: Sequence[Turn]) -> list[Heard]:
    """The statements to keep, in the order they were made; what the user took back is gone."""
    heard: list[Heard] = []
    for number, turn in enumerate(turns):
        previous = turns[number - 1] if number else None
        for place, sentence in enumerate(turn.sentences):
            if says("cancels", sentence.unquoted):
                recent = {id(turn.message), id(previous.message) if previous else 0}
                heard = [statement for statement in heard if id(statement.message) not in recent]
            elif not any(sentence is used for statement in heard for used in statement.used):
                heard += _statements(turn, place, previous)
    return heard


def _statements(turn: Turn, place: int, previous: Turn | None) -> list[Heard]:
    """What one sentence gives to keep; several statements where it asks for a list."""
    text = gates.without_unchanged(turn.sentences[place].unquoted)
    if says("not_to_keep", text):
        return []
    if cue_of(text) == "request":
        return _requests(turn, place, previous)
    fact = _fact(turn, place)
    if fact is not None:
        return [fact]
    taken_up = _taken_up(turn, place)
    if taken_up is not None:
        return [taken_up]
    stated = (_stated(turn, place, cue) for cue in _cues(turn, place, text))
    first = next((statement for statement in stated if statement is not None), None)
    return [first] if first is not None else []


def _fact(turn: Turn, place: int) -> Heard | None:
    """A fact of the project that is announced, or that stands in the way of an offer."""
    sentence = turn.sentences[place]
    if (said := announced_fact(sentence)) is not None:
        return Heard(text=without_address(said), cue="fact", message=turn.message, used=[sentence])
    told = standing_obstacle(turn.sentences, turn.offered) if place == 0 else []
    if not told:
        return None
    said = without_address(joined(told))
    return Heard(text=said, cue="fact", message=turn.message, used=turn.sentences[:3])


def _requests(turn: Turn, place: int, previous: Turn | None) -> list[Heard]:
    """What a request to remember is about, which may be the message before."""
    found: list[Heard] = []
    own = {id(sentence) for sentence in turn.sentences}
    for wanted in requested(turn.sentences, place, previous.sentences if previous else ()):
        here = previous is None or any(id(sentence) in own for sentence in wanted.sources)
        message = turn.message if here or previous is None else previous.message
        used = [*wanted.sources, turn.sentences[place]]
        found.append(Heard(text=wanted.text, cue="request", message=message, used=used))
    return found


def _cues(turn: Turn, place: int, text: str) -> Iterator[Cue]:
    """Why a sentence may be worth keeping, the likeliest reason first."""
    cue = cue_of(text)
    lays_down, wishes = _lays_down(turn, place), _wishes(turn, place)
    about_manner = says("manner_wish", text) and not says("here", text)
    if about_manner and (cue == "rule" or (cue is None and wishes)):
        yield "preference"
    settles = says("commits", text) or (cue == "preference" and not _is_personal(text))
    if lays_down and settles:
        yield "decision"
    if cue is not None:
        yield cue
    if lays_down:
        yield "decision"
    if wishes:
        yield "preference"


def _wishes(turn: Turn, place: int) -> bool:
    """Whether a sentence says what the user likes, without a word of liking that is known."""
    return is_wish(turn.sentences[place], turn.sentences[place + 1 :])


def _taken_up(turn: Turn, place: int) -> Heard | None:
    """The assistant's proposal, where the user takes it up; with the user's own words to it."""
    if not _opens(turn, place) or says("moment", turn.sentences[place].unquoted):
        return None
    spoken = [turn.sentences[place], *_elaborations(turn, place)]
    proposal = proposal_taken_up(spoken, turn.exchange)
    if proposal is None:
        return None
    said = without_secrets(joined([proposal, *_own_words(spoken)]))
    if turn.asked:
        said = _with_topic(turn.asked, said)
    return Heard(text=said, cue="decision", message=turn.message, used=spoken)


def _opens(turn: Turn, place: int) -> bool:
    """Whether nothing but interjections stands before a sentence of a message."""
    before = turn.sentences[:place]
    return all(nothing_but("address").fullmatch(other.bare) is not None for other in before)


def _own_words(spoken: Sequence[Sentence]) -> list[str]:
    """What a user adds when taking up a proposal, without the yes."""
    first = pattern("accepts").sub("", without_pick(spoken[0].unquoted)).strip(" ，,。.!！：:—-")
    first = pattern("nods").sub("", first).strip(" ，,。.!！：:—-")
    added = [first] if is_substantial(first) else []
    return [*added, *(other.text for other in spoken[1:])]


def _is_personal(text: str) -> bool:
    """Whether a sentence is about the speaker, the listener or how either works."""
    return any(says(name, text) for name in ("persons", "manner", "code_things", "directs"))


def _lays_down(turn: Turn, place: int) -> bool:
    """Whether a sentence decides without a word that says so."""
    if says("no_decision", turn.sentences[place].unquoted):
        return False
    if _answers_choice(turn, place):
        return True
    return is_verdict(turn.sentences[place], turn.sentences[place + 1 :])


def _stated(turn: Turn, place: int, cue: Cue) -> Heard | None:
    """What a sentence with a cue of its own says, with the sentences that belong to it."""
    sentence = turn.sentences[place]
    if not _stands(turn, place, cue) or (place == 0 and is_bare_yes(sentence)):
        return None
    spoken = [sentence]
    if cue in {"rule", "decision"} and _points_back(sentence):
        source = _pointed_at(turn, place)
        if not source:
            return None
        spoken = [*source, sentence]
    if cue == "decision":
        spoken += _elaborations(turn, place)
    elif cue == "preference":
        spoken += _elaborations(turn, place, most=1, brief=True)
    said = without_secrets(without_address(joined(other.text for other in spoken)))
    answers = says("no_subject", sentence.text) or _answers_choice(turn, place)
    topic = turn.asked or question_in(turn.offered)
    if cue == "decision" and topic and answers:
        said = _with_topic(topic, said)
    if not is_substantial(said):
        return None
    return Heard(text=said, cue=cue, message=turn.message, used=spoken)


def _stands(turn: Turn, place: int, cue: Cue) -> bool:
    """Whether a sentence with a cue is a lasting statement of the user's own."""
    text = gates.without_unchanged(turn.sentences[place].unquoted)
    if gates.is_question(text, states=True) or says("banter", text):
        return False
    # Somebody else's demand may be the reason for what is decided.
    if gates.is_foreign(main_of(text) if cue == "decision" else text):
        return False
    later = turn.sentences[place:]
    if cue == "decision" and any(says("asks_opinion", other.unquoted) for other in later):
        return False
    wish = cue == "preference" and says("manner_wish", text)
    if (gates.is_supposed(text) and not wish) or says("complains", text):
        return False
    lasting = is_lasting(text)
    general = lasting or cue == "preference"
    if cue == "decision":
        text = without_reasons(text)
    if gates.is_conditional(text) and (not general or says("wishful", text)):
        return False
    # "Today we decided" dates a decision, "until we are ten" bounds it: neither is the moment.
    if cue == "preference" and (says("others", first_clause(text)) or _is_off_topic(turn, place)):
        return False
    moment = pattern("dated").sub("", text) if cue == "decision" else text
    if gates.is_of_the_moment(moment, lasting=lasting or cue in {"preference", "decision"}):
        return False
    if cue == "decision" and is_soft(text):
        return _is_weighed(turn, place)
    if cue == "decision" and cue_of(text) != "decision":
        return _lays_down(turn, place) or _is_weighed(turn, place)
    if cue == "rule" and not lasting and not says("local_rule", text):
        return says("generic", text) and not says("task", text)
    return True


def _is_off_topic(turn: Turn, place: int) -> bool:
    """Whether a liking is for food, films or the weather, going by what is talked of."""
    text = turn.sentences[place].text
    if says("code_things", text) or says("manner", text):
        return False
    return any(says("off_topic", said) for said in (turn.message.text, turn.earlier))


def _answers_choice(turn: Turn, place: int) -> bool:
    """Whether a message opens with one of the options that stand open: "REST, because …"."""
    return place == 0 and picks_option(turn.sentences, turn.exchange)


def _is_weighed(turn: Turn, place: int) -> bool:
    """Whether a soft "let's use X" settles a choice, rather than naming the next small step."""
    text = turn.sentences[place].unquoted
    if says("moment_weak", text) or says("here_only", text):
        return False
    near = turn.sentences[place : place + 2]
    if any(says("reason", other.unquoted) for other in near):
        return True
    if has_grounds(text, turn.sentences[place + 1 :]):
        return True
    chosen = says("choice", turn.asked) or says("choice", turn.offered)
    chosen = chosen or _answers_choice(turn, place)
    explained = any(map(is_substantial, re.split(r"[，,;—]", text)[1:]))
    return chosen and (explained or bool(_elaborations(turn, place)))


def _elaborations(
    turn: Turn, place: int, *, most: int = _ELABORATIONS, brief: bool = False
) -> list[Sentence]:
    """The sentences behind a statement that say why or what exactly.

    Args:
        turn: The message.
        place: Of the statement in it.
        most: How many at most.
        brief: Only short ones without a verb of doing, which add to a preference.
    """
    found: list[Sentence] = []
    for other in turn.sentences[place + 1 : place + 1 + most]:
        if not declares(other) or says("task", other.text) or cue_of(other.unquoted) == "request":
            break
        if brief and len(other.bare) > (16 if other.is_cjk else 56):
            break
        found.append(other)
    return found


def restates(sentence: Sentence) -> bool:
    """Whether a sentence could repeat a memory and add to it: a statement, no account or job."""
    text = sentence.unquoted
    return declares(sentence) and not (says("no_addition", text) or says("task", text))


def declares(sentence: Sentence) -> bool:
    """Whether a sentence states something that may last."""
    text = sentence.unquoted
    if gates.is_question(text) or gates.is_foreign(text) or says("not_to_keep", text):
        return False
    if gates.is_supposed(text) or says("moment", text) or says("banter", text):
        return False
    return is_substantial(sentence.bare)


def _points_back(sentence: Sentence) -> bool:
    """Whether a rule says only "don't mix those up again", about the sentence before it."""
    pointer = pattern("deictic").search(sentence.unquoted)
    if pointer is None or says("preference", sentence.text):
        return False
    if says("arranges", sentence.unquoted[: pointer.start()]):
        return False  # "templates live in the database so that ops can edit them"
    short = len(sentence.bare) <= (16 if sentence.is_cjk else 90)
    return short and not re.search(r"[，,；;]", sentence.text[: pointer.start()])


def _pointed_at(turn: Turn, place: int) -> list[Sentence]:
    """The statements before a sentence that points back: the last, or all that "it is final"."""
    most = _CLOSED if says("closing", turn.sentences[place].unquoted) else 1
    found: list[Sentence] = []
    for other in reversed(turn.sentences[:place]):
        if len(found) >= most or not declares(other):
            break
        found.insert(0, other)
    return found


def _with_topic(question: str, said: str) -> str:
    """An answer with what it answers in front: "put it there" alone says nothing later."""
    cjk = _CJK.search(question) is not None
    topic = without_address(re.split(r"[，,]", question)[0] if cjk else question)
    topic = topic.rstrip("？?。.！! ")
    if not is_substantial(topic) or topic in said:
        return said
    mark = "：" if cjk else ": "
    # "Where to keep the token: a cookie" reads like a credential, which would be dropped.
    mark = "? " if contains_secret(f"{topic}{mark}{said}") else mark
    return f"{topic}{mark}{said}"
