"""Which texts of an entry are searched, and when an entry last changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from wsmem.text.utf16 import utf16_length

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry

CONTENT, TITLE, TAG, TERM = 0, 1, 2, 4
"""Where a term stands, as bits: several may be set, content sets none."""


_TITLE_UNITS, _DESCRIPTION_UNITS = 80, 240
"""Where hosts cut the content to fill an empty title or description (UTF-16 units)."""


def searched_fields(entry: MemoryEntry) -> tuple[list[int], list[str]]:
    """Bits and texts of everything the terms signals read, content first.

    A title or description that a host filled with the start of the content is left out: counting
    the same words twice would favour entries nobody titled.
    """
    content, title, description = entry.content, entry.title, entry.description
    bits, texts = [CONTENT], [content]
    if title and not _is_filled(title, content, _TITLE_UNITS):
        bits.append(TITLE)
        texts.append(title)
    if description and not _is_filled(description, content, _DESCRIPTION_UNITS):
        bits.append(CONTENT)
        texts.append(description)
    tags, terms = entry.tags, entry.retrieval_terms
    return [*bits, *(TAG,) * len(tags), *(TERM,) * len(terms)], [*texts, *tags, *terms]


def _is_filled(text: str, content: str, units: int) -> bool:
    # A cut through a surrogate pair is one unit short; trimming may shorten it further.
    return content.startswith(text) and (
        len(text) == len(content) or len(text) >= units - 2 or utf16_length(text) >= units - 2
    )


def haystack(entry: MemoryEntry) -> str:
    """Everything the substring signals read as one text, in the public plugin's order."""
    return " ".join(
        (entry.content, entry.title, entry.description, *entry.tags, *entry.retrieval_terms)
    )


def changed_ms(entry: MemoryEntry) -> float | None:
    """When the entry last changed (ms since the epoch), else when it was made, else `None`."""
    if entry.updated_at is not None:
        return parse_ms(entry.updated_at)
    return None if entry.created_at is None else parse_ms(entry.created_at)


@lru_cache(maxsize=16_384)
def parse_ms(text: str) -> float | None:
    """Milliseconds since the epoch of an ISO 8601 text, `None` if it is none; no zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() * 1000
