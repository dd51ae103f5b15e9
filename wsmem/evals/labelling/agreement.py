"""How far two labellers agree beyond chance: Cohen's kappa, plain and weighted.

Weighted kappa counts how far apart two grades are: by the distance (linear) or its square
(quadratic; Cohen, 1968), so that 1 against 2 weighs less than 0 against 2.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from wsmem.evals.labelling.judgements import GRADES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from wsmem.evals.dataset import Query
    from wsmem.evals.labelling.judgements import PairKey

Weights = Literal["none", "linear", "quadratic"]
RESAMPLES = 2000
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over some of the pairs that both labellers judged."""

    slice: str
    pairs: int
    queries: int
    agreed: float
    """Share of pairs with the same grade."""
    kappa: float | None
    """`None` where both gave one and the same grade throughout: agreement is all chance then."""
    linear: float | None
    quadratic: float | None
    low: float | None = None
    """Of the plain kappa, 95 %, by resampling queries; `None` below two queries."""
    high: float | None = None


def agreements(
    first: Mapping[PairKey, int],
    second: Mapping[PairKey, int],
    queries: Mapping[str, Query],
    *,
    seed: int = 0,
) -> list[Agreement]:
    """Agreement overall, then for every language, kind and slice of queries.

    Only pairs that both judged count; empty when there are none.
    """
    tables: dict[str, NDArray[np.int64]] = {}
    for pair in first.keys() & second.keys():
        table = tables.setdefault(pair.query, _empty())
        table[first[pair], second[pair]] += 1
    if not tables:
        return []
    members: defaultdict[str, list[str]] = defaultdict(list)
    for query_id in sorted(tables):
        for name in groups_of(queries.get(query_id)):
            members[name].append(query_id)
    # Sorted, since pairs come out of a set: the draws of the interval meet queries in their order.
    overall = _agreement(ALL, [tables[query] for query in sorted(tables)], seed=seed)
    return [
        overall,
        *(
            _agreement(name, [tables[query] for query in found], seed=seed)
            for name, found in sorted(members.items())
        ),
    ]


def groups_of(query: Query | None) -> list[str]:
    """The groups a query is counted in, as `lang:zh`, `kind:question`, `slice:typo`."""
    if query is None:
        return []
    named = [("lang", query.lang), ("kind", query.kind), *(("slice", s) for s in query.slices)]
    return [f"{dimension}:{name}" for dimension, name in named if name]


def kappa(table: Sequence[Sequence[int]], *, weights: Weights = "none") -> float | None:
    """Cohen's kappa of a square table of counts; `None` when chance alone explains everything."""
    value = _kappas(np.asarray(table, dtype=np.float64)[None], weights)[0]
    return None if np.isnan(value) else float(value)


def _agreement(name: str, tables: list[NDArray[np.int64]], *, seed: int) -> Agreement:
    together = np.sum(tables, axis=0)
    low, high = _interval(np.stack(tables), seed)
    return Agreement(
        slice=name,
        pairs=int(together.sum()),
        queries=len(tables),
        agreed=float(np.trace(together) / together.sum()),
        kappa=kappa(together.tolist()),
        linear=kappa(together.tolist(), weights="linear"),
        quadratic=kappa(together.tolist(), weights="quadratic"),
        low=low,
        high=high,
    )


def _interval(tables: NDArray[np.int64], seed: int) -> tuple[float | None, float | None]:
    """Percentiles over resampled queries: pairs of one query are judged together."""
    count = len(tables)
    if count < 2:
        return None, None
    draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, size=RESAMPLES)
    sums = np.tensordot(draws, tables, axes=1).astype(np.float64)
    values = _kappas(sums, "none")
    known = values[~np.isnan(values)]
    if not known.size:
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _kappas(tables: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """One value a table: 1 - observed over expected disagreement."""
    size = tables.shape[-1]
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}
    totals = tables.sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    observed = (tables * cost[weights]).sum(axis=(1, 2)) * totals
    expected = np.einsum("bi,bj,ij->b", rows, columns, cost[weights])
    undefined = np.full_like(expected, np.nan)
    ratio: NDArray[np.float64] = np.divide(observed, expected, out=undefined, where=expected > 0)
    return 1 - ratio


def _empty() -> NDArray[np.int64]:
    return np.zeros((len(GRADES), len(GRADES)), dtype=np.int64)


def in_words(found: Iterable[Agreement], first: str, second: str) -> str | None:
    """The overall agreement as a card says it; `None` when nothing was judged twice."""
    overall = next((item for item in found if item.slice == ALL), None)
    if overall is None:
        return None
    said = [f"{overall.pairs} pairs of {overall.queries} queries judged by {first} and {second}"]
    if overall.kappa is not None:
        interval = "" if overall.low is None else f" ({overall.low:.2f} to {overall.high:.2f})"
        said.append(f"Cohen's kappa {overall.kappa:.2f}{interval}")
    if overall.quadratic is not None:
        said.append(f"quadratic weights {overall.quadratic:.2f}")
    return ", ".join([*said, f"same grade {overall.agreed:.0%}"])
