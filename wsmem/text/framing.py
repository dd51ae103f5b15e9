"""The frame around injected memory: put on, recognised, taken off; pure text.

A host injects memory inside one pair of marks. Text that comes out of memory must not be able to
close that pair or open another (`defuse`), and what a host injected must not be distilled again
when it comes back inside a message (`without_frames`).
"""

from __future__ import annotations

import re
from functools import cache

FRAME = "workspace_memory"
"""Name of the mark, as `<workspace_memory>` and `</workspace_memory>`."""

OPENING = f"<{FRAME}>"
CLOSING = f"</{FRAME}>"

_HIDDEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
"""Characters a reader does not see, which would let a look-alike mark pass for another word."""

_GAP = rf"[\s{_HIDDEN}]*+"  # possessive: two gaps in a row must not be tried in every split


def _spaced(word: str) -> str:
    """A pattern for `word` in any case and width, hidden characters allowed between letters."""
    wide = ord("ａ") - ord("a")
    letters = (
        f"[{letter}{letter.upper()}{chr(ord(letter) + wide)}{chr(ord(letter.upper()) + wide)}]"
        for letter in word
    )
    return rf"[{_HIDDEN}]*+".join(letters)


_NAME = rf"{_spaced('workspace')}[\s{_HIDDEN}_\-＿－‐‑–—]*+{_spaced('memory')}"
_ANGLES = "<＜﹤"


@cache
def _look_alike() -> re.Pattern[str]:
    # Compiled when it is first needed: a recall in a fresh process seldom meets an angle bracket.
    return re.compile(rf"[{_ANGLES}](?={_GAP}[/／\\]?{_GAP}{_NAME})")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(rf"<(/?){FRAME}\b[^<>]*>", re.IGNORECASE)


def defuse(text: str) -> str:
    """`text` with every mark of the frame, and every look-alike of one, made harmless.

    Only the angle bracket of such a mark is replaced; all other text stays as it is, angle
    brackets of other tags included.
    """
    if not any(angle in text for angle in _ANGLES):
        return text
    return _look_alike().sub("‹", text)


def frame(body: str) -> str:
    """`body`, already defused, between the marks; an empty body has no frame."""
    return f"{OPENING}\n{body}\n{CLOSING}" if body else ""


def without_frames(text: str) -> str:
    """`text` without the blocks of memory that a host injected into it.

    A block runs from an opening mark to the next closing one. A mark without its partner is removed
    alone: what stands beside it may be the user's own words. A text without marks is returned as
    it is, any other is trimmed.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    copied = 0
    opened_at: int | None = None
    for mark in _mark().finditer(text):
        if not mark[1]:
            if opened_at is not None:
                continue
            kept.append(text[copied : mark.start()])
            opened_at = copied = mark.end()
        elif opened_at is not None:
            opened_at, copied = None, mark.end()
        else:
            kept.append(text[copied : mark.start()])
            copied = mark.end()
    if not copied:
        return text
    kept.append(_mark().sub("", text[copied:]))
    return "\n".join(part for part in map(str.strip, kept) if part)
