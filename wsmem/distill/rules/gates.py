"""What makes a sentence nothing to keep: questions, hypotheses, the moment, hearsay, injections."""

from __future__ import annotations

import re

from wsmem.distill.rules.lexicon import says
from wsmem.redaction.findings import PLACEHOLDER

_TAG_QUESTION = re.compile(
    r"[，,]?\s*(?:好吗|好不好|行吗|行不行|可以吗|可以不|成吗|OK吗|ok吗|好吧|"
    r"ok(?:ay)?|please|alright|all right|thanks)\s*[?？。.!！]*$",
    re.IGNORECASE,
)
_INDIRECT = re.compile(
    r"(?:别|不要|不用|少|老|总)[^，,。]{0,4}问我?[^，,。？?]{0,3}(?:要不要|是否|能不能|是不是|可不可以|行不行)[^，,。？?]*"
)
"""A question somebody does not want to be asked."""
_FINAL_QUESTION_MARK = re.compile(r"[?？][\s”」』\")）]*$")

_CLAUSES = re.compile(r"[^，,；;。]+(?:[，,；;。]\s*|$)")

REMOVED = PLACEHOLDER
"""Stands where a secret was."""


def is_question(text: str, *, states: bool = False) -> bool:
    """Whether a sentence asks; a polite request or a request with a tag does not.

    Args:
        text: The sentence with its final mark.
        states: It is known to state something, so that a "which" in it does not ask.
    """
    without_tag = _TAG_QUESTION.sub("", _INDIRECT.sub(" ", text))
    if says("polite", without_tag):
        return False
    if _FINAL_QUESTION_MARK.search(without_tag):
        return True
    return says("question", without_tag) or (not states and says("question_word", without_tag))


def without_unchanged(text: str) -> str:
    """A sentence without the clauses that only say that other things stay as they are."""
    if not says("unchanged", text):
        return text
    clauses = _CLAUSES.findall(text)
    return "".join(clause for clause in clauses if not says("unchanged", clause))


def is_supposed(text: str) -> bool:
    """Whether a sentence only weighs something."""
    return says("supposed", text)


def is_conditional(text: str) -> bool:
    """Whether a sentence depends on an "if"."""
    return says("conditional", text)


def is_of_the_moment(text: str, *, lasting: bool) -> bool:
    """Whether a sentence is about now only; `lasting` when it says that it is meant to stay."""
    return says("moment", text) or (not lasting and says("moment_weak", text))


def is_foreign(text: str) -> bool:
    """Whether a sentence carries other people's words, or words to be worked on."""
    return says("injection", text) or says("reported", text) or says("handled_text", text)
