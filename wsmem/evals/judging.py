"""Scoring what systems answered on one dataset: the same answers give the same figures anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.board import dataset_rows
from wsmem.evals.card import checksums
from wsmem.evals.entries import injected_bytes, pools
from wsmem.evals.measures import INJECTED, score
from wsmem.evals.plan import KEPT
from wsmem.evals.results import DatasetResult, QueryFacts, QueryResult, Skipped, SystemResult
from wsmem.evals.slices import slice_rows, slices_of
from wsmem.evals.systems.wsmem import WsmemSystem
from wsmem.evals.worst import explain_worst

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.asking import Answers, Work
    from wsmem.evals.dataset import Dataset, Query
    from wsmem.evals.entries import Pool
    from wsmem.evals.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A dataset all of whose systems have been asked."""

    work: Work
    """All systems of the plan that can run here."""
    answers: tuple[Answers, ...]
    """In the order of the plan, without those that failed."""
    failed: Mapping[str, str]

    @property
    def name(self) -> str:
        """Of the dataset."""
        return self.work.name


def judge(answered: Answered) -> DatasetResult | Skipped:
    """Every figure of a dataset."""
    work, plan = answered.work, answered.work.plan
    dataset = work.load()
    if isinstance(dataset, Skipped):
        return dataset
    scored = work.scored(dataset)
    facts: dict[str, QueryFacts] = {}
    sizes: dict[str, int] = {}
    for pool in pools(dataset, scored):
        facts |= _facts(dataset, pool)
        sizes |= {entry.id: injected_bytes(entry) for entry in pool.entries}
    ordered = tuple(facts[query.id] for query in scored)
    results = [
        _system_result(answers, dataset=dataset, scored=scored, sizes=sizes, plan=plan)
        for answers in answered.answers
    ]
    systems = [(result, work.make(result.system)) for result in results] if plan.worst else []
    profiles = [
        (result, system.profile) for result, system in systems if isinstance(system, WsmemSystem)
    ]
    seeds = {"seed": plan.seed, "resamples": plan.resamples}
    return DatasetResult(
        name=dataset.name,
        path=str(work.folder.origin),
        split=dataset.split,
        checksums=dataset.checksums,
        card_agrees=_card_agrees(dataset),
        documents=len(dataset.documents),
        facts=ordered,
        left_out=len(dataset.queries[: plan.limit]) - len(scored),
        systems=tuple(results),
        rows=tuple(dataset_rows(dataset.name, ordered, results, plan.measures, **seeds)),
        slices=tuple(slice_rows(dataset.name, ordered, results, plan.measures, **seeds)),
        worst=explain_worst(dataset, ordered, profiles, plan.measures, count=plan.worst),
        skipped=tuple(
            Skipped(system=name, dataset=dataset.name, reason=reason)
            for name, reason in answered.failed.items()
        ),
    )


def _system_result(
    answers: Answers,
    *,
    dataset: Dataset,
    scored: Sequence[Query],
    sizes: Mapping[str, int],
    plan: Plan,
) -> SystemResult:
    scores = score(
        answers.rankings,
        {query.id: dataset.labels[query.id] for query in scored if query.id in dataset.labels},
        plan.measures,
        nothing=[query.id for query in scored if not query.answerable],
        sizes=sizes,
        injected=answers.injected,
    )
    distinct = {query.id: tuple(dict.fromkeys(answers.rankings[query.id])) for query in scored}
    return SystemResult(
        system=answers.system,
        settings=answers.settings,
        queries={
            query: QueryResult(
                ranked=ranked[:KEPT],
                scores={str(measure): value for measure, value in scores.values[query].items()},
                bytes=answers.injected.get(
                    query, sum(sizes[document] for document in ranked[:INJECTED])
                ),
            )
            for query, ranked in distinct.items()
        },
        unanswered=len(scores.unanswered),
        prepare_seconds=answers.prepare_seconds,
        search_seconds=answers.search_seconds,
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
