"""Answer one recall in a process that does nothing else: no event loop, no threads, no index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.engine.corpora import Corpora
from wsmem.engine.locating import Locator
from wsmem.engine.recalling import Recaller
from wsmem.scopes import ScopeResolver
from wsmem.store.access import system_clock
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from wsmem.records import MemoryContext, RecallInput
    from wsmem.retrieval.explain import Explanation
    from wsmem.scopes import SessionRegistry
    from wsmem.settings import Settings


def recall_once(
    settings: Settings,
    request: RecallInput,
    *,
    registry: SessionRegistry | None = None,
    store: MemoryStore | None = None,
    clock: Callable[[], int] = system_clock,
) -> MemoryContext:
    """What an engine would answer, for the price of one scan, or less; never raises.

    Scopes that have good postings are searched by them, and of their entries only those that are
    shown are read. Everything it imports is in the standard library. A deadline in the request is
    not watched: who calls this waits for a whole process anyway.
    """
    store = store or MemoryStore(settings.memory_dir, clock=clock, lasting=False)
    locator = Locator(store, ScopeResolver(registry))
    recaller = Recaller(
        store,
        settings,
        locator,
        clock=clock,
        corpora=Corpora(),
        by_postings=settings.postings == "on",
    )
    return recaller.recall(request)


def explain_once(
    settings: Settings,
    request: RecallInput,
    *,
    registry: SessionRegistry | None = None,
    clock: Callable[[], int] = system_clock,
) -> Explanation:
    """Every candidate of the same recall with the parts of its score; builds an index.

    Raises:
        WsmemError: the place cannot be found or its files cannot be read.
    """
    from wsmem.retrieval.explain import explain  # noqa: PLC0415 - NumPy
    from wsmem.retrieval.index import Index  # noqa: PLC0415 - NumPy

    store = MemoryStore(settings.memory_dir, clock=clock, lasting=False)
    locator = Locator(store, ScopeResolver(registry))
    recaller = Recaller(store, settings, locator, clock=clock, corpora=Corpora())
    place = locator.place(cwd=request.cwd, session_id=request.session_id)
    return explain(
        Index.build(recaller.entries_of(place).entries),
        request.query,
        recaller.ranking_profile(),
        now=clock(),
        surfaced=request.surfaced_ids,
    )
