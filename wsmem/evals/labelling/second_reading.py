"""A second labeller's grades beside the labels of a set: how far the two agree, what was settled.

`second_labels.jsonl` holds one judged pair a line: its `query` and `document`, the `grade` of the
second labeller, whether the document was `pooled` by a system or found by skimming titles, and the
label that stood in qrels before the two were compared (`first`, null where there was none); where
the two differ, a `note` says what was settled and why.
Agreement is measured on pooled pairs only, against `first`: skimming adds just what the second
labeller thinks relevant, and qrels were corrected where the two readings were settled.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.errors import DatasetError
from wsmem.evals.labelling.agreement import groups_of, kappa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from wsmem.evals.dataset import Query
    from wsmem.evals.labelling.agreement import Weights

FILE = "second_labels.jsonl"
GRADES = 3
RESAMPLES = 2000
LEAST_QUERIES = 20
"""Groups with fewer queries in the sample are not listed: their interval says nothing."""


class Judged(NamedTuple):
    """One pair as the second labeller saw it."""

    query: str
    document: str
    grade: int
    pooled: bool
    first: int | None
    note: str = ""


class Kappa(NamedTuple):
    """Cohen's kappa with a 95 % interval; `None` where chance alone explains everything."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "-"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


class Row(NamedTuple):
    """Agreement over some of the queries."""

    name: str
    pairs: int
    queries: int
    agreed: float
    """Share of pairs with the same grade."""
    plain: Kappa
    quadratic: Kappa
    binary: Kappa
    """Of relevant (1 or 2) against not relevant."""


class Settled(NamedTuple):
    """What became of the pairs on which the two differed, pooled or not."""

    differed: int
    changed: int
    """Their label in qrels is no longer the first one."""
    unseen: int
    """Relevant by qrels, of a query in the sample, and neither pooled nor found by skimming."""


def read_judged(folder: Path) -> list[Judged]:
    """The second labels of a set, in file order.

    Raises:
        DatasetError: there are none, or a line is not one.
    """
    path = folder / FILE
    if not path.is_file():
        raise DatasetError(str(path), None, "there are no second labels", "name a set with them")
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        return [Judged(**json.loads(line)) for line in lines]
    except (TypeError, ValueError) as error:
        remedy = "give every line query, document, grade, pooled and first"
        raise DatasetError(str(path), None, str(error), remedy) from error


def tables_of(judged: Iterable[Judged]) -> dict[str, NDArray[np.int64]]:
    """By query, how often each first grade (row) met each second one (column) in its pool."""
    tables: dict[str, NDArray[np.int64]] = defaultdict(
        lambda: np.zeros((GRADES, GRADES), dtype=np.int64)
    )
    for pair in judged:
        if pair.pooled and pair.first is not None:
            tables[pair.query][pair.first, pair.grade] += 1
    return dict(tables)


def agreement(name: str, tables: Sequence[NDArray[np.int64]], *, seed: int = 0) -> Row:
    """Agreement over the tables of some queries, at least one."""
    stacked = np.stack(tables)
    total = stacked.sum(axis=0)
    return Row(
        name=name,
        pairs=int(total.sum()),
        queries=len(tables),
        agreed=float(np.trace(total) / total.sum()),
        plain=_kappa(stacked, "none", seed),
        quadratic=_kappa(stacked, "quadratic", seed),
        binary=_kappa(_relevant_or_not(stacked), "none", seed),
    )


def _kappa(tables: NDArray[np.int64], weights: Weights, seed: int) -> Kappa:
    """The interval resamples queries, because the pairs of one query are judged together."""
    count = len(tables)
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, size=RESAMPLES)
    values = [kappa(table, weights=weights) for table in np.tensordot(draws, tables, 1).tolist()]
    known = [value for value in values if value is not None]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (None, None)
    return Kappa(kappa(tables.sum(axis=0).tolist(), weights=weights), low, high)


def _relevant_or_not(tables: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same counts with grades 1 and 2 taken together."""
    return np.add.reduceat(np.add.reduceat(tables, [0, 1], axis=1), [0, 1], axis=2)


def by_slice(tables: Mapping[str, NDArray[np.int64]], queries: Mapping[str, Query]) -> list[Row]:
    """Agreement in every language, kind and slice that enough queries of the sample belong to."""
    groups: defaultdict[str, list[NDArray[np.int64]]] = defaultdict(list)
    for query, table in tables.items():
        for name in groups_of(queries.get(query)):
            groups[name].append(table)
    return [
        agreement(name, found)
        for name, found in sorted(groups.items())
        if len(found) >= LEAST_QUERIES
    ]


def settled(judged: Sequence[Judged], labels: Mapping[tuple[str, str], int]) -> Settled:
    """How the differences were settled, from the labels as they are now.

    A pair without a first label counts as not relevant in it.
    """
    differed = [pair for pair in judged if (pair.first or 0) != pair.grade]
    changed = sum(
        labels.get((pair.query, pair.document), 0) != (pair.first or 0) for pair in judged
    )
    seen = {(pair.query, pair.document) for pair in judged}
    asked = {pair.query for pair in judged}
    unseen = sum(
        grade > 0 and pair[0] in asked and pair not in seen for pair, grade in labels.items()
    )
    return Settled(len(differed), changed, unseen)


def in_words(row: Row, outcome: Settled) -> str:
    """The agreement on a set as its card says it."""
    return (
        f"{row.pairs} pooled pairs of {row.queries} queries judged by two labellers: same grade "
        f"{row.agreed:.1%}, Cohen's kappa {row.plain}, with quadratic weights {row.quadratic}, of "
        f"relevant or not {row.binary}; 95 % intervals by resampling queries. With what the second "
        f"found by skimming they differed on {outcome.differed} pairs, of which {outcome.changed} "
        f"had their label changed; {outcome.unseen} relevant pairs the second never looked at."
    )
