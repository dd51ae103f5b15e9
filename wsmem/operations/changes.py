"""The changes an entry can undergo; each gives a new entry, none decides whether it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.operations.fields import (
    MAX_TAGS,
    MAX_TERMS,
    derived_description,
    derived_title,
    united,
)
from wsmem.records import MemoryEntry, Revision
from wsmem.text.normalize import normalize_text

if TYPE_CHECKING:
    from wsmem.operations.fields import Fields

MAX_REVISIONS = 20
"""Earlier wordings kept; the oldest goes first."""

DEFAULT_IMPORTANCE = 1


def new_entry(entry_id: str, layer: str, fields: Fields, *, at: str) -> MemoryEntry:
    """An active entry out of cleaned fields."""
    return MemoryEntry(
        id=entry_id,
        scope=layer,
        type=fields.type or "fact",
        title=fields.title_or_default,
        description=fields.description_or_default,
        retrieval_terms=fields.retrieval_terms,
        content=fields.content,
        tags=fields.tags,
        importance=DEFAULT_IMPORTANCE if fields.importance is None else fields.importance,
        created_at=at,
        updated_at=at,
    )


def revised(entry: MemoryEntry, fields: Fields, *, at: str) -> MemoryEntry:
    """`entry` in the new wording; the old one joins its revisions, tags and terms are united.

    A title or description that was only the start of the old content is taken from the new one,
    one that was given stays until another is given. Importance never falls.
    """
    title = fields.title or (
        derived_title(fields.content)
        if entry.title in {"", derived_title(entry.content), entry.content[:80]}
        else entry.title
    )
    description = fields.description or (
        derived_description(fields.content)
        if entry.description in {"", derived_description(entry.content), entry.content[:240]}
        else entry.description
    )
    old = Revision(
        content=entry.content,
        title=entry.title,
        description=entry.description,
        at=entry.updated_at or entry.created_at or at,
    )
    importance = entry.importance
    if fields.importance is not None and not importance >= fields.importance:  # NaN is replaced
        importance = fields.importance
    return entry.with_changes(
        content=fields.content,
        title=title,
        description=description,
        type=fields.type or entry.type,
        tags=united(entry.tags, fields.tags, MAX_TAGS),
        retrieval_terms=united(entry.retrieval_terms, fields.retrieval_terms, MAX_TERMS),
        importance=importance,
        revisions=(*entry.revisions, old)[-MAX_REVISIONS:],
        updated_at=at,
    )


def says_nothing_new(entry: MemoryEntry, fields: Fields) -> bool:
    """Whether a proposal would change neither the statement of an entry nor how it is found."""
    return (
        normalize_text(entry.content) == normalize_text(fields.content)
        and fields.title in {None, entry.title}
        and fields.description in {None, entry.description}
        and fields.type in {None, entry.type}
        and set(fields.tags) <= set(entry.tags)
        and set(fields.retrieval_terms) <= set(entry.retrieval_terms)
        and (fields.importance is None or entry.importance >= fields.importance)
    )


def superseded(entry: MemoryEntry, successor_id: str, *, at: str) -> MemoryEntry:
    """`entry` retired in favour of another."""
    return entry.with_changes(
        status="superseded",
        superseded_by=united(entry.superseded_by, (successor_id,), len(entry.superseded_by) + 1),
        updated_at=at,
    )


def in_conflict(entry: MemoryEntry, group_id: str, *, at: str) -> MemoryEntry:
    """`entry` as a member of a conflict group."""
    return entry.with_changes(status="conflict", conflict_group_id=group_id, updated_at=at)


def tombstone(entry: MemoryEntry, *, at: str) -> MemoryEntry:
    """`entry` forgotten: kept as a record, out of every answer."""
    return entry.with_changes(status="deleted", updated_at=at)
