"""Whether a baseline is one to judge by: about these very sets, all of them, and no laxer.

Its checksum shows that the gate wrote it; this shows that what it holds is what is gated now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.evals.card import checksums
from wsmem.evals.gate.record import BaselineError
from wsmem.evals.gate.running import MARGINS, MEASURES, OWN, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.gate.record import RankingRecord, SetRecord
    from wsmem.evals.gate.running import FreshRun

_ANEW = "make it anew with wsmem gate --update --accept-lower"


def sets_left_out(baseline: RankingRecord, known: Mapping[str, Source]) -> list[str]:
    """Our own sets that are here and not in a baseline which is about our own sets."""
    if not any(name in baseline.sets for name in OWN):
        return []
    return [name for name in OWN if name in known and name not in baseline.sets]


def check_extent(baseline: RankingRecord, known: Mapping[str, Source], path: Path) -> None:
    """See that a baseline holds whatever is gated, and allows no more than this wsmem does.

    Raises:
        BaselineError: it does not.
    """
    missing = [name for name in SYSTEMS if name not in baseline.systems]
    missing += [name for name in MEASURES if name not in baseline.measures]
    missing += sets_left_out(baseline, known)
    if missing:
        raise BaselineError(str(path), f"says nothing about {', '.join(missing)}", _ANEW)
    for measure, margin in baseline.margins.items():
        if not margin <= MARGINS.get(measure, 0.0):
            problem = f"allows a loss of {margin:g} {measure}, and {MARGINS.get(measure, 0.0):g} is"
            raise BaselineError(str(path), f"{problem} the most", _ANEW)


def check_sets(baseline: RankingRecord, known: Mapping[str, Source], path: Path) -> list[Source]:
    """The sets that a baseline is about, seen to be the very files it was made from.

    Raises:
        BaselineError: a set is missing, or one of its files differs.
    """
    found = []
    for name, stored in baseline.sets.items():
        if name not in known:
            there = ", ".join(known) or "none"
            remedy = f"there are: {there}; name their folder by --datasets-dir"
            raise BaselineError(str(path), f"is about a set {name!r} that is not here", remedy)
        present = checksums(known[name].path)
        files = sorted(stored.checksums.keys() | present.keys())
        other = [file for file in files if present.get(file) != stored.checksums.get(file)]
        if other:
            problem = f"was made from other files of {name}: {', '.join(other)} differ"
            remedy = (
                "restore them, or, where the set was meant to change, make the baseline anew "
                "with wsmem gate --update --accept-lower"
            )
            raise BaselineError(str(path), problem, remedy)
        found.append(known[name])
    return found


def check_queries(baseline: RankingRecord, fresh: FreshRun, path: Path) -> None:
    """See that a baseline has the figures of all queries of its sets, and no others.

    Raises:
        BaselineError: it does not.
    """
    for name, found in baseline.sets.items():
        asked = fresh.record.sets[name].answers
        if found.answers.keys() != asked.keys():
            problem = f"answers {len(found.answers)} queries of {name}, not just its {len(asked)}"
            raise BaselineError(str(path), problem, _ANEW)
        if _scored(found) != _scored(fresh.record.sets[name]):
            problem = f"has figures for other queries of {name} than its labels ask for"
            raise BaselineError(str(path), problem, _ANEW)


def _scored(found: SetRecord) -> dict[str, set[tuple[bool, ...]]]:
    """By query, which measures are about it: one pattern, as that hangs on its labels alone."""
    return {
        query: {tuple(value is not None for value in answer.values) for answer in answers.values()}
        for query, answers in found.answers.items()
    }
