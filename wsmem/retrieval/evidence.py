"""When a match is more than chance: which terms show the subject, and how much is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.retrieval.profile import Profile
    from wsmem.text.analysis import Query

SLACK = 1e-12
"""Keeps a share that is met exactly from failing by the order of its additions."""


class Evidence(NamedTuple):
    """What each term of a query proves."""

    masses: list[float]
    """Mass of each query term, 0 for function words."""
    deciding: list[float] | None
    """1 for the terms of which an entry must hold at least one, else 0; `None`: any will do."""


def evidence_masses(query: Query, masses: Sequence[float]) -> Evidence:
    """Sort a query's terms by what they prove.

    Function words prove nothing. Lone letters and digits decide only in a query without subject
    terms: 桶 alone is a question, but a text that shares no more than the 5 of a longer one is not
    its answer.
    """
    roles = [term.role for term in query.terms]
    proving = [
        0.0 if role == "function" else mass for role, mass in zip(roles, masses, strict=True)
    ]
    if "subject" in roles and "lone" in roles:
        return Evidence(proving, [float(role == "subject") for role in roles])
    return Evidence(proving, None)


def evidence_needed(profile: Profile, total: float, greatest: float) -> float:
    """Mass an entry must hold to match, more than 0: a share of the query's, capped.

    Args:
        profile: Sets the share and the cap.
        total: Summed mass of the query's terms, function words left out.
        greatest: Mass of one term of full weight and greatest rarity; the cap is a number of these,
            so that a long question does not ask for more than a short one.
    """
    return max(profile.evidence_share * min(total, profile.evidence_cap * greatest) - SLACK, SLACK)
