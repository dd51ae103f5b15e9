"""Fields of an entry as they are kept: trimmed, cut, cleaned; limits count UTF-16 code units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.records import MEMORY_TYPES
from wsmem.text.normalize import trim
from wsmem.text.utf16 import utf16_cut, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.records import MemoryEntry, MemoryOperation

MIN_CONTENT = 4
"""Shortest content; anything below says nothing."""
MAX_TITLE = 160
MAX_DESCRIPTION = 500
MAX_TAGS = 8
MAX_TERMS = 16
TITLE_FROM_CONTENT = 80
DESCRIPTION_FROM_CONTENT = 240
MAX_IMPORTANCE = 3

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPEAKER_LABEL = re.compile(
    r"^[ \t]*(?:assistant|user|human|助手|助理|用户|用戶)[ \t]*[:：][ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What an operation says about an entry, cleaned; `None` where it says nothing."""

    content: str
    title: str | None
    description: str | None
    type: str | None
    tags: tuple[str, ...]
    retrieval_terms: tuple[str, ...]
    importance: int | None

    @property
    def title_or_default(self) -> str:
        """The given title, else the start of the content."""
        return self.title or derived_title(self.content)

    @property
    def description_or_default(self) -> str:
        """The given description, else a longer start of the content."""
        return self.description or derived_description(self.content)


def clean_fields(operation: MemoryOperation) -> Fields:
    """The fields of `operation` within their limits; nothing is refused here."""
    return Fields(
        content=trim(well_formed(operation.content)),
        title=_cut(operation.title, MAX_TITLE),
        description=_cut(operation.description, MAX_DESCRIPTION),
        type=operation.type if operation.type in MEMORY_TYPES else None,
        tags=_distinct((tag.lower() for tag in operation.tags), MAX_TAGS),
        retrieval_terms=_distinct(operation.retrieval_terms, MAX_TERMS),
        importance=read_importance(operation.importance),
    )


def derived_title(content: str) -> str:
    """The title of an entry that was given none."""
    return trim(cut(content, TITLE_FROM_CONTENT))


def derived_description(content: str) -> str:
    """The description of an entry that was given none."""
    return trim(cut(content, DESCRIPTION_FROM_CONTENT))


def says_something(content: str) -> bool:
    """Whether a content is long enough to be kept."""
    return utf16_length(content) >= MIN_CONTENT


def read_importance(value: Any) -> int | None:
    """A whole number from 0 to 3 out of a number or numeric text; `None` for anything else."""
    if isinstance(value, str):
        try:
            value = float(trim(value) or "nan")
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return int(min(max(value, 0), MAX_IMPORTANCE))


def well_formed(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 file can hold; proper pairs are joined."""
    if text.isascii() or not _SURROGATES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cut(text: str, units: int) -> str:
    """The first `units` UTF-16 code units, never half a character."""
    shortened = utf16_cut(text, units)
    return shortened[:-1] if _SURROGATES.match(shortened[-1:]) else shortened


def without_speaker_labels(text: str) -> str:
    """`text` without `assistant:` and the like at the start of a line.

    Who spoke is told by a message's role alone; a label inside its text proves nothing, and in a
    memory it would read as if it did.
    """
    return _SPEAKER_LABEL.sub("", text)


def united(first: tuple[str, ...], second: tuple[str, ...], limit: int) -> tuple[str, ...]:
    """Distinct items of both in order, at most `limit`."""
    return tuple(dict.fromkeys((*first, *second)))[:limit]


def texts_of(entry: MemoryEntry) -> tuple[str, ...]:
    """Every text of an entry that a person wrote or a model proposed, its history included."""
    return (
        entry.content,
        entry.title,
        entry.description,
        *entry.tags,
        *entry.retrieval_terms,
        *(text for old in entry.revisions for text in (old.content, old.title, old.description)),
    )


def _cut(text: str | None, units: int) -> str | None:
    if text is None:
        return None
    return trim(cut(trim(well_formed(text)), units)) or None


def _distinct(items: Iterable[str], limit: int) -> tuple[str, ...]:
    cleaned = (trim(well_formed(item)) for item in items)
    return tuple(dict.fromkeys(item for item in cleaned if item))[:limit]
