"""Lengths and cuts in UTF-16 code units, the unit of every limit in the shared file format."""

from __future__ import annotations


def utf16_length(text: str) -> int:
    """Code units: one a character, two beyond the Basic Multilingual Plane."""
    if text.isascii():
        return len(text)
    return len(text) + sum(char > "\uffff" for char in text)


def utf16_cut(text: str, units: int) -> str:
    """The first `units` code units; a cut inside a surrogate pair leaves its high half."""
    if len(text) * 2 <= units:
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")
    return encoded[: max(units, 0) * 2].decode("utf-16-le", "surrogatepass")
