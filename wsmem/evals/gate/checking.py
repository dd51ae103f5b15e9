"""Whether a baseline is one to judge by: about these very sets, all of them, and no laxer.

Its checksum shows that the gate wrote it; this shows that what it holds is what is gated now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.evals.card import checksums
from wsmem.evals.gate.record import BaselineError
from wsmem.evals.gate.running import MARGINS, MEASURES, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.running import FreshRun

_ANEW = "make it anew with wsmem gate --update --accept-lower"


def check_extent(baseline: RankingRecord, path: Path) -> None:
    """See that a baseline holds whatever is gated, and allows no more than this wsmem does.

    Raises:
        BaselineError: it does not.
    """
    missing = [name for name in SYSTEMS if name not in baseline.systems]
    missing += [name for name in MEASURES if name not in baseline.measures]
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
    """See that a baseline answers the queries of its sets, each of them and no others.

    Raises:
        BaselineError: it does not.
    """
    for name, found in baseline.sets.items():
        asked = fresh.record.sets[name].answers
        if found.answers.keys() != asked.keys():
            problem = f"answers {len(found.answers)} queries of {name}, not just its {len(asked)}"
            raise BaselineError(str(path), problem, _ANEW)
