"""A candidate judged before it ships: a profile from a file in the place of `default`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wsmem.evals.gate.judging import judge_ranking
from wsmem.evals.gate.running import SYSTEMS
from wsmem.evals.systems.wsmem import GROWN, PREFIX

if TYPE_CHECKING:
    from wsmem.evals.gate.judging import RankingVerdict
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.running import FreshRun

PLACE = SYSTEMS[0]
"""Whose place a candidate takes."""


def candidate_system(profile: str) -> str:
    """The system that ranks as a candidate does, by the path of its file."""
    return f"{PREFIX}{profile}{GROWN}"


def judge_candidate(baseline: RankingRecord, fresh: FreshRun) -> RankingVerdict:
    """Judge a run of a candidate alone by its figures: no evidence is asked of what does not ship.

    Args:
        baseline: What ships now.
        fresh: Of one system, the candidate's.
    """
    (candidate,) = fresh.record.systems
    record = fresh.record.only(candidate, called=PLACE)
    return judge_ranking(baseline.only(PLACE), replace(fresh, record=record), bound=False)
