"""Carrying out a plan: every system on every dataset; what fails becomes a result with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from wsmem.errors import StrangeAnswerError, SystemUnavailableError, WsmemError
from wsmem.evals.board import dataset_rows, mean_rows
from wsmem.evals.card import checksums
from wsmem.evals.entries import injected_bytes, other_pools, pools, surfaced_ids
from wsmem.evals.measures import INJECTED, score
from wsmem.evals.plan import KEPT
from wsmem.evals.reading import CORPUS, QUERIES, load_dataset
from wsmem.evals.results import (
    EVERY_SYSTEM,
    DatasetResult,
    Evaluation,
    QueryFacts,
    QueryResult,
    Skipped,
    SystemResult,
)
from wsmem.evals.slices import mean_slice_rows, slice_rows, slices_of
from wsmem.evals.systems.base import Serving
from wsmem.evals.systems.pool_store import PoolStore
from wsmem.evals.systems.registry import make_system
from wsmem.evals.systems.wsmem import HOST, WsmemSystem
from wsmem.evals.workers import open_workers, tell
from wsmem.evals.worst import explain_worst

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wsmem.errors import LostUnitError
    from wsmem.evals.catalogue import Source
    from wsmem.evals.dataset import Dataset, Query
    from wsmem.evals.entries import Pool
    from wsmem.evals.plan import Plan
    from wsmem.evals.systems.base import System

    OnProgress = Callable[[str, float], None]
    """Called with a dataset's name and which further part of it, 0 to 1, is done."""


BYSTANDERS = 32
"""How many workspaces that nobody asks about stand in the store beside those that are asked."""


def evaluate(plan: Plan, *, on_progress: OnProgress | None = None) -> Evaluation:
    """Carry out a plan.

    Datasets that cannot be read, systems that cannot run here and systems that fail are listed as
    skipped, each with its reason; the others go on. Equal plans over equal files give equal
    figures, whatever the number of processes.
    """
    started = datetime.now(UTC)
    report = on_progress or (lambda _dataset, _part: None)
    runnable, skipped = _runnable(plan.systems)
    able = replace(plan, systems=runnable)
    outcomes = _outcomes(able, report) if runnable else []
    datasets = tuple(outcome for outcome in outcomes if isinstance(outcome, DatasetResult))
    skipped += [outcome for outcome in outcomes if isinstance(outcome, Skipped)]
    skipped += [item for dataset in datasets for item in dataset.skipped]
    rows = [row for dataset in datasets for row in dataset.rows]
    means = mean_rows(rows, plan.measures) if len(datasets) > 1 else []
    slices = [row for dataset in datasets for row in dataset.slices]
    return Evaluation(
        plan=plan,
        datasets=datasets,
        rows=(*rows, *means),
        slices=(*slices, *mean_slice_rows(slices, plan.measures)),
        skipped=tuple(skipped),
        started=started,
        finished=datetime.now(UTC),
    )


def evaluate_dataset(
    source: Source, plan: Plan, on_progress: OnProgress | None = None
) -> DatasetResult | Skipped:
    """All systems of a plan on one of its datasets."""
    try:
        dataset = load_dataset(source.path, name=source.name, split=plan.split)
    except (WsmemError, OSError) as error:
        return Skipped(system=EVERY_SYSTEM, dataset=source.name, reason=str(error))
    asked = dataset.queries[: plan.limit]
    scored = [query for query in asked if dataset.relevant(query.id) or not query.answerable]
    report = on_progress or (lambda _dataset, _part: None)
    facts: dict[str, QueryFacts] = {}
    sizes: dict[str, int] = {}
    groups = pools(dataset, scored)
    beside = other_pools(dataset, groups, most=BYSTANDERS)
    summaries = any(name.endswith(HOST) for name in plan.systems)
    with PoolStore([*groups, *beside], summaries=summaries) as store:
        trial = _Trial(plan.systems, plan.depth, store)
        for pool in groups:
            trial.ask(pool)
            facts |= _facts(dataset, pool)
            sizes |= {entry.id: injected_bytes(entry) for entry in pool.entries}
            report(source.name, len(pool.queries) / len(scored))
    ordered = tuple(facts[query.id] for query in scored)
    systems = [
        _system_result(trial, system, dataset=dataset, scored=scored, sizes=sizes, plan=plan)
        for system in trial.alive
    ]
    seeds = {"seed": plan.seed, "resamples": plan.resamples}
    profiles = [
        (result, system.profile)
        for result, system in zip(systems, trial.alive, strict=True)
        if isinstance(system, WsmemSystem)
    ]
    return DatasetResult(
        name=dataset.name,
        path=str(source.path),
        split=dataset.split,
        checksums=dataset.checksums,
        card_agrees=_card_agrees(dataset),
        documents=len(dataset.documents),
        facts=ordered,
        left_out=len(asked) - len(scored),
        systems=tuple(systems),
        rows=tuple(dataset_rows(dataset.name, ordered, systems, plan.measures, **seeds)),
        slices=tuple(slice_rows(dataset.name, ordered, systems, plan.measures, **seeds)),
        worst=explain_worst(dataset, ordered, profiles, plan.measures, count=plan.worst),
        skipped=tuple(
            Skipped(system=name, dataset=dataset.name, reason=reason)
            for name, reason in trial.failed.items()
        ),
    )


class _Trial:
    """All systems asked pool by pool, so that they can share work on a pool; counts the seconds."""

    def __init__(self, names: Sequence[str], depth: int, store: PoolStore) -> None:
        self.depth = depth
        self.alive: list[System] = []
        self.failed: dict[str, str] = {}
        self.rankings: dict[str, dict[str, list[str]]] = {name: {} for name in names}
        self.injected: dict[str, dict[str, int]] = {name: {} for name in names}
        """Bytes a host is given, by system and query, of systems that render what it is given."""
        self.seconds: dict[str, tuple[float, float]] = dict.fromkeys(names, (0.0, 0.0))
        for name in names:
            try:
                self.alive.append(make_system(name, store))
            except WsmemError as error:
                self.failed[name] = _reason(error)

    def ask(self, pool: Pool) -> None:
        """Let every system that has not failed yet answer the pool's queries."""
        for system in list(self.alive):
            try:
                self._ask(system, pool)
            except Exception as error:  # noqa: BLE001  a failing system is a result, not the end
                self.alive.remove(system)
                self.failed[system.name] = _reason(error)

    def _ask(self, system: System, pool: Pool) -> None:
        begun = perf_counter()
        prepared = system.prepare(pool.entries, now=pool.now)
        ready = perf_counter()
        known = {entry.id for entry in pool.entries}
        for query in pool.queries:
            surfaced = surfaced_ids(query)
            if isinstance(prepared, Serving):
                ranked, size = prepared.serve(query.text, surfaced=surfaced)
                self.injected[system.name][query.id] = size
            else:
                ranked = prepared.search(query.text, limit=self.depth, surfaced=surfaced)
            if not known.issuperset(ranked):
                stranger = next(document for document in ranked if document not in known)
                raise StrangeAnswerError(query.id, stranger, pool.scope)
            self.rankings[system.name][query.id] = ranked
        spent_preparing, spent_searching = self.seconds[system.name]
        self.seconds[system.name] = (
            spent_preparing + ready - begun,
            spent_searching + perf_counter() - ready,
        )


def _system_result(
    trial: _Trial,
    system: System,
    *,
    dataset: Dataset,
    scored: Sequence[Query],
    sizes: Mapping[str, int],
    plan: Plan,
) -> SystemResult:
    rankings, injected = trial.rankings[system.name], trial.injected[system.name]
    scores = score(
        rankings,
        {query.id: dataset.labels[query.id] for query in scored if query.id in dataset.labels},
        plan.measures,
        nothing=[query.id for query in scored if not query.answerable],
        sizes=sizes,
        injected=injected,
    )
    prepare_seconds, search_seconds = trial.seconds[system.name]
    distinct = {query.id: tuple(dict.fromkeys(rankings[query.id])) for query in scored}
    return SystemResult(
        system=system.name,
        settings=system.settings,
        queries={
            query: QueryResult(
                ranked=ranked[:KEPT],
                scores={str(measure): value for measure, value in scores.values[query].items()},
                bytes=injected.get(query, sum(sizes[document] for document in ranked[:INJECTED])),
            )
            for query, ranked in distinct.items()
        },
        unanswered=len(scores.unanswered),
        prepare_seconds=prepare_seconds,
        search_seconds=search_seconds,
    )


def _facts(dataset: Dataset, pool: Pool) -> dict[str, QueryFacts]:
    size = sum(entry.recallable for entry in pool.entries)
    return {
        query.id: QueryFacts(
            id=query.id,
            text=query.text,
            scope=query.scope,
            answerable=query.answerable,
            relevant=dataset.relevant(query.id),
            slices=slices_of(query, scope_size=size),
        )
        for query in pool.queries
    }


def _card_agrees(dataset: Dataset) -> bool | None:
    return None if dataset.card is None else dataset.card.checksums == checksums(dataset.path)


def _runnable(names: Sequence[str]) -> tuple[tuple[str, ...], list[Skipped]]:
    """Systems that can run here; the others are skipped once, not on every dataset again."""
    runnable, skipped = [], []
    for name in names:
        try:
            make_system(name)
        except SystemUnavailableError as error:
            skipped.append(Skipped(system=name, dataset=None, reason=error.reason))
        else:
            runnable.append(name)
    return tuple(runnable), skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """What one worker does at a time: all systems on one dataset."""

    place: int
    """Of the dataset in the plan."""
    plan: Plan

    @property
    def source(self) -> Source:
        return self.plan.sources[self.place]

    @property
    def name(self) -> str:
        return self.source.name


def _outcomes(plan: Plan, report: OnProgress) -> list[DatasetResult | Skipped]:
    """Results in the order of the plan."""
    # The longest first, so that no process is left alone with it at the end.
    places = range(len(plan.sources))
    order = sorted(places, key=lambda place: _work(plan.sources[place]), reverse=True)
    units = [_Unit(place=place, plan=plan) for place in order]
    done = [0.0] * len(units)

    def on_told(number: int, part: float) -> None:
        done[number] += part
        report(units[number].name, part)

    def on_lost(number: int, error: LostUnitError) -> DatasetResult | Skipped:
        return Skipped(system=EVERY_SYSTEM, dataset=units[number].name, reason=str(error))

    found: dict[int, DatasetResult | Skipped] = {}
    with open_workers(jobs=plan.jobs) as workers:
        for number, outcome in workers.unordered(
            _evaluate_unit, units, on_told=on_told, on_lost=on_lost
        ):
            found[units[number].place] = outcome
            report(units[number].name, 1.0 - done[number])
    return [found[place] for place in places]


def _evaluate_unit(unit: _Unit) -> DatasetResult | Skipped:
    return evaluate_dataset(unit.source, unit.plan, lambda _dataset, part: tell(part))


def _work(source: Source) -> int:
    """About how long a dataset takes: what is searched, times how often."""
    sizes = [(source.path / file) for file in (CORPUS, QUERIES)]
    corpus, queries = (path.stat().st_size if path.is_file() else 0 for path in sizes)
    return corpus + 8 * queries


def _reason(error: Exception) -> str:
    if isinstance(error, SystemUnavailableError):
        return error.reason
    return str(error) if isinstance(error, WsmemError) else f"{type(error).__name__}: {error}"
