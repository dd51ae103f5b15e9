"""Character classes by Unicode script, as regular-expression ranges; the standard `re` has none."""

from __future__ import annotations

import re

# Script property Han, Hiragana, Katakana and Hangul of Unicode 17. The long-vowel mark U+30FC and
# CJK punctuation are script Common and so are not here; the iteration mark U+3005 is.
_HAN = (
    "\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9"
    "\U00016fe2-\U00016fe3\U00016ff0-\U00016ff6\U00020000-\U0002a6df\U0002a700-\U0002b81d"
    "\U0002b820-\U0002cead\U0002ceb0-\U0002ebe0\U0002ebf0-\U0002ee5d\U0002f800-\U0002fa1d"
    "\U00030000-\U0003134a\U00031350-\U00033479"
)
_HIRAGANA = (
    "\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b11f\U0001b132\U0001b150-\U0001b152\U0001f200"
)
_KATAKANA = (
    "\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff6f\uff71-\uff9d"
    "\U0001aff0-\U0001affe\U0001b000\U0001b120-\U0001b122\U0001b155\U0001b164-\U0001b167"
)
_HANGUL = (
    "\u1100-\u11ff\u302e\u302f\u3131-\u318e\u3200-\u321e\u3260-\u327e\ua960-\ua97c"
    "\uac00-\ud7a3\ud7b0-\ud7c6\ud7cb-\ud7fb\uffa0-\uffbe\uffc2-\uffdc"
)

CJK_RANGES = _HAN + _HIRAGANA + _KATAKANA + _HANGUL
"""The inside of a character class: Chinese, Japanese and Korean letters."""

CJK_RUN = re.compile(f"[{CJK_RANGES}]+")


def is_cjk(char: str) -> bool:
    """Whether one character is a Chinese, Japanese or Korean letter."""
    return CJK_RUN.fullmatch(char) is not None
