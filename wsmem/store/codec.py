"""The shared format of entries, read leniently and written exactly.

Reading keeps what it can and says what it could not use (`Problem`); nothing is dropped without
being named. Writing gives the other program's bytes: an entry that was not touched comes out as it
went in, unknown fields and key order included; one that lacks fields gains their defaults at the
end; a new one has the fields in the usual order.
"""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

from wsmem.records import STATUSES, MemoryEntry, Revision
from wsmem.store.jsontext import (
    escape_surrogates,
    json_text,
    parse_list,
    plain_number,
)
from wsmem.store.layout import ENTRIES
from wsmem.store.salvage import salvage_items
from wsmem.text.utf16 import utf16_cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORMAT = 1
"""The newest version of wsmem's own files that this code reads and writes."""

ProblemKind = Literal["damaged", "item", "old-shape", "duplicate", "newer"]

_TITLE_UNITS, _DESCRIPTION_UNITS = 80, 240
_OLD_LIST_KEYS = ("memories", "entries")


class Problem(NamedTuple):
    """Something in a file that could not be used as it is."""

    file: str
    """Name of the file within the scope."""
    kind: ProblemKind
    """`damaged`: not its format at all. `item`: one part of it was left out. `old-shape`: read in
    full, and written in the present shape next time. `duplicate`: two entries share an id; both
    are kept. `newer`: written by a newer wsmem, which forbids writing."""
    detail: str

    @property
    def loses(self) -> bool:
        """Whether rewriting the file would lose bytes that only it holds."""
        return self.kind in {"damaged", "item", "old-shape"}

    def __str__(self) -> str:
        return f"{self.file}: {self.detail}"


def is_newer(found: object) -> bool:
    """Whether a format number is one that this code must not write over."""
    return isinstance(found, bool) or not isinstance(found, int) or found > FORMAT


def read_entries(
    data: bytes, *, layer: str, known: Mapping[str, MemoryEntry] | None = None
) -> tuple[tuple[MemoryEntry, ...], tuple[Problem, ...]]:
    """Entries of a `memory_entries.json` in file order, and what could not be read.

    Args:
        data: the file.
        layer: the scope of entries that name none; an entry never changes scope by being read.
        known: entries read before, by id; one that did not change is returned as the same object.
    """
    items, problems = _entry_items(data)
    entries = []
    known = known or {}
    completed = 0
    for number, item in enumerate(items, start=1):
        whole = _is_complete(item)
        stored, dropped = (item, ()) if whole else complete_entry(item, layer=layer)
        if stored is None:
            problems.append(Problem(ENTRIES, "item", f"item {number} {dropped[0]}"))
            continue
        if dropped:
            problems += [Problem(ENTRIES, "item", f"item {number}: {what}") for what in dropped]
        completed += stored is not item and not dropped
        entries.append(entry_of(stored, known, whole=whole))
    if completed:
        detail = f"{completed} entries lack fields, which have their defaults"
        problems.append(Problem(ENTRIES, "old-shape", detail))
    return tuple(entries), (*problems, *duplicate_problems(entries))


def entry_of(
    stored: dict[str, Any], known: Mapping[str, MemoryEntry], *, whole: bool = False
) -> MemoryEntry:
    """The entry of a complete record: the known one with its id, if its fields are the same.

    `whole` says that the record was complete from the start and has no revisions.
    """
    before = known.get(stored["id"])
    if before and before.stored == stored and list(before.stored) == list(stored):
        return before
    return MemoryEntry.from_complete(stored) if whole else MemoryEntry.from_stored(stored)


def duplicate_problems(entries: Sequence[MemoryEntry]) -> tuple[Problem, ...]:
    """A problem for every id that occurs more than once."""
    if len({entry.id for entry in entries}) == len(entries):
        return ()
    counts = Counter(entry.id for entry in entries)
    return tuple(
        Problem(ENTRIES, "duplicate", f"id {identifier!r} occurs {count} times")
        for identifier, count in counts.items()
        if count > 1
    )


def complete_entry(item: object, *, layer: str) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """An entry's record with missing or unusable fields defaulted, and what was left out.

    The very same object comes back when there is nothing to do. `None` when it has no text id and
    content, with the reason.
    """
    if _is_complete(item):
        return item, ()
    if not isinstance(item, dict):
        return None, (f"is {json_kind(item)}, not an object",)
    if not isinstance(item.get("id"), str) or not isinstance(item.get("content"), str):
        return None, ("has no text id and content",)
    fixes: dict[str, Any] = {}
    dropped: list[str] = []
    for name in ("scope", "type", "title", "description"):
        value = item.get(name)
        if not isinstance(value, str):
            fixes[name] = _default(name, item["content"], layer)
            if value is not None:
                dropped.append(f"{name} is {json_kind(value)}")
    for name in ("retrievalTerms", "tags", "supersedes", "supersededBy"):
        _complete_list(name, item, fixes, dropped)
    if item.get("importance") is None:
        fixes["importance"] = 1
    if item.get("status") not in STATUSES:
        fixes["status"] = "active"
        if item.get("status") is not None:
            dropped.append(f"status {item['status']!r} is unknown")
    _complete_revisions(item, fixes, dropped)
    if not fixes:
        return item, ()
    # In the order of the other program: what was there keeps its place, the rest goes at the end.
    order = ("scope", "type", "title", "description", "retrievalTerms", "tags", "importance")
    return item | {
        name: fixes[name] for name in (*order, "status") if name in fixes
    } | fixes, tuple(dropped)


_TEXT_FIELDS = itemgetter("id", "content", "scope", "type", "title", "description")
_LIST_FIELDS = ("retrievalTerms", "tags", "supersedes", "supersededBy")
_ONLY_TEXT: frozenset[type] = frozenset({str})


def _is_complete(item: object) -> TypeGuard[dict[str, Any]]:
    """Whether nothing is to be done: the quick way through, for nearly every entry read."""
    if type(item) is not dict:
        return False
    try:
        texts = _TEXT_FIELDS(item)
    except KeyError:
        return False
    get = item.get
    if not _ONLY_TEXT.issuperset(map(type, texts)) or get("importance") is None:
        return False
    for name in _LIST_FIELDS:
        value = get(name)
        if type(value) is list:
            if not _ONLY_TEXT.issuperset(map(type, value)):
                return False
        elif name in item or name in {"retrievalTerms", "tags"}:
            return False
    return get("status") in STATUSES and "revisions" not in item


def entry_to_stored(entry: MemoryEntry) -> dict[str, Any]:
    """The record of an entry as it goes into the file.

    Fields that equal what the entry was read from stay untouched, so unknown fields, key order
    and odd values survive; changed ones keep their place; added ones go at the end.
    """
    if not entry.stored:
        return _new_record(entry)
    record = dict(entry.stored)
    base = MemoryEntry.from_stored(entry.stored)
    for name, attribute in _ADDED_ORDER:
        value = getattr(entry, attribute)
        if _same(value, getattr(base, attribute)):
            continue
        stored = _stored_value(attribute, value, entry)
        if stored is None:
            record.pop(name, None)
        else:
            record[name] = stored
    return record


def entry_text(record: Mapping[str, Any]) -> bytes:
    """One entry as it stands in the list: `join_entries` puts these together."""
    return escape_surrogates(json_text(record, "\n  "))


def join_entries(texts: Sequence[bytes]) -> bytes:
    """A whole `memory_entries.json` from the texts of its entries."""
    return b"".join((b"[\n  ", b",\n  ".join(texts), b"\n]\n")) if texts else b"[]\n"


_FIELDS: tuple[tuple[str, str], ...] = (
    ("id", "id"),
    ("scope", "scope"),
    ("type", "type"),
    ("title", "title"),
    ("description", "description"),
    ("retrievalTerms", "retrieval_terms"),
    ("content", "content"),
    ("tags", "tags"),
    ("importance", "importance"),
    ("status", "status"),
    ("conflictGroupId", "conflict_group_id"),
    ("supersedes", "supersedes"),
    ("provenance", "provenance"),
    ("createdAt", "created_at"),
    ("updatedAt", "updated_at"),
    ("supersededBy", "superseded_by"),
    ("revisions", "revisions"),
)
"""Names on disk and in Python, in the order of a new entry."""

_ADDED_ORDER = tuple(sorted(_FIELDS, key=lambda field: field[0] == "provenance"))
"""The order in which a change adds fields: a revision puts its provenance last."""

_ABSENT_WHEN_EMPTY = frozenset({"supersedes", "superseded_by", "revisions"})

_REVISION_TEXTS = ("content", "title", "description", "at")


def _new_record(entry: MemoryEntry) -> dict[str, Any]:
    record = {}
    for name, attribute in _FIELDS:
        stored = _stored_value(attribute, getattr(entry, attribute), entry)
        if stored is not None:
            record[name] = stored
    return record


def _stored_value(attribute: str, value: Any, entry: MemoryEntry) -> Any:
    """A field's value in JSON terms; `None` when the field is to be absent."""
    if attribute == "importance":
        return plain_number(value)
    if attribute == "revisions":
        return _stored_revisions(value, entry.stored.get("revisions")) or None
    if attribute == "provenance":
        return value and {"messageIds": list(value.message_ids), "reason": value.reason}
    if isinstance(value, tuple):
        return None if attribute in _ABSENT_WHEN_EMPTY and not value else list(value)
    return value


def _stored_revisions(revisions: Iterable[Revision], before: object) -> list[Any]:
    """Revisions as records; those that were there keep their unknown fields."""
    originals = {}
    for item in before if isinstance(before, list) else ():
        if _is_revision(item):
            originals[Revision(**{name: item[name] for name in _REVISION_TEXTS})] = item
    return [
        originals.get(revision) or {name: getattr(revision, name) for name in _REVISION_TEXTS}
        for revision in revisions
    ]


def _same(left: Any, right: Any) -> bool:
    return bool(left == right or (left != left and right != right))  # noqa: PLR0124 - NaN


def _default(name: str, content: str, layer: str) -> str:
    if name == "scope":
        return layer
    if name == "type":
        return "fact"
    return utf16_cut(content, _TITLE_UNITS if name == "title" else _DESCRIPTION_UNITS)


def _complete_list(
    name: str, item: dict[str, Any], fixes: dict[str, Any], dropped: list[str]
) -> None:
    value = item.get(name)
    if isinstance(value, list):
        texts = [part for part in value if isinstance(part, str)]
        if len(texts) != len(value):
            fixes[name] = texts
            dropped.append(f"{name} holds {len(value) - len(texts)} item(s) that are not text")
    elif name in {"retrievalTerms", "tags"}:
        fixes[name] = []
        if value is not None:
            dropped.append(f"{name} is {json_kind(value)}")


def _complete_revisions(item: dict[str, Any], fixes: dict[str, Any], dropped: list[str]) -> None:
    value = item.get("revisions")
    if not isinstance(value, list):
        return
    usable = [part for part in value if _is_revision(part)]
    if len(usable) != len(value):
        fixes["revisions"] = usable
        dropped.append(f"{len(value) - len(usable)} revision(s) are incomplete")


def _is_revision(item: object) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(n), str) for n in _REVISION_TEXTS)


def _entry_items(data: bytes) -> tuple[list[Any], list[Problem]]:
    """The raw items of an entries file, salvaged one by one where it does not parse whole."""
    try:
        raw = parse_list(data.decode("utf-8-sig"))
    except ValueError as error:
        items = salvage_items(data)
        detail = f"not valid JSON ({reason(error)}); {len(items)} complete entries were found in it"
        return items, [Problem(ENTRIES, "damaged", detail)]
    if isinstance(raw, list):
        return raw, []
    if isinstance(raw, dict):
        if any(is_newer(raw[name]) for name in ("format", "version") if name in raw):
            return [], [Problem(ENTRIES, "newer", "its format number is not known here")]
        for name in _OLD_LIST_KEYS:
            if isinstance(raw.get(name), list):
                return raw[name], [Problem(ENTRIES, "old-shape", f'entries stood under "{name}"')]
    return [], [Problem(ENTRIES, "damaged", f"is {json_kind(raw)}, not a list of entries")]


def reason(error: ValueError) -> str:
    """The first clause of a parser's complaint, without the bytes it complained about."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return str(error)


def json_kind(value: object) -> str:
    for kind, name in ((bool, "a boolean"), (str, "a text"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "a number"
