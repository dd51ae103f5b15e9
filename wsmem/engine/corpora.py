"""The entries a recall searches, and an index over them once it pays.

Recalls scan until an index pays: it is built in the background when a second recall comes, in a
small memory when many have come, and from then on it follows every change. All ways give the same
ranking.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from concurrent.futures import Executor

    from wsmem.records import Match, MemoryEntry
    from wsmem.retrieval.index import Index
    from wsmem.retrieval.profile import Profile
    from wsmem.store.entry_set import EntrySet, Version
    from wsmem.store.snapshot import ScopeSnapshot

_MAX_CORPORA = 32
"""Combinations of scopes kept; the one unused longest goes first."""
MAX_INLINE_CHANGES = 256
"""Changed entries that an index takes in at once; a larger change is indexed in the background."""
_SMALL = 500
"""Entries that a scan answers in a few milliseconds: nobody waits for their index."""
_REPAID = 16
"""Recalls after which an index has saved the processor time that building it took
(`benchmarks/scaling.md`). Most workspaces are small, and left before they have been asked so often.
"""


def patience(entries: int) -> int:
    """How many recalls of so many entries only scan; the one after them builds the index."""
    return _REPAID if entries <= _SMALL else 1


class Corpus:
    """What one recall searches.

    No dataclass: every start of `recall` makes this class, and making one takes half a millisecond.

    Args:
        entries: Global first, then workspace, then session; each in file order.
        index: Over these, once it pays.
    """

    __slots__ = ("entries", "index")

    def __init__(self, entries: tuple[MemoryEntry, ...], index: Index | None) -> None:
        self.entries, self.index = entries, index

    def conflict_groups(self) -> dict[str, list[str]]:
        """Ids of the recallable members of each conflict group."""
        return conflict_groups(self.entries)


class Corpora:
    """Keeps entries and index for each combination of scopes that is asked for.

    Args:
        background: Where indexes are built; without one every recall scans, as a process that
            answers one question should.
    """

    def __init__(self, background: Executor | None = None) -> None:
        self._background = background
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, snapshots: Sequence[ScopeSnapshot]) -> Corpus:
        """Entries of these snapshots, and their index if there is one."""
        kept, corpus, build = self._present(snapshots)
        if build and self._background is not None:
            try:
                self._background.submit(kept.build)
            except RuntimeError:  # the engine is closing: no index any more
                kept.building = False
        return corpus

    def warm(self, snapshots: Sequence[ScopeSnapshot]) -> None:
        """Build the index of these snapshots now, in this thread."""
        kept, _, _ = self._present(snapshots)
        kept.building = True
        kept.build()

    def _present(self, snapshots: Sequence[ScopeSnapshot]) -> tuple[_Kept, Corpus, bool]:
        key = tuple(snapshot.key for snapshot in snapshots)
        with self._guard:
            kept = self._kept.setdefault(key, _Kept())
            self._kept.move_to_end(key)
            if len(self._kept) > _MAX_CORPORA:
                self._kept.popitem(last=False)
            # A conversation's own layer is small: its index grows out of that of the layers below.
            below = self._kept.get(key[:-1])
        kept.begin_with(below)
        corpus, build = kept.present([snapshot.entry_set for snapshot in snapshots])
        return kept, corpus, build


class _Kept:
    """One combination of scopes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sets: tuple[EntrySet, ...] = ()
        self._entries: tuple[MemoryEntry, ...] = ()
        self._index: Index | None = None
        self._indexed = _NOTHING
        self._uses = 0
        self.building = False

    def begin_with(self, below: _Kept | None) -> None:
        """Take over the index of a smaller corpus, if there is none here yet."""
        if below is None or self._index is not None:
            return
        index, indexed = below.indexed()
        with self._lock:
            if self._index is None:
                self._index, self._indexed = index, indexed

    def indexed(self) -> tuple[Index | None, _Indexed]:
        """The index, if there is one, and what it is of."""
        with self._lock:
            return self._index, self._indexed

    def present(self, sets: Sequence[EntrySet]) -> tuple[Corpus, bool]:
        """The corpus of these entries, and whether its index should be built now."""
        with self._lock:
            if len(sets) != len(self._sets) or any(
                new is not old for new, old in zip(sets, self._sets, strict=True)
            ):
                self._sets = tuple(sets)
                self._entries = tuple(chain.from_iterable(each.entries for each in sets))
            self._uses += 1
            if self._index is not None and self._indexed.entries is not self._entries:
                self._catch_up(self._index)
            fresh = self._index if self._indexed.entries is self._entries else None
            waited = self._uses > patience(len(self._entries))
            build = fresh is None and waited and not self.building
            self.building = self.building or build
            return Corpus(self._entries, fresh), build

    def build(self) -> None:
        """Build the index of what is searched now, or bring the present one up to it."""
        with self._lock:
            entries, index, versions = self._entries, self._index, self._versions()
        try:
            from wsmem.retrieval.index import Index  # noqa: PLC0415 - NumPy, not for one query

            index = Index.build(entries) if index is None else index.updated(entries)
        finally:
            with self._lock:
                self.building = False
                if index is not None:
                    self._index, self._indexed = index, _Indexed(entries, versions)

    def _catch_up(self, index: Index) -> None:
        places = changed_places(self._indexed.versions, self._sets)
        if places is None:
            places = index.differing(self._entries)
        new = max(0, len(self._entries) - len(self._indexed.entries))
        if len(places) + new > MAX_INLINE_CHANGES:
            # So it is also when all were moved by one before them.
            known = {id(entry) for entry in self._indexed.entries}
            if sum(id(entry) not in known for entry in self._entries) > MAX_INLINE_CHANGES:
                return
        self._index = index.updated(self._entries, changed=places)
        self._indexed = _Indexed(self._entries, self._versions())

    def _versions(self) -> tuple[Version, ...]:
        return tuple(each.version for each in self._sets)


class _Indexed(NamedTuple):
    """What an index is of."""

    entries: tuple[MemoryEntry, ...]
    versions: tuple[Version, ...]
    """Of the sets they are from."""


_NOTHING = _Indexed((), ())


def changed_places(versions: Sequence[Version], sets: Sequence[EntrySet]) -> list[int] | None:
    """Places, of the entries of all sets together, that may hold another entry than before.

    The sets tell, so that nobody has to compare; `None` when one of them does not know. What is
    beyond the end of the shorter list may be left out.

    Args:
        versions: What the sets were; there may have been fewer.
        sets: What they are.
    """
    places: list[int] = []
    start, moved = 0, False
    for number, now in enumerate(sets):
        size = len(now.entries)
        if moved or number >= len(versions):
            places += range(start, start + size) if moved else ()
        else:
            changed = now.changed_since(versions[number])
            if changed is None:
                return None
            places += [start + place for place in sorted(changed)]
            moved = size != versions[number].size
            # What this set has more stands where entries of the next one stood.
            places += range(start + min(size, versions[number].size), start + size)
        start += size
    return places


def conflict_groups(entries: Iterable[MemoryEntry]) -> dict[str, list[str]]:
    """Ids of the recallable members of each conflict group, in the order of the entries."""
    groups: dict[str, list[str]] = {}
    for entry in entries:
        if entry.conflict_group_id and entry.recallable:
            groups.setdefault(entry.conflict_group_id, []).append(entry.id)
    return groups


def search(
    corpus: Corpus,
    query: str,
    limit: int,
    *,
    now: int,
    profile: Profile | None = None,
    surfaced: Collection[str] = (),
) -> list[Match]:
    """Rank the entries of a corpus, through its index if it has one; `default` is the profile."""
    profile = profile or load_profile("default")
    if corpus.index is not None:
        from wsmem.retrieval.ranking import rank  # noqa: PLC0415 - NumPy, where an index is

        return rank(corpus.index, query, profile, now=now, limit=limit, surfaced=surfaced)
    from wsmem.retrieval.scan import scan  # noqa: PLC0415 - only where there is no index

    return scan(corpus.entries, query, profile, now=now, limit=limit, surfaced=surfaced)
