"""What a transaction wants of one scope, turned into the bytes of its files; touches no file."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, compress, count
from operator import is_, is_not
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.records import MemoryEntry, MemoryState
from wsmem.store.codec import (
    complete_entry,
    duplicate_problems,
    entry_text,
    entry_to_stored,
    join_entries,
)
from wsmem.store.entry_set import EntrySet
from wsmem.store.jsontext import parse_json, replace_surrogates
from wsmem.store.layout import DESCRIPTOR, ENTRIES, EXTRA, SNAPSHOT_FILES, STATE, SUMMARY, kind_of
from wsmem.store.scope_codec import (
    read_extra,
    read_state,
    write_descriptor,
    write_extra,
    write_state,
)
from wsmem.store.snapshot import Generation, ScopeSnapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.store.codec import Problem
    from wsmem.store.fs import FileStamp


@dataclass(slots=True, kw_only=True)
class ScopeChange:
    """What was asked for so far; `None` and empty mean: as it is."""

    key: str
    cwd: str
    entries: tuple[MemoryEntry, ...] | None = None
    state: MemoryState | None = None
    extra: dict[str, Any] | None = None
    summary: str | None = None
    keep: int | None = None
    """How many earlier summaries stay when the summary is replaced; `None`: leave the history."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Additions to the descriptor."""
    added: dict[str, str] = field(default_factory=dict)
    """Texts of new checkpoint files, by name."""
    rewritten: dict[str, bytes] = field(default_factory=dict)
    """Other files of the scope, by path within it, and what they become."""

    @property
    def empty(self) -> bool:
        """Whether nothing was asked for."""
        return self == ScopeChange(key=self.key, cwd=self.cwd, keep=self.keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A scope's files as they are to be."""

    files: Mapping[str, bytes]
    """New bytes of those that change."""
    entry_set: EntrySet
    state: MemoryState
    summary: str
    descriptor: Mapping[str, Any]
    extra: Mapping[str, Any]

    def snapshot(self, before: ScopeSnapshot, stamps: Mapping[str, FileStamp]) -> ScopeSnapshot:
        """What reading the scope will give once the files with these stamps are in place."""
        generation = Generation(
            *(stamps.get(name, old) for name, old in zip(SNAPSHOT_FILES, before.generation))  # noqa: B905
        )
        kept = tuple(p for p in before.problems if p.file not in self.files)
        problems: tuple[Problem, ...] = ()
        if ENTRIES in self.files:
            problems = self.entry_set.problems
        return ScopeSnapshot(
            key=before.key,
            cwd=self.descriptor.get("cwd") or "",
            exists=True,
            entry_set=self.entry_set,
            state=self.state,
            summary=self.summary,
            descriptor=self.descriptor,
            extra=self.extra,
            generation=generation,
            problems=problems + kept,
        )


def outcome_of(change: ScopeChange, before: ScopeSnapshot) -> Outcome:
    """The files a change makes of a scope, each as reading it back will find it.

    Raises:
        InvalidInputError: a value has no place in the file format.
    """
    files: dict[str, bytes] = {}
    entry_set = before.entry_set
    if change.entries is not None:
        entry_set = _entry_set(change.entries, before)
        if entry_set is not before.entry_set:
            files[ENTRIES] = join_entries(entry_set.texts)
    state = before.state
    if change.state is not None and not _same_state(change.state, state):
        state, files[STATE] = _state(change.state)
    extra = before.extra
    if change.extra is not None and change.extra != extra:
        extra, files[EXTRA] = _extra(change.extra)
    summary = before.summary
    if change.summary is not None:
        files[SUMMARY] = replace_surrogates(change.summary)
        summary = files[SUMMARY].decode()
    descriptor = before.descriptor
    if files or change.added or change.rewritten or change.fields:
        descriptor = _descriptor(change, before)
        if descriptor != before.descriptor:
            files[DESCRIPTOR] = write_descriptor(descriptor)
    return Outcome(
        files=files,
        entry_set=entry_set,
        state=state,
        summary=summary,
        descriptor=descriptor,
        extra=extra,
    )


def _entry_set(entries: Sequence[MemoryEntry], before: ScopeSnapshot) -> EntrySet:
    """The entries with their texts; only those that are not in `before` are encoded."""
    old = before.entry_set
    if len(entries) == len(old.entries) and all(map(is_, entries, old.entries)):
        return old
    layer = kind_of(before.key)
    kept, texts = list(entries), list(old.texts[: len(entries)])
    texts += [b""] * (len(kept) - len(texts))
    shared = min(len(kept), len(old.entries))
    places = list(compress(count(), map(is_not, kept, old.entries)))
    # What was moved has left a place where another entry stands now, or none.
    left = chain(places, range(shared, len(old.entries)))
    known = {id(old.entries[place]): old.texts[place] for place in left}
    for place in chain(places, range(shared, len(kept))):
        entry = kept[place]
        text = known.get(id(entry))
        if text is None:
            entry, text = _encoded(entry, layer)  # the same entry, as read back
        kept[place], texts[place] = entry, text
    if tuple(texts) == old.texts:
        return old
    problems = duplicate_problems(kept)
    if len(problems) > sum(problem.kind == "duplicate" for problem in old.problems):
        raise InvalidInputError(f"two entries share an id: {problems[-1].detail}")
    return EntrySet(
        tuple(kept), problems=problems, previous=old, texts=tuple(texts), changed=places
    )


def _encoded(entry: MemoryEntry, layer: str) -> tuple[MemoryEntry, bytes]:
    """An entry as reading its text gives it, and the text."""
    stored, dropped = complete_entry(entry_to_stored(entry), layer=layer)
    if stored is None or dropped:
        raise InvalidInputError(f"entry {entry.id!r} {dropped[0]}")
    text = entry_text(stored)
    raw = parse_json(text.decode())
    stored, _ = complete_entry(raw, layer=layer)
    if stored is None:
        raise InvalidInputError(f"entry {entry.id!r} does not read back")
    return MemoryEntry.from_stored(stored), text if stored is raw else entry_text(stored)


def _same_state(left: MemoryState, right: MemoryState) -> bool:
    """Equality down to the fields of messages that wsmem does not know."""
    return left == right and all(
        ours.stored == theirs.stored or not ours.stored
        for ours, theirs in zip(left.pending_messages, right.pending_messages, strict=True)
    )


def _state(state: MemoryState) -> tuple[MemoryState, bytes]:
    data = write_state(state)
    read_back, problems = read_state(data)
    if problems:
        raise InvalidInputError(f"the state cannot be stored: {problems[0].detail}")
    return read_back, data


def _extra(extra: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    if "format" in extra:
        raise InvalidInputError('"format" is the file\'s own field')
    try:
        data = write_extra(extra)
    except TypeError as error:
        raise InvalidInputError(f"only plain JSON values can be stored: {error}") from error
    return read_extra(data)[0], data


def _descriptor(change: ScopeChange, before: ScopeSnapshot) -> dict[str, Any]:
    """`scope.json` as it is to be: the same object's content unless something is missing in it."""
    held = before.descriptor
    cwd = held["cwd"] if isinstance(held.get("cwd"), str) else change.cwd
    if kind_of(change.key) == "workspace" and not cwd:
        if before.exists:  # nobody knows its directory any more: it works, but is not listed
            return dict(held)
        raise InvalidInputError(f"{change.key}: a new workspace needs its directory (`cwd`)")
    fields = {"key": change.key, "cwd": cwd} | dict(held) | change.fields | {"cwd": cwd}
    if not isinstance(fields["key"], str):
        fields["key"] = change.key
    return fields
