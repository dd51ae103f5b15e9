"""The rule distiller: one stage of a conversation in, proposed operations out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.distill.rules import writing
from wsmem.distill.rules.contrasts import other_owner
from wsmem.distill.rules.corrections import Correction, correction_in
from wsmem.distill.rules.hearing import Heard, Turn, hear, restates, turns_of
from wsmem.distill.rules.lexicon import says
from wsmem.distill.rules.retorts import retort_in
from wsmem.distill.rules.scoping import scope_of
from wsmem.distill.rules.targets import find_target
from wsmem.distill.rules.words import subject_words
from wsmem.operations.contract import DistillOutput
from wsmem.operations.differences import relation
from wsmem.operations.evidence import MIN_QUOTE_WEIGHT, Spoken, correction_fault, weight
from wsmem.operations.similarity import content_tokens, is_near
from wsmem.records import MemoryEntry, MemoryOperation
from wsmem.redaction.redact import contains_secret
from wsmem.text.framing import without_frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence
    from wsmem.operations.contract import DistillRequest
    from wsmem.records import MemoryMessage

NAME = "rules@3"

_MORE_WORDS = 2
"""Words a statement must have beyond an entry to be more than a repetition of it."""
_RETAINED = 0.9
"""Share of an entry's words that a statement repeats when it adds to it."""
_SAID_ALREADY = 0.8
"""Share of a statement's words that an entry holds when it says the same in other words."""


class RuleDistiller:
    """Distils by rules alone: deterministic, offline, restrained."""

    def __repr__(self) -> str:
        return f"RuleDistiller({NAME})"

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        """Distil one stage, off the event loop: a full one takes a quarter of a second."""
        operations = await asyncio.to_thread(propose, request)
        answer = {"version": 1, "operations": operations}
        return DistillOutput(answer=answer, details={"prompt": NAME})


def propose(request: DistillRequest) -> list[dict[str, Any]]:
    """The operations for one stage, as a distiller writes them."""
    messages = [replace(message, text=without_frames(message.text)) for message in request.messages]
    turns = turns_of(messages)
    existing = [entry for entry in request.existing if entry.recallable]
    stage = _Stage(request, messages, existing)
    corrected = stage.corrections(turns)
    heard = hear(turns)
    for statement in heard:
        if not any(used is sentence for used in statement.used for sentence in corrected):
            stage.keep(statement)
    used = [*corrected, *(sentence for statement in heard for sentence in statement.used)]
    for turn in turns:
        stage.additions(turn, used)
    return [operation for operation in stage.operations if not _has_secret(operation)]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A correction and the message it was made in."""

    correction: Correction
    message: MemoryMessage


class _Stage:
    """The operations of one stage as they are found."""

    def __init__(
        self,
        request: DistillRequest,
        messages: Sequence[MemoryMessage],
        existing: Sequence[MemoryEntry],
    ) -> None:
        self.operations: list[dict[str, Any]] = []
        self._all_global = request.scope == "global"
        self._spoken = {message.id: Spoken(message) for message in messages}
        self._existing = existing
        self._kept: list[str] = []
        self._targets: dict[str, dict[str, Any]] = {}

    def corrections(self, turns: Sequence[Turn]) -> list[Sentence]:
        """Take up every correction with one clear target; the sentences that were used."""
        used: list[Sentence] = []
        for turn in turns:
            for place, sentence in enumerate(turn.sentences):
                before = turn.sentences[place - 1] if place else None
                after = turn.sentences[place + 1] if place + 1 < len(turn.sentences) else None
                correction = correction_in(sentence, before, after)
                if correction is not None and self._correct(_Spot(correction, turn.message)):
                    used.append(sentence)
                elif self._answer(turn, place):
                    used += turn.sentences[: place + 1]
        return used

    def _answer(self, turn: Turn, place: int) -> bool:
        """Take up a terse answer that corrects what was just recalled."""
        found = retort_in(turn, place, self._existing)
        if found is None:
            return False
        operation = MemoryOperation(
            op="supersede",
            content=found.content,
            target_id=found.entry.id,
            old_quote=found.entry.content.strip(),
            new_quote=_telling_quote(turn, place),
            evidence_message_ids=(turn.message.id,),
        )
        return self._proven(operation, found.entry)

    def _proven(self, operation: MemoryOperation, entry: MemoryEntry) -> bool:
        """Add a correction if its quotes prove it."""
        if correction_fault(operation, entry, list(self._spoken.values())) is not None:
            return False
        self._add_correction(operation, entry)
        return True

    def _correct(self, spot: _Spot) -> bool:
        correction = spot.correction
        target = find_target(correction, self._existing)
        if target is None:
            return False
        content = writing.without_address(correction.sentence.text)
        quote = _verbatim(correction.sentence, spot.message)
        if not correction.old and relation_says_nothing(content, target.entry):
            return False
        if not correction.old and not correction.disagrees and _extends(content, target.entry):
            return False
        kind = "flag-conflict" if correction.disagrees else "supersede"
        operation = MemoryOperation(
            op=kind,
            content=content,
            target_id=target.entry.id,
            old_quote=target.old_quote,
            new_quote=quote,
            evidence_message_ids=(spot.message.id,),
        )
        if kind == "supersede":
            return self._proven(operation, target.entry)
        self._add_correction(operation, target.entry)
        return True

    def _add_correction(self, operation: MemoryOperation, entry: MemoryEntry) -> None:
        """One operation a target: the later of two corrections counts."""
        earlier = self._targets.pop(entry.id, None)
        if earlier is not None:
            self.operations.remove(earlier)
        written: dict[str, Any] = {
            "op": operation.op,
            "scope": entry.scope,
            "targetId": entry.id,
            "targetScope": entry.scope,
        }
        if operation.op == "supersede":
            written["oldQuote"] = operation.old_quote
            written["newQuote"] = operation.new_quote
        written |= {
            "evidenceMessageIds": list(operation.evidence_message_ids),
            "type": entry.type,
            **_fields(operation.content),
        }
        self._targets[entry.id] = written
        self.operations.append(written)

    def keep(self, statement: Heard) -> None:
        """Add a statement, or make it a new wording of the entry that says it already."""
        content = statement.text
        if any(_says_the_same(content, other) for other in self._kept):
            return
        scope = "global" if self._all_global else scope_of(content, statement.cue)
        for entry in self._existing:
            if entry.id in self._targets or not is_near(
                content_tokens(content), content_tokens(entry.content)
            ):
                continue
            stands = relation(content, entry.content)
            if stands == "extends" or (stands == "same" and _adds_to(content, entry.content)):
                self._kept.append(content)
                self.operations.append(self._revision(statement, entry))
                return
            if stands in {"same", "covered"}:
                return
        if any(_says_the_same(content, entry.content) for entry in self._existing):
            return
        self._kept.append(content)
        self.operations.append(
            {
                "op": "add",
                "scope": scope,
                "type": writing.type_of(content, statement.cue),
                **_fields(content),
                "importance": writing.importance_of(content, statement.cue),
                "evidenceMessageIds": [statement.message.id],
            }
        )

    def additions(self, turn: Turn, used: Sequence[Sentence]) -> None:
        """Revise what is held where it is repeated with a clause more, whatever leads up to it."""
        for sentence in turn.sentences:
            if any(sentence is other for other in used) or not restates(sentence):
                continue
            content = writing.without_address(sentence.text)
            for entry in self._existing:
                if entry.id in self._targets or not _extends(content, entry):
                    continue
                if _adds_to(content, entry.content) and content not in self._kept:
                    self._kept.append(content)
                    statement = Heard(text=content, cue="rule", message=turn.message)
                    self.operations.append(self._revision(statement, entry))
                break

    def _revision(self, statement: Heard, entry: MemoryEntry) -> dict[str, Any]:
        return {
            "op": "revise",
            "scope": entry.scope,
            "targetId": entry.id,
            "targetScope": entry.scope,
            "type": entry.type,
            **_fields(statement.text),
            "evidenceMessageIds": [statement.message.id],
        }


def relation_says_nothing(content: str, entry: MemoryEntry) -> bool:
    """Whether a would-be correction says what the entry says already."""
    if other_owner(content, entry.content):
        return False  # "Greta owns it, Pavel left" has all words of "Pavel owns it"
    near = is_near(content_tokens(content), content_tokens(entry.content))
    return near and relation(content, entry.content) == "same"


def _extends(content: str, entry: MemoryEntry) -> bool:
    """Whether a would-be correction says all that the entry says, and more: then both hold."""
    mine, theirs = subject_words(content), subject_words(entry.content)
    if other_owner(content, entry.content):
        return False
    if not theirs or len(mine & theirs) < _RETAINED * len(theirs):
        return False
    return relation(content, entry.content) in {"same", "extends"}


def _fields(content: str) -> dict[str, Any]:
    return {
        "title": writing.title_of(content),
        "content": content,
        "tags": list(writing.tags_of(content)),
        "retrievalTerms": list(writing.terms_of(content)),
    }


def _verbatim(sentence: Sentence, message: MemoryMessage) -> str:
    """The sentence as a quote: without what leads up to the claim, if that leaves it verbatim."""
    bare = sentence.bare
    short = writing.without_address(bare)
    if short in message.text:
        return short
    lowered = short[:1].lower() + short[1:]
    return lowered if lowered in message.text else bare


def _telling_quote(turn: Turn, place: int) -> str:
    """A sentence as a quote; with the one before it when it is too short to prove anything."""
    bare, text = turn.sentences[place].bare, turn.message.text
    if place == 0 or weight(bare) >= MIN_QUOTE_WEIGHT:
        return bare
    start = text.find(turn.sentences[place - 1].text)
    end = text.find(bare, start + len(turn.sentences[place - 1].text))
    return text[start : end + len(bare)] if 0 <= start < end else bare


def _adds_to(content: str, other: str) -> bool:
    """Whether a statement that repeats another says something more."""
    mine, theirs = subject_words(content), subject_words(other)
    more = 1 if says("addition", content) and not says("addition", other) else _MORE_WORDS
    return len(mine - theirs) >= more and len(mine) > len(theirs)


def _says_the_same(content: str, other: str) -> bool:
    """Whether another text holds nearly all words of a statement and all its particulars."""
    mine, theirs = subject_words(content), subject_words(other)
    if not mine or len(mine & theirs) < _SAID_ALREADY * len(mine):
        return False
    return relation(content, other) in {"same", "covered"}


def _has_secret(operation: dict[str, Any]) -> bool:
    texts = [operation["content"], operation["title"], *operation["tags"]]
    texts += [operation.get("oldQuote") or "", operation.get("newQuote") or ""]
    return any(map(contains_secret, texts))
