"""What of a request a model is shown: bounded, without injected memory and without secrets.

The result is one JSON document. Who speaks is a field of it, so a line `assistant: …` inside a text
is only text, and nothing that was said can end the document or begin another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.operations.candidates import select_candidates, shown_bytes
from wsmem.redaction.redact import redact
from wsmem.text.framing import defuse, without_frames
from wsmem.text.utf8 import truncate_utf8, utf8_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.operations.contract import DistillRequest
    from wsmem.records import MemoryEntry, MemoryMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much of a request is shown."""

    entries: int = 20
    entry_bytes: int = 12_000
    """UTF-8 bytes of id, title, content and tags of all entries together."""
    conversation_bytes: int = 160_000
    """UTF-8 bytes of the messages as JSON; more than a stage of 40 000 characters needs, so by
    default nothing is left out. A small model needs a smaller bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The input of a prompt."""

    document: str
    """JSON, one entry or message a line."""
    messages: int
    """Messages in it; without any there is nothing to ask."""
    omitted: int
    """Older messages left out for length."""


_OMITTED = {
    "en": "{count} older message(s) were left out for length",
    "zh": "因篇幅略去了更早的 {count} 条消息",
}
_TRUNCATED = {"en": "the rest of this text was left out", "zh": "此处以下的文字已略去"}


def shown_input(request: DistillRequest, bounds: Bounds, *, language: str) -> Shown:
    """The input of a prompt as a JSON document.

    Entries beyond the bounds are chosen as the engine does; of the messages the oldest go first,
    whole, and a note says how many. The newest message is always shown, cut if it must be.
    """
    messages = [shown for message in request.messages if (shown := _message(message))["text"]]
    kept = _newest(messages, bounds.conversation_bytes, language)
    omitted = len(messages) - len(kept)
    lines = ["{", f'"scope": {_json("global" if request.scope == "global" else "workspace")},']
    lines += _listed("existing", [_entry(entry) for entry in bounded_entries(request, bounds)])
    if omitted:
        lines.append(f'"omitted": {_json(_OMITTED[language].format(count=omitted))},')
    lines += _listed("messages", kept)
    lines[-1] = lines[-1].removesuffix(",")
    return Shown(document="\n".join([*lines, "}"]), messages=len(kept), omitted=omitted)


def bounded_entries(request: DistillRequest, bounds: Bounds) -> Sequence[MemoryEntry]:
    """The existing entries in their order when they fit the bounds, else the most useful ones."""
    entries = [entry for entry in request.existing if entry.recallable]
    fits = len(entries) <= bounds.entries
    if fits and sum(map(shown_bytes, entries)) <= bounds.entry_bytes:
        return entries
    return select_candidates(
        entries,
        request.messages,
        now=request.now,
        max_entries=bounds.entries,
        max_bytes=bounds.entry_bytes,
    )


def _message(message: MemoryMessage) -> dict[str, str]:
    text = redact(without_frames(message.text)).strip()
    return {"id": message.id, "role": message.role, "text": text}


def _entry(entry: MemoryEntry) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": entry.id, "scope": entry.scope, "type": entry.type}
    if entry.status == "conflict":
        shown["status"] = "conflict"
    shown["title"] = _harmless(entry.title)
    shown["content"] = _harmless(entry.content)
    shown["tags"] = [_harmless(tag) for tag in entry.tags]
    return shown


def _harmless(text: str) -> str:
    return defuse(redact(text))


def _newest(messages: list[dict[str, str]], budget: int, language: str) -> list[dict[str, str]]:
    kept: list[dict[str, str]] = []
    for message in reversed(messages):
        size = utf8_length(_json(message)) + 2
        if size > budget:
            if not kept:
                kept.append(_cut(message, budget, language))
            break
        kept.append(message)
        budget -= size
    return kept[::-1]


def _cut(message: dict[str, str], budget: int, language: str) -> dict[str, str]:
    """The start of a message that alone is too long, with a note behind it."""
    note = f"\n[{_TRUNCATED[language]}]"
    fixed = utf8_length(_json({**message, "text": note})) + 2
    room = max(budget - fixed, 0)
    text = truncate_utf8(message["text"], room)
    while text and utf8_length(_json(text)) - 2 > room:  # line ends and quotes take two bytes
        text = truncate_utf8(text, utf8_length(text) * 3 // 4)
    return {**message, "text": text + note}


def _listed(name: str, items: Sequence[dict[str, Any]]) -> list[str]:
    """A list of objects, one a line, as lines of a document."""
    if not items:
        return [f'"{name}": [],']
    rows = [_json(item) for item in items]
    return [f'"{name}": [', *(f"{row}," for row in rows[:-1]), rows[-1], "],"]


def _json(value: Any) -> str:
    """JSON without lone surrogates, which no request can carry."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
