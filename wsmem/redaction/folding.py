"""Full-width letters, digits and signs read as ordinary ones, without moving any character."""

from __future__ import annotations

_WIDE = ord("！") - ord("!")

# Punctuation of Chinese prose (，；：！？（）) is not folded: it ends a value, while its ASCII
# look-alike may be part of a password.
_SIGNS = "\"#$%&'*+-./<=>@\\^_`|~"
_LETTERS = [*range(ord("0"), ord("9") + 1), *range(ord("A"), ord("Z") + 1)]
_LETTERS += [*range(ord("a"), ord("z") + 1), *map(ord, _SIGNS)]

# Long s and the Kelvin sign are s and k without regard to case; İ is the one letter whose lower
# case is longer than itself.
_TABLE = {code + _WIDE: code for code in _LETTERS}
_TABLE |= {0x3000: ord(" "), 0x17F: ord("s"), 0x212A: ord("k"), 0x130: ord("i")}

WIDE_HINTS = ("ａ", "ｅ", "ｓ", "ｗ", "\u017f")
"""In lower case, every English label or prefix written in wide letters has one of these."""


def fold(text: str) -> str:
    """`text` with wide characters narrowed and no character moved, not by `lower()` either."""
    return text if text.isascii() else text.translate(_TABLE)
