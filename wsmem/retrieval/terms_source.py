"""What the signals of the terms family are computed from, whoever keeps it.

The scan finds it in the texts at the moment of asking, a postings file holds it. Both give the same
numbers, so a signal is written once, in `wsmem.retrieval.terms_scan`. Entries are numbered from 0;
only recallable ones are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet

Held = dict[int, tuple[int, int]]
"""By entry: how often it holds a term, and the bits of the fields where."""


class TermSource(Protocol):
    """Raw statistics of the entries that are searched, for the terms of one query."""

    @property
    def size(self) -> int:
        """How many entries are searched."""

    @property
    def total_length(self) -> int:
        """UTF-8 bytes of all of them."""

    @property
    def shortest(self) -> int:
        """UTF-8 bytes of the shortest."""

    def frequency(self, term: str) -> int:
        """How many entries hold a term."""

    def documents(self, term: str) -> Collection[int]:
        """Those entries, each once."""

    def held(self, term: str, among: AbstractSet[int] | None) -> Held:
        """Counts and fields of a term in the entries of `among` that hold it; `None`: in all.

        More than was asked for may be given.
        """

    def lengths(self, among: AbstractSet[int]) -> Mapping[int, int] | Sequence[int]:
        """UTF-8 bytes read from each of these entries, by number; more may be given."""

    def neighbours(
        self, pairs: Sequence[tuple[str, str]], among: AbstractSet[int]
    ) -> Sequence[Collection[int]]:
        """For each pair of terms, the entries of `among` where they stand together, in order."""
