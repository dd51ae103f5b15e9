"""One version of a scope's entries, what was derived from it, and what changed before it."""

from __future__ import annotations

import threading
from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from wsmem.store.codec import entry_text
from wsmem.store.parts import marks_of_texts, texts_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.store.codec import Problem
    from wsmem.store.parts import Marks

T = TypeVar("T")

_MOST_STEPS = 8
"""Versions back to which a set of entries knows what changed."""
_MOST_CHANGED = 256
"""A larger change is not kept: whoever follows it has more to do than to compare."""


class Prior(NamedTuple, Generic[T]):
    """What was derived from an earlier version of the entries, and those entries."""

    entries: tuple[MemoryEntry, ...]
    value: T


class Version(NamedTuple):
    """Which entries a set holds, told without holding them."""

    token: object
    size: int


class _Step(NamedTuple):
    """From one version to the next."""

    before: Version
    changed: tuple[int, ...]


class EntrySet:
    """The entries of one version of `memory_entries.json`, and whatever is derived from them.

    Shared by all snapshots that hold this version: a change to the state or the summary does not
    invalidate an index.
    """

    def __init__(
        self,
        entries: tuple[MemoryEntry, ...],
        *,
        problems: tuple[Problem, ...] = (),
        previous: EntrySet | None = None,
        texts: tuple[bytes, ...] | None = None,
        marks: Marks[int] | None = None,
        parsed: int = 0,
        changed: Sequence[int] | None = None,
    ) -> None:
        """Hold entries that follow `previous`.

        Args:
            entries: in file order.
            problems: what could not be read.
            previous: the version before.
            texts: the JSON texts of the entries, if known already.
            marks: by which their parts of the file are recognised (`parts`), if they have any.
            parsed: how many records were parsed for it.
            changed: places, of those in both versions, where `previous` may hold another object;
                `None` when nobody looked.
        """
        self.entries = entries
        self.version = Version(object(), len(entries))
        self._steps: tuple[_Step, ...] = ()
        if previous is not None and changed is not None and len(changed) <= _MOST_CHANGED:
            self._steps = previous.steps_and(changed)
        self.problems = problems
        self.parsed = parsed
        self._marks = marks
        self._texts = texts
        # Entries with marks find their texts in the file; keeping those would double the memory.
        found_anyway = texts is not None or marks is not None
        self._texts_before = previous.known_texts() if previous and not found_anyway else {}
        self._by_id: dict[str, MemoryEntry] | None = None
        self._derived: dict[str, Any] = {}
        self._priors: dict[str, Prior[Any]] = previous.hand_over() if previous else {}
        self._lock = threading.RLock()

    @property
    def by_id(self) -> Mapping[str, MemoryEntry]:
        """Entries by id; the first of those that share one."""
        if self._by_id is None:
            self._by_id = {entry.id: entry for entry in reversed(self.entries)}
        return self._by_id

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The JSON text of each entry, made once: rewriting the file is a join."""
        if self._texts is None:
            known, self._texts_before = self._texts_before, {}
            self._texts = tuple(
                known.get(id(entry)) or entry_text(entry.stored) for entry in self.entries
            )
        return self._texts

    @property
    def has_texts(self) -> bool:
        """Whether the texts are there without being made."""
        return self._texts is not None

    def take_texts(self, data: bytes) -> None:
        """Take the texts from the file these entries were read from, if it shows its records."""
        if self._texts is None and self._marks is not None:
            self._texts = texts_of_file(data, self._marks)

    def by_mark(self) -> dict[int, MemoryEntry]:
        """The entries by the marks of their parts; empty when they have none."""
        if self._marks is None and self._texts is not None:
            self._marks = marks_of_texts(self._texts)
        return {} if self._marks is None else dict(zip(self._marks, self.entries, strict=True))

    def known_texts(self) -> dict[int, bytes]:
        """The texts made so far, by identity of the entry; none while nobody needed any."""
        if self._texts is None:
            return {}
        return {id(entry): text for entry, text in zip(self.entries, self._texts, strict=True)}

    def derive(
        self, name: str, build: Callable[[tuple[MemoryEntry, ...], Prior[T] | None], T]
    ) -> T:
        """`build(entries, prior)`, computed once per name and kept as long as this object.

        `prior` is the last value this process derived under that name from an earlier version, to
        be updated instead of built anew; entries that did not change are the same objects in both.
        It must not be altered in place: another thread may still be reading it.
        """
        with self._lock:
            if name not in self._derived:
                self._derived[name] = build(self.entries, self._priors.get(name))
                self._priors.pop(name, None)
            return cast("T", self._derived[name])

    def changed_since(self, version: Version) -> set[int] | None:
        """Places, of those in both, where that version may hold another object.

        `None` when this is not known: the versions are too far apart, or no kin.
        """
        changed: set[int] = set()
        if version is self.version:
            return changed
        size = len(self.entries)
        for before, places in reversed(self._steps):
            changed.update(places, range(before.size, size))
            size = before.size
            if before is version:
                shared = min(version.size, len(self.entries))
                return {place for place in changed if place < shared}
        return None

    def steps_and(self, changed: Sequence[int]) -> tuple[_Step, ...]:
        """The latest steps to this version, and one from here."""
        return (*self._steps[1 - _MOST_STEPS :], _Step(self.version, tuple(changed)))

    def hand_over(self) -> dict[str, Prior[Any]]:
        """The latest derived values, for the version that follows."""
        with self._lock:
            priors = self._priors
            self._priors = {}
            for name, value in self._derived.items():
                priors[name] = Prior(self.entries, value)
            return priors


def places_differing(old: Sequence[MemoryEntry], new: Sequence[MemoryEntry]) -> list[int]:
    """Places, of those in both, that hold different objects."""
    return list(compress(count(), map(is_not, new, old)))
