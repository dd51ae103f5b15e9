"""An immutable index over entries; a change makes a new one that shares what stayed."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.segment import Segment
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1
from wsmem.retrieval.substring_index import SubstringIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

_GONE = -1
_GROWTH = 2
"""A segment is merged into the one before once it has half its entries, so that their number stays
logarithmic and each entry is merged a logarithmic number of times."""


class PlacedSegment(NamedTuple):
    """A segment and where its documents stand in the index."""

    segment: Segment
    places: Places
    """Place in `Index.entries` of each document, -1 for one that was replaced or removed."""
    whole: bool
    """Whether none is gone."""


class Index:
    """Recallable entries, ready to be ranked; entries with another status are left out.

    Entries are numbered by their place in `entries`. The substring family is indexed when a profile
    first needs it, and anew after every change.
    """

    def __init__(self, entries: Sequence[MemoryEntry], placed: Sequence[PlacedSegment]) -> None:
        self.entries = tuple(entries)
        self.placed = tuple(placed)

    @classmethod
    def build(cls, entries: Iterable[MemoryEntry]) -> Index:
        """Index entries; several with one id are kept as separate entries."""
        kept = _recallable(entries)
        return cls(kept, _placed([Segment.of(kept)], np.arange(len(kept))))

    def __len__(self) -> int:
        return len(self.entries)

    def updated(self, entries: Iterable[MemoryEntry]) -> Index:
        """The index `build(entries)` gives, made by reading only what is new or different.

        An entry counts as unchanged if it is the same object, or equal to one with its id.
        """
        kept = _recallable(entries)
        known = self._documents_of_unchanged(kept)
        fresh = [place for place, document in enumerate(known) if document == _GONE]
        if not fresh and len(kept) == len(self.entries) and kept == self.entries:
            return self
        segments = [part.segment for part in self.placed]
        places = np.full(sum(len(segment.entries) for segment in segments), _GONE, dtype=np.int64)
        old = np.array(known, dtype=np.int64)
        places[old[old != _GONE]] = np.flatnonzero(old != _GONE)
        if fresh:
            segments.append(Segment.of([kept[place] for place in fresh]))
            places = np.concatenate([places, np.array(fresh, dtype=np.int64)])
        return type(self)(kept, _compacted(_placed(segments, places)))

    def _documents_of_unchanged(self, entries: Sequence[MemoryEntry]) -> list[int]:
        """The document that holds each entry already, -1 where none does; each is given once."""
        documents = self._documents
        by_object = {id(entry): at for at, entry in enumerate(self.entries)}
        by_id = {entry.id: at for at, entry in enumerate(self.entries)}
        taken: set[int] = set()
        found = []
        for entry in entries:
            at = by_object.get(id(entry))
            if at is None:
                at = by_id.get(entry.id)
                if at is not None and self.entries[at] != entry:
                    at = None
            if at is None or at in taken:
                found.append(_GONE)
            else:
                taken.add(at)
                found.append(documents[at])
        return found

    @cached_property
    def _documents(self) -> list[int]:
        """Number of the document at each place, counted over all segments."""
        places = np.concatenate([part.places for part in self.placed])
        documents = np.empty(len(self.entries), dtype=np.int64)
        documents[places[places != _GONE]] = np.flatnonzero(places != _GONE)
        found: list[int] = documents.tolist()
        return found

    def column(self, name: str) -> Floats:
        """A column of the segments (`lengths`, `importances`, `changed`), by place in `entries`."""
        values = np.empty(len(self.entries))
        for part in self.placed:
            kept = part.places != _GONE
            values[part.places[kept]] = getattr(part.segment, name)[kept]
        return values

    @cached_property
    def importances(self) -> Floats:
        """Importance of each entry within 0 to 3; NaN where it is not a number."""
        return self.column("importances")

    @cached_property
    def changed(self) -> Floats:
        """When each entry last changed, in ms since the epoch; NaN where no date can be read."""
        return self.column("changed")

    @cached_property
    def length_norms(self) -> Floats:
        """BM25's k1 scaled by each entry's length against the average."""
        lengths = self.column("lengths")
        average = float(lengths.mean()) if len(lengths) else 1.0
        return SATURATION_K1 * (1.0 - LENGTH_B + LENGTH_B * (lengths / (average or 1.0)))

    @cached_property
    def substrings(self) -> SubstringIndex:
        """Postings of the substring family."""
        return SubstringIndex(self.entries)


def _recallable(entries: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    return tuple(entry for entry in entries if entry.recallable)


def _placed(segments: Sequence[Segment], places: Places) -> list[PlacedSegment]:
    """Deal the places of all documents out to their segments."""
    ends = list(accumulate(len(segment.entries) for segment in segments))
    dealt = np.split(places, ends[:-1])
    return [
        PlacedSegment(segment, part, bool((part != _GONE).all()))
        for segment, part in zip(segments, dealt, strict=True)
    ]


def _compacted(placed: list[PlacedSegment]) -> list[PlacedSegment]:
    """Merge segments that are small beside their last, or half gone; the order is kept."""
    parts = [part for part in placed if (part.places != _GONE).any()] or placed[:1]
    while len(parts) > 1 and _live(parts[-2]) <= _GROWTH * _live(parts[-1]):
        parts[-2:] = [_merged(parts[-2:])]
    if not parts[0].whole and _live(parts[0]) * _GROWTH < len(parts[0].places):
        parts[0] = _merged(parts[:1])
    return parts


def _live(part: PlacedSegment) -> int:
    return int((part.places != _GONE).sum())


def _merged(parts: Sequence[PlacedSegment]) -> PlacedSegment:
    keeps = [part.places != _GONE for part in parts]
    segment = Segment.merged(
        [(part.segment, keep) for part, keep in zip(parts, keeps, strict=True)]
    )
    places = np.concatenate([part.places[keep] for part, keep in zip(parts, keeps, strict=True)])
    return PlacedSegment(segment, places, whole=True)
