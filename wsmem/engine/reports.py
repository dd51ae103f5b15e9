"""What the engine answers to everything but `recall` and `checkpoint`; plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import Layer, MemoryEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberInput:
    """One statement to keep, said on purpose by a user or an agent."""

    content: str
    cwd: str | None = None
    session_id: str | None = None
    layer: Layer = "workspace"
    """Where it is kept; without a workspace, `workspace` is the global scope."""
    type: str | None = None
    title: str | None = None
    description: str | None = None
    tags: Sequence[str] = ()
    retrieval_terms: Sequence[str] = ()
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberResult:
    """What became of it. Exactly one of the counters is 1."""

    scope: str
    entry_id: str
    """The entry that says it now: new, revised, or one that said it already."""
    added: int = 0
    updated: int = 0
    ignored: int = 0
    """1 when an entry says it already; nothing was changed."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult:
    """An entry was forgotten; every other outcome is an error of its own."""

    scope: str
    entry_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeStatus:
    """How one scope stands."""

    scope: str
    cwd: str
    archived: bool = False
    entries: Mapping[str, int] = field(default_factory=dict)
    """Number of entries by status."""
    pending: int = 0
    """Messages that wait to be distilled."""
    pending_chars: int = 0
    """Their length in UTF-16 units, the unit of the policy's thresholds."""
    claimed: int = 0
    """How many of them a running stage works on."""
    checkpoint_count: int = 0
    last_checkpoint_at: int | None = None
    """Milliseconds since the epoch; `None` when there was none."""
    last_buffered_at: int | None = None
    next_stage_at: int | None = None
    """When what is pending is distilled at the latest if nothing else happens."""
    failures: int = 0
    """Stages that failed since the last that did not."""
    last_error: str | None = None
    """Of the last stage, while it is a failed one."""
    last_error_at: int | None = None
    retry_at: int | None = None
    problems: tuple[str, ...] = ()
    """What of the files could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeView:
    """A scope as people look at it; texts are redacted."""

    scope: str
    cwd: str
    archived: bool
    summary: str
    entries: tuple[MemoryEntry, ...]
    """All of them, whatever their status, in file order."""
    state: Mapping[str, Any]
    """Counters of `state.json`; no messages."""
    problems: tuple[str, ...] = ()
