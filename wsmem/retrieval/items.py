"""Terms of documents as numbers that sort by term, then by place: what a segment is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from wsmem.retrieval.stream import TermStream

    Ints = npt.NDArray[np.int32]
    Keys = npt.NDArray[np.int64]

FIELDS = 7
BESIDE = 8
"""Set where a term is filed beside the stream, at the barrier that ends its document."""
PLACE_SHIFT, TERM_SHIFT = 4, 32
PLACES = (1 << (TERM_SHIFT - PLACE_SHIFT)) - 1
"""The last place that can be told: documents sorted at once hold fewer terms."""


class Items(NamedTuple):
    """Every term of some documents, and the barriers between their fields."""

    keys: Keys
    """`term << 32 | place in the stream << 4 | beside << 3 | fields`, in any order; those of
    barriers are less than 0."""
    stream: Ints
    """Numbers of terms in reading order, and barriers; the last item is one."""
    ends: Ints
    """Where the items of each document end in the stream."""

    @classmethod
    def of(cls, stream: TermStream) -> Items:
        """The items of analysed texts, those beside the stream included."""
        size, extras = len(stream.terms), stream.extras
        keys = np.empty(size + len(extras), dtype=np.int64)
        inside, beside = keys[:size], keys[size:]
        inside[:] = stream.terms
        inside <<= TERM_SHIFT - PLACE_SHIFT
        inside |= np.arange(size)
        inside <<= PLACE_SHIFT
        inside |= stream.fields
        if len(extras):
            terms, documents, fields = extras.T
            beside[:] = terms
            beside <<= TERM_SHIFT - PLACE_SHIFT
            beside |= stream.ends[documents]
            beside -= 1
            beside <<= PLACE_SHIFT
            beside |= fields
            beside |= BESIDE
        return cls(keys, stream.terms, stream.ends)

    @classmethod
    def joined(cls, parts: Sequence[Items]) -> Items:
        """The items of documents that follow each other."""
        keys, ends, offset = [], [], 0
        for part in parts:
            keys.append(part.keys + (offset << PLACE_SHIFT))
            ends.append(part.ends + np.int32(offset))
            offset += len(part.stream)
        streams = [part.stream for part in parts]
        return cls(np.concatenate(keys), np.concatenate(streams), np.concatenate(ends))

    def sorted(self) -> Keys:
        """The keys of terms, ascending."""
        keys = np.sort(self.keys)
        return keys[keys.searchsorted(0) :]

    @property
    def documents(self) -> Ints:
        """Which document each item of the stream is of, from 0 on."""
        sizes = self.ends.copy()
        sizes[1:] -= self.ends[:-1]
        return np.arange(len(sizes), dtype=np.int32).repeat(sizes)
