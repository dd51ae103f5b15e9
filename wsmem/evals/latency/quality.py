"""What an answer is worth when it is cut short: nDCG@10 of recalls under deadlines.

Workspaces of labelled sets are padded with synthetic entries, spread evenly over the time in which
their own entries were changed, so that a recall has work to do and what is newest is not only
theirs. Every query is asked under every deadline, and once without one; what the host then holds
in its hands is scored, whole, partial or empty.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wsmem.engine.chains import rings_in
from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.evals.entries import pools, surfaced_ids
from wsmem.evals.intervals import Resampler
from wsmem.evals.latency.contestants import outcome_of
from wsmem.evals.latency.figures import ALL
from wsmem.evals.latency.plan import STATES
from wsmem.evals.latency.states import settle
from wsmem.evals.latency.stores import CWD
from wsmem.evals.measures import Measure, score
from wsmem.evals.reading import load_dataset
from wsmem.evals.synthetic import synthetic_entries
from wsmem.evals.systems.pool_store import UNBOUNDED, UnsyncedFiles
from wsmem.records import RecallInput
from wsmem.scopes import GLOBAL, workspace_scope
from wsmem.settings import Settings
from wsmem.store.layout import iso_time
from wsmem.store.postings_writing import SETTLED_S
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wsmem.evals.dataset import Query
    from wsmem.evals.entries import Pool
    from wsmem.evals.latency.figures import Outcome
    from wsmem.evals.latency.plan import LatencyPlan, State
    from wsmem.records import MemoryEntry

MEASURE = "nDCG@10"
DEPTH = 10
WARM: State = "warm"
FRESH: State = "fresh"
UNFILED: State = "fresh-unfiled"
"""States in which it is measured, see `wsmem.evals.latency.plan.State`."""
_FRESH_SHARE, _UNFILED_SHARE = 4, 12
"""One of so many queries is asked with a fresh engine; without postings it reads the whole store
each time."""
_REST_S = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What a host held in its hands for one query under one deadline."""

    dataset: str
    query: str
    scope: str | None
    state: State
    deadline_ms: float
    """Infinite where the recall had all the time it wanted."""
    ms: float
    outcome: Outcome
    ndcg: float


def measure_quality(
    plan: LatencyPlan, folders: Mapping[str, Path], size: int, *, report: Callable[[str], None]
) -> list[Cut]:
    """Ask the queries of labelled sets in stores of `size` entries.

    Args:
        plan: Deadlines, queries of each workspace, split, seed.
        folders: The sets by name.
        size: Entries of each workspace's store, its own included.
        report: Told the name of each set that is done.

    Raises:
        DatasetError: a set cannot be read.
    """
    padding = synthetic_entries(size, seed=plan.seed)
    cuts: list[Cut] = []
    for name, folder in folders.items():
        dataset = load_dataset(folder, name=name, split=plan.split)
        scored = [query for query in dataset.queries if dataset.relevant(query.id)]
        for number, pool in enumerate(pools(dataset, scored)):
            asked = _spread(pool.queries, plan.asked)
            padded = replace(
                pool,
                entries=(*pool.entries, *_padding(pool, padding, size, seed=plan.seed + number)),
                queries=asked,
            )
            with tempfile.TemporaryDirectory(prefix="wsmem-latency-") as root:
                answered = asyncio.run(_ask(plan, padded, Path(root)))
            cuts += _scored(name, padded, answered, dataset.labels)
        report(name)
    return cuts


def _spread(queries: Sequence[Query], most: int) -> tuple[Query, ...]:
    """At most so many queries, evenly out of all."""
    step = max(1.0, len(queries) / most)
    return tuple(queries[int(at * step)] for at in range(min(most, len(queries))))


def _padding(
    pool: Pool, synthetic: Sequence[MemoryEntry], size: int, *, seed: int
) -> Iterator[MemoryEntry]:
    """Entries of other text that make the pool as large as `size`, dated as its own are."""
    dates = [_milliseconds(entry.updated_at) for entry in pool.entries if entry.updated_at]
    oldest, newest = min(dates, default=pool.now), max(dates, default=pool.now)
    random = np.random.default_rng(seed)
    for entry in synthetic[: max(0, size - len(pool.entries))]:
        when = iso_time(int(random.integers(oldest, newest + 1)))
        yield replace(entry, created_at=when, updated_at=when)


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).astimezone(UTC).timestamp() * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    state: State
    deadline_ms: float
    ms: float
    ids: tuple[str, ...]
    outcome: Outcome


async def _ask(plan: LatencyPlan, pool: Pool, root: Path) -> list[tuple[Query, _Answer]]:
    """Every query under every deadline; the one without an end is asked with a warm engine."""
    store = MemoryStore(root, fs=UnsyncedFiles(), clock=lambda: pool.now)
    scope = workspace_scope(CWD)
    with store.transaction(GLOBAL, scope) as transaction:
        transaction.set_entries(GLOBAL, [e for e in pool.entries if e.scope == "global"])
        transaction.set_entries(scope, [e for e in pool.entries if e.scope != "global"])
    written = time.monotonic()
    settings = Settings(memory_dir=str(root))
    answers: list[tuple[Query, _Answer]] = []
    async with WorkspaceMemoryEngine(settings, clock=lambda: pool.now) as engine:
        await engine.warm(cwd=CWD)
        for query in pool.queries:
            for deadline in (math.inf, *plan.cuts):
                answer = await _recall(engine, query, WARM, deadline)
                answers.append((query, answer))
                if answer.outcome != "whole":  # what came late is still at work
                    await asyncio.sleep(_REST_S)
    await asyncio.sleep(written + SETTLED_S - time.monotonic())
    store.write_postings(scope, rings_of=rings_in)
    without = replace(settings, postings="off")
    for state, share, chosen in (
        (FRESH, _FRESH_SHARE, settings),
        (UNFILED, _UNFILED_SHARE, without),
    ):
        for query in pool.queries[::share]:
            for deadline in plan.cuts:
                async with WorkspaceMemoryEngine(chosen, clock=lambda: pool.now) as engine:
                    answers.append((query, await _recall(engine, query, state, deadline)))
                await asyncio.to_thread(settle)
    return answers


async def _recall(
    engine: WorkspaceMemoryEngine, query: Query, state: State, deadline_ms: float
) -> _Answer:
    request = RecallInput(
        query=query.text,
        cwd=CWD,
        limit=DEPTH,
        max_bytes=UNBOUNDED,
        deadline_ms=deadline_ms,
        surfaced_ids=surfaced_ids(query),
    )
    started = time.perf_counter()
    context = await engine.recall(request)
    spent = (time.perf_counter() - started) * 1000
    ids = tuple(match.id for match in context.matches)
    return _Answer(
        state=state, deadline_ms=deadline_ms, ms=spent, ids=ids, outcome=outcome_of(context)
    )


def _scored(
    dataset: str,
    pool: Pool,
    answers: Sequence[tuple[Query, _Answer]],
    labels: Mapping[str, Mapping[str, int]],
) -> Iterator[Cut]:
    measure = Measure.parse(MEASURE)
    by_case: dict[tuple[State, float], dict[str, _Answer]] = {}
    for query, answer in answers:
        by_case.setdefault((answer.state, answer.deadline_ms), {})[query.id] = answer
    for (state, deadline), found in by_case.items():
        rankings = {query: answer.ids for query, answer in found.items()}
        values = score(rankings, {query: labels[query] for query in found}, [measure]).values
        for query_id, answer in found.items():
            yield Cut(
                dataset=dataset,
                query=query_id,
                scope=pool.scope,
                state=state,
                deadline_ms=deadline,
                ms=answer.ms,
                outcome=answer.outcome,
                ndcg=values[query_id][measure] or 0.0,
            )


def quality_rows(cuts: Sequence[Cut], *, entries: int, seed: int) -> Iterator[dict[str, Any]]:
    """Figures by state and deadline, of all sets together and of each.

    `ndcg` is the mean under the deadline, `loss` what the same queries lose against a recall
    without one (paired, so its interval is narrower), `kept` the share of it that is kept. All
    intervals draw workspaces, since queries of one workspace share its entries.
    """
    whole = {(c.dataset, c.query): c.ndcg for c in cuts if math.isinf(c.deadline_ms)}
    datasets = tuple(dict.fromkeys(cut.dataset for cut in cuts))
    for dataset in (ALL, *(datasets if len(datasets) > 1 else ())):
        here = [cut for cut in cuts if dataset in (ALL, cut.dataset)]
        ordered = sorted(here, key=lambda cut: (STATES.index(cut.state), cut.deadline_ms))
        for (state, deadline), group in groupby(ordered, lambda c: (c.state, c.deadline_ms)):
            yield {
                "entries": entries,
                "dataset": dataset,
                "state": state,
                "deadline_ms": None if math.isinf(deadline) else deadline,
                **_figures(list(group), whole, seed=seed),
            }


def _figures(
    cuts: Sequence[Cut], whole: Mapping[tuple[str, str], float], *, seed: int
) -> dict[str, Any]:
    before = np.array([whole[cut.dataset, cut.query] for cut in cuts])
    after = np.array([cut.ndcg for cut in cuts])
    scopes = [None if cut.scope is None else f"{cut.dataset} {cut.scope}" for cut in cuts]
    columns = np.column_stack([after, before - after])
    ndcg, loss = Resampler(scopes, seed=(seed,)).intervals(columns)
    outcomes = Counter(cut.outcome for cut in cuts)
    over = [cut.ms - cut.deadline_ms for cut in cuts if cut.ms > cut.deadline_ms]
    total = float(before.sum())
    return {
        "n": len(cuts),
        "ndcg": _rounded(ndcg.value),
        "ndcg_low": _rounded(ndcg.low),
        "ndcg_high": _rounded(ndcg.high),
        "loss": _rounded(loss.value),
        "loss_low": _rounded(loss.low),
        "loss_high": _rounded(loss.high),
        "kept": _rounded(float(after.sum()) / total) if total else None,
        **{outcome: outcomes[outcome] for outcome in ("whole", "partial", "empty")},
        "over": len(over),
        "most_over_ms": round(max(over, default=0.0), 3),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
