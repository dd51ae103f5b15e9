"""An immutable index over entries; changes make a new one that shares what stayed."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.segment import Segment
from wsmem.retrieval.signals import LENGTH_B, SATURATION_K1, clamped_importance
from wsmem.retrieval.substring_index import SubstringIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from wsmem.records import MemoryEntry


class Index:
    """Recallable entries, ready to be ranked; entries with another status are left out.

    Entries are numbered by their place in `entries`. Each family's structures are built when a
    profile first needs them.
    """

    def __init__(self, entries: Iterable[MemoryEntry]) -> None:
        self.entries = tuple(entry for entry in entries if entry.recallable)

    @classmethod
    def build(cls, entries: Iterable[MemoryEntry]) -> Index:
        """Index entries; duplicates of an id are kept as separate entries."""
        return cls(entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Postings of the terms family."""
        return (Segment(self.entries),)

    @cached_property
    def placed_segments(self) -> tuple[tuple[int, Segment], ...]:
        """Each segment with the number of its first entry."""
        ends = accumulate((len(segment.entries) for segment in self.segments), initial=0)
        return tuple(zip(ends, self.segments, strict=False))

    @cached_property
    def length_norms(self) -> npt.NDArray[np.float64]:
        """BM25's k1 scaled by each entry's length against the average."""
        lengths = np.concatenate([segment.lengths for segment in self.segments])
        average = float(lengths.mean()) if len(lengths) else 1.0
        return SATURATION_K1 * (1.0 - LENGTH_B + LENGTH_B * (lengths / (average or 1.0)))

    @cached_property
    def substrings(self) -> SubstringIndex:
        """Postings of the substring family."""
        return SubstringIndex(self.entries)

    @cached_property
    def importances(self) -> npt.NDArray[np.float64]:
        """Importance of each entry within 0 to 3; NaN where it is not a number."""
        return np.array(
            [clamped_importance(entry.importance) for entry in self.entries], dtype=np.float64
        )

    @cached_property
    def changed(self) -> npt.NDArray[np.float64]:
        """When each entry last changed, in ms since the epoch; NaN where no date can be read."""
        return np.array(
            [np.nan if (ms := changed_ms(entry)) is None else ms for entry in self.entries],
            dtype=np.float64,
        )
