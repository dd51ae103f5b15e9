"""What the found weights are worth: exact scores on sets they have not seen, beside the peers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wsmem.evals.comparison import ALPHA, Comparison, Pairing, Side, compare
from wsmem.evals.systems.bm25 import is_variant
from wsmem.evals.tuning.cached import score_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.tuning.cached import CachedSet
    from wsmem.evals.tuning.peers import PeerScores
    from wsmem.retrieval.profile import Profile

Part = Literal["validation", "final"]
"""`validation`: the split that is tuned on, by weights of a search that did not see the set.
`final`: the test split of a set with a split of its own for tuning, opened by name."""

HELD_OUT, TUNED = "held-out", "tuned"
"""The weights of the search without the set's group, and those of the search on all sets."""
MEAN = "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFigures:
    """Every system's nDCG on one split of one set, query by query."""

    dataset: str
    split: str
    part: Part
    queries: tuple[str, ...]
    """The judged ones."""
    scopes: tuple[str | None, ...]
    ndcg: Mapping[str, tuple[float, ...]]
    """By system, in the order of the queries."""
    false_recall: Mapping[str, float | None]
    nothing: int
    """How many queries should recall nothing."""

    def mean(self, system: str) -> float | None:
        """A system's mean; `None` where it was not scored."""
        values = self.ndcg.get(system)
        return None if not values else math.fsum(values) / len(values)


def set_figures(
    cached: CachedSet,
    profiles: Mapping[str, Profile],
    peers: Mapping[str, PeerScores],
    *,
    part: Part,
    k: int,
) -> SetFigures:
    """Score profiles on a cached set, and put what peers got beside them."""
    judged = np.flatnonzero(cached.judged)
    queries = tuple(cached.queries[at] for at in judged.tolist())
    ndcg: dict[str, tuple[float, ...]] = {}
    false_recall: dict[str, float | None] = {}
    for name, profile in profiles.items():
        scores = score_set(cached, profile, k=k)
        ndcg[name] = tuple(scores.ndcg[judged].tolist())
        false_recall[name] = scores.false_recall
    for name, peer in peers.items():
        ndcg[name] = tuple(peer.of(queries).tolist())
        false_recall[name] = peer.false_recall
    return SetFigures(
        dataset=cached.name,
        split=cached.split,
        part=part,
        queries=queries,
        scopes=tuple(cached.scopes[at] for at in judged.tolist()),
        ndcg=ndcg,
        false_recall=false_recall,
        nothing=int(cached.nothing.sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much better one system is than another on one set, or in the mean over sets."""

    dataset: str
    """`mean` is the mean over sets, each counting the same."""
    part: Part
    system: str
    over: str
    found: Comparison

    def to_json(self) -> dict[str, Any]:
        """As stored, rounded."""
        found = self.found
        row: dict[str, Any] = {
            "dataset": self.dataset,
            "part": self.part,
            "system": self.system,
            "over": self.over,
        }
        for name in ("first", "second", "difference", "low", "high", "p_value", "adjusted"):
            row[name] = _rounded(getattr(found, name))
        row |= {"effect": _rounded(found.effect), "detectable": _rounded(found.detectable)}
        row |= {"n": found.n, "clusters": found.clusters, "verdict": found.verdict}
        return row


def gains(
    figures: Sequence[SetFigures],
    *,
    system: str,
    over: Sequence[str],
    part: Part,
    seed: int,
    alpha: float = ALPHA,
) -> list[Gain]:
    """Compare a system with others on every set and in the mean; all corrected together.

    Sets or means where either was not scored are left out.
    """
    chosen = [item for item in figures if item.part == part and system in item.ndcg]
    asked: list[tuple[str, str, Pairing]] = []
    for other in over:
        both = [item for item in chosen if other in item.ndcg]
        asked += [
            (item.dataset, other, _pairing([item], other, system, f"{item.dataset}: over {other}"))
            for item in both
        ]
        if len(both) > 1:
            asked.append((MEAN, other, _pairing(both, other, system, f"{MEAN}: over {other}")))
    found = compare([pairing for _, _, pairing in asked], alpha=alpha, seed=seed)
    return [
        Gain(dataset=dataset, part=part, system=system, over=other, found=comparison)
        for (dataset, other, _), comparison in zip(asked, found, strict=True)
    ]


def _pairing(items: Sequence[SetFigures], first: str, second: str, name: str) -> Pairing:
    """The two systems on the queries of these sets, each set weighing the same."""
    sums: dict[str, list[float]] = {first: [], second: []}
    weights: list[float] = []
    clusters: list[str | None] = []
    for item in items:
        weight = 1 / (len(item.queries) * len(items))
        weights += [weight] * len(item.queries)
        for system, values in sums.items():
            values += [value * weight for value in item.ndcg[system]]
        shared = {scope for scope in item.scopes if scope is not None}
        clusters += [
            f"{item.dataset}/{scope}" if scope is not None and len(shared) > 1 else None
            for scope in item.scopes
        ]
    return Pairing(
        name=name,
        first=Side(sums=tuple(sums[first]), weights=tuple(weights)),
        second=Side(sums=tuple(sums[second]), weights=tuple(weights)),
        clusters=tuple(clusters),
    )


def best_variant(figures: Sequence[SetFigures]) -> str | None:
    """The BM25 variant with the greatest mean over the sets; of equals the first named.

    It is chosen on the very sets on which it is then compared, which flatters it.
    """
    chosen = [item for item in figures if item.part == "validation"]
    named = [name for name in (chosen[0].ndcg if chosen else ()) if is_variant(name)]
    means = {
        name: math.fsum(item.mean(name) or 0.0 for item in chosen)
        for name in named
        if all(name in item.ndcg for item in chosen)
    }
    return max(means, key=lambda name: means[name], default=None)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None or math.isnan(value) else round(value, digits)
