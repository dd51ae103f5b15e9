"""Which texts of an entry are searched, and when an entry last changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.records import MemoryEntry

CONTENT, TITLE, TAG, TERM = 0, 1, 2, 4
"""Where a term stands, as bits: several may be set, content sets none."""


def searched_fields(entry: MemoryEntry) -> Iterator[tuple[int, str]]:
    """Yield (field bit, text) of everything the terms signals read, content first.

    A title or description that only repeats the start of the content is left out: hosts fill empty
    ones that way, and counting the same words twice would favour entries nobody titled.
    """
    content = entry.content
    yield CONTENT, content
    if entry.title and not content.startswith(entry.title):
        yield TITLE, entry.title
    if entry.description and not content.startswith(entry.description):
        yield CONTENT, entry.description
    for tag in entry.tags:
        yield TAG, tag
    for term in entry.retrieval_terms:
        yield TERM, term


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
