"""Scores of entries one by one, for the ways of ranking that do without arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wsmem.retrieval.signals import clamped_importance, recency

if TYPE_CHECKING:
    from wsmem.retrieval.profile import Profile

Earned = dict[str, float]
"""Signals of one entry by name."""


def score_of(earned: Earned, profile: Profile) -> float:
    """Weighted signals added in the order of `signals.SIGNALS`, as `ranking.weigh` does."""
    score = 0.0
    for name, weight in profile.weights.items():
        value = weight * earned.get(name, 0.0)
        if profile.matching == "substring" or not math.isnan(value):
            score += value
    return score


def entry_earned(importance: float, changed: float | None, *, shown: bool, now: int) -> Earned:
    """Signals of the entry family."""
    return {
        "importance": clamped_importance(importance),
        "recency": recency(changed, now),
        "surfaced": float(shown),
    }
