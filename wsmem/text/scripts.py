"""Letters by Unicode script, for the standard `re`, which knows no scripts."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

# Script property Han, Hiragana, Katakana and Hangul of Unicode 17, first and last code points. The
# long-vowel mark U+30FC and CJK punctuation are script Common and so are not here; the iteration
# mark U+3005 is.
_CJK = (
    (0x1100, 0x11FF), (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005),
    (0x3007, 0x3007), (0x3021, 0x3029), (0x302E, 0x302F), (0x3038, 0x303B), (0x3041, 0x3096),
    (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x3131, 0x318E), (0x31F0, 0x31FF),
    (0x3200, 0x321E), (0x3260, 0x327E), (0x32D0, 0x32FE), (0x3300, 0x3357), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB),
    (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0xFF66, 0xFF6F), (0xFF71, 0xFF9D), (0xFFA0, 0xFFBE),
    (0xFFC2, 0xFFDC), (0x16FE2, 0x16FE3), (0x16FF0, 0x16FF6), (0x1AFF0, 0x1AFFE),
    (0x1B000, 0x1B122), (0x1B132, 0x1B132), (0x1B150, 0x1B152), (0x1B155, 0x1B155),
    (0x1B164, 0x1B167), (0x1F200, 0x1F200), (0x20000, 0x2A6DF), (0x2A700, 0x2B81D),
    (0x2B820, 0x2CEAD), (0x2CEB0, 0x2EBE0), (0x2EBF0, 0x2EE5D), (0x2F800, 0x2FA1D),
    (0x30000, 0x3134A), (0x31350, 0x33479),
)  # fmt: skip

CJK_RANGES = "".join(f"{chr(first)}-{chr(last)}" for first, last in _CJK)
"""The inside of a character class: Chinese, Japanese and Korean letters."""


_EDGES = [edge for first, last in _CJK for edge in (first, last + 1)]


@cache
def cjk_run() -> re.Pattern[str]:
    """Runs of such letters; compiled on first use, as a class of whole scripts takes long."""
    return re.compile(f"[{CJK_RANGES}]+")


def is_cjk(char: str) -> bool:
    """Whether one character is a Chinese, Japanese or Korean letter."""
    return bisect_right(_EDGES, ord(char)) % 2 == 1
