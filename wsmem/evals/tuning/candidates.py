"""The candidates of a labelled set with all their signals, computed once for any weights.

The engine's own `candidates()` is asked for every query, over the pool and at the clock that
`wsmem eval` uses, with no evidence threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wsmem.evals.entries import pools, surfaced_ids
from wsmem.evals.reading import DEFAULT_SPLIT, QRELS, load_dataset
from wsmem.evals.tuning.cached import CachedSet
from wsmem.records import Match
from wsmem.retrieval.index import Index
from wsmem.retrieval.order import in_order
from wsmem.retrieval.profile import Profile
from wsmem.retrieval.ranking import candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from wsmem.evals.catalogue import Source
    from wsmem.evals.dataset import Dataset, Query
    from wsmem.evals.entries import Pool
    from wsmem.evals.tuning.cached import Ints

DEVELOPMENT = "dev"
"""The label file that is tuned on where a set has it; `test` of such a set is for final figures."""


def tuning_split(folder: Path) -> str | None:
    """The split of a set that may be tuned on: `dev` where there is one, else its usual one."""
    return DEVELOPMENT if (folder / QRELS / f"{DEVELOPMENT}.tsv").is_file() else None


def final_split(folder: Path) -> str | None:
    """The split of a set that has `dev` beside it and is for final figures; `None` without."""
    both = tuning_split(folder) and (folder / QRELS / f"{DEFAULT_SPLIT}.tsv").is_file()
    return DEFAULT_SPLIT if both else None


def read_set(
    source: Source, *, split: str | None, signals: Sequence[str], limit: int | None = None
) -> CachedSet:
    """Compute what is cached: every signal of every candidate of every scored query."""
    dataset = load_dataset(source.path, name=source.name, split=split)
    asked = dataset.queries[:limit]
    scored = [query for query in asked if dataset.relevant(query.id) or not query.answerable]
    reading = _Reading(dataset, tuple(signals))
    for pool in pools(dataset, scored):
        reading.take(pool)
    return reading.finished(scored)


class _Reading:
    """Collects the candidates of a set pool by pool, and puts its queries in order at the end."""

    def __init__(self, dataset: Dataset, signals: tuple[str, ...]) -> None:
        self.dataset, self.signals = dataset, signals
        # Weights do not matter; without a threshold every entry with any evidence is a candidate.
        self._all = Profile(name="all candidates", weights={}, evidence_share=0.0)
        self._rows: dict[str, dict[str, npt.NDArray[Any]]] = {}
        self._masses: dict[str, tuple[float, float]] = {}

    def take(self, pool: Pool) -> None:
        index = Index.build(pool.entries)
        ties = _tie_places(index, self._all)
        for query in pool.queries:
            found = candidates(
                index,
                query.text,
                self._all,
                now=pool.now,
                surfaced=surfaced_ids(query),
                wanted=self.signals,
            )
            labels = self.dataset.labels.get(query.id, {})
            ids = [index.entry(at).id for at in found.documents.tolist()]
            self._masses[query.id] = (found.total_evidence, found.greatest_mass)
            self._rows[query.id] = {
                "evidence": found.evidence,
                "ties": ties[found.documents],
                "grades": np.array([max(0, labels.get(name, 0)) for name in ids], np.int64),
                # As in `weigh`: what is not a number counts as 0 under terms matching.
                **{name: np.nan_to_num(found.signals[name]) for name in self.signals},
            }

    def finished(self, queries: Sequence[Query]) -> CachedSet:
        rows = [self._rows[query.id] for query in queries]
        masses = np.array([self._masses[query.id] for query in queries]).reshape(-1, 2)
        labels = [
            sorted(self.dataset.relevant(query.id).values(), reverse=True) for query in queries
        ]
        columns = {name: _joined([row[name] for row in rows], np.float64) for name in self.signals}
        return CachedSet(
            name=self.dataset.name,
            split=self.dataset.split,
            checksums=self.dataset.checksums,
            signals=self.signals,
            queries=tuple(query.id for query in queries),
            scopes=tuple(query.scope for query in queries),
            nothing=np.array([not query.answerable for query in queries], dtype=np.bool_),
            totals=masses[:, 0],
            greatest=masses[:, 1],
            starts=_starts([len(row["evidence"]) for row in rows]),
            evidence=_joined([row["evidence"] for row in rows], np.float64),
            ties=_joined([row["ties"] for row in rows], np.int64),
            grades=_joined([row["grades"] for row in rows], np.int64),
            columns={name: column for name, column in columns.items() if column.any()},
            label_starts=_starts([len(grades) for grades in labels]),
            labels=np.array([grade for grades in labels for grade in grades], dtype=np.int64),
        )


def _tie_places(index: Index, profile: Profile) -> Ints:
    """Where each entry of an index stands when scores decide nothing: the engine's own order."""
    at = {id(entry): place for place, entry in enumerate(index.entries)}
    equal = [Match(entry=entry, score=0.0, matched=0) for entry in index.entries]
    places = np.empty(len(equal), dtype=np.int64)
    order = [at[id(match.entry)] for match in in_order(equal, profile)]
    places[order] = np.arange(len(order))
    return places


def _joined(parts: Iterable[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)


def _starts(sizes: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
