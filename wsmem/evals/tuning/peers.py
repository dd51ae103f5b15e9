"""What tuned weights are measured against: the reference and BM25, scored by `wsmem eval`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wsmem.evals.evaluate import evaluate
from wsmem.evals.plan import Plan
from wsmem.evals.systems import bm25

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.catalogue import Source
    from wsmem.evals.evaluate import OnProgress
    from wsmem.evals.ledger import Ledger
    from wsmem.evals.results import SystemResult
    from wsmem.evals.tuning.cached import Floats

REFERENCE = "wsmem:reference"
VARIANTS = tuple(
    bm25.variant_name(method, k1=k1, b=b)
    for method in bm25.METHODS
    for k1 in ((0.9, 1.2, 1.5) if method == bm25.METHOD else (bm25.K1,))
    for b in ((0.4, 0.75, 0.9) if method == bm25.METHOD else (bm25.B,))
)
"""BM25 over our terms: one method with parameters all round, the others with the usual ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerScores:
    """One system on one set, by query id."""

    ndcg: Mapping[str, float | None]
    false_recall: float | None
    """`None` for a set without queries that should recall nothing."""

    @property
    def mean(self) -> float:
        """Mean nDCG over the judged queries."""
        return float(np.mean([value for value in self.ndcg.values() if value is not None]))

    def of(self, queries: Iterable[str]) -> Floats:
        """Values in an order of queries; NaN where there is none."""
        values = [self.ndcg[query] for query in queries]
        return np.array([np.nan if value is None else value for value in values])


def score_peers(
    sources: Sequence[Source],
    *,
    systems: Sequence[str],
    split: str | None,
    k: int,
    jobs: int,
    cluster: str | None,
    limit: int | None,
    ledger: Ledger | None,
    on_progress: OnProgress | None = None,
) -> dict[str, dict[str, PeerScores]]:
    """Scores by set and system; a system that could not be scored on a set is absent there."""
    measures = (f"nDCG@{k}", "FalseRecall")
    plan = Plan.of(
        sources,
        systems=systems,
        measures=measures,
        split=split,
        limit=limit,
        jobs=jobs,
        cluster=cluster,
    )
    found = evaluate(plan, on_progress=on_progress, ledger=ledger)
    return {
        dataset.name: {system.system: _scores(system, *measures) for system in dataset.systems}
        for dataset in found.datasets
    }


def _scores(system: SystemResult, ndcg: str, false_recall: str) -> PeerScores:
    shares = [result.scores[false_recall] for result in system.queries.values()]
    known = [share for share in shares if share is not None]
    return PeerScores(
        ndcg={query: result.scores[ndcg] for query, result in system.queries.items()},
        false_recall=float(np.mean(known)) if known else None,
    )
