"""What passes between the engine and a distiller: a request, an answer, and who may give it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry, MemoryMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillRequest:
    """One stage of a conversation, ready to be distilled."""

    scope: str
    """Key of the scope whose messages these are."""
    cwd: str
    """Directory of the workspace, empty in the global scope."""
    reason: str
    """Why the stage ended, a `Reason` as a rule."""
    messages: tuple[MemoryMessage, ...]
    """Redacted, without injected memory, within the stage's cap; only they are evidence."""
    existing: tuple[MemoryEntry, ...]
    """What is known already and may be revised, corrected or contradicted; redacted, bounded."""
    language: str = "zh"
    """Language of the user's interface; memories stay in the language they were said in."""
    now: int = 0
    """Milliseconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillOutput:
    """What a distiller answered, not yet read."""

    answer: Any
    """The text of the answer, or the document already decoded."""
    incomplete: str | None = None
    """Why the answer must not be used although it may parse: cut at a limit, filtered."""
    instructions: tuple[str, ...] = ()
    """What the model was told, so that a sentence of it is never taken for a memory."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For logs and measurements: model, tokens, time."""


Distiller = Callable[[DistillRequest], Awaitable[DistillOutput | str]]
"""Anything that reads a stage; raising means that the stage failed and will be tried again."""
