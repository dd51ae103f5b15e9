"""Sentences that say that a claim is wrong or has changed, taken apart into old and new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.lexicon import leading, pattern, patterns, says

if TYPE_CHECKING:
    from wsmem.distill.rules.sentences import Sentence

_WAIT_AND_SEE = re.compile(r"[，,]?\s*等[^，,。]{1,24}再(?:说|看|议|改)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A sentence that corrects something, if an entry can be found that it corrects."""

    sentence: Sentence
    claim: str
    """The sentence without quotations and without clauses that only keep other things apart."""
    old: tuple[str, ...]
    """Phrases it names as no longer right."""
    said_wrong: bool
    """It, or the sentence before it, says outright that something was wrong."""
    changed: bool
    """It speaks of a change."""
    disagrees: bool
    """It reports two claims without settling which is right."""
    local: bool
    """It holds in this project only."""


def correction_in(
    sentence: Sentence, before: Sentence | None, after: Sentence | None = None
) -> Correction | None:
    """The correction a sentence makes, or `None`.

    Args:
        sentence: Of the user.
        before: The sentence before it in the same message, which may announce the correction.
        after: The sentence behind it, which may say that the matter is open.
    """
    text = _WAIT_AND_SEE.sub("", pattern("contrast").sub("", sentence.unquoted))
    text = gates.without_unchanged(text)
    disagrees = says("disagrees", text) or _left_open(text, after)
    if disagrees:
        text = pattern("reporter").sub("", text)
    if gates.is_question(text, states=disagrees) or gates.REMOVED in text:
        return None
    if (gates.is_foreign(text) and not disagrees) or says("banter", text):
        return None
    wrong = says("wrong", text) or _announces(before)
    old = old_phrases(text)
    changed = says("changed", text)
    if not (wrong or old or changed or disagrees):
        return None
    if not disagrees and not _settled(text, wrong=wrong):
        return None
    if says("request", text) and not (wrong or old or disagrees):
        return None
    return Correction(
        sentence=sentence,
        claim=text,
        old=old,
        said_wrong=wrong,
        changed=changed,
        disagrees=disagrees,
        local=says("local_exception", text),
    )


def _announces(before: Sentence | None) -> bool:
    """Whether the sentence before only says that something was wrong or has changed."""
    if before is None or gates.is_question(before.text):
        return False
    return says("wrong", before.unquoted)


def _left_open(text: str, after: Sentence | None) -> bool:
    """Whether a sentence tells what somebody says, and the next that nobody knows who is right."""
    return says("reporter", text) and after is not None and says("disagrees", after.unquoted)


def old_phrases(text: str) -> tuple[str, ...]:
    """Phrases that a text sets aside as no longer, or not, right."""
    found = (
        match["old"].strip(" 了的，,。.")
        for p in patterns("old_value")
        for match in p.finditer(text)
    )
    return tuple(phrase for phrase in found if phrase)


def _settled(text: str, *, wrong: bool) -> bool:
    """Whether a sentence states a lasting change as a fact: no task, supposition, addition."""
    if gates.is_supposed(text) or gates.is_conditional(text):
        return False
    if gates.is_of_the_moment(text, lasting=wrong):
        return False
    opened = leading("address").match(text)
    body = text[opened.end() :] if opened else text
    return not says("task_of_change", body) and not says("addition", text)
