"""Asking systems on one dataset: what each ranks for every query. Nothing is scored here.

Rankings are all that takes long, and they are plain values: they travel, and a ledger keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from wsmem.errors import StrangeAnswerError, SystemUnavailableError, WsmemError
from wsmem.evals.entries import other_pools, pools, surfaced_ids
from wsmem.evals.reading import load_dataset
from wsmem.evals.results import EVERY_SYSTEM, Skipped
from wsmem.evals.systems.base import Serving
from wsmem.evals.systems.pool_store import PoolStore
from wsmem.evals.systems.registry import make_system
from wsmem.evals.systems.wsmem import HOST, PREFIX
from wsmem.evals.workers import tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.dataset import Dataset, Query
    from wsmem.evals.entries import Pool
    from wsmem.evals.plan import Plan
    from wsmem.evals.systems.base import System
    from wsmem.evals.workers import Shared

BYSTANDERS = 32
"""How many workspaces that nobody asks about stand in the store beside those that are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What one system gave on one dataset."""

    system: str
    settings: Mapping[str, Any]
    rankings: Mapping[str, Sequence[str]]
    """By query id: entries, best first, as the system gave them."""
    injected: Mapping[str, int]
    """Bytes a host is given, by query id; empty unless the system renders what it is given."""
    prepare_seconds: float
    search_seconds: float

    def to_json(self) -> dict[str, Any]:
        """As a ledger keeps it."""
        return {
            "system": self.system,
            "settings": dict(self.settings),
            "rankings": {query: list(ranked) for query, ranked in self.rankings.items()},
            "injected": dict(self.injected),
            "prepare_seconds": self.prepare_seconds,
            "search_seconds": self.search_seconds,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the systems of one unit gave; each is in one of the two."""

    answers: tuple[Answers, ...]
    failed: Mapping[str, str]
    """Reasons, by system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Some systems on one dataset: what one worker does at a time."""

    name: str
    """Of the dataset."""
    folder: Shared
    systems: tuple[str, ...]
    profiles: Mapping[str, Shared] = field(default_factory=dict)
    """Files of weight profiles, by the systems named after them."""
    plan: Plan

    def make(self, system: str, store: PoolStore | None = None) -> System:
        """A system, its profile read from where the file lies in this process.

        Raises:
            SystemUnavailableError: it cannot run here.
            ProfileError: its weight profile cannot be read.
        """
        file = self.profiles.get(system)
        if file is None:
            return make_system(system, store)
        line = HOST if system.endswith(HOST) else ""
        return make_system(f"{PREFIX}{file.path}{line}", store)

    def load(self) -> Dataset | Skipped:
        """The dataset, or why it cannot be read."""
        try:
            return load_dataset(self.folder.path, name=self.name, split=self.plan.split)
        except (WsmemError, OSError) as error:
            reason = str(error).replace(str(self.folder.path), str(self.folder.origin))
            return Skipped(system=EVERY_SYSTEM, dataset=self.name, reason=reason)

    def scored(self, dataset: Dataset) -> list[Query]:
        """The queries that are asked; those without any label that are answerable are not."""
        return [
            query
            for query in dataset.queries[: self.plan.limit]
            if dataset.relevant(query.id) or not query.answerable
        ]


def ask(work: Work) -> Asked | Skipped:
    """Ask every query of a dataset; tells which further part of them, 0 to 1, is done.

    A system that fails has no answers, and the others go on.
    """
    dataset = work.load()
    if isinstance(dataset, Skipped):
        return dataset
    scored = work.scored(dataset)
    groups = pools(dataset, scored)
    beside = other_pools(dataset, groups, most=BYSTANDERS)
    summaries = any(name.endswith(HOST) for name in work.systems)
    with PoolStore([*groups, *beside], summaries=summaries) as store:
        trial = _Trial(work, store)
        for pool in groups:
            trial.ask(pool)
            tell(len(pool.queries) / len(scored))
    return Asked(answers=trial.answers(), failed=trial.failed)


class _Trial:
    """All systems asked pool by pool, so that they can share work on a pool; counts the seconds."""

    def __init__(self, work: Work, store: PoolStore) -> None:
        self.depth = work.plan.depth
        self.alive: dict[str, System] = {}
        self.failed: dict[str, str] = {}
        self.rankings: dict[str, dict[str, list[str]]] = {name: {} for name in work.systems}
        self.injected: dict[str, dict[str, int]] = {name: {} for name in work.systems}
        self.seconds: dict[str, tuple[float, float]] = dict.fromkeys(work.systems, (0.0, 0.0))
        for name in work.systems:
            try:
                self.alive[name] = work.make(name, store)
            except WsmemError as error:
                self.failed[name] = _reason(error)

    def ask(self, pool: Pool) -> None:
        """Let every system that has not failed yet answer the pool's queries."""
        for name, system in list(self.alive.items()):
            try:
                self._ask(name, system, pool)
            except Exception as error:  # noqa: BLE001  a failing system is a result, not the end
                del self.alive[name]
                self.failed[name] = _reason(error)

    def answers(self) -> tuple[Answers, ...]:
        """What the systems gave that did not fail."""
        return tuple(
            Answers(
                system=name,
                settings=system.settings,
                rankings=self.rankings[name],
                injected=self.injected[name],
                prepare_seconds=self.seconds[name][0],
                search_seconds=self.seconds[name][1],
            )
            for name, system in self.alive.items()
        )

    def _ask(self, name: str, system: System, pool: Pool) -> None:
        begun = perf_counter()
        prepared = system.prepare(pool.entries, now=pool.now)
        ready = perf_counter()
        known = {entry.id for entry in pool.entries}
        for query in pool.queries:
            surfaced = surfaced_ids(query)
            if isinstance(prepared, Serving):
                ranked, size = prepared.serve(query.text, surfaced=surfaced)
                self.injected[name][query.id] = size
            else:
                ranked = prepared.search(query.text, limit=self.depth, surfaced=surfaced)
            if not known.issuperset(ranked):
                stranger = next(document for document in ranked if document not in known)
                raise StrangeAnswerError(query.id, stranger, pool.scope)
            self.rankings[name][query.id] = ranked
        spent_preparing, spent_searching = self.seconds[name]
        self.seconds[name] = (
            spent_preparing + ready - begun,
            spent_searching + perf_counter() - ready,
        )


def _reason(error: Exception) -> str:
    if isinstance(error, SystemUnavailableError):
        return error.reason
    return str(error) if isinstance(error, WsmemError) else f"{type(error).__name__}: {error}"
