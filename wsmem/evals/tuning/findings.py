"""What a study's searches say beside the profile: signals' worth, and whether more data helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.tuning.planning import CURVE, FIT, FOLD, WITHOUT, groups
from wsmem.evals.tuning.space import THRESHOLD
from wsmem.evals.tuning.study import parameters_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.tuning.duels import Duels
    from wsmem.evals.tuning.objective import Objective
    from wsmem.evals.tuning.study import Result
    from wsmem.retrieval.profile import Profile


def ablation(
    duels: Duels, objective: Objective, signals: Sequence[str], results: Mapping[str, Result]
) -> list[dict[str, Any]]:
    """What each signal is worth: the objective without it, on the sets that were tuned on.

    `fixed` leaves all other weights as they are, `searched` is what a search without the signal
    finds, `None` where there was none. A signal that others can stand in for loses little in the
    second figure, however much it weighs.
    """
    fit = results[FIT].parameters
    whole = parameters_value(duels, objective, fit)
    rows = []
    for signal in signals:
        rest = {name: value for name, value in fit.items() if name != signal}
        again = results.get(f"{WITHOUT}:{signal}")
        rows.append(
            {
                "signal": signal,
                "weight": fit.get(signal, 0.0),
                "with": round(whole, 6),
                "fixed": round(parameters_value(duels, objective, rest), 6),
                "searched": None if again is None else round(again.value, 6),
            }
        )
    return rows


def learning_curve(
    duels: Duels, objective: Objective, results: Mapping[str, Result], start: Profile
) -> list[dict[str, Any]]:
    """The gain on sets that a search did not see, by how many groups of sets it saw.

    A gain is the objective by what was found less that where the search began, both over the unseen
    sets. The searches without one group are its last point.
    """
    parts = groups(duels.sets)
    rows = []
    for name, found in results.items():
        kind = name.split(":", 1)[0]
        unseen = tuple(each for each in duels.sets if each not in found.sets)
        if kind not in (CURVE, FOLD) or not unseen:
            continue
        rest = duels.of(unseen)
        seen = sum(set(members) <= set(found.sets) for members in parts.values())
        gain = parameters_value(rest, objective, found.parameters) - _of_profile(
            rest, objective, start
        )
        rows.append(
            {
                "search": name,
                "groups": seen,
                "sets": len(found.sets),
                "unseen": len(unseen),
                "gain": round(gain, 6),
            }
        )
    return rows


def _of_profile(duels: Duels, objective: Objective, profile: Profile) -> float:
    """The objective of a profile; weights of signals that have no duels do not count."""
    known = {name: weight for name, weight in profile.weights.items() if name in duels.signals}
    threshold = dict(zip(THRESHOLD, (profile.evidence_share, profile.evidence_cap), strict=True))
    return parameters_value(duels, objective, known | threshold)
