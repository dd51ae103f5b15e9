"""Why a sentence is worth keeping: a request, a preference, a decision, a rule, a fact."""

from __future__ import annotations

from typing import Literal

from wsmem.distill.rules.lexicon import pattern, says

Cue = Literal["request", "preference", "rule", "decision", "fact"]


def cue_of(text: str) -> Cue | None:
    """The strongest reason to keep a sentence, or `None`; gates are not looked at here."""
    if says("request", text):
        return "request"
    if says("no_decision", text):
        return None
    if says("decision", text) or says("soft_decision", text):
        return "decision"
    if says("preference", text):
        return "preference"
    return "rule" if is_rule(text) else None


def is_rule(text: str) -> bool:
    """Whether a sentence lays down how things are to be done."""
    if is_lasting(text) or says("local_rule", text):
        return True
    return says("binding", text) and not says("here_only", text)


def is_lasting(text: str) -> bool:
    """Whether a sentence says that it is meant to last; what people are like is no rule."""
    if says("about_people", text):
        return False
    return says("lasting", text) or says("always", text)


def is_soft(text: str) -> bool:
    """Whether a decision is of the kind people also use for the next small step."""
    return says("soft_decision", text) and pattern("decision").search(text) is None
