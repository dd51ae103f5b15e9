"""When what is buffered may be distilled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.records import REASONS
from wsmem.text.utf16 import utf16_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import MemoryMessage, MemoryState
    from wsmem.settings import Settings

BOUNDARIES = frozenset(REASONS) - {"segment-end"}
"""Reasons that end a stage whatever is buffered; any other waits until there is enough."""


def stage_is_ready(
    state: MemoryState, *, reason: str, settings: Settings, now: int, force: bool = False
) -> bool:
    """Whether the pending messages of `state` make a stage now."""
    if not state.pending_messages:
        return False
    if force or reason in BOUNDARIES:
        return True
    return (
        user_turns(state.pending_messages) >= settings.checkpoint_turns
        or total_units(state.pending_messages) >= settings.checkpoint_chars
        or idle_left(state, settings=settings, now=now) == 0
    )


def user_turns(messages: Sequence[MemoryMessage]) -> int:
    """Turns, counted by what the user said."""
    return sum(message.role == "user" for message in messages)


def total_units(messages: Sequence[MemoryMessage]) -> int:
    """Length of all texts in UTF-16 code units."""
    return sum(utf16_length(message.text) for message in messages)


def idle_left(state: MemoryState, *, settings: Settings, now: int) -> int | None:
    """Milliseconds until the buffer has been idle long enough; `None` when it was never stamped.

    A stamp of the future, from a clock that was set back, waits the whole idle time.
    """
    if state.last_buffered_at <= 0:
        return None
    waited = max(0, now - state.last_buffered_at)
    return max(0, settings.idle_checkpoint_ms - waited)
