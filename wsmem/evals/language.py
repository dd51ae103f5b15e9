"""What a text is written in, as its letters show: zh, en, mixed."""

from __future__ import annotations

import re
from typing import Literal

from wsmem.text.normalize import nfkc
from wsmem.text.scripts import cjk_run

Language = Literal["zh", "en", "mixed"]

_LATIN = re.compile("[A-Za-z]")
_LATIN_WORD = re.compile("[A-Za-z]{2}")


def language_of(text: str) -> Language | None:
    """`mixed` is Chinese with at least one Latin word; `None` is a text without letters.

    Letters show a script, not a language: `zh` is also Japanese and Korean, `en` every language
    written in Latin letters. A lone letter (T恤, 32B) does not make a Chinese text mixed.
    Full-width letters count as the plain ones.
    """
    text = nfkc(text)
    if cjk_run().search(text):
        return "mixed" if _LATIN_WORD.search(text) else "zh"
    return "en" if _LATIN.search(text) else None


def contradicts(declared: str, text: str) -> bool:
    """Whether a text cannot be in the language it is said to be in.

    Chinese may hold Latin words and still be called zh; English that holds Chinese is not en, and
    what lacks one of the two is not mixed. Other languages, and texts without letters, pass.
    """
    found = language_of(text)
    if found is None or declared not in {"zh", "en", "mixed"}:
        return False
    if declared == "zh":
        return found == "en"
    if declared == "en":
        return found != "en"
    return not (cjk_run().search(nfkc(text)) and _LATIN.search(nfkc(text)))
