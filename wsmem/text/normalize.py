"""One spelling for comparison: compatibility forms, case and white space."""

from __future__ import annotations

import re
import unicodedata

JS_SPACES = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space as the shared file format counts it (ECMAScript's), inside a character class."""

_SPACES = re.compile(f"[{JS_SPACES}]+")
_SPACES_TO_TRIM = (
    "".join(
        chr(code)
        for code in (*range(9, 14), 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029)
    )
    + "\u202f\u205f\u3000\ufeff"
)

# The full-width marks of everyday Chinese. Replacing them first, as NFKC would, lets most texts
# pass the quick check and skip the full normalisation: a third of its time on real entries.
_FULL_WIDTH_MARKS = (
    ("，", ","), ("：", ":"), ("（", "("), ("）", ")"), ("；", ";"), ("！", "!"), ("？", "?"),
)  # fmt: skip


def trim(text: str) -> str:
    """Strip ECMAScript white space from both ends."""
    return text.strip(_SPACES_TO_TRIM)


def trim_end(text: str) -> str:
    """Strip ECMAScript white space from the end."""
    return text.rstrip(_SPACES_TO_TRIM)


def nfkc(text: str) -> str:
    """Unicode compatibility composition (NFKC), quick where there is nothing to do."""
    if text.isascii():
        return text
    for wide, narrow in _FULL_WIDTH_MARKS:
        text = text.replace(wide, narrow)
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def normalize_text(text: str) -> str:
    """NFKC, lower case, runs of white space as one blank, ends trimmed."""
    return _SPACES.sub(" ", nfkc(text).lower()).strip(" ")
