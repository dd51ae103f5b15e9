"""Sentences that say how the user wants to work or be answered, known by their build.

A wish is a taste about code or about talk ("I still like early returns more"), a direction with
a standing reason of the speaker's own ("I don't use a mouse, so give me the shortcuts"), or one
about the listener's ways ("stop adding docstrings"). An order about one place in the code is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.lexicon import says
from wsmem.distill.rules.verdicts import first_clause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence

_CLAUSE = re.compile(
    r"[，,；;：:。！!]\s*|\s[—-]\s|\.\s+|\s(?=so\s)|\s(?=because\s)", re.IGNORECASE
)

_NEVER = re.compile(r"(?:别|不要|不用|少|don't|do not|never|no|not|avoid|stop)", re.IGNORECASE)


def is_wish(sentence: Sentence, following: Sequence[Sentence]) -> bool:
    """Whether a sentence is a lasting wish of the user's own.

    Args:
        sentence: Of the user.
        following: The sentences behind it, of which the next may direct what this one gives the
            reason for.
    """
    text = sentence.unquoted
    if says("no_wish", text) or says("others", first_clause(text)) or says("here_only", text):
        return False
    if says("manner_wish", text):
        return True
    if gates.is_conditional(text):
        return False
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    if gates.is_question(text, states=True):
        return False
    for clause in clauses:
        if says("code_things", clause) and (says("tastes", clause) or says("prohibits", clause)):
            return True
    return _directs_for_a_reason(clauses) or _directs_for_a_reason([*clauses, *_next(following)])


def _directs_for_a_reason(clauses: Sequence[str]) -> bool:
    """Whether one clause says what the speaker is like, another what follows from it."""
    states = [number for number, clause in enumerate(clauses) if says("self_state", clause)]
    directs = [number for number, clause in enumerate(clauses) if says("directs", clause.strip())]
    if len(directs) > 1 and says("code_things", clauses[directs[0]]):
        likes, dislikes = (_NEVER.match(clauses[directs[at]].strip()) for at in (0, -1))
        if dislikes and not likes:
            return True  # "dates always like this, never like that"
    return any(state != direct for state in states for direct in directs)


def _next(following: Sequence[Sentence]) -> list[str]:
    if not following or gates.is_question(following[0].text):
        return []
    return [clause for clause in _CLAUSE.split(following[0].unquoted) if clause.strip()]
