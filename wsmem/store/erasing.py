"""Find the words of an entry in other texts and take them out; touches no file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.store.jsontext import quote
from wsmem.store.summary import summary_line
from wsmem.text.normalize import trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.records import MemoryEntry

ERASED = "[purged]"
"""Stands where words were."""

_SHORTEST_TEXT = 4
_SHORTEST_PART = 8
"""Shorter contents, and shorter titles and sentences, occur in texts about anything."""

_SENTENCE_END = re.compile(r"[\r\n。！？；]+|[.!?;]+(?=\s|\Z)")
_CLOSING = "。！？；.!?;"


@dataclass(frozen=True, slots=True)
class Words:
    """Everything an entry says or said, as one pattern.

    Its contents, titles and descriptions, present and past, word for word but for case; their
    sentences; its line in a summary. Each also as it looks inside a JSON string.
    """

    pattern: re.Pattern[str] | None

    @classmethod
    def of(cls, entry: MemoryEntry) -> Words:
        """The words of an entry and its revisions."""
        texts = {trim(text) for text in _texts(entry)} - {""}
        spellings = {form for text in texts for form in (text, quote(text)[1:-1], _ascii(text))}
        if not spellings:
            return cls(None)
        longest_first = sorted(spellings, key=lambda text: (-len(text), text))
        return cls(re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE))

    def cut(self, text: str) -> str:
        """The text with a mark in place of the words."""
        return self.pattern.sub(ERASED, text) if self.pattern else text

    def cut_bytes(self, data: bytes) -> bytes:
        """The same for a file, text or JSON, whatever bytes are in it."""
        return self.cut(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def cut_json(self, value: Any) -> Any:
        """The same for every text in a JSON value."""
        if isinstance(value, str):
            return self.cut(value)
        if isinstance(value, list):
            return [self.cut_json(item) for item in value]
        if isinstance(value, dict):
            return {self.cut(key): self.cut_json(item) for key, item in value.items()}
        return value


def _texts(entry: MemoryEntry) -> Iterator[str]:
    yield summary_line(entry)
    yield f"- {entry.title}: {entry.description}"
    yield from _wordings(entry.content, entry.title, entry.description)
    for revision in entry.revisions:
        yield f"- {revision.title}: {revision.description}"
        yield from _wordings(revision.content, revision.title, revision.description)


def _wordings(content: str, title: str, description: str) -> Iterator[str]:
    """One wording of an entry: its texts, also without the closing mark, and their sentences."""
    for text in (content, title, description):
        derived = text in content  # a title cut from the content says what the content says
        if len(text) >= (_SHORTEST_TEXT if derived else _SHORTEST_PART):
            yield text
            yield trim(text).rstrip(_CLOSING)
        yield from (part for part in _SENTENCE_END.split(text) if len(part) >= _SHORTEST_PART)


def _ascii(text: str) -> str:
    return json.dumps(text)[1:-1]
