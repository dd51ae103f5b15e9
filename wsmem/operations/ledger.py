"""One list of entries while operations change it: look-ups by id and by likeness, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wsmem.operations.similarity import NearDuplicates, content_tokens, dice, is_near
from wsmem.text.normalize import normalize_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import MemoryEntry


class Heads(NamedTuple):
    """Where the chain of successors of an entry ends."""

    entries: tuple[MemoryEntry, ...]
    """The last entries: one, several when the chain forks, none when it runs in a ring."""
    broken: bool
    """A successor is missing."""


class Ledger:
    """Entries of one layer, in file order.

    Args:
        entries: The list before any operation; it is not changed.
        duplicates: An index of exactly these entries, when the caller keeps one.
    """

    def __init__(
        self, entries: Sequence[MemoryEntry], *, duplicates: NearDuplicates | None = None
    ) -> None:
        self._before = tuple(entries)
        self._entries = list(entries)
        # From the end: of several with one id the first is meant.
        backwards = range(len(self._before) - 1, -1, -1)
        self._places = {self._before[place].id: place for place in backwards}
        self._duplicates = duplicates
        self._touched: dict[str, frozenset[str]] = {}

    @property
    def entries(self) -> tuple[MemoryEntry, ...]:
        """The list as it is now; unchanged entries are the same objects as before."""
        return tuple(self._entries)

    @property
    def changed(self) -> bool:
        """Whether anything differs from the list before."""
        return bool(self._touched)

    def get(self, entry_id: str | None) -> MemoryEntry | None:
        """The entry with this id, of any status."""
        place = self._places.get(entry_id or "")
        return None if place is None else self._entries[place]

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._places

    def append(self, entry: MemoryEntry) -> None:
        """Add a new entry at the end."""
        self._places[entry.id] = len(self._entries)
        self._entries.append(entry)
        self._touched[entry.id] = content_tokens(entry.content)

    def replace(self, entry: MemoryEntry) -> None:
        """Put a changed entry in the place of the one with its id."""
        self._entries[self._places[entry.id]] = entry
        self._touched[entry.id] = content_tokens(entry.content)

    def heads(self, entry: MemoryEntry) -> Heads:
        """Follow `superseded_by` from an entry to where it ends; an entry without is its own."""
        found: dict[str, MemoryEntry] = {}
        seen: set[str] = set()
        waiting = [entry]
        broken = False
        while waiting:
            at = waiting.pop()
            if at.id in seen:
                continue
            seen.add(at.id)
            if at.status != "superseded":
                found[at.id] = at
                continue
            successors = [self.get(successor) for successor in at.superseded_by]
            broken = broken or not successors or None in successors
            waiting.extend(successor for successor in reversed(successors) if successor is not None)
        return Heads(tuple(found.values()), broken)

    def group(self, group_id: str) -> list[MemoryEntry]:
        """Recallable members of a conflict group."""
        return [
            entry
            for entry in self._entries
            if entry.conflict_group_id == group_id and entry.recallable
        ]

    def near(self, content: str) -> list[tuple[MemoryEntry, float]]:
        """Recallable entries that nearly say `content`, nearest first, then in file order."""
        tokens = content_tokens(content)
        if self._duplicates is None:
            self._duplicates = NearDuplicates(self._before)
        found = [
            (entry, likeness)
            for entry, likeness in self._duplicates.near(tokens)
            if entry.id not in self._touched
        ]
        for entry_id, others in self._touched.items():
            entry = self._entries[self._places[entry_id]]
            if entry.recallable and is_near(tokens, others):
                found.append((entry, dice(tokens, others)))
        return sorted(found, key=lambda pair: (-pair[1], self._places[pair[0].id]))

    def same(self, content: str) -> MemoryEntry | None:
        """The first recallable entry that says exactly `content`, spelling aside."""
        wanted = normalize_text(content)
        return next(
            (entry for entry, _ in self.near(content) if normalize_text(entry.content) == wanted),
            None,
        )
