"""What became of each proposed operation, and of a whole batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import Layer, MemoryEntry

Effect = Literal["added", "updated", "superseded", "conflict", "unchanged", "refused"]
"""What an operation did. `unchanged` is an operation whose statement was there already."""

COUNTED_AS_IGNORED = frozenset({"unchanged", "refused"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationAudit:
    """One operation and what became of it; holds no credential, whatever was proposed."""

    op: str
    effect: Effect
    reason: str
    """Why, in words for a person; never repeats a text that was refused."""
    content: str = ""
    """The statement proposed, redacted; empty when it was not one."""
    target_id: str | None = None
    """The entry the operation was about: the current head when the named one was superseded."""
    entry_id: str | None = None
    """The entry that was added or changed, or that already said it."""
    created: bool = False
    """Whether a new entry was written (`superseded` and `conflict` write one, too)."""
    layer: Layer | None = None

    @property
    def accepted(self) -> bool:
        """Whether the store differs because of it."""
        return self.effect not in COUNTED_AS_IGNORED


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A batch of operations, applied."""

    entries: Mapping[Layer, tuple[MemoryEntry, ...]]
    """Only the layers that changed."""
    audit: Sequence[OperationAudit]
    """In the order of the operations."""

    def count(self, effect: Effect) -> int:
        """How many operations had this effect."""
        return sum(record.effect == effect for record in self.audit)

    @property
    def added(self) -> int:
        """New entries, those of corrections and conflicts included."""
        return sum(record.created for record in self.audit)

    @property
    def ignored(self) -> int:
        """Operations refused or without effect."""
        return sum(not record.accepted for record in self.audit)
