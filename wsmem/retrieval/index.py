"""An immutable index over entries; a change makes a new one that shares what stayed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, count, islice
from operator import is_not
from typing import TYPE_CHECKING

import numpy as np

from wsmem.retrieval.documents import Documents
from wsmem.retrieval.places import NOWHERE, Places
from wsmem.retrieval.recent import Recent, all_sorted, taken_in
from wsmem.retrieval.segment import Segment
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1
from wsmem.retrieval.stream import TermStream
from wsmem.retrieval.substring_index import SubstringIndex
from wsmem.retrieval.trimming import give_back
from wsmem.retrieval.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Flags = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int32]

_BATCH = 2_000
"""Entries analysed and sorted at once."""
_FEW = 4
"""Entries that are taken in one by one, without sorting."""
_BLOCK = 1_024
"""Entries that are compared at once; only a block that differs is gone through one by one."""
_MANY = 500
"""Entries whose analysis leaves enough freed memory behind to give it back."""
_WASTE_FLOOR = 64
"""Fewer documents of entries that are gone are not worth a purge."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Index:
    """Recallable entries, ready to be ranked; entries with another status are left out.

    A *document* is an entry as it was when it was analysed. One that is replaced or removed stays
    as a dead document until half of them are dead: then all are numbered anew. An index just built
    numbers its recallable entries from 0 in the order given.
    """

    given: tuple[MemoryEntry, ...]
    """The list this is the index of, whatever the status of its entries."""
    places: Places
    """Document of each entry in `given`, `NOWHERE` for one that is not recallable."""
    documents: Documents
    alive: Flags
    """Which documents stand for an entry."""
    size: int
    """How many do."""
    total_length: int
    """Summed length of those, UTF-8 bytes."""
    vocabulary: Vocabulary
    segments: tuple[Segment | Recent, ...]
    """Postings of all documents, in their order."""

    @classmethod
    def build(cls, entries: Iterable[MemoryEntry]) -> Index:
        """Index entries; several with one id are kept as separate entries."""
        return cls(
            given=(),
            places=Places(),
            documents=Documents.none(),
            alive=np.empty(0, dtype=bool),
            size=0,
            total_length=0,
            vocabulary=Vocabulary(),
            segments=(),
        ).updated(entries)

    def __len__(self) -> int:
        return self.size

    @cached_property
    def entries(self) -> tuple[MemoryEntry, ...]:
        """The recallable entries, in the order given."""
        return tuple(map(self.entry, self.in_order.tolist()))

    @cached_property
    def in_order(self) -> Ints:
        """The living documents in the order of their entries."""
        places = self.places.all()
        return places[places >= 0]

    def entry(self, document: int) -> MemoryEntry:
        """The entry a document, as `candidates` numbers them, stands for."""
        return self.documents.entry(document)

    @property
    def average_length(self) -> float:
        """UTF-8 bytes read from an entry, on average; 1 where there is nothing."""
        return self.total_length / self.size if self.total_length else 1.0

    @cached_property
    def length_norms(self) -> Floats:
        """What the length of each document adds to a count below the line: k1 (1 - b + b l / m)."""
        norms = self.documents.lengths * (SATURATION_K1 * LENGTH_B / self.average_length)
        norms += SATURATION_K1 * (1.0 - LENGTH_B)
        return norms

    @cached_property
    def worth_of_one(self) -> Floats:
        """What one occurrence of a term is worth in each document, damped by its length."""
        return 1.0 / (1.0 + self.length_norms)

    @cached_property
    def substrings(self) -> SubstringIndex:
        """The substring family, over `entries`: made when a profile first needs it."""
        return SubstringIndex(self.entries)

    def updated(
        self, entries: Iterable[MemoryEntry], *, changed: Iterable[int] | None = None
    ) -> Index:
        """The index of another list, made by reading only what is new or different.

        An entry counts as unchanged if it is the same object, or equal to one with its id.

        Args:
            entries: The whole list; given as a tuple it is kept without a copy.
            changed: Places of `entries` that may hold another object than `given` has there, when
                the caller knows them; what is beyond the end of either list need not be named.
                Finding them takes a look at every entry, see `differing`.
        """
        given = tuple(entries)
        shared = min(len(given), len(self.given))
        named = self.differing(given) if changed is None else changed
        differing = sorted({place for place in named if place < shared})
        if not differing and len(given) == len(self.given):
            return self
        wanted = [*differing, *range(shared, len(given))]
        left = [*differing, *range(shared, len(self.given))]
        documents = self.places.of(left)
        found = self._known(given, wanted, left, documents)
        kept = {NOWHERE, *found}
        gone = [document for document in documents if document not in kept]
        fresh: list[MemoryEntry] = []
        for at, place in enumerate(wanted):
            if found[at] < 0 and given[place].recallable:
                found[at] = self.documents.size + len(fresh)
                fresh.append(given[place])
        places = self.places.changed(len(given), wanted, found)
        return self._changed(given, places, gone, fresh)

    def differing(self, entries: tuple[MemoryEntry, ...]) -> list[int]:
        """Places of another list that do not hold what `given` has there, or are beyond its end."""
        found: list[int] = []
        shared = min(len(entries), len(self.given))
        if entries is self.given:
            return found
        for start in range(0, shared, _BLOCK):
            old, new = (each[start : start + _BLOCK] for each in (self.given, entries))
            if old == new:  # quick where all are the same objects
                continue
            found += [
                place
                for place in compress(count(start), map(is_not, old, new))
                if self.given[place] != entries[place]
            ]
        return [*found, *range(shared, len(entries))]

    def _known(
        self,
        given: Sequence[MemoryEntry],
        wanted: Sequence[int],
        left: Sequence[int],
        documents: Sequence[int],
    ) -> list[int]:
        """Documents that stand for the wanted entries already, -1 for the others.

        Args:
            given: The new list.
            wanted: Its places that may hold another entry.
            left: Places of the present list where entries may be that stand elsewhere now.
            documents: Their documents; each is given once.
        """
        free: dict[int | str, int] = {}
        for place, document in zip(left, documents, strict=True):
            if document >= 0:
                entry = self.given[place]
                free[id(entry)] = free[entry.id] = document
        taken: set[int] = {NOWHERE}
        found = []
        for place in wanted:
            entry = given[place]
            document = free.get(id(entry), NOWHERE)
            if document in taken:
                document = free.get(entry.id, NOWHERE)
                if document not in taken and self.entry(document) != entry:
                    document = NOWHERE
            found.append(NOWHERE if document in taken else document)
            taken.add(document)
        return found

    def _changed(
        self,
        given: tuple[MemoryEntry, ...],
        places: Places,
        gone: list[int],
        fresh: list[MemoryEntry],
    ) -> Index:
        """The index of `given`, less some documents and with further ones."""
        documents, segments = self.documents, self.segments
        total_length = self.total_length
        total_length -= sum(int(documents.lengths[document]) for document in gone)
        # What sorting needs is several times what comes of it, and much of that is never given
        # back to the system: a large list is taken in batches.
        for batch in _batches(fresh, _BATCH if len(fresh) > _FEW else 1):
            stream = TermStream.read(batch, self.vocabulary, letters=True)
            segments = taken_in(segments, stream, first=documents.size)
            documents = documents.extended(batch, stream.lengths)
            total_length += sum(stream.lengths.tolist())
        changed = Index(
            given=given,
            places=places,
            documents=documents,
            alive=_outlived(self.alive, gone, documents.size),
            size=self.size + len(fresh) - len(gone),
            total_length=total_length,
            vocabulary=self.vocabulary,
            segments=segments,
        )
        if documents.size - changed.size > max(_WASTE_FLOOR, changed.size):
            changed = changed.purged()
        if len(fresh) > _MANY:
            del documents, segments  # only then is their memory free
            give_back()
        return changed

    def purged(self) -> Index:
        """The same index without its dead documents and the terms only they held."""
        numbers = np.append(np.cumsum(self.alive, dtype=np.int32) - np.int32(1), np.int32(NOWHERE))
        segment, occurring = Segment.merged(all_sorted(self.segments)).kept(self.alive)
        with self.vocabulary.lock:
            terms = list(self.vocabulary.numbers)
        return replace(
            self,
            places=Places.holding(numbers[self.places.all()]),
            documents=self.documents.kept(self.alive),
            alive=np.ones(self.size, dtype=bool),
            vocabulary=Vocabulary(terms[number] for number in occurring.tolist()),
            segments=(segment,) if self.size else (),
        )


def _batches(entries: Iterable[MemoryEntry], size: int) -> Iterator[tuple[MemoryEntry, ...]]:
    rest = iter(entries)
    while batch := tuple(islice(rest, size)):
        yield batch


def _outlived(alive: Flags, gone: list[int], size: int) -> Flags:
    """Which of so many documents stand for an entry, when some of those that did are gone."""
    flags = np.empty(size, dtype=bool)
    flags[: len(alive)] = alive
    flags[len(alive) :] = True
    if gone:
        flags[gone] = False
    return flags
