"""Find the complete entries in an entries file that does not parse as a whole."""

from __future__ import annotations

import re
from typing import Any

from wsmem.store.jsontext import parse_item

_OBJECT_START = re.compile(r'\{\s*"')
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_MAX_FAILURES = 1000
"""Positions tried in vain before giving up: keeps the work linear on hopeless files."""


def salvage_items(data: bytes) -> list[dict[str, Any]]:
    """The objects with a text id and content that are whole and in strict UTF-8, in order.

    A truncated file gives the entries before the cut; one broken entry leaves its neighbours. An
    object inside an entry (a revision) has no id and so is never taken for one.
    """
    text = data.decode("utf-8", "surrogateescape")
    found: list[dict[str, Any]] = []
    position = failures = 0
    while failures < _MAX_FAILURES and (start := _OBJECT_START.search(text, position)):
        position = start.start()
        try:
            item, end = parse_item(text, position)
        except ValueError:
            failures += 1
            position += 1
            continue
        whole = isinstance(item.get("id"), str) and isinstance(item.get("content"), str)
        if whole and not _NOT_UTF8.search(text, position, end):
            found.append(item)
            position = end
        elif whole:
            position = end
        else:
            position += 1
    return found
