"""Which document stands for each entry of a list: blocks that successive versions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]

NOWHERE = -1
"""Instead of a document, where an entry has none."""
_BLOCK = 1_024
"""Places of a block: a change copies the blocks it is in, and the list of all."""


class Places:
    """A document for each place; immutable."""

    def __init__(self, blocks: Sequence[Ints] = (), size: int = 0) -> None:
        self._blocks, self._size = blocks, size

    @classmethod
    def holding(cls, documents: Ints) -> Places:
        """The documents of places from 0 on."""
        blocks = np.full((-(-len(documents) // _BLOCK), _BLOCK), NOWHERE, dtype=np.int32)
        blocks.reshape(-1)[: len(documents)] = documents
        return cls(list(blocks), len(documents))

    def of(self, places: Sequence[int]) -> list[int]:
        """The documents at some places."""
        blocks = self._blocks
        return [int(blocks[place // _BLOCK][place % _BLOCK]) for place in places]

    def all(self) -> Ints:
        """The documents at all places."""
        return np.concatenate([*self._blocks, _NONE])[: self._size]

    def changed(self, size: int, places: Iterable[int], documents: Iterable[int]) -> Places:
        """So many places, with other documents at some of them.

        Args:
            size: How many there are now.
            places: Those to change; what lies beyond the present ones is among them.
            documents: One a place.
        """
        blocks = list(self._blocks[: -(-size // _BLOCK)])
        own: set[int] = set()
        for place, document in zip(places, documents, strict=True):
            number, at = divmod(place, _BLOCK)
            if number not in own:
                own.add(number)
                if number == len(blocks):
                    blocks.append(np.empty(_BLOCK, dtype=np.int32))
                else:
                    blocks[number] = blocks[number].copy()
            blocks[number][at] = document
        return Places(blocks, size)


_NONE: Ints = np.empty(0, dtype=np.int32)
