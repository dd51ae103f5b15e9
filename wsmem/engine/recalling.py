"""Answer one recall: read snapshots, rank, redact, render. Synchronous, standard library only.

Reads and nothing else: no lock is waited for, no directory is made. Whatever fails is left out of
the answer and named in `degraded`; nothing raises.

An answer is of the committed state. When another process has changed the files and there is no time
to read their entries, it has the new summary and nothing else: the entries as they were before are
still in memory, but some of them may have been corrected, forgotten or purged since.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from wsmem.engine.corpora import Corpus, search
from wsmem.engine.reading import corpus_of, read_whole_or_filed, searched
from wsmem.engine.rendering import render_context
from wsmem.errors import WsmemError
from wsmem.records import QUOTED_MATERIAL, MemoryContext, MemoryMatch
from wsmem.redaction.redact import redact
from wsmem.retrieval.order import TIE_DIGITS
from wsmem.retrieval.profile import load_profile
from wsmem.scopes import GLOBAL_KEY
from wsmem.store.wording import with_wording, wording_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from wsmem.engine.corpora import Corpora
    from wsmem.engine.filed import FiledCorpus
    from wsmem.engine.locating import Locator, Place
    from wsmem.engine.reading import ScopeReading
    from wsmem.records import Match, MemoryEntry, RecallInput
    from wsmem.retrieval.profile import Profile
    from wsmem.settings import Language, Settings
    from wsmem.store.postings import OpenFiles
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore

MAX_LIMIT = 1_000
PREVIEW_FROM, PREVIEW_SIZE = 1_000, 200
"""Where a scan may take longer than a caller waits, the newest entries are ranked first, so that
there is something to show when time runs out."""
PREVIEW_GROWTH, PREVIEW_TRUST = 2, 0.8
"""A further part is ranked when it is so many times larger than the one before, and seems to take
no more than this share of the time left."""

LATE = "deadline"
"""In `degraded`: time ran out before everything was looked at."""

_SHOWN_TEXTS = 16_384
"""Texts of entries remembered as redacted; nearly all are the very objects the entries hold."""

_REFERENCE_PENALTY = 8.0
"""The `surfaced_penalty` that profiles were made for; others scale the profile's weight."""


class Progress:
    """The best answer so far, for a caller who cannot wait for the whole one.

    Args:
        until: When the caller goes, by the monotonic clock; `None` when it waits for the whole.
    """

    def __init__(self, until: float | None = None) -> None:
        self.until = until
        self.place: Place | None = None
        self.context: MemoryContext | None = None
        """An answer that may be handed out as it is."""
        self.unread: Place | None = None
        """Where entries were left unread, since their postings were enough."""
        self.abandoned = threading.Event()
        """Set by the caller: nobody waits any more, stop at the next step."""


class _Known(NamedTuple):
    """What was read before ranking."""

    scope: str
    summary: str
    corpus: Corpus | FiledCorpus
    problems: tuple[str, ...]


class Recaller:
    """Answers recalls over one store.

    Args:
        store: Where memory is.
        settings: Limits, budget, profile, language.
        locator: Finds scopes, the same for reading and writing.
        clock: Milliseconds since the epoch.
        corpora: Keeps entries and indexes between recalls.
        profile: What ranks instead of the profile that the settings name.
        by_postings: Whether entries that are not in memory stay unread where there are good
            postings of them: the way to a first answer.
        read: Told of every scope whose entries were read.
    """

    def __init__(
        self,
        store: MemoryStore,
        settings: Settings,
        locator: Locator,
        *,
        clock: Callable[[], int],
        corpora: Corpora,
        profile: Profile | None = None,
        by_postings: bool = False,
        read: Callable[[ScopeSnapshot], None] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._locator = locator
        self._clock = clock
        self._corpora = corpora
        self._given_profile = profile
        self._profile: Profile | None = None
        self._by_postings = by_postings
        self._note = read
        # Most recalls find what earlier ones found.
        self._shown = lru_cache(_SHOWN_TEXTS)(redact)

    def recall(
        self,
        request: RecallInput,
        *,
        surfaced: Callable[[Place], Collection[str]] | None = None,
        progress: Progress | None = None,
    ) -> MemoryContext:
        """Answer `request` with what can be read.

        Args:
            request: The question.
            surfaced: Ids shown lately in the conversation a place belongs to.
            progress: Filled on the way with answers that could be given at once.
        """
        progress = progress or Progress()
        try:
            return self._recall(request, surfaced, progress)
        except Exception as error:  # noqa: BLE001 - a recall never fails the one who asks
            best = progress.context or MemoryContext(scope="", summary="", matches=(), text="")
            return replace(best, degraded=_joined(best.degraded, describe(error)))

    def entries_of(self, place: Place) -> Corpus:
        """What a recall of this place searches."""
        return self._corpora.of(self._snapshots(place))

    def warm(self, place: Place) -> None:
        """Build the index a recall of this place uses."""
        self._corpora.warm(self._snapshots(place))

    def _snapshots(self, place: Place) -> list[ScopeSnapshot]:
        return searched([self._store.read_scope(scope) for scope in place.read])

    def _recall(
        self,
        request: RecallInput,
        surfaced: Callable[[Place], Collection[str]] | None,
        progress: Progress,
    ) -> MemoryContext:
        place = self._locator.place(cwd=request.cwd, session_id=request.session_id)
        progress.place = place
        if self._by_postings and self._can_use_postings():
            files = self._store.open_files()
            try:
                return self._answer(request, place, surfaced, progress, files)
            except Exception:  # noqa: BLE001, S110 - the entries themselves are there to be read
                pass
            finally:
                files.close()
        return self._answer(request, place, surfaced, progress, None)

    def _can_use_postings(self) -> bool:
        try:
            return self.ranking_profile().by_terms_alone
        except WsmemError:  # said when it comes to ranking
            return False

    def _answer(
        self,
        request: RecallInput,
        place: Place,
        surfaced: Callable[[Place], Collection[str]] | None,
        progress: Progress,
        files: OpenFiles | None,
    ) -> MemoryContext:
        known = self._read(request, place, progress, files)
        progress.unread = None if isinstance(known.corpus, Corpus) else place
        progress.context = self._context(request, known, ())
        if progress.abandoned.is_set():
            return progress.context
        shown = {*request.surfaced_ids, *(surfaced(place) if surfaced is not None else ())}
        if progress.until is not None and not self._has_time(request, known, shown, progress):
            return late(progress)
        matches = self._rank(request, known.corpus, shown)
        return self._context(request, known, matches)

    def _has_time(
        self, request: RecallInput, known: _Known, shown: Collection[str], progress: Progress
    ) -> bool:
        """Rank a part first where ranking all may take too long; whether there is time for all.

        A scan is in C for long stretches, in which nobody else gets a turn: one that cannot end in
        time must not be begun. What a part has taken tells how many entries there is time for; as
        long as that are many more, a larger part is ranked, and tells it better.
        """
        corpus, until = known.corpus, progress.until
        if until is None or not isinstance(corpus, Corpus) or corpus.index is not None:
            return not progress.abandoned.is_set()
        entries = corpus.entries
        if len(entries) < PREVIEW_FROM:
            return not progress.abandoned.is_set()
        newest = sorted(entries, key=lambda entry: entry.updated_at or "", reverse=True)
        size, wanted = 0, PREVIEW_SIZE
        while wanted >= size * PREVIEW_GROWTH and not progress.abandoned.is_set():
            size = wanted
            part = Corpus(tuple(newest[:size]), None)
            started = time.monotonic()
            progress.context = self._context(request, known, self._rank(request, part, shown))
            ended = time.monotonic()
            affordable = size * (until - ended) / max(ended - started, 1e-9)
            if affordable >= len(entries):
                return not progress.abandoned.is_set()
            wanted = int(affordable * PREVIEW_TRUST)
        return False

    def _read(
        self, request: RecallInput, place: Place, progress: Progress, files: OpenFiles | None
    ) -> _Known:
        readings: list[ScopeReading] = []
        problems = [place.problem] if place.problem else []
        before_long = partial(self._give_summaries, request, place, progress)
        for scope in place.read:
            try:
                readings.append(
                    read_whole_or_filed(self._store, scope, files, before_long=before_long)
                )
            except WsmemError as error:
                problems.append(describe(error))
        if self._note is not None:
            for reading in readings:
                reading.tell(self._note)
        # What a damaged file no longer says may be what was asked for.
        problems += [
            redact(str(problem))
            for reading in readings
            for problem in reading.problems
            if problem.kind == "damaged"
        ]
        rings = [ring for reading in readings for ring in reading.rings]
        if rings:
            problems.append(f"nothing stands in the place of {', '.join(rings[:5])}: a ring")
        corpus = corpus_of([reading.entries for reading in readings], self._corpora)
        return self._known(place, [reading.summary for reading in readings], corpus, problems)

    def _give_summaries(self, request: RecallInput, place: Place, progress: Progress) -> None:
        """Have something to show, for somebody who may leave while entries are being read."""
        if progress.until is None or progress.context is not None:
            return
        summaries = []
        for scope in place.read:
            with suppress(WsmemError):  # said when its entries are read
                summaries.append(self._store.read_head(scope).summary)
        known = self._known(place, summaries, Corpus((), None), ())
        progress.context = self._context(request, known, ())

    def _known(
        self,
        place: Place,
        summaries: Sequence[str],
        corpus: Corpus | FiledCorpus,
        problems: Sequence[str],
    ) -> _Known:
        language = self._settings.language
        shown = [_shown_summary(summary, language) for summary in summaries]
        return _Known(
            scope=GLOBAL_KEY if place.archived else place.main.key,
            summary="\n\n".join(summary for summary in shown if summary),
            corpus=corpus,
            problems=tuple(problems),
        )

    def _rank(
        self, request: RecallInput, corpus: Corpus | FiledCorpus, shown: Collection[str]
    ) -> Sequence[Match]:
        find = partial(search, corpus) if isinstance(corpus, Corpus) else corpus.search
        return find(
            request.query,
            self._limit(request),
            now=self._clock(),
            profile=self.ranking_profile(),
            surfaced=shown,
        )

    def _context(
        self, request: RecallInput, known: _Known, matches: Sequence[Match]
    ) -> MemoryContext:
        settings = self._settings
        max_bytes = settings.recall_max_bytes if request.max_bytes is None else request.max_bytes
        contradicted = any(_contradicted(match.entry) for match in matches)
        rivals = known.corpus.conflict_groups() if contradicted else {}
        rendered = render_context(
            known.summary,
            [_projected(match, rivals, self._shown) for match in matches],
            max_bytes=max_bytes,
            language=settings.language,
            quoted={match.entry.id for match in matches if _is_quoted(match.entry)},
        )
        return MemoryContext(
            scope=known.scope,
            summary=rendered.summary,
            matches=rendered.matches,
            text=rendered.text,
            degraded="; ".join(known.problems) or None,
        )

    def _limit(self, request: RecallInput) -> int:
        wanted = self._settings.recall_limit if request.limit is None else request.limit
        return max(1, min(wanted, MAX_LIMIT))

    def ranking_profile(self) -> Profile:
        """The given profile or that of the settings, its penalty for shown entries scaled."""
        if self._profile is None:
            profile = self._given_profile or load_profile(self._settings.profile)
            factor = self._settings.surfaced_penalty / _REFERENCE_PENALTY
            if factor != 1 and "surfaced" in profile.weights:
                weight = profile.weights["surfaced"] * factor
                profile = profile.with_weights(surfaced=weight)
            self._profile = profile
        return self._profile


def late(progress: Progress) -> MemoryContext:
    """The answer of a recall whose time is over: the best so far, marked."""
    best = progress.context or MemoryContext(scope="", summary="", matches=(), text="")
    return replace(best, degraded=_joined(best.degraded, LATE))


def describe(error: BaseException) -> str:
    """An error in words for a log or an answer: bounded, without credentials."""
    name = type(error).__name__
    try:
        text = str(error) if isinstance(error, WsmemError) else f"{name}: {error}"
        return redact(" ".join(text.split())[:500])
    except Exception:  # noqa: BLE001 - what cannot be redacted is not repeated, and nothing raises here
        return name


@lru_cache(maxsize=256)
def _shown_summary(summary: str, language: Language) -> str:
    return redact(with_wording(summary, wording_of(language))) if summary.strip() else ""


def _projected(
    match: Match, rivals: Mapping[str, Sequence[str]], shown: Callable[[str], str]
) -> MemoryMatch:
    entry = match.entry
    group = entry.conflict_group_id
    others = rivals.get(group, ()) if group and _contradicted(entry) else ()
    return MemoryMatch(
        id=entry.id,
        scope=entry.scope,
        type=entry.type,
        title=shown(entry.title),
        description=shown(entry.description),
        content=shown(entry.content),
        tags=tuple(map(shown, entry.tags)),
        importance=entry.importance,
        # Index, scan and file add up in other orders: the same but for the last bits.
        score=round(match.score, TIE_DIGITS),
        status=entry.status,
        conflict_with=tuple(other for other in others if other != entry.id),
        updated_at=entry.updated_at,
    )


def _contradicted(entry: MemoryEntry) -> bool:
    return entry.status == "conflict"


def _is_quoted(entry: MemoryEntry) -> bool:
    return entry.provenance is not None and entry.provenance.reason == QUOTED_MATERIAL


def _joined(first: str | None, second: str) -> str:
    return f"{first}; {second}" if first else second
