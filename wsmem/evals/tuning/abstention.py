"""What it costs to recall nothing where nothing fits: other evidence thresholds for found weights.

A threshold that keeps back more of what does not answer also keeps back some of what does. No
weight changes that, so it is not part of the search: the thresholds of a grid are tried with the
weights that were found, and those remain that no other betters in both figures. One of them becomes
the profile `strict`, for hosts that would rather be told nothing than something beside the point.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wsmem.evals.intervals import wilson
from wsmem.evals.tuning.cached import score_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.tuning.cached import CachedSet
    from wsmem.retrieval.profile import Profile

STRICT = "strict"
ALLOWED = 0.05
"""False recall of `strict`, where the objective names none that is allowed."""
SHARES = tuple(step / 20 for step in range(1, 21))
CAPS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)

Where = Literal["chosen on", "unseen", "test"]
"""`chosen on`: the sets among whose thresholds one is chosen. `unseen`: other sets that are tuned
on, but not for this. `test`: the test splits of the first, opened by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A threshold and what it gives; means over sets, each counting the same."""

    where: Where
    evidence_share: float
    evidence_cap: float
    ndcg: float
    false_recall: float
    sets: int
    kept: int
    """Queries with an answer for which something is recalled ..."""
    judged: int
    """... of so many."""
    recalled: int
    """Queries without an answer for which something is recalled ..."""
    nothing: int
    """... of so many."""

    def to_json(self) -> dict[str, Any]:
        """As stored, rounded."""
        rounded = {"ndcg": round(self.ndcg, 6), "false_recall": round(self.false_recall, 6)}
        return asdict(self) | rounded

    @property
    def threshold(self) -> tuple[float, float]:
        """Share and cap."""
        return self.evidence_share, self.evidence_cap

    @property
    def most_recalled(self) -> float:
        """The upper end of the interval of false recall over all its queries."""
        high = wilson(self.recalled, self.nothing).high
        return 1.0 if high is None else high

    def applied(self, profile: Profile) -> Profile:
        """A profile with this threshold."""
        return replace(profile, evidence_share=self.evidence_share, evidence_cap=self.evidence_cap)


def play(sets: Iterable[CachedSet], profile: Profile, *, k: int, where: Where) -> Point:
    """Score a profile on sets that all have queries with an answer and queries without."""
    ndcg, false_recall, counts = [], [], np.zeros(4, dtype=int)
    for cached in sets:
        scores = score_set(cached, profile, k=k)
        ndcg.append(scores.mean)
        false_recall.append(float(scores.recalled[cached.nothing].mean()))
        for at, asked in ((0, cached.judged), (2, cached.nothing)):
            counts[at : at + 2] += (int(scores.recalled[asked].sum()), int(asked.sum()))
    kept, judged, recalled, nothing = counts.tolist()
    return Point(
        where=where,
        evidence_share=profile.evidence_share,
        evidence_cap=profile.evidence_cap,
        ndcg=float(np.mean(ndcg)),
        false_recall=float(np.mean(false_recall)),
        sets=len(ndcg),
        kept=kept,
        judged=judged,
        recalled=recalled,
        nothing=nothing,
    )


def usable(sets: Iterable[CachedSet]) -> list[CachedSet]:
    """Those that have both kinds of queries."""
    return [cached for cached in sets if cached.judged.any() and cached.nothing.any()]


def front(points: Iterable[Point]) -> list[Point]:
    """The points that no other betters in both figures, by rising false recall.

    Of points that are equal in one figure the better stays; of equal points the first.
    """
    found: list[Point] = []
    for point in sorted(points, key=lambda point: (point.false_recall, -point.ndcg)):
        if not found or point.ndcg > found[-1].ndcg:
            found.append(point)
    return found


def choose(points: Iterable[Point], *, allowed: float) -> Point | None:
    """The point of greatest nDCG whose false recall surely is allowed; `None` where none is.

    Surely: the 95 % interval of its share of the queries without an answer (Wilson's) lies within.
    The best of many thresholds was lucky with its queries; others would find it to recall more.
    """
    fitting = [point for point in points if point.most_recalled <= allowed]
    return max(fitting, key=lambda point: point.ndcg, default=None)


def abstention(
    profile: Profile,
    sets: Mapping[Where, Sequence[CachedSet]],
    *,
    k: int,
) -> list[Point]:
    """The front on the sets to choose on, and the same thresholds on the other sets.

    Args:
        profile: The weights, and the threshold that ships with them, which is always a point.
        sets: As far as there are any; those without both kinds of queries are passed over.
        k: Of nDCG@k.
    """
    choosing = usable(sets.get("chosen on", ()))
    if not choosing:
        return []
    tried = [
        replace(profile, evidence_share=share, evidence_cap=cap)
        for cap, share in product(CAPS, SHARES)
    ]
    points = front(play(choosing, other, k=k, where="chosen on") for other in tried)
    points.append(play(choosing, profile, k=k, where="chosen on"))
    kept = [point.applied(profile) for point in points]
    others: tuple[Where, ...] = ("unseen", "test")
    for where in others:
        if usable_sets := usable(sets.get(where, ())):
            points += [play(usable_sets, other, k=k, where=where) for other in kept]
    return points


def strict_profile(tuned: Profile, points: Sequence[Point], *, allowed: float) -> Profile | None:
    """The tuned weights with the threshold that surely keeps false recall to what is allowed.

    It is chosen by the sets to choose on alone; what it gives on others is in its provenance.
    """
    chosen = choose([point for point in points if point.where == "chosen on"], allowed=allowed)
    if chosen is None:
        return None
    figures = {
        point.where: {
            "nDCG": round(point.ndcg, 4),
            "FalseRecall": round(point.false_recall, 4),
            "kept": f"{point.kept} of {point.judged}",
            "recalled": f"{point.recalled} of {point.nothing}",
        }
        for point in points
        if point.threshold == chosen.threshold
    }
    provenance = {
        "origin": f"the weights of {tuned.name} with another threshold",
        "rule": "greatest nDCG on the sets to choose on among thresholds whose FalseRecall has a "
        f"95 % interval up to {allowed:g} at most",
        "weights": {
            name: tuned.provenance[name]
            for name in ("origin", "commit", "tuned_on", "digests")
            if name in tuned.provenance
        },
        "figures": figures,
    }
    return replace(chosen.applied(tuned), name=STRICT, provenance=provenance)
