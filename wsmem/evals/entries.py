"""From documents to memory entries, and from a set to the pools its queries search."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from wsmem.records import MemoryEntry, MemoryType, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.evals.dataset import Dataset, Document, Query

UNDATED = 1_767_225_600_000
"""The clock of a set that holds no date at all: 2026-01-01, milliseconds since the epoch."""


def _milliseconds(text: object) -> int:
    """Milliseconds since the epoch of an ISO date or time; one without a zone is read as UTC."""
    if not isinstance(text, str):
        raise ValueError("a date is an ISO 8601 text")  # noqa: TRY004  what Pydantic reports
    moment = datetime.fromisoformat(text)
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1000)


Moment = Annotated[int, BeforeValidator(_milliseconds)]


class EntryFields(BaseModel):
    """Fields of a memory entry that a document may carry in its metadata, under their stored names.

    Sets of our own are held to it. In sets of others the same words may mean something else, so a
    value that does not fit is left aside there.
    """

    model_config = ConfigDict(extra="ignore")

    type: MemoryType = "fact"
    description: StrictStr = ""
    tags: tuple[StrictStr, ...] = ()
    retrieval_terms: tuple[StrictStr, ...] = Field(default=(), validation_alias="retrievalTerms")
    importance: float = Field(default=1.0, ge=0, le=3)
    status: Status = "active"
    conflict_group_id: StrictStr | None = Field(default=None, validation_alias="conflictGroupId")
    layer: Literal["global", "workspace"] = "workspace"
    """`global` entries belong to the user of the workspace that the document names as its scope."""
    created_at: Moment | None = Field(default=None, validation_alias="createdAt")
    updated_at: Moment | None = Field(default=None, validation_alias="updatedAt")
    date: Moment | None = None
    """Stands for the two others where they are absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Entries that are searched together, and the queries that search them."""

    scope: str | None
    entries: tuple[MemoryEntry, ...]
    queries: tuple[Query, ...]
    now: int
    """The clock of every search, milliseconds since the epoch: the latest date known here."""


def pools(dataset: Dataset, queries: Iterable[Query]) -> list[Pool]:
    """Group queries by what they search, in the order in which each group is first met.

    A query with a scope searches the documents of that scope and nothing else; one without a
    scope searches the whole corpus. The clock of a pool comes from its documents and from all the
    set's queries, so it does not change when only some of them are asked.
    """
    asked: dict[str | None, list[Query]] = {}
    for query in queries:
        asked.setdefault(query.scope, []).append(query)
    by_scope: dict[str | None, list[Document]] = {scope: [] for scope in asked}
    for document in dataset.documents:
        if document.scope is not None and document.scope in by_scope:
            by_scope[document.scope].append(document)
    if None in by_scope:
        by_scope[None] = list(dataset.documents)
    clocks: dict[str | None, list[int]] = {scope: [] for scope in asked}
    for query in dataset.queries:
        if query.scope in clocks and (date := query_date(query)) is not None:
            clocks[query.scope].append(date)
    return [
        _pool(scope, by_scope[scope], tuple(group), clocks[scope]) for scope, group in asked.items()
    ]


def other_pools(dataset: Dataset, asked: Sequence[Pool], *, most: int) -> list[Pool]:
    """Scopes of a set that are not among the pools asked, without queries, as bystanders.

    The first `most` of them in the order of the corpus; none beside a pool of the whole corpus.
    """
    known = {pool.scope for pool in asked}
    by_scope: dict[str, list[Document]] = {}
    for document in dataset.documents if None not in known else ():
        scope = document.scope
        if scope is not None and scope not in known and (scope in by_scope or len(by_scope) < most):
            by_scope.setdefault(scope, []).append(document)
    return [_pool(scope, documents, (), ()) for scope, documents in by_scope.items()]


def query_date(query: Query) -> int | None:
    """When the query was asked, if the set says so (milliseconds since the epoch)."""
    fields, _ = _fields({"date": query.metadata.get("date")})
    return fields.date


def surfaced_ids(query: Query) -> tuple[str, ...]:
    """Entries that the set says were shown shortly before the query, `metadata.surfaced`."""
    named = query.metadata.get("surfaced")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()


def field_problems(document: Document) -> list[tuple[str, str]]:
    """Metadata of a document that cannot be used as an entry's field: its name and why."""
    return _fields(document.metadata)[1]


def _pool(
    scope: str | None,
    documents: Sequence[Document],
    queries: tuple[Query, ...],
    clock: Sequence[int],
) -> Pool:
    fields = [_fields(document.metadata)[0] for document in documents]
    dates = [date for item in fields if (date := _updated(item)) is not None]
    # A document of unknown age is as old as the oldest known one: undated is not news.
    undated = _iso(min(dates, default=UNDATED))
    entries = tuple(
        _entry(document, item, undated) for document, item in zip(documents, fields, strict=True)
    )
    now = max([*dates, *clock], default=UNDATED)
    return Pool(scope=scope, entries=entries, queries=queries, now=now)


def _entry(document: Document, fields: EntryFields, undated: str) -> MemoryEntry:
    updated = _updated(fields)
    created = updated if fields.created_at is None else fields.created_at
    return MemoryEntry(
        id=document.id,
        content=document.text,
        title=document.title,
        scope=fields.layer,
        type=fields.type,
        description=fields.description,
        tags=fields.tags,
        retrieval_terms=fields.retrieval_terms,
        importance=fields.importance,
        status=fields.status,
        conflict_group_id=fields.conflict_group_id,
        created_at=undated if created is None else _iso(created),
        updated_at=undated if updated is None else _iso(updated),
    )


def _updated(fields: EntryFields) -> int | None:
    known = (fields.updated_at, fields.date, fields.created_at)
    return next((moment for moment in known if moment is not None), None)


def _fields(metadata: Any) -> tuple[EntryFields, list[tuple[str, str]]]:
    """The entry fields of a document's metadata, and what had to be left aside."""
    present = {key: value for key, value in metadata.items() if value is not None}
    faults: dict[str, str] = {}
    while True:
        try:
            return EntryFields.model_validate(present), list(faults.items())
        except ValidationError as error:
            for item in error.errors(include_url=False, include_context=False):
                faults[str(item["loc"][0])] = item["msg"]
        present = {key: value for key, value in present.items() if key not in faults}


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def injected_bytes(entry: MemoryEntry) -> int:
    """UTF-8 bytes of what a host puts into a prompt for an entry: title and content, no frame."""
    return len("\n".join(part for part in (entry.title, entry.content) if part).encode())
