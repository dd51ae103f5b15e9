"""Find given terms in many texts with searches that run in C, and see which stand side by side.

All texts are joined into one string, folded once, and searched for each term's shared prefix. Only
the few hits are looked at in Python: the run around a hit is analysed as the index would, so that
"art" is not found in "restart" and `user` is found in `getUserName`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from wsmem.retrieval.fields import searched_fields
from wsmem.text.analysis import RUN, fold, is_unspaced, lower, run_terms
from wsmem.text.stemming import shared_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wsmem.records import MemoryEntry

# Noncharacters: no text holds them for a purpose, and folding leaves them alone.
_FIELD_END, _ENTRY_END = "\ufdd0", "\ufdd1"
_OTHER_MARK = "\ufdd2"
"""Takes the place of a mark found in a text: no letter either, and as many bytes long."""


class Occurrence(NamedTuple):
    """One place where a term stands."""

    start: int
    """Where its run starts, or where the pair of Chinese letters does."""
    end: int
    """Where the next item of the stream may start."""
    entry: int
    field: int
    times: int
    """How often the run gives the term: an identifier may repeat a part, or be it as a whole."""
    places: tuple[int, ...]
    """At which of the run's parts the term stands; empty for an identifier's whole."""
    parts: int
    """How many parts the run has."""


class TextScan:
    """The searched texts of entries as one folded string."""

    def __init__(self, entries: Sequence[MemoryEntry]) -> None:
        pieces: list[str] = []
        bits: list[list[int]] = []
        for entry in entries:
            fields = list(searched_fields(entry))
            bits.append([bit for bit, _ in fields])
            pieces.append(_FIELD_END.join(_without_marks(text) for _, text in fields))
        self._text = fold(_ENTRY_END.join(pieces))
        self._lowered = lower(self._text)
        folded = self._text.split(_ENTRY_END)
        self._starts = list(accumulate((len(text) + 1 for text in folded), initial=0))
        self._bits = bits
        ends = len(_FIELD_END.encode())
        self.lengths = [
            len(text.encode("utf-8", "surrogatepass")) - ends * (len(fields) - 1)
            for text, fields in zip(folded, bits, strict=True)
        ]

    def occurrences(self, terms: Iterable[str]) -> dict[str, list[Occurrence]]:
        """Every place of every term, in the order of the text."""
        found: dict[str, list[Occurrence]] = {}
        functions = [term for term in terms if term.isupper()]
        found.update(self._function_words(functions))
        for term in terms:
            if term in found:
                continue
            if is_unspaced(term):
                found[term] = list(self._letters(term))
            else:
                found[term] = list(self._words(term))
        return found

    def neighbours(self, first: Sequence[Occurrence], second: Sequence[Occurrence]) -> set[int]:
        """Entries where an occurrence of `first` is directly followed by one of `second`."""
        found: set[int] = set()
        if not first or not second:
            return found
        if len(first) <= len(second):
            starts = [item.start for item in second]
            for item in first:
                if item.entry not in found and self._leads_to(item, second, starts):
                    found.add(item.entry)
            return found
        starts = [item.start for item in first]
        for item in second:
            at = bisect_right(starts, item.start) - 1
            # The run itself may hold both terms, or the one before it the first.
            for before in (at, at - 1):
                if before >= 0 and self._follows(first[before], item):
                    found.add(item.entry)
        return found

    def _leads_to(self, item: Occurrence, second: Sequence[Occurrence], starts: list[int]) -> bool:
        at = bisect_left(starts, item.start)
        return any(
            self._follows(item, second[after]) for after in (at, at + 1) if after < len(second)
        )

    def _follows(self, a: Occurrence, b: Occurrence) -> bool:
        """Whether some place of `a` is directly before some place of `b` in the stream."""
        if a.start == b.start:
            return any(place + 1 in b.places for place in a.places)
        return a.parts - 1 in a.places and 0 in b.places and self._next_start(a) == b.start

    def _next_start(self, item: Occurrence) -> int:
        """Where the next item of the stream starts, -1 at the end of the field."""
        found = RUN.search(self._text, item.end)
        if found is None:
            return -1
        gap = self._text[item.end : found.start()]
        return -1 if _FIELD_END in gap or _ENTRY_END in gap else found.start()

    def _place(self, at: int) -> tuple[int, int]:
        """Entry number and field bit of a position."""
        entry = bisect_right(self._starts, at) - 1
        bits = self._bits[entry]
        return entry, bits[self._text.count(_FIELD_END, self._starts[entry], at)]

    def _letters(self, term: str) -> Iterator[Occurrence]:
        """Places of a pair of Chinese letters; of a lone letter one an entry, in no field."""
        text, lone = self._text, len(term) == 1
        at = text.find(term)
        while at >= 0:
            entry, field = self._place(at)
            if lone:
                yield from self._lone_letter(term, entry)
                at = text.find(term, self._starts[entry + 1])
                continue
            # A pair is followed by the pair that starts on its second letter, or by another run.
            inside = at + 2 < len(text) and _is_letter(text[at + 2])
            yield Occurrence(at, at + 1 if inside else at + 2, entry, field, 1, (0,), 1)
            at = text.find(term, at + 1)

    def _lone_letter(self, letter: str, entry: int) -> Iterator[Occurrence]:
        """One for the entry, and one without a count for each run of that letter alone."""
        start, end = self._starts[entry], self._starts[entry + 1]
        yield Occurrence(start, start, entry, 0, 1, (), 1)
        at = self._text.find(letter, start, end)
        while at >= 0:
            led = at > start and _is_letter(self._text[at - 1])
            if not led and not _is_letter(self._text[at + 1 : at + 2]):
                yield Occurrence(at, at + 1, entry, 0, 0, (0,), 1)
            at = self._text.find(letter, at + 1, end)

    def _function_words(self, terms: Sequence[str]) -> dict[str, list[Occurrence]]:
        """Places of English function words, which only ever stand as whole runs."""
        found: dict[str, list[Occurrence]] = {term: [] for term in terms}
        if terms:
            words = "|".join(re.escape(term.lower()) for term in terms)
            pattern = re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])")
            for hit in pattern.finditer(self._lowered):
                run = RUN.match(self._text, hit.start())
                if run is None or run.end() != hit.end():  # "is#" is a name of its own
                    continue
                entry, field = self._place(hit.start())
                found[hit[0].upper()].append(
                    Occurrence(hit.start(), hit.end(), entry, field, 1, (0,), 1)
                )
        return found

    def _words(self, term: str) -> Iterator[Occurrence]:
        """Places of a term that is not CJK: of every run whose analysis gives it."""
        prefix = shared_prefix(term) if term.isascii() and term.isalpha() else term
        lowered = self._lowered
        at = lowered.find(prefix)
        while at >= 0:
            run = self._run_around(at)
            if run is None:
                at = lowered.find(prefix, at + 1)
                continue
            parts, whole = run_terms(run[0])
            times = parts.count(term) + (whole == term)
            if times:
                entry, field = self._place(run.start())
                places = tuple(place for place, part in enumerate(parts) if part == term)
                yield Occurrence(run.start(), run.end(), entry, field, times, places, len(parts))
            at = lowered.find(prefix, max(run.end(), at + 1))

    def _run_around(self, at: int) -> re.Match[str] | None:
        text, start = self._text, at
        if text[at].isascii():
            while start and text[start - 1].isascii() and text[start - 1].isalnum():
                start -= 1
        else:
            while start and _is_other_letter(text[start - 1]):
                start -= 1
        return RUN.match(text, start)


def _is_letter(char: str) -> bool:
    """Whether a character belongs to a run of a script written without blanks."""
    return is_unspaced(char) and char.isalnum()


def _is_other_letter(char: str) -> bool:
    return not char.isascii() and char.isalnum() and not is_unspaced(char)


def _without_marks(text: str) -> str:
    if _FIELD_END in text or _ENTRY_END in text:
        return text.replace(_FIELD_END, _OTHER_MARK).replace(_ENTRY_END, _OTHER_MARK)
    return text
