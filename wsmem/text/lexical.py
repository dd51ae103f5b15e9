"""Tokens of the `reference` profile: those of the public plugin, whose rankings it reproduces."""

from __future__ import annotations

import re
from functools import cache
from operator import add

from wsmem.text.normalize import normalize_text
from wsmem.text.scripts import CJK_RANGES, cjk_run


@cache
def other_letter() -> re.Pattern[str]:
    """A letter or digit that is neither ASCII nor CJK."""
    return re.compile(rf"[^\W_\x00-\x7f{CJK_RANGES}]")


@cache
def unicode_token() -> re.Pattern[str]:
    """Letters and digits of any script but the CJK ones, with the same joints as ASCII tokens."""
    return re.compile(rf"[^\W_{CJK_RANGES}](?:[^\W{CJK_RANGES}]|[./:#-])*")


_ASCII_TOKEN = re.compile(r"[a-z0-9][a-z0-9_./:#-]*")


def lexical_tokens(text: str) -> list[str]:
    """Distinct tokens of `text`, normalised, in a fixed order.

    First ASCII runs (joined by `_ . / : # -`), then runs with other letters, then pairs of CJK
    letters. The pairs are made over all CJK letters of the text with everything between them left
    out, so a pair may cross a gap; a single CJK letter is its own token.
    """
    return tokens_of_normalized(normalize_text(text))


def tokens_of_normalized(normalized: str) -> list[str]:
    """`lexical_tokens` of a text that `normalize_text` returned."""
    tokens = dict.fromkeys(_ASCII_TOKEN.findall(normalized))
    if not normalized.isascii():
        if other_letter().search(normalized):
            tokens.update(dict.fromkeys(unicode_token().findall(normalized)))
        tokens.update(dict.fromkeys(cjk_pairs(cjk_letters(normalized))))
    return list(tokens)


def cjk_letters(normalized: str) -> str:
    """The CJK letters of a text, everything between them left out."""
    return "".join(cjk_run().findall(normalized))


def cjk_pairs(letters: str) -> list[str]:
    """Overlapping pairs of a run of CJK letters; a run of one is itself; none is none."""
    if len(letters) < 2:
        return [letters] if letters else []
    return list(map(add, letters, letters[1:]))
