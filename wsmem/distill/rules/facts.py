"""Facts of a project that people tell without asking to remember them.

Two builds are known. One announces a lasting state with a particular in it: "fyi the nightly
builds end up in the bucket X". The other turns down what the assistant wants to do and says what
stands in the way: "can't, our production Redis is managed and has no modules".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wsmem.distill.rules import gates
from wsmem.distill.rules.lexicon import pattern, says
from wsmem.distill.rules.words import identifiers_in, names_in
from wsmem.distill.rules.writing import is_substantial
from wsmem.text.scripts import cjk_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.rules.sentences import Sentence

_MARKS = " ，,。.;；:：!！—-"
_PARTICULAR = re.compile(r"\d|(?<!\w)[A-Za-z]\w*-\w+")


def announced_fact(sentence: Sentence) -> str | None:
    """The lasting state that a sentence announces, without the announcement."""
    opened = pattern("announces").match(sentence.unquoted)
    if opened is None:
        return None
    text = sentence.unquoted[opened.end() :].lstrip(_MARKS)
    if not _lasts(text) or not says("lasting_state", text) or not _has_particular(text):
        return None
    return sentence.text[opened.end() :].lstrip(_MARKS).strip()


def standing_obstacle(sentences: Sequence[Sentence], offered: str) -> list[str]:
    """What stands for good in the way of what the assistant offered, in the user's words.

    Args:
        sentences: Of a message.
        offered: What the assistant said before it.

    Returns:
        The sentences that say so, the first without its refusal; none when nothing lasting is said.
    """
    opened = pattern("refuses").match(sentences[0].unquoted) if offered else None
    if opened is None:
        return []
    first = sentences[0].text[opened.end() :].lstrip(_MARKS)
    told = [first, *(other.text for other in sentences[1:3])]
    stated = [text for text in told if text and _lasts(text)]
    kept = [text for text in stated if says("constrains", text) and is_substantial(text)]
    return kept if kept and stated[0] == kept[0] else []


def _lasts(text: str) -> bool:
    """Whether a text states something that neither passes nor is somebody else's word."""
    if gates.is_question(text) or gates.is_foreign(text) or gates.REMOVED in text:
        return False
    if gates.is_supposed(text) or gates.is_conditional(text) or says("banter", text):
        return False
    if says("passing", text) or says("here_only", text):
        return False
    return not gates.is_of_the_moment(text, lasting=False)


def _has_particular(text: str) -> bool:
    if _PARTICULAR.search(text) or identifiers_in(text):
        return True
    return cjk_run().search(text) is not None and bool(names_in(text))
