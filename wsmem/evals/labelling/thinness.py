"""How thin the labels are: how much of what systems return was judged, and what that does.

`Judged@k` and the unjudged rate count results with and without a grade; `Bpref` (Buckley and
Voorhees, 2004) compares judged results only, so that thin labels harm it less than nDCG.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.labelling.folder import open_folder
from wsmem.evals.labelling.pooling import rank_all
from wsmem.evals.measures import Measure, score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SCORED_TO = 100
"""Ranks that Bpref looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinness:
    """One system's results against the labels there are."""

    system: str
    judged: float | None
    """Mean over queries of the share of the first `k` that has a grade; `None` without results."""
    unjudged: float | None
    """Share of all first-`k` results that has none."""
    bpref: float | None
    ndcg: float | None
    """At `k`; unjudged results count as not relevant there."""
    queries: int
    """With a relevant entry, which the last two are means over."""


def thinness(path: Path, *, systems: Sequence[str] = (), k: int = 10) -> list[Thinness]:
    """Look at the systems of the pool, or at others, whose results were never pooled.

    Raises:
        DatasetError: it is no labelling folder.
        UnknownNameError: there is no such system.
    """
    folder = open_folder(path)
    dataset = folder.dataset
    names = systems or folder.settings.systems
    rankings = rank_all(dataset, dataset.queries, names, depth=max(k, _SCORED_TO))
    labels = {query.id: dataset.labels.get(query.id, {}) for query in dataset.queries}
    bpref, ndcg = Measure.parse("Bpref"), Measure.parse(f"nDCG@{k}")
    rows = []
    for name, ranked in rankings.by_system.items():
        shares = [
            [document in labels[query] for document in found[:k]]
            for query, found in ranked.items()
            if found
        ]
        results = [judged for share in shares for judged in share]
        scores = score(ranked, labels, [bpref, ndcg])
        rows.append(
            Thinness(
                system=name,
                judged=_mean([sum(share) / len(share) for share in shares]),
                unjudged=_mean([float(not judged) for judged in results]),
                bpref=scores.mean(bpref),
                ndcg=scores.mean(ndcg),
                queries=len(scores.values),
            )
        )
    return rows


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
