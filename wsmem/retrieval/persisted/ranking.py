"""Rank entries of which some or all are known by their postings alone, as `scan` would."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wsmem.records import Match
from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.order import best, in_order
from wsmem.retrieval.persisted.contenders import weigh_contenders
from wsmem.retrieval.persisted.joined import JoinedTerms
from wsmem.retrieval.persisted.layout import PostingsUnusable
from wsmem.retrieval.scoring import entry_earned, score_of
from wsmem.retrieval.signals import MS_PER_DAY
from wsmem.retrieval.terms_scan import Question, terms_earned
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.persisted.postings import Location, Postings
    from wsmem.retrieval.profile import Profile
    from wsmem.retrieval.terms_source import TermSource
    from wsmem.text.analysis import Query


_RECENT_MS = 7 * MS_PER_DAY
"""Beyond, `recency` is 0."""


class Part(Protocol):
    """The entries of one scope; numbered from 0, those that no recall returns left out."""

    @property
    def size(self) -> int: ...
    def terms(self, query: Query) -> TermSource: ...
    def importance(self, entry: int) -> float: ...
    def changed(self, entry: int) -> float | None: ...
    def entry_id(self, entry: int) -> str: ...
    def date(self, entry: int) -> str: ...
    def entries_with(self, entry_id: str) -> Collection[int]: ...
    def entry(self, entry: int) -> MemoryEntry: ...


class EntriesPart:
    """A scope whose entries have been read."""

    def __init__(self, entries: Sequence[MemoryEntry]) -> None:
        self._entries = [entry for entry in entries if entry.recallable]
        self.size = len(self._entries)

    def terms(self, query: Query) -> TermSource:
        """Statistics of the query's terms, from the texts."""
        from wsmem.retrieval.scanned_terms import ScannedTerms  # noqa: PLC0415 - not always

        return ScannedTerms(self._entries, query)

    def importance(self, entry: int) -> float:
        """As it is stored."""
        return self._entries[entry].importance

    def changed(self, entry: int) -> float | None:
        """When the entry last changed (ms since the epoch)."""
        return changed_ms(self._entries[entry])

    def entry_id(self, entry: int) -> str:
        """The entry's id."""
        return self._entries[entry].id

    def date(self, entry: int) -> str:
        """The date of its last change as text."""
        return self._entries[entry].updated_at or ""

    def entries_with(self, entry_id: str) -> list[int]:
        """The entries with this id."""
        return [at for at, entry in enumerate(self._entries) if entry.id == entry_id]

    def entry(self, entry: int) -> MemoryEntry:
        """The entry itself."""
        return self._entries[entry]


class PostingsPart:
    """A scope whose postings are in a file, and whose entries are read when they are shown.

    Args:
        postings: The file.
        read: Reads one entry from where it stands.
    """

    def __init__(self, postings: Postings, read: Callable[[Location], MemoryEntry]) -> None:
        self._postings, self._read = postings, read
        self.size = postings.size
        self.importance, self.changed = postings.importance, postings.changed
        self.entry_id, self.date = postings.entry_id, postings.date
        self.entries_with = postings.entries_with

    def terms(self, query: Query) -> TermSource:
        """Statistics of any terms, from the file."""
        del query
        return self._postings

    def entry(self, entry: int) -> MemoryEntry:
        """The entry itself.

        Raises:
            PostingsUnusable: another entry stands in its place.
        """
        found = self._read(self._postings.location(entry))
        if found.id != self.entry_id(entry):
            raise PostingsUnusable("the entries are not the ones it was made of")
        return found


class _Unread(NamedTuple):
    """An entry by what decides between those of one score."""

    id: str
    updated_at: str


class _Found(NamedTuple):
    """A match whose entry has not been read."""

    entry: _Unread
    score: float
    at: int


def rank_parts(
    parts: Sequence[Part],
    query: str,
    profile: Profile,
    *,
    now: int,
    limit: int | None = 8,
    surfaced: Collection[str] = (),
) -> list[Match]:
    """Rank as `wsmem.retrieval.ranking.rank` does; see there for arguments, order and ties.

    Args:
        parts: In the order of the store.
        query: The question.
        profile: One that is `by_terms_alone`.
        now: Milliseconds since the epoch.
        limit: At most so many matches.
        surfaced: Ids of entries shown lately.

    Raises:
        PostingsUnusable: a postings file turns out to be damaged; nothing was ranked.
    """
    if limit is not None and limit < 1:
        return []
    return _Search(parts, analyze_query(query), profile, now, surfaced).matches(limit)


class _Search:
    """One query over all parts, whose entries are numbered part after part, the largest first."""

    def __init__(
        self,
        parts: Sequence[Part],
        query: Query,
        profile: Profile,
        now: int,
        surfaced: Collection[str],
    ) -> None:
        self._profile, self._query, self._now = profile, query, now
        self._entry_weights = tuple(
            max(0.0, profile.weights.get(name, 0.0))
            for name in ("importance", "recency", "surfaced")
        )
        self._beside: dict[int, float] = {}
        filled = [number for number, part in enumerate(parts) if part.size]
        order = sorted(filled, key=lambda number: -parts[number].size)
        starts = accumulate((parts[number].size for number in order), initial=0)
        self._placed = [
            _Placed(parts[number], start, number)
            for number, start in zip(order, starts, strict=False)
        ]
        sources = [placed.part.terms(query) for placed in self._placed]
        self._source = sources[0] if len(sources) == 1 else JoinedTerms(sources)
        self._shown = {
            at + placed.start
            for placed in self._placed
            for entry_id in surfaced
            for at in placed.part.entries_with(entry_id)
        }
        self._matched: dict[int, int] = {}

    def matches(self, limit: int | None) -> list[Match]:
        """The best of all entries, in order."""
        if not self._query.terms or not self._source.size:
            return []
        question = Question.of(self._source, self._query, self._profile)

        def weigh(among: set[int] | None) -> dict[int, float]:
            return self._weigh(question, among)

        if limit is None:
            scores = weigh(None)
        else:
            scores = weigh_contenders(
                self._source,
                question,
                self._profile,
                limit,
                weigh=weigh,
                beside_terms=self._beside_terms,
            )
        return self._ordered(scores, limit)

    def _weigh(self, question: Question, among: set[int] | None) -> dict[int, float]:
        """Scores of those of these entries that match."""
        earned, matched = terms_earned(self._source, question, self._profile, among)
        self._matched |= matched
        scores = {}
        for at, signals in earned.items():
            scores[at] = score_of(signals | self._entry_earned(at), self._profile)
        return scores

    def _entry_earned(self, at: int) -> dict[str, float]:
        placed = self._of(at)
        part, number = placed.part, at - placed.start
        return entry_earned(
            part.importance(number), part.changed(number), shown=at in self._shown, now=self._now
        )

    def _beside_terms(self, at: int) -> float:
        """What the signals of the entry alone give it, or a little more: it is asked of many."""
        known = self._beside.get(at)
        if known is None:
            placed = self._of(at)
            part, number = placed.part, at - placed.start
            importance, recency, surfaced = self._entry_weights
            held = part.importance(number)
            known = importance * min(3.0, held) if importance and held > 0 else 0.0
            changed = part.changed(number)
            if recency and changed is not None and self._now - changed < _RECENT_MS:
                known += recency * 3.0
            if at in self._shown:
                known += surfaced
            self._beside[at] = known
        return known

    def _ordered(self, scores: dict[int, float], limit: int | None) -> list[Match]:
        """Matches best first; only entries that are among them are read."""
        scored = [_Found(_UNKNOWN, score, at) for at, score in scores.items()]
        kept = sorted(best(scored, limit), key=lambda found: self._place(found.at))
        named = [found._replace(entry=self._unread(found.at)) for found in kept]
        return [
            Match(entry=self._read(found.at), score=found.score, matched=self._matched[found.at])
            for found in in_order(named, self._profile)[:limit]
        ]

    def _of(self, at: int) -> _Placed:
        """The part an entry is in."""
        first = self._placed[0]
        if at < first.part.size:
            return first
        return next(placed for placed in reversed(self._placed) if at >= placed.start)

    def _place(self, at: int) -> tuple[int, int]:
        """Where an entry stands in the store."""
        placed = self._of(at)
        return placed.number, at - placed.start

    def _unread(self, at: int) -> _Unread:
        placed = self._of(at)
        number = at - placed.start
        return _Unread(placed.part.entry_id(number), placed.part.date(number))

    def _read(self, at: int) -> MemoryEntry:
        placed = self._of(at)
        return placed.part.entry(at - placed.start)


class _Placed(NamedTuple):
    """A part among the parts."""

    part: Part
    start: int
    """Number of its first entry."""
    number: int
    """Its own number, in the order of the store."""


_UNKNOWN = _Unread("", "")
