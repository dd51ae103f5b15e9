"""Statistics of terms out of a postings file: what a recall counts with when texts are not read."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.retrieval.persisted.layout import encoded, term_bucket
from wsmem.text.analysis import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from wsmem.retrieval.persisted.layout import Pages
    from wsmem.retrieval.terms_source import Held

_LOOK_UP = 24
"""An entry is looked up among so many postings and more; among fewer, all are gone through."""
_SEVERAL = 40
"""Items of a column that are read one by one; whoever wants more gets the whole at once."""


class Location(NamedTuple):
    """Where the JSON of an entry stands, and its CRC-32."""

    start: int
    size: int
    check: int


class Postings:
    """A `TermSource` over one file; entries have the numbers they have in it.

    Any method may find a part of the file damaged.

    Raises:
        PostingsUnusable: it is.
    """

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.size: int = pages.head["entries"]
        self.total_length: int = pages.head["length"]
        self.shortest: int = pages.head["shortest"]
        self._buckets = pages.count("buckets") - 1
        self._columns: dict[str, memoryview[Any]] = {}
        self._asked: dict[str, int] = {}
        self._rows: dict[str, _Rows | None] = {}
        self._letters: dict[str, _Rows | None] = {}

    def frequency(self, term: str) -> int:
        """How many entries hold a term."""
        rows = self._of(term)
        return 0 if rows is None else rows.last - rows.first

    def documents(self, term: str) -> Collection[int]:
        """Those entries."""
        rows = self._of(term)
        return () if rows is None else rows.documents

    def held(self, term: str, among: AbstractSet[int] | None) -> Held:
        """Counts and fields of a term in the entries of `among` that hold it.

        A lone letter is held wherever a pair holds it, once and in no particular field.
        """
        rows = self._of(term)
        if rows is None:
            return {}
        if _is_letter(term):
            return dict.fromkeys(rows.documents if among is None else rows.within(among), (1, 0))
        counts, fields = rows.counts, rows.fields
        if among is None:
            return dict(zip(rows.documents, zip(counts, fields, strict=True), strict=True))
        return {at: (counts[row], fields[row]) for at, row in rows.within(among).items()}

    def lengths(self, among: AbstractSet[int]) -> Sequence[int]:
        """UTF-8 bytes of all entries."""
        del among
        lengths: Sequence[int] = self._column("lengths")
        return lengths

    def neighbours(
        self, pairs: Sequence[tuple[str, str]], among: AbstractSet[int]
    ) -> list[list[int]]:
        """For each pair, the entries of `among` where its terms stand together."""
        found: list[list[int]] = []
        for first, second in pairs:
            a, b = self._standing(first), self._standing(second)
            found.append([] if a is None or b is None else _together(a, b, among))
        return found

    # The columns

    def importance(self, entry: int) -> float:
        """As it is stored; NaN when it is not a number."""
        importance: float = self._item("importances", entry)
        return importance

    def changed(self, entry: int) -> float | None:
        """When the entry last changed (ms since the epoch)."""
        changed: float = self._item("changed", entry)
        return None if changed != changed else changed  # noqa: PLR0124 - NaN

    def entry_id(self, entry: int) -> str:
        """The entry's id."""
        return self._text("id", entry)

    def date(self, entry: int) -> str:
        """The date of its last change as text, empty when there is none."""
        return self._text("date", entry)

    def entries_with(self, entry_id: str) -> list[int]:
        """The entries with this id: one, or more in a store written by hand."""
        wanted, ids = encoded(entry_id), bytes(self.pages.items("ids"))
        starts = self._column("id_starts")
        found = []
        at = ids.find(wanted)
        while at >= 0:
            entry = bisect_left(starts, at)
            if entry < self.size and starts[entry] == at and self.entry_id(entry) == entry_id:
                found.append(entry)
            at = ids.find(wanted, at + 1)
        return found

    def location(self, entry: int) -> Location:
        """Where the JSON of an entry stands in the file the postings were made of."""
        names = ("record_starts", "record_sizes", "record_checks")
        return Location(*(self._item(name, entry) for name in names))

    def groups(self) -> Mapping[str, Sequence[str]]:
        """Ids of the members of each conflict group, in the order of the store."""
        groups: dict[str, list[str]] = json.loads(bytes(self.pages.items("groups")))
        return groups

    def _column(self, name: str) -> memoryview[Any]:
        """All items of a section."""
        if name not in self._columns:
            self._columns[name] = self.pages.items(name)
        return self._columns[name]

    def _item(self, name: str, at: int) -> Any:
        """One item of a section, which is read whole once several were asked for."""
        column = self._columns.get(name)
        if column is not None:
            return column[at]
        self._asked[name] = asked = self._asked.get(name, 0) + 1
        return self._column(name)[at] if asked > _SEVERAL else self.pages.items(name, at, at + 1)[0]

    def _text(self, name: str, entry: int) -> str:
        starts = f"{name}_starts"
        start, end = self._item(starts, entry), self._item(starts, entry + 1)
        return bytes(self.pages.items(f"{name}s", start, end)).decode("utf-8", "surrogatepass")

    # Terms

    def _of(self, term: str) -> _Rows | None:
        """The entries that hold a term, `None` when nothing does."""
        if not _is_letter(term):
            return self._standing(term)
        if term not in self._letters:
            self._letters[term] = self._holding_letter(term)
        return self._letters[term]

    def _standing(self, term: str) -> _Rows | None:
        """The entries where it stands as a term of its own: a letter may stand in pairs alone."""
        if term not in self._rows:
            number = self._number(encoded(term))
            self._rows[term] = None if number is None else _Rows.of(self.pages, number)
        return self._rows[term]

    def _holding_letter(self, letter: str) -> _Rows | None:
        letters = self._column("letters")
        at = bisect_left(letters, ord(letter))
        if at == len(letters) or letters[at] != ord(letter):
            return None
        first, last = self.pages.items("letter_starts", at, at + 2)
        return _Rows(self.pages, "letter_documents", (first, last), (0, 0))

    def _number(self, term: bytes) -> int | None:
        pages, bucket = self.pages, term_bucket(term, self._buckets)
        first, last = pages.items("buckets", bucket, bucket + 2)
        if first == last:
            return None
        starts = pages.items("text_starts", first, last + 1)
        texts = bytes(pages.items("texts", starts[0], starts[-1]))
        for at in range(last - first):
            if texts[starts[at] - starts[0] : starts[at + 1] - starts[0]] == term:
                return int(first) + at
        return None


class _Rows:
    """The postings of one term; those of a letter say no more than which entries hold it."""

    def __init__(
        self, pages: Pages, section: str, rows: tuple[int, int], places: tuple[int, int]
    ) -> None:
        self._pages, self._section = pages, section
        self.first, self.last = rows
        self._places = places
        self._among: tuple[AbstractSet[int], dict[int, int]] | None = None

    @classmethod
    def of(cls, pages: Pages, number: int) -> _Rows:
        first, last = pages.items("starts", number, number + 2)
        begin, end = pages.items("place_starts", number, number + 2)
        return cls(pages, "documents", (first, last), (begin, end))

    @cached_property
    def documents(self) -> memoryview[int]:
        return self._pages.items(self._section, self.first, self.last)

    @cached_property
    def counts(self) -> memoryview[int]:
        return self._pages.items("counts", self.first, self.last)

    @cached_property
    def fields(self) -> memoryview[int]:
        return self._pages.items("fields", self.first, self.last)

    @cached_property
    def _starts(self) -> list[int]:
        """The first place of each posting, and the end."""
        return list(accumulate(self.counts, initial=0))

    @cached_property
    def places(self) -> memoryview[int]:
        return self._pages.items("places", *self._places)

    def places_of(self, row: int) -> memoryview[int]:
        """Where the term stands in the entry of a posting."""
        return self.places[self._starts[row] : self._starts[row + 1]]

    def within(self, among: AbstractSet[int]) -> dict[int, int]:
        """The postings of these entries, by entry; the last answer is kept."""
        if self._among is not None and self._among[0] is among:
            return self._among[1]
        documents = self.documents
        if len(among) * _LOOK_UP < len(documents):
            found = {
                at: row
                for at in among
                if (row := bisect_left(documents, at)) < len(documents) and documents[row] == at
            }
        else:
            found = {at: row for row, at in enumerate(documents) if at in among}
        self._among = among, found
        return found


def _together(a: _Rows, b: _Rows, among: AbstractSet[int]) -> list[int]:
    """Entries where some place of `b` is the one after a place of `a`."""
    if a.last - a.first > b.last - b.first:
        second = b.within(among)
        first = a.within(second.keys())
    else:
        first = a.within(among)
        second = b.within(first.keys())
    found = []
    for at in first.keys() & second.keys():
        before, after = a.places_of(first[at]), b.places_of(second[at])
        if len(before) == len(after) == 1:
            if before[0] and before[0] + 1 == after[0]:
                found.append(at)
        elif any(place and place + 1 in after for place in before):
            found.append(at)
    return found


def _is_letter(term: str) -> bool:
    return len(term) == 1 and is_unspaced(term)
