"""Two distillers on the same cases: which measures got better, which got worse, which cannot say.

Cases are the units; those that only one side has are left out. Figures here are over the shared
cases and can differ from those of a board.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.comparison import ALPHA, Pairing, Side, compare
from wsmem.evals.contestants import nothing_in_common, the_one
from wsmem.evals.distillation.board import WHOLE
from wsmem.evals.distillation.measures import HEADLINE, MEASURES, measure_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wsmem.evals.comparing import By
    from wsmem.evals.comparison import Comparison
    from wsmem.evals.distillation.evaluation import DistillerResult
    from wsmem.evals.distillation.measures import DistillMeasure
    from wsmem.evals.distillation.run import DistillRun, Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One distiller's results, case by case."""

    name: str
    units: Mapping[str, Units]
    """By set, case and measure."""
    slices: Mapping[str, tuple[str, ...]]
    """Of each case, by its id with its set's."""

    @classmethod
    def of_run(cls, run: DistillRun, distiller: str | None = None) -> Contestant:
        """From a saved run.

        Raises:
            UnknownNameError: the run has no such distiller, or several and none was named.
        """
        hint = f"in {run.path}; write {run.path}::NAME"
        chosen = the_one("distiller", distiller, run.distillers, hint)
        return cls(
            name=chosen,
            units={name: run.units(name, chosen) for name in run.datasets},
            slices={
                _key(name, case): tuple(facts["slices"])
                for name in run.datasets
                for case, facts in run.cases(name).items()
            },
        )

    @classmethod
    def of_results(cls, results: Iterable[DistillerResult]) -> Contestant:
        """From results of one distiller that were not saved."""
        found = tuple(results)
        judged = [(result.dataset, item) for result in found for item in result.judgements]
        units: dict[str, Units] = {result.dataset: {} for result in found}
        for dataset, item in judged:
            lists = {name: list(measure.units(item)) for name, measure in MEASURES.items()}
            units[dataset][item.case.id] = {
                name: values for name, values in lists.items() if values
            }
        return cls(
            name=found[0].distiller,
            units=units,
            slices={_key(dataset, item.case.id): item.case.slices for dataset, item in judged},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Two distillers compared."""

    first: str
    second: str
    cases: int
    """Shared ones."""
    left_out: int
    """Cases that only one side has."""
    comparisons: tuple[Comparison, ...]

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {
            "first": self.first,
            "second": self.second,
            "cases": self.cases,
            "left_out": self.left_out,
            "rows": [{"measure": found.name} | found.to_json() for found in self.comparisons],
        }


def contest(
    first: Contestant,
    second: Contestant,
    *,
    measures: Sequence[str] = (),
    by: By = "all",
    alpha: float = ALPHA,
    margin: float = 0.0,
    seed: int = 0,
) -> Contest:
    """Compare two distillers; all comparisons of one call are corrected together.

    Args:
        first: The one to beat.
        second: The one that is judged.
        measures: Names; the headline measures by default.
        by: All shared cases, each set, or each slice. More comparisons find less each.
        alpha: Chance of any false alarm among them.
        margin: Differences up to this are no verdict.
        seed: Of the sampled swaps and the intervals.

    Raises:
        InvalidInputError: the two share no case.
        UnknownNameError: a measure does not exist.
    """
    chosen = [measure_named(name) for name in measures or HEADLINE]
    mine, theirs = _cases(first), _cases(second)
    shared = [key for key in mine if key in theirs]
    if not shared:
        raise nothing_in_common(first.name, second.name, "case")
    pairings = [
        _pairing(name, measure, keys, mine, theirs)
        for name, keys in _groups(shared, first, by).items()
        for measure in chosen
    ]
    # What neither side has a figure for (a slice without corrections) is no comparison.
    pairings = [pairing for pairing in pairings if sum(pairing.first.weights)]
    return Contest(
        first=first.name,
        second=second.name,
        cases=len(shared),
        left_out=len({*mine} ^ {*theirs}),
        comparisons=tuple(compare(pairings, alpha=alpha, margin=margin, seed=seed)),
    )


def _cases(contestant: Contestant) -> dict[str, Mapping[str, Sequence[float]]]:
    return {
        _key(dataset, case): units
        for dataset, cases in contestant.units.items()
        for case, units in cases.items()
    }


def _groups(keys: Sequence[str], facts: Contestant, by: By) -> dict[str, list[str]]:
    if by == "all":
        return {WHOLE: list(keys)}
    names_of: Callable[[str], Sequence[str]] = (
        (lambda key: (key.partition("/")[0],)) if by == "dataset" else facts.slices.__getitem__
    )
    found: dict[str, list[str]] = {}
    for key in keys:
        for name in names_of(key):
            found.setdefault(name, []).append(key)
    return dict(sorted(found.items()))


def _pairing(
    group: str,
    measure: DistillMeasure,
    keys: Sequence[str],
    first: Mapping[str, Mapping[str, Sequence[float]]],
    second: Mapping[str, Mapping[str, Sequence[float]]],
) -> Pairing:
    return Pairing(
        name=measure.name if group == WHOLE else f"{group}: {measure.name}",
        first=_side([first[key].get(measure.name, ()) for key in keys]),
        second=_side([second[key].get(measure.name, ()) for key in keys]),
        higher_is_better=measure.higher_is_better,
    )


def _side(units: Sequence[Sequence[float]]) -> Side:
    return Side(sums=tuple(map(sum, units)), weights=tuple(float(len(values)) for values in units))


def _key(dataset: str, case: str) -> str:
    return f"{dataset}/{case}"
