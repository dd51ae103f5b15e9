"""What a distiller answered, read into proposed operations; nothing is applied here.

Accepted documents:

- `{"version": 1, "operations": [...]}`;
- `{"memories": [...]}` and a bare list, which older distillers write: every item is an `add`.

A document may stand in a fence, behind a reasoning part (`<think>…</think>`) and inside prose. The
answer must hold exactly one: with two, nobody can tell which is meant, so the answer is unreadable
and the messages stay pending. A bare list inside prose counts only when it holds objects, and never
after a document that broke off, whose inner list it may be.

A document that reads is taken item by item: an item that cannot be used becomes a `Proposal` with a
fault and is refused alone, later.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from wsmem.errors import UnreadableOutputError
from wsmem.operations.fields import read_importance
from wsmem.records import MemoryOperation

_THINK = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_INTERESTING = re.compile(r"[\[{]|</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_JSON_OBJECT_START = re.compile(r'\{\s*(?:"|\})')
_JSON_LIST_START = re.compile(r'\[\s*(?:[\[{"\]]|-?\d|true|false|null)')
_MAX_FAILED_READS = 4096
"""Braces tried before an answer is given up: keeps hostile nesting from costing quadratic time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One item of a distiller's answer."""

    operation: MemoryOperation
    fault: str | None = None
    """Why the item cannot be used at all; `None` when it can be considered."""


def parse_output(answer: Any) -> tuple[Proposal, ...]:
    """Read an answer given as text or as an already decoded JSON value.

    Raises:
        UnreadableOutputError: there is not exactly one document of an accepted shape in it.
    """
    return read_document(find_document(answer) if isinstance(answer, str) else answer)


def read_document(document: Any) -> tuple[Proposal, ...]:
    """The items of one decoded document.

    Raises:
        UnreadableOutputError: it has none of the accepted shapes.
    """
    if isinstance(document, list):
        return tuple(_read_item(item, always_add=True) for item in document)
    if isinstance(document, dict):
        operations, memories = document.get("operations"), document.get("memories")
        version = document.get("version")
        if version == 1 and not isinstance(version, bool) and isinstance(operations, list):
            return tuple(_read_item(item, always_add=False) for item in operations)
        if isinstance(memories, list):
            return tuple(_read_item(item, always_add=True) for item in memories)
        raise UnreadableOutputError("a JSON object without version 1 and a list of operations")
    raise UnreadableOutputError("not a JSON object or list")


def find_document(text: str) -> Any:
    """The one document in `text`, decoded.

    Raises:
        UnreadableOutputError: there is none, or more than one.
    """
    bare = text.strip().lstrip("\ufeff").strip()
    if not bare:
        raise UnreadableOutputError("an empty answer")
    whole = _decode(bare)
    if whole is not _BROKEN:
        return whole
    found = _documents_in(bare)
    if not found:
        raise UnreadableOutputError("no complete JSON document of a known shape")
    if len(found) > 1:
        raise UnreadableOutputError(f"{len(found)} JSON documents where one was expected")
    return found[0]


class _Broken:
    """Marks text that is not JSON; `None` is a JSON value."""


_BROKEN = _Broken()


def _decode(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return _BROKEN


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are not JSON


def _documents_in(text: str) -> list[Any]:
    """Documents of an accepted shape among prose, outside reasoning parts."""
    read = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
    found: list[Any] = []
    at = failed = 0
    broke_off = False
    while (mark := _INTERESTING.search(text, at)) is not None and failed < _MAX_FAILED_READS:
        at = mark.start()
        if mark[0] not in "[{":
            at, closed = _after_reasoning(text, mark)
            if closed:
                found.clear()  # what stands before a stray closing mark was reasoning, too
            continue
        try:
            document, at = read(text, at)
        except (ValueError, RecursionError):
            failed += 1
            starts = _JSON_OBJECT_START if mark[0] == "{" else _JSON_LIST_START
            broke_off = broke_off or starts.match(text, at) is not None
            at += 1
            continue
        if _has_shape(document, list_allowed=not broke_off):
            found.append(document)
    return found


def _after_reasoning(text: str, mark: re.Match[str]) -> tuple[int, bool]:
    """Where reading goes on after a reasoning mark, and whether the mark closes a part."""
    if mark[0].startswith("</"):
        return mark.end(), True
    depth = 1
    for other in _THINK.finditer(text, mark.end()):
        depth += -1 if other[0].startswith("</") else 1
        if depth == 0:
            return other.end(), False
    return len(text), False  # a reasoning part that never ends holds no answer


def _has_shape(document: Any, *, list_allowed: bool) -> bool:
    if isinstance(document, list):
        return list_allowed and any(isinstance(item, dict) for item in document)
    return isinstance(document, dict) and any(
        isinstance(document.get(key), list) for key in ("operations", "memories")
    )


def _read_item(item: Any, *, always_add: bool) -> Proposal:
    """One item; unknown keys are ignored, a missing or null `op` means `add`."""
    if not isinstance(item, dict):
        return Proposal(operation=MemoryOperation(op="invalid"), fault="not an object")
    kind = "add" if always_add or item.get("op") is None else item["op"]
    operation = MemoryOperation(
        op=kind if isinstance(kind, str) else json.dumps(kind)[:40],
        content=_text(item.get("content")) or "",
        scope=_text(item.get("scope")),
        target_id=_text(item.get("targetId")),
        target_scope=_text(item.get("targetScope")),
        old_quote=_text(item.get("oldQuote")),
        new_quote=_text(item.get("newQuote")),
        evidence_message_ids=_texts(item.get("evidenceMessageIds")),
        type=_text(item.get("type")),
        title=_text(item.get("title")),
        description=_text(item.get("description")),
        tags=_texts(item.get("tags")),
        retrieval_terms=_texts(item.get("retrievalTerms")),
        importance=item.get("importance"),
    )
    return Proposal(operation=operation, fault=_fault(item))


def _fault(item: dict[str, Any]) -> str | None:
    if not isinstance(item.get("content"), str):
        return "content is missing or not text"
    importance = item.get("importance")
    if importance is not None and read_importance(importance) is None:
        return "importance is not a number"
    target_scope = item.get("targetScope")
    if target_scope is not None and not isinstance(target_scope, str):
        return "target scope is not text"
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str))
