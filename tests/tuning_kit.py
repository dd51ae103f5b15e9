"""Cached sets of random candidates, for the tests of the tuner."""

from __future__ import annotations

import numpy as np

from wsmem.evals.tuning.cached import CachedSet
from wsmem.evals.tuning.duels import Duels, make_duels, stacked

SIGNS = {"coverage": 1, "pairs": 1, "recency": 0, "surfaced": -1}


def drawn_set(seed: int, *, name: str = "drawn", queries: int = 4, most: int = 25) -> CachedSet:
    """A cached set with coarse values, so that ties and dominated candidates are common."""
    random = np.random.default_rng(seed)
    sizes = random.integers(0, most, queries)
    rows = int(sizes.sum())
    grades = random.choice([0, 0, 0, 1, 2], rows)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    nothing = random.random(queries) < 0.25
    labels: list[list[int]] = []
    for query in range(queries):
        span = slice(starts[query], starts[query + 1])
        if nothing[query]:
            grades[span] = 0
        found = sorted([int(grade) for grade in grades[span] if grade], reverse=True)
        # A relevant document that no search finds keeps even an empty query judged.
        labels.append([] if nothing[query] else sorted([*found, 1], reverse=True))
    totals = random.uniform(0.5, 4, queries)
    evidence = random.choice([0.25, 0.5, 1.0], rows) * np.repeat(totals, sizes)
    return CachedSet(
        name=name,
        split="dev",
        checksums={},
        signals=tuple(SIGNS),
        queries=tuple(f"q{at}" for at in range(queries)),
        scopes=(None,) * queries,
        nothing=nothing,
        totals=totals,
        greatest=random.uniform(0.5, 2, queries),
        starts=starts,
        evidence=evidence,
        ties=np.concatenate([np.empty(0, np.int64), *(random.permutation(n) for n in sizes)]),
        grades=grades,
        columns={name: random.choice([0.0, 0.25, 0.5, 1.0], rows) for name in SIGNS},
        label_starts=np.concatenate([[0], np.cumsum([len(each) for each in labels])]),
        labels=np.array([grade for each in labels for grade in each], dtype=np.int64),
    )


def drawn_duels(*names: str, queries: int = 30) -> Duels:
    """The duels of several such sets, weights of known signs."""
    signs = SIGNS | {"recency": 1}
    return stacked(
        [
            make_duels(drawn_set(seed, name=name, queries=queries), signs)
            for seed, name in enumerate(names or ("a-zh", "a-en", "b", "c"))
        ]
    )
