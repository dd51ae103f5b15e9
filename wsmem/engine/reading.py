"""Read the scopes of a recall: whole, or by their postings where they have good ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wsmem.engine.chains import chain_faults
from wsmem.store.snapshot import ScopeSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wsmem.engine.corpora import Corpora, Corpus
    from wsmem.engine.filed import FiledCorpus
    from wsmem.store.codec import Problem
    from wsmem.store.layout import ScopeLike
    from wsmem.store.postings import OpenFiles, OpenPostings
    from wsmem.store.store import MemoryStore


class ScopeReading(NamedTuple):
    """One scope as far as a recall reads it."""

    summary: str
    problems: tuple[Problem, ...]
    rings: Sequence[str]
    """Entries whose successors lead back to themselves."""
    entries: ScopeSnapshot | OpenPostings

    def tell(self, note: Callable[[ScopeSnapshot], None]) -> None:
        """Give the scope to `note` if its entries were read."""
        if isinstance(self.entries, ScopeSnapshot):
            note(self.entries)


def read_whole_or_filed(
    store: MemoryStore,
    scope: ScopeLike,
    files: OpenFiles | None,
    *,
    before_long: Callable[[], None] = lambda: None,
) -> ScopeReading:
    """A scope by its postings if files may be opened and it has good ones, else whole.

    One whose entries are in memory is taken from there. `before_long` is called before entries are
    read, which may take longer than somebody waits.
    """
    snapshot = store.held(scope)
    if snapshot is None and files is not None:
        filed = store.open_postings(scope, files)
        if filed is not None:
            head, postings = filed
            return ScopeReading(head.summary, head.problems, postings.rings, postings)
    if snapshot is None:
        before_long()
        snapshot = store.read_scope(scope)
    rings = chain_faults(snapshot).rings
    return ScopeReading(snapshot.summary, snapshot.problems, rings, snapshot)


def corpus_of(
    scopes: Sequence[ScopeSnapshot | OpenPostings], corpora: Corpora
) -> Corpus | FiledCorpus:
    """What these scopes hold together; global first, then workspace, then session."""
    snapshots = [scope for scope in scopes if isinstance(scope, ScopeSnapshot)]
    if len(snapshots) == len(scopes):
        return corpora.of(searched(snapshots))
    from wsmem.engine.filed import FiledCorpus  # noqa: PLC0415 - only where there are postings

    return FiledCorpus(scopes)


def searched(snapshots: Sequence[ScopeSnapshot]) -> list[ScopeSnapshot]:
    """Those with entries: most conversations have no layer of their own, and share an index."""
    return [snapshot for snapshot in snapshots if snapshot.entries]
