"""Sentences that lay down how something is to be, known by their build and not by a phrase.

People seldom say "we have decided". They say how it is going to be and what speaks for it: "jobs
go through Celery, not cron: nobody notices when cron fails". Such a sentence arranges something,
and it sets another way aside or gives grounds, or both; it is no opinion, order or account.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.lexicon import says
from wsmem.distill.rules.writing import is_substantial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence

_CLAUSE = re.compile(
    r"[，,；;：:。！!]\s*|\s[—-]\s|\.\s+| (?=(?:because|since|so that|as the|given|rather than|"
    r"instead of|as (?:nobody|no one|the|we|they|it))\b)",
    re.IGNORECASE,
)
_WITH_MARKS = re.compile(r"[^，,；;。]+[，,；;。]*|^[，,；;。]+")


def is_verdict(sentence: Sentence, following: Sequence[Sentence]) -> bool:
    """Whether a sentence lays down an arrangement of the user's own, and says why.

    Args:
        sentence: Of the user.
        following: The sentences behind it, of which the next may give the grounds.
    """
    text = sentence.unquoted
    main = main_of(text)
    if says("no_verdict", main) or says("others", first_clause(text)) or says("here_only", main):
        return False
    if gates.is_question(text) or gates.is_conditional(without_reasons(text)):
        return False
    if not (says("arranges", text) or says("commits", text)):
        return False
    if says("commits", text):
        return True
    excludes = says("excludes", text)
    return has_grounds(text, following) or (excludes and (says("ours", text) or _goes_on(text)))


def first_clause(text: str) -> str:
    """What a sentence opens with, up to a mark or a reason."""
    return _CLAUSE.split(text)[0]


def main_of(text: str) -> str:
    """A sentence without the clauses behind the first that give reasons.

    What a reason tells of others, of the past or of trouble takes nothing from the arrangement.
    """
    first, *others = _CLAUSE.split(text)
    return "，".join([first, *(clause for clause in others if not says("grounds", clause))])


def without_reasons(text: str) -> str:
    """A decision without the clauses that say what would happen otherwise."""
    first, *others = _WITH_MARKS.findall(text)
    kept = [clause for clause in others if not (says("grounds", clause) and "的话" in clause)]
    return "".join([first, *kept])


def has_grounds(text: str, following: Sequence[Sentence]) -> bool:
    """Whether a clause beside the arrangement, or the next sentence, gives reasons."""
    clauses = _CLAUSE.split(text)
    if any(says("grounds", clause) for clause in clauses[1:]):
        return True
    if len(clauses) > 1 and says("grounds_ahead", clauses[0]):
        return True
    return any(_explains(other) for other in following[:1])


def _goes_on(text: str) -> bool:
    """Whether something is said beyond the way that is taken and the one set aside."""
    return any(
        is_substantial(clause) and not says("excludes", clause)
        for clause in _CLAUSE.split(text)[2:]
    )


def _explains(sentence: Sentence) -> bool:
    text = sentence.unquoted
    if gates.is_question(text) or says("task", text):
        return False
    return is_substantial(text) and says("grounds", text)
