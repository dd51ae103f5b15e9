"""The JSON text the shared files are written in, and strict reading of it.

Two-space indentation, non-ASCII kept, lone surrogates escaped, one newline at the end: what
`JSON.stringify(value, null, 2)` gives. The standard library's encoder is pure Python once it
indents; this one is 1.5 times as fast and gives the text of one entry, which is cached.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

quote = encode_basestring
"""A text as a JSON string, non-ASCII kept."""

_SEAM = "\n  },\n  {"
_SEAM_LEFT = len("\n  }")
_PART = 1 << 20
"""Characters parsed at a time: some 10 ms."""

_SURROGATE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def json_text(value: object, indent: str = "\n") -> str:
    """`value` as indented JSON; `indent` is the line break with the indentation it sits at.

    Numbers that JSON cannot say (NaN, infinities) become `null`, as in the other program; a whole
    float is written without its fraction only by `plain_number`, so what was read is written back.
    """
    if isinstance(value, str):
        return quote(value)
    if value is None or value is True or value is False:
        return _CONSTANTS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else "null"
    inner = indent + "  "
    if isinstance(value, (dict, Mapping)):  # the abstract type is 10 times slower to check
        if not value:
            return "{}"
        items = [f"{quote(key)}: {json_text(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{indent}}}"
    if isinstance(value, (list, tuple)):
        if not value:
            return "[]"
        texts = [json_text(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(texts)}{indent}]"
    raise TypeError(f"{type(value).__name__} has no JSON form")


_CONSTANTS: dict[object, str] = {None: "null", True: "true", False: "false"}


def json_bytes(value: object) -> bytes:
    """A whole file: `json_text` and a final newline, in strict UTF-8."""
    return escape_surrogates(json_text(value) + "\n")


def escape_surrogates(text: str) -> bytes:
    """JSON text in UTF-8, with backslash-u escapes for halves of characters."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(_joined_or_escaped, text).encode()


def replace_surrogates(text: str) -> bytes:
    """Plain text in UTF-8, with U+FFFD for halves of characters."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(_joined_or_replaced, text).encode()


def plain_number(value: float) -> float:
    """Whole numbers as integers, as JavaScript prints them; others unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def parse_json(text: str) -> Any:
    """Parse strict JSON: no NaN, no infinities, nothing after the value.

    Raises:
        ValueError: it is something else, with the reason; also when nested too deeply to read.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_list(text: str) -> Any:
    """`parse_json`, in parts when it is a long list in the layout of the shared files.

    The parser holds the interpreter's lock until it is done, 1.5 s for 100 000 entries, and whoever
    waits with a deadline in another thread waits as long. No text of JSON contains a line break, so
    the seam between two entries cannot stand inside one; a list that does not come apart there is
    parsed whole.

    Raises:
        ValueError: as `parse_json`.
    """
    if len(text) < 2 * _PART:
        return parse_json(text)
    items: list[Any] = []
    start = 0
    try:
        while (seam := text.find(_SEAM, start + _PART)) != -1:
            items += parse_json(f"{'[' if start else ''}{text[start : seam + _SEAM_LEFT]}]")
            start = seam + _SEAM_LEFT + 1
        items += parse_json(f"{'[' if start else ''}{text[start:]}")
    except (ValueError, TypeError):
        return parse_json(text)
    return items


def parse_item(text: str, start: int) -> tuple[Any, int]:
    """Parse the value that begins at `start`; also the position after it.

    Raises:
        ValueError: there is none.
    """
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _joined(pair: str) -> str:
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _joined_or_escaped(found: re.Match[str]) -> str:
    half = found.group()
    return _joined(half) if len(half) == 2 else f"\\u{ord(half):04x}"


def _joined_or_replaced(found: re.Match[str]) -> str:
    half = found.group()
    return _joined(half) if len(half) == 2 else "\ufffd"
