"""Find given terms in many texts with searches that run in C, and see which stand side by side.

All texts are joined into one string, folded once, and searched for each term's shared prefix. Only
the few hits are looked at in Python: the run around a hit is analysed as the index would, so that
"art" is not found in "restart" and `user` is found in `getUserName`. Function words are counted in
one pass and looked up again only beside the hits of other terms.
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
    from wsmem.retrieval.terms_source import Held

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
        self._bits: list[list[int]] = []
        """Field bits of each entry, in the order of its text."""
        for entry in entries:
            bits, texts = searched_fields(entry)
            self._bits.append(bits)
            pieces.append(_FIELD_END.join(texts))
        joined = _ENTRY_END.join(pieces)
        if joined.count(_ENTRY_END) >= len(entries) or joined.count(_FIELD_END) != sum(
            len(bits) - 1 for bits in self._bits
        ):
            joined = _ENTRY_END.join(map(_joined_clean, entries))
        self._text = fold(joined)
        self._lowered = lower(self._text)
        folded = self._folded = self._text.split(_ENTRY_END)
        self._starts = list(accumulate([len(text) + 1 for text in folded], initial=0))
        size = len(_FIELD_END.encode())
        self.lengths = [
            len(text.encode("utf-8", "surrogatepass")) - size * (len(bits) - 1)
            for text, bits in zip(folded, self._bits, strict=True)
        ]
        """UTF-8 bytes of each entry's fields."""

    def occurrences(self, term: str) -> list[Occurrence]:
        """Every place of a term that is no function word, in the order of the text."""
        return list(self._letters(term) if is_unspaced(term) else self._words(term))

    def holding(self, letter: str) -> list[int]:
        """Entries that hold a Chinese letter anywhere."""
        return [entry for entry, text in enumerate(self._folded) if letter in text]

    def function_words(self, terms: Iterable[str]) -> dict[str, Held]:
        """Where English function words stand; they only ever stand as whole runs."""
        found: dict[str, Held] = {term.lower(): {} for term in terms}
        if found:
            pattern = re.compile("|".join((_FIELD_END, _ENTRY_END, *map(_whole_run, found))))
            entry = field = 0
            for word in pattern.findall(self._lowered):
                held = found.get(word)
                if held is not None:
                    times, fields = held.get(entry, (0, 0))
                    held[entry] = (times + 1, fields | self._bits[entry][field])
                elif word == _FIELD_END:
                    field += 1
                else:
                    entry, field = entry + 1, 0
        return {word.upper(): held for word, held in found.items()}

    def neighbours(self, first: Sequence[Occurrence], second: Sequence[Occurrence]) -> set[int]:
        """Entries where an occurrence of `first` is directly followed by one of `second`."""
        if len(first) <= len(second):
            starts = [item.start for item in second]
            return {item.entry for item in first if self._leads_to(item, second, starts)}
        starts = [item.start for item in first]
        return {item.entry for item in second if self._led_by(item, first, starts)}

    def followed_by_word(self, first: Iterable[Occurrence], word: str) -> set[int]:
        """Entries where an occurrence is directly followed by a function word."""
        found: set[int] = set()
        for item in first:
            if item.entry not in found and item.parts - 1 in item.places:
                start = self._next_start(item)
                if start >= 0 and self._is_word(start, word):
                    found.add(item.entry)
        return found

    def preceded_by_word(self, second: Iterable[Occurrence], word: str) -> set[int]:
        """Entries where an occurrence directly follows a function word."""
        found: set[int] = set()
        size = len(word)
        for item in second:
            if item.entry in found or 0 not in item.places:
                continue
            at = item.start
            while at and self._is_gap(self._text[at - 1]):
                at -= 1
            start = at - size
            if start >= 0 and self._is_word(start, word) and self._begins_run(start):
                # What lies between must be no run either: "is# x" ends in the name "is#".
                run = RUN.match(self._text, start)
                if run is not None and run.end() == at:
                    found.add(item.entry)
        return found

    def _is_word(self, start: int, word: str) -> bool:
        run = RUN.match(self._text, start)
        return run is not None and run.end() - start == len(word) and lower(run[0]).upper() == word

    def _is_gap(self, char: str) -> bool:
        return not (char.isalnum() or char in (_FIELD_END, _ENTRY_END))

    def _begins_run(self, start: int) -> bool:
        before = self._text[start - 1] if start else ""
        return not (before.isascii() and before.isalnum())

    def _leads_to(self, item: Occurrence, second: Sequence[Occurrence], starts: list[int]) -> bool:
        at = bisect_left(starts, item.start)
        return any(
            self._follows(item, second[after]) for after in (at, at + 1) if after < len(second)
        )

    def _led_by(self, item: Occurrence, first: Sequence[Occurrence], starts: list[int]) -> bool:
        # The run itself may hold both terms, or the one before it the first.
        at = bisect_right(starts, item.start) - 1
        return any(self._follows(first[before], item) for before in (at, at - 1) if before >= 0)

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
        return entry, self._bits[entry][self._text.count(_FIELD_END, self._starts[entry], at)]

    def _letters(self, term: str) -> Iterator[Occurrence]:
        """Places of a pair of Chinese letters; of a lone letter one an entry, in no field."""
        text, lone, seen = self._text, len(term) == 1, -1
        at = text.find(term)
        while at >= 0:
            entry, field = self._place(at)
            # A pair is followed by the pair that starts on its second letter, or by another run.
            inside = _is_letter(text[at + len(term) : at + len(term) + 1])
            if not lone:
                yield Occurrence(at, at + 1 if inside else at + 2, entry, field, 1, (0,), 1)
            else:
                alone = not inside and not (at and _is_letter(text[at - 1]))
                if alone or entry != seen:
                    places = (0,) if alone else ()
                    yield Occurrence(at, at + 1, entry, 0, int(entry != seen), places, 1)
                seen = entry
            at = text.find(term, at + 1)

    def _words(self, term: str) -> Iterator[Occurrence]:
        """Places of a term of a script with blanks: of every run whose analysis gives it."""
        prefix = shared_prefix(term) if term.isascii() and term.isalpha() else term
        lowered = self._lowered
        at = lowered.find(prefix)
        while at >= 0:
            run = self._run_around(at)
            if run is None:
                at = lowered.find(prefix, at + 1)
                continue
            parts, whole = run_terms(run[0])
            if term in parts or whole == term:
                entry, field = self._place(run.start())
                times = parts.count(term) + (whole == term)
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


def _whole_run(word: str) -> str:
    """A pattern for a word that is a run of its own; before a sign that names it ("is#"), none is.

    It starts with the word, looking back over it afterwards: a set of such patterns then skips to
    the next first letter, three times as fast as one that looks back at every position.
    """
    return rf"{word}(?<![a-z0-9]{word})(?![a-z0-9]|(?:\+\+|#)(?![a-z0-9]))"


def _joined_clean(entry: MemoryEntry) -> str:
    """An entry's fields with marks between them and none in them."""
    return _FIELD_END.join(
        text.replace(_FIELD_END, _OTHER_MARK).replace(_ENTRY_END, _OTHER_MARK)
        for text in searched_fields(entry)[1]
    )


def _is_letter(char: str) -> bool:
    """Whether a character belongs to a run of a script written without blanks."""
    return is_unspaced(char) and char.isalnum()


def _is_other_letter(char: str) -> bool:
    return not char.isascii() and char.isalnum() and not is_unspaced(char)
