"""Entries as they may leave the store: every text redacted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wsmem.redaction.redact import redact

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry


def redacted_entry(entry: MemoryEntry) -> MemoryEntry:
    """`entry` with every text redacted, its history included; not to be written back."""
    return entry.with_changes(
        content=redact(entry.content),
        title=redact(entry.title),
        description=redact(entry.description),
        tags=tuple(map(redact, entry.tags)),
        retrieval_terms=tuple(map(redact, entry.retrieval_terms)),
        revisions=tuple(
            replace(
                old,
                content=redact(old.content),
                title=redact(old.title),
                description=redact(old.description),
            )
            for old in entry.revisions
        ),
        stored={},
    )
