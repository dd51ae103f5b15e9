"""Buffer, claim, settle: what a stage does to the state of a scope; pure.

Messages wait in `pending_messages` until they have been distilled, claimed or not: a process that
dies in the middle loses nothing. Which of them a running stage has claimed is kept beside the
state (`wsmem.engine.claims`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.records import ROLES, MemoryMessage
from wsmem.redaction.redact import redact
from wsmem.text.framing import without_frames
from wsmem.text.normalize import trim
from wsmem.text.utf16 import utf16_cut, utf16_length

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wsmem.records import MemoryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The messages of one stage."""

    messages: tuple[MemoryMessage, ...]
    """As the distiller sees them; the last may be the beginning of a longer one."""
    ids: tuple[str, ...]
    """Pending messages the batch takes from, whole or in part."""
    consumed: int
    """UTF-16 units taken from the last one; the rest of it stays pending."""
    limited: bool = False
    """Whether more was waiting that did not fit."""


def usable_messages(messages: Any) -> tuple[MemoryMessage, ...]:
    """The messages that say something, as they are buffered.

    Injected memory is taken out, credentials are redacted, white space around is trimmed; what is
    empty then, has no id or an unknown role is left out.
    """
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        return ()
    return tuple(kept for message in messages if (kept := _usable(message)) is not None)


def buffered(
    state: MemoryState, messages: Iterable[MemoryMessage], *, now: int
) -> tuple[MemoryState, int]:
    """`state` with the messages it does not know yet, and how many those were."""
    known = {*state.seen_message_ids, *(message.id for message in state.pending_messages)}
    fresh: dict[str, MemoryMessage] = {}
    for message in messages:
        if message.id not in known:
            fresh.setdefault(message.id, message)
    if not fresh:
        return state, 0
    pending = (*state.pending_messages, *fresh.values())
    return replace(state, pending_messages=pending, last_buffered_at=now), len(fresh)


def next_batch(state: MemoryState, *, claimed: Collection[str], max_units: int) -> Batch | None:
    """The oldest messages nobody works on, up to `max_units` UTF-16 units; `None` when all are.

    A message that does not fit is begun, not skipped; a cut never splits a character.
    """
    taken: list[MemoryMessage] = []
    ids: list[str] = []
    left = max(1, max_units)
    consumed = 0
    limited = False
    for message in state.pending_messages:
        if message.id in claimed:
            continue
        if left <= 0:
            limited = True
            break
        length = utf16_length(message.text)
        if length <= left:
            taken.append(message)
            consumed = length
        else:
            limited = True
            start = _beginning(message.text, left, at_least_one=not taken)
            if not start:
                break
            taken.append(replace(message, text=start))
            consumed = utf16_length(start)
        ids.append(message.id)
        left -= consumed
        if limited:
            break
    if not taken:
        return None
    return Batch(messages=tuple(taken), ids=tuple(ids), consumed=consumed, limited=limited)


def settled(
    state: MemoryState, batch: Batch, *, now: int, window: int, summary_rebuilt: bool
) -> MemoryState:
    """`state` after the batch was distilled: its messages are seen, what was not read stays."""
    done = set(batch.ids)
    pending: list[MemoryMessage] = []
    seen = list(batch.ids)
    for message in state.pending_messages:
        if message.id not in done:
            pending.append(message)
        elif message.id == batch.ids[-1] and batch.consumed < utf16_length(message.text):
            pending.append(replace(message, text=_behind(message.text, batch.consumed)))
            seen.remove(message.id)
    return replace(
        state,
        version=state.version + summary_rebuilt,
        checkpoint_count=state.checkpoint_count + 1,
        last_checkpoint_at=now,
        pending_messages=tuple(pending),
        seen_message_ids=(*state.seen_message_ids, *seen)[-window:],
    )


def is_pending(state: MemoryState, batch: Batch) -> bool:
    """Whether every message of the batch still waits, in the words the batch has of it."""
    waiting = {message.id: message.text for message in state.pending_messages}
    return all(waiting.get(message.id, "").startswith(message.text) for message in batch.messages)


def _usable(message: Any) -> MemoryMessage | None:
    if not isinstance(message, MemoryMessage) or message.role not in ROLES:
        return None
    identifier: Any = message.id  # a host that is not type-checked may hand over anything
    text: Any = message.text
    if not isinstance(identifier, str) or not isinstance(text, str):
        return None
    text = trim(redact(without_frames(text)))
    if not identifier or not text:
        return None
    return MemoryMessage(id=identifier, role=message.role, text=text)


def _beginning(text: str, units: int, *, at_least_one: bool) -> str:
    start = utf16_cut(text, units)
    if start and "\ud800" <= start[-1] <= "\udbff":
        start = start[:-1]
    return start or (text[:1] if at_least_one else "")


def _behind(text: str, units: int) -> str:
    """What follows the first `units` code units, which end between two characters."""
    return text[len(utf16_cut(text, units)) :]
