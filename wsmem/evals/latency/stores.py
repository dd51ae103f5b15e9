"""Stores of stated size with questions to them, as real files in a folder of their own."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.engine.chains import rings_in
from wsmem.engine.keeping import write_summary
from wsmem.evals.synthetic import labelled_queries, synthetic_entries
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.postings import WORTHWHILE
from wsmem.store.postings_writing import SETTLED_S
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.latency.plan import LatencyPlan
    from wsmem.evals.synthetic import LabelledQuery
    from wsmem.records import MemoryEntry

CWD = "/srv/latency"
"""The workspace that is asked; no such directory is needed."""
_WARM_UP = 1
"""Queries of every language and length that are asked before anything is timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedStore:
    """A store on disk, what is in it, and what is asked."""

    root: Path
    entries: tuple[MemoryEntry, ...]
    queries: tuple[LabelledQuery, ...]
    """While an engine is warm."""
    cold: tuple[LabelledQuery, ...]
    """Where every recall needs a process, an engine or a commit of its own."""
    warm_up: tuple[LabelledQuery, ...]
    """Others, asked before."""

    @property
    def settings(self) -> Settings:
        """The defaults, whatever the user of this machine has set."""
        return Settings(memory_dir=str(self.root))

    @contextmanager
    def copy(self) -> Iterator[TimedStore]:
        """The same entries in a store of their own, which may be written to; without postings."""
        with tempfile.TemporaryDirectory(prefix="wsmem-latency-") as folder:
            root = Path(folder) / "memory"
            shutil.copytree(self.root, root)
            yield TimedStore(
                root=root,
                entries=self.entries,
                queries=self.queries,
                cold=self.cold,
                warm_up=self.warm_up,
            )


@contextmanager
def timed_store(plan: LatencyPlan, size: int) -> Iterator[TimedStore]:
    """A store of `size` synthetic entries in one workspace, with its summary."""
    entries = tuple(synthetic_entries(size, seed=plan.seed))
    queries, cold, warm_up = (
        tuple(labelled_queries(entries, each=each, seed=plan.seed, stream=stream))
        for stream, each in enumerate((plan.each, plan.cold, _WARM_UP), start=1)
    )
    with tempfile.TemporaryDirectory(prefix="wsmem-latency-") as folder:
        root = Path(folder) / "memory"
        write_store(root, entries)
        yield TimedStore(root=root, entries=entries, queries=queries, cold=cold, warm_up=warm_up)


def write_store(root: Path, entries: tuple[MemoryEntry, ...]) -> None:
    """Write a store with these entries and their summary in the workspace that is asked.

    Where it is large enough for an engine to write postings in time, they are there already: a
    store that is in use has them, and no engine begins to write them while it is being timed.
    """
    scope, store = workspace_scope(CWD), MemoryStore(root)
    with store.transaction(scope) as transaction:
        transaction.set_entries(scope, entries)
        write_summary(transaction, scope, entries, Settings(memory_dir=str(root)))
    if len(entries) >= WORTHWHILE:
        time.sleep(SETTLED_S)  # before, its files are too young to be told from a later version
        store.write_postings(scope, rings_of=rings_in)
