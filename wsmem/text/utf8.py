"""Budgets in UTF-8 bytes, the unit hosts pay in."""

from __future__ import annotations

import math

from wsmem.text.normalize import trim_end


def utf8_length(text: str) -> int:
    """Bytes in UTF-8; a lone surrogate counts three, as the replacement character would."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def truncate_utf8(text: str, max_bytes: float) -> str:
    """The longest start of `text` within `max_bytes`, whole characters only.

    What is cut loses its trailing white space; a text that fits is returned as it is. A fraction
    is rounded down; NaN and anything below one byte give the empty text.
    """
    if math.isnan(max_bytes) or max_bytes < 1:
        return ""
    if max_bytes >= len(text) * 4:
        return text
    budget = math.floor(max_bytes)
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= budget:
        return text
    while budget and encoded[budget] & 0xC0 == 0x80:  # a continuation byte: step back to its lead
        budget -= 1
    return trim_end(encoded[:budget].decode("utf-8", "surrogatepass"))
