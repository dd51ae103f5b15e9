"""The shared file formats of a scope beside its entries: state, descriptor and what wsmem adds.

Read and written as `wsmem.store.codec` says.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wsmem.records import ROLES, MemoryMessage, MemoryState
from wsmem.store.codec import FORMAT, Problem, is_newer, json_kind, reason
from wsmem.store.jsontext import escape_surrogates, json_bytes, json_text, parse_json, quote
from wsmem.store.layout import DESCRIPTOR, EXTRA, STATE

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNTERS = (
    ("version", "version"),
    ("checkpointCount", "checkpoint_count"),
    ("lastCheckpointAt", "last_checkpoint_at"),
    ("lastBufferedAt", "last_buffered_at"),
)


def read_state(data: bytes) -> tuple[MemoryState, tuple[Problem, ...]]:
    """Counters and buffers of a `state.json`; wrong counters are 0, unusable items left out."""
    raw, problems = _read_object(STATE, data)
    counters = {}
    for name, attribute in _COUNTERS:
        value = raw.get(name)
        number = _whole_number(value)
        counters[attribute] = number or 0
        if number is None and value is not None:
            problems.append(Problem(STATE, "item", f"{name} is {json_kind(value)}"))
    pending, seen = [], []
    for number, item in enumerate(_list_of(raw, "pendingMessages", problems), start=1):
        if message := _read_message(item):
            pending.append(message)
        else:
            problems.append(Problem(STATE, "item", f"pending message {number} is not a message"))
    for number, item in enumerate(_list_of(raw, "seenMessageIds", problems), start=1):
        if isinstance(item, str):
            seen.append(item)
        else:
            problems.append(Problem(STATE, "item", f"seen id {number} is {json_kind(item)}"))
    state = MemoryState(**counters, pending_messages=tuple(pending), seen_message_ids=tuple(seen))
    return state, tuple(problems)


def write_state(state: MemoryState) -> bytes:
    """`state.json` as bytes; a list of 10 000 seen ids costs about a millisecond."""
    record = {name: getattr(state, attribute) for name, attribute in _COUNTERS}
    record["pendingMessages"] = [message_to_stored(item) for item in state.pending_messages]
    text = json_text(record).removesuffix("\n}")
    seen = ",\n    ".join(map(quote, state.seen_message_ids))
    listed = f"[\n    {seen}\n  ]" if seen else "[]"
    return escape_surrogates(f'{text},\n  "seenMessageIds": {listed}\n}}\n')


def message_to_stored(message: MemoryMessage) -> dict[str, Any]:
    """The record of a message; fields wsmem does not know stay."""
    return {**message.stored, "id": message.id, "role": message.role, "text": message.text}


def read_descriptor(data: bytes) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """A `scope.json`; empty when it is damaged."""
    raw, problems = _read_object(DESCRIPTOR, data)
    return raw, tuple(problems)


def write_descriptor(fields: Mapping[str, Any]) -> bytes:
    """A `scope.json`."""
    return json_bytes(fields)


def read_extra(data: bytes) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """What wsmem alone keeps about a scope, without its format number."""
    raw, problems = _read_object(EXTRA, data)
    if problems:
        return {}, tuple(problems)
    found = raw.pop("format", None)
    if is_newer(found):
        return raw, (Problem(EXTRA, "newer", f"format {found!r} is not known here"),)
    return raw, ()


def write_extra(extra: Mapping[str, Any]) -> bytes:
    """`wsmem.json` with its format number."""
    return json_bytes({"format": FORMAT, **extra})


def _read_object(file: str, data: bytes) -> tuple[dict[str, Any], list[Problem]]:
    try:
        raw = parse_json(data.decode("utf-8-sig"))
    except ValueError as error:
        return {}, [Problem(file, "damaged", f"not valid JSON ({reason(error)})")]
    if not isinstance(raw, dict):
        return {}, [Problem(file, "damaged", f"is {json_kind(raw)}, not an object")]
    return raw, []


def _list_of(raw: Mapping[str, Any], name: str, problems: list[Problem]) -> list[Any]:
    value = raw.get(name)
    if isinstance(value, list):
        return value
    if value is not None:
        problems.append(Problem(STATE, "item", f"{name} is {json_kind(value)}"))
    return []


def _read_message(item: object) -> MemoryMessage | None:
    if not isinstance(item, dict):
        return None
    identifier, role, text = item.get("id"), item.get("role"), item.get("text")
    if not isinstance(identifier, str) or role not in ROLES or not isinstance(text, str):
        return None
    return MemoryMessage(id=identifier, role=role, text=text, stored=item)


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value)
