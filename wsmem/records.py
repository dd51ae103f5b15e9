"""The domain's values, frozen: entries, messages, state, operations, requests and answers.

Files hold camelCase, Python holds snake_case; the two meet in `from_stored` and `to_stored` and
nowhere else. Reading keeps the record as it was stored, so unknown fields and key order survive a
round trip. Times are ISO 8601 texts on entries and whole milliseconds since the epoch elsewhere,
as in the files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Layer = Literal["global", "workspace", "session"]
"""Who a memory is for: the user everywhere, one project, or one conversation."""

MemoryType = Literal["preference", "decision", "architecture", "rule", "fact", "fix"]
MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)

Status = Literal["active", "conflict", "superseded", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)
RECALLABLE: frozenset[str] = frozenset({"active", "conflict"})
"""Statuses a recall may return; only `active` entries are summarised."""

Role = Literal["user", "assistant"]
ROLES: tuple[Role, ...] = get_args(Role)

Reason = Literal["segment-end", "task-end", "session-close", "compaction", "explicit", "idle"]
REASONS: tuple[Reason, ...] = get_args(Reason)

CheckpointStatus = Literal["buffered", "empty", "committed", "failed"]

OperationKind = Literal["add", "revise", "supersede", "flag-conflict"]
OPERATION_KINDS: tuple[OperationKind, ...] = get_args(OperationKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An earlier wording of an entry."""

    content: str
    title: str
    description: str
    at: str
    """When this wording had been written (ISO 8601), not when it was replaced."""


QUOTED_MATERIAL = "quoted-material"
"""`Provenance.reason` of an entry whose wording comes out of pasted or quoted text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The messages a change rests on, and why it was made."""

    message_ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """One remembered statement."""

    id: str
    content: str
    scope: str = "workspace"
    type: str = "fact"
    title: str = ""
    description: str = ""
    retrieval_terms: tuple[str, ...] = ()
    """Words a question may use that the content does not."""
    tags: tuple[str, ...] = ()
    importance: float = 1.0
    """0 to 3 when written by wsmem; as found in a file otherwise, NaN when it is not a number."""
    status: str = "active"
    created_at: str | None = None
    updated_at: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    conflict_group_id: str | None = None
    revisions: tuple[Revision, ...] = ()
    """Oldest first."""
    provenance: Provenance | None = None
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The record as read from disk: its key order and the fields wsmem does not know."""

    @property
    def recallable(self) -> bool:
        """Whether a recall may return this entry."""
        return self.status in RECALLABLE

    @classmethod
    def from_stored(cls, raw: Mapping[str, Any]) -> MemoryEntry:
        """Read one record of `memory_entries.json` leniently; fields of the wrong kind are empty.

        Nothing is derived or clamped here: an absent title stays empty, a strange status stays as
        it is. Lists lose items that are not text.

        Raises:
            InvalidInputError: `raw` is not an object with a text id and a text content.
        """
        if not isinstance(raw, dict):
            raise InvalidInputError(_NEEDS)
        get = raw.get
        identifier, content = get("id"), get("content")
        if not isinstance(identifier, str) or not isinstance(content, str):
            raise InvalidInputError(_NEEDS)
        # Spelled out, without a helper a field: ten thousand of these are read at a start.
        return cls(
            id=identifier,
            content=content,
            scope=value if isinstance(value := get("scope"), str) else "workspace",
            type=value if isinstance(value := get("type"), str) else "fact",
            title=value if isinstance(value := get("title"), str) else "",
            description=value if isinstance(value := get("description"), str) else "",
            retrieval_terms=_texts(value) if (value := get("retrievalTerms")) else (),
            tags=_texts(value) if (value := get("tags")) else (),
            importance=_number(get("importance")),
            status=value if isinstance(value := get("status"), str) else "active",
            created_at=value if isinstance(value := get("createdAt"), str) else None,
            updated_at=value if isinstance(value := get("updatedAt"), str) else None,
            supersedes=_texts(value) if (value := get("supersedes")) else (),
            superseded_by=_texts(value) if (value := get("supersededBy")) else (),
            conflict_group_id=value if isinstance(value := get("conflictGroupId"), str) else None,
            revisions=_revisions(value) if (value := get("revisions")) else (),
            provenance=_provenance(value) if (value := get("provenance")) else None,
            stored=raw,
        )

    @classmethod
    def from_complete(cls, raw: Mapping[str, Any]) -> MemoryEntry:
        """Read a record known to be whole: every text and list there, and of the right kind.

        The same entry `from_stored` gives, in half the time: ten thousand are read at a start.
        """
        get = raw.get
        importance = raw["importance"]
        entry = object.__new__(cls)
        for fill, item in zip(
            _FILL,
            (
                raw["id"],
                raw["content"],
                raw["scope"],
                raw["type"],
                raw["title"],
                raw["description"],
                tuple(raw["retrievalTerms"]),
                tuple(raw["tags"]),
                float(importance) if type(importance) is int else _number(importance),
                raw["status"],
                value if isinstance(value := get("createdAt"), str) else None,
                value if isinstance(value := get("updatedAt"), str) else None,
                tuple(value) if (value := get("supersedes")) else (),
                tuple(value) if (value := get("supersededBy")) else (),
                value if isinstance(value := get("conflictGroupId"), str) else None,
                _revisions(value) if (value := get("revisions")) else (),
                _provenance(value) if (value := get("provenance")) else None,
                raw,
            ),
            strict=True,
        ):
            fill(entry, item)
        return entry

    def with_changes(self, **changes: Any) -> MemoryEntry:
        """A copy with fields replaced; what it was read from is kept for `to_stored`."""
        return replace(self, **changes)


# The slots of an entry in the order of its fields, to fill one without a call a field.
_FILL = tuple(getattr(MemoryEntry, name).__set__ for name in MemoryEntry.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMessage:
    """One completed utterance of a conversation."""

    id: str
    role: Role
    text: str
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The record as read from disk, with fields wsmem does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """Counters and buffers of one scope, `state.json`."""

    version: int = 0
    """How many times the summary was rebuilt."""
    checkpoint_count: int = 0
    last_checkpoint_at: int = 0
    last_buffered_at: int = 0
    pending_messages: tuple[MemoryMessage, ...] = ()
    seen_message_ids: tuple[str, ...] = ()
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOperation:
    """One change a distiller proposes; nothing in it has been checked against the store yet."""

    op: str
    """An `OperationKind`, or whatever unknown word the distiller used: refused with a reason."""
    content: str = ""
    scope: str | None = None
    target_id: str | None = None
    target_scope: str | None = None
    old_quote: str | None = None
    new_quote: str | None = None
    evidence_message_ids: tuple[str, ...] = ()
    type: str | None = None
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    retrieval_terms: tuple[str, ...] = ()
    importance: Any = None
    """As given; normalised to 0..3 when applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An entry a query found and what it earned."""

    entry: MemoryEntry
    score: float
    """Higher is better; only comparable within one query and profile."""
    matched: int
    """How many distinct query terms the entry matched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallInput:
    """What a caller wants to know, and how much of it fits."""

    query: str
    cwd: str | None = None
    """The workspace directory; `None` or empty is the global scope, never the process's own."""
    session_id: str | None = None
    """Resolves the workspace through the registry when `cwd` is `None`."""
    limit: int | None = None
    """Most entries returned, 1 to 50; `None` is the setting's (8)."""
    max_bytes: int | None = None
    """Most UTF-8 bytes of rendered context, frame included; `None` is the setting's (5 000)."""
    deadline_ms: float | None = None
    surfaced_ids: tuple[str, ...] = ()
    """Entries the caller has shown lately; they rank lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMatch:
    """A recalled entry as handed to a host: redacted, with its rivals named."""

    id: str
    scope: str
    type: str
    title: str
    description: str
    content: str
    tags: tuple[str, ...]
    importance: float
    score: float
    status: str = "active"
    conflict_with: tuple[str, ...] = ()
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """The answer to a recall: reference data, never instructions."""

    scope: str
    """Key of the scope that answered."""
    summary: str
    matches: tuple[MemoryMatch, ...]
    text: str
    """What a host injects: frame, summary and matches within the byte budget; may be empty."""
    degraded: str | None = None
    """Why the answer is partial or empty; `None` when it is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInput:
    """Completed messages, and why they are handed over now."""

    reason: Reason
    messages: Sequence[MemoryMessage] = ()
    cwd: str | None = None
    session_id: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointResult:
    """What became of the messages."""

    status: CheckpointStatus
    scope: str
    accepted: int = 0
    """New messages taken into the buffer by this call."""
    pending: int = 0
    """Messages still waiting afterwards."""
    added: int = 0
    updated: int = 0
    superseded: int = 0
    conflicts: int = 0
    ignored: int = 0
    """Operations refused or without effect."""
    error: str | None = None


_NEEDS = "a memory entry needs a text id and a text content"
_ONLY_TEXT: frozenset[type] = frozenset({str})


def _get(raw: object, key: str) -> object:
    return raw.get(key) if isinstance(raw, dict) else None


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    if _ONLY_TEXT.issuperset(map(type, value)):
        return tuple(value)
    return tuple(item for item in value if isinstance(item, str))


def _number(value: object) -> float:
    """Read an importance: absent is 1, numeric text counts, anything else is NaN."""
    if value is None:
        return 1.0
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value.strip() or 0)
        except ValueError:
            return math.nan
    return math.nan


def _revisions(value: object) -> tuple[Revision, ...]:
    if not isinstance(value, list):
        return ()
    texts = ("content", "title", "description", "at")
    return tuple(
        Revision(**{name: item[name] for name in texts})
        for item in value
        if isinstance(item, dict) and all(isinstance(item.get(name), str) for name in texts)
    )


def _provenance(value: object) -> Provenance | None:
    ids, reason = _get(value, "messageIds"), _get(value, "reason")
    if not isinstance(ids, list) or not isinstance(reason, str):
        return None
    return Provenance(message_ids=_texts(ids), reason=reason)
