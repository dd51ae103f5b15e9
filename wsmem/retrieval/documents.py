"""The entries an index has analysed, by document number: a list that only grows."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.signals import clamped_importance

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Floats = npt.NDArray[np.float64]

_LENGTH, _IMPORTANCE, _CHANGED = range(3)
_SPARE = 8
"""A full table grows by one part in so many, as Python's lists do."""


class _Log(NamedTuple):
    """Room that successive versions share; each sees as much of it as there was when it was made.

    Rows are written once, before any version that sees them exists.
    """

    entries: list[MemoryEntry]
    table: Floats
    """One column a document, one row for each of length, importance and last change."""
    lock: threading.Lock


class Documents:
    """Entries by document number, and what ranking reads of each; immutable."""

    def __init__(self, log: _Log, size: int, *, spoiled: bool = False) -> None:
        self._log, self.size = log, size
        self.spoiled = spoiled
        """Whether any importance may be NaN."""
        self.lengths: Floats = log.table[_LENGTH, :size]
        """UTF-8 bytes read from each entry."""
        self.importances: Floats = log.table[_IMPORTANCE, :size]
        """Importance within 0 to 3; NaN where it is not a number."""
        self.changed: Floats = log.table[_CHANGED, :size]
        """When each entry last changed, in ms since the epoch; NaN where no date can be read."""

    @classmethod
    def none(cls) -> Documents:
        """An empty list."""
        return cls(_Log([], np.empty((3, 0)), threading.Lock()), 0)

    def entry(self, number: int) -> MemoryEntry:
        """The entry a document was made of."""
        return self._log.entries[number]

    def extended(self, entries: Sequence[MemoryEntry], lengths: npt.NDArray[np.int64]) -> Documents:
        """These documents and further ones, for the price of the further ones (amortised)."""
        log, size = self._log, self.size + len(entries)
        with log.lock:
            if len(log.entries) != self.size:  # another version grew from this one: part ways
                log = _Log(log.entries[: self.size], log.table.copy(), threading.Lock())
            if log.table.shape[1] < size:
                room = size if not self.size else size + size // _SPARE
                table = np.empty((3, room))
                table[:, : self.size] = log.table[:, : self.size]
                log = log._replace(table=table)
            log.entries.extend(entries)
            importances = [clamped_importance(entry.importance) for entry in entries]
            log.table[:, self.size : size] = (  # row by row, as they are numbered
                lengths,
                importances,
                [math.nan if (ms := changed_ms(entry)) is None else ms for entry in entries],
            )
        return Documents(log, size, spoiled=self.spoiled or any(map(math.isnan, importances)))

    def kept(self, keep: npt.NDArray[np.bool_]) -> Documents:
        """Only the documents a mask keeps, numbered anew in their order."""
        entries = [self.entry(number) for number in np.flatnonzero(keep).tolist()]
        table = np.ascontiguousarray(self._log.table[:, : self.size][:, keep])
        return Documents(_Log(entries, table, threading.Lock()), len(entries), spoiled=self.spoiled)
