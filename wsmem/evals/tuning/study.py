"""The searches of a tuning study: how one is carried out, and all of them, and what they find.

Every search is a unit of work for `wsmem.evals.workers`; finished ones are in the run's ledger.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.evals.ledger import unit_key
from wsmem.evals.tuning.files import load_duels, save_duels
from wsmem.evals.tuning.search import Found, Search, Storage, trial_value
from wsmem.evals.tuning.space import CAP, SHARE
from wsmem.evals.workers import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.ledger import Ledger
    from wsmem.evals.tuning.duels import Duels
    from wsmem.evals.tuning.objective import Objective
    from wsmem.evals.tuning.space import Parameters, Space
    from wsmem.evals.workers import Shared, Workers

DIGITS, _MOST_DIGITS = 3, 8
"""Significant digits of what is found, more only where fewer would cost something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One search."""

    name: str
    sets: tuple[str, ...]
    """Whose queries count."""
    space: Space
    search: Search
    objective: Objective
    worth: float
    """What a signal has to add to the objective to keep its weight."""
    duels: Shared
    """A file with the duels of all sets."""
    storage: Storage | None = None

    def key(self, data: str) -> str:
        """What it is known by in a ledger.

        Args:
            data: Stands for the content of the duels' file.
        """
        return unit_key(self._definition(data))

    def study(self, data: str, *, shared: bool) -> str:
        """The name under which a storage keeps its trials, without regard to their number.

        Args:
            data: As for `key`.
            shared: Whether several commands add to it, each with a seed of its own.
        """
        definition = self._definition(data)
        search = {"sampler": self.search.sampler} | ({} if shared else {"seed": self.search.seed})
        return f"{self.name} {unit_key(definition | {'search': search})[:16]}"

    def _definition(self, data: str) -> dict[str, Any]:
        return {
            "sets": list(self.sets),
            "start": self.space.start.to_json(),
            "signals": list(self.space.signals),
            "anchor": self.space.anchor,
            "held": dict(self.space.held),
            "search": asdict(self.search),
            "objective": str(self.objective),
            "worth": self.worth,
            "data": data,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one search found."""

    name: str
    sets: tuple[str, ...]
    parameters: Parameters
    """Every weight with its sign, and the threshold; after what adds nothing was taken out."""
    value: float
    """The objective on the sets searched on."""
    raw_value: float
    """The same before weights were taken out and rounded."""
    start_value: float
    trials: int
    best_so_far: tuple[float, ...]
    """After every trial; thinned out to 100 values at even distances at most."""

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return asdict(self) | {"sets": list(self.sets), "best_so_far": list(self.best_so_far)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Result:
        """What `to_json` gave."""
        lists = {name: tuple(raw[name]) for name in ("sets", "best_so_far")}
        return cls(**{**raw, **lists})


def work(unit: Unit) -> Result:
    """Carry out one search, in whatever process."""
    loaded = load_duels(unit.duels.path)
    if loaded is None:
        raise InvalidInputError(f"{unit.duels.path}: the duels of this study are not there")
    duels = loaded.of(unit.sets)
    # Without the only sets that have tags, any weight of tags would seem as good as another.
    space = unit.space.holding(duels.silent)
    found = unit.search.run(duels, space, unit.objective, storage=unit.storage, on_trials=tell)
    parameters = simplified(duels, space, unit.objective, found, worth=unit.worth)
    return Result(
        name=unit.name,
        sets=unit.sets,
        parameters=parameters,
        value=parameters_value(duels, unit.objective, parameters),
        raw_value=found.value,
        start_value=found.history[0],
        trials=len(found.history),
        best_so_far=thinned(found.best_so_far),
    )


def simplified(
    duels: Duels, space: Space, objective: Objective, found: Found, *, worth: float
) -> Parameters:
    """All parameters, without weights that add next to nothing, rounded to a few digits.

    The weight whose removal costs least is removed, again and again, while that costs less than
    `worth`: a signal without weight is not computed at recall. The anchor and what is held stay.
    """
    sizes = dict(found.parameters)
    value = found.value
    while True:
        trials = [
            (trial_value(duels, space, objective, _without(sizes, name)), name)
            for name in space.signals
            if name in sizes
        ]
        best, name = max(trials, default=(float("-inf"), ""))
        if best < value - worth:
            break
        sizes = _without(sizes, name)
        value = max(value, best)
    return _rounded(duels, space, objective, sizes, least=value - worth)


def _rounded(
    duels: Duels,
    space: Space,
    objective: Objective,
    sizes: Mapping[str, float],
    *,
    least: float,
) -> Parameters:
    """All parameters, with as few digits as keep the objective: a threshold may just be met."""
    found = space.all_of(sizes)
    for digits in range(DIGITS, _MOST_DIGITS + 1):
        found = space.all_of({name: float(f"{size:.{digits}g}") for name, size in sizes.items()})
        if parameters_value(duels, objective, found) >= least:
            break
    return found


def _without(sizes: Mapping[str, float], name: str) -> Parameters:
    return {other: size for other, size in sizes.items() if other != name}


def parameters_value(duels: Duels, objective: Objective, parameters: Mapping[str, float]) -> float:
    """The objective of weights with their signs and a threshold."""
    weights = {name: value for name, value in parameters.items() if name not in (SHARE, CAP)}
    outcome = duels.play(weights, share=parameters[SHARE], cap=parameters[CAP])
    return objective.value(outcome.ndcg.tolist(), outcome.false_recall.tolist())


def thinned(values: Sequence[float], *, most: int = 100) -> tuple[float, ...]:
    """At most so many of the values, evenly spaced, the last one always among them."""
    count = len(values)
    if count <= most:
        return tuple(values)
    return tuple(values[round((at + 1) * count / most) - 1] for at in range(most))


def carry_out(
    todo: Sequence[Unit],
    workers: Workers,
    *,
    ledger: Ledger,
    data: str,
    on_trials: Callable[[str, int], None] | None = None,
) -> dict[str, Result]:
    """Carry out what is not in the ledger yet; results by name.

    Args:
        todo: The searches.
        workers: Who works on them.
        ledger: Takes every result as it comes.
        data: Stands for the content of the duels' file.
        on_trials: Called with a search's name and a number of further trials that are done.
    """
    report = on_trials or (lambda _name, _count: None)
    keys = {unit.name: unit.key(data) for unit in todo}
    open_ = [unit for unit in todo if keys[unit.name] not in ledger]
    heard: dict[int, int] = {}

    def on_told(place: int, count: int) -> None:
        heard[place] = heard.get(place, 0) + count
        report(open_[place].name, count)

    for unit in todo:
        if unit not in open_:
            report(unit.name, unit.search.trials)
    for place, result in workers.unordered(work, open_, on_told=on_told):
        unit = open_[place]
        ledger.record(keys[unit.name], result.to_json(), unit=unit.name)
        report(unit.name, unit.search.trials - heard.get(place, 0))
    return {
        unit.name: replace(Result.from_json(ledger[keys[unit.name]]), name=unit.name)
        for unit in todo
    }


def write_duels(duels: Duels, folder: Path, *, data: str) -> Path:
    """Put the duels of a study where its workers can be given them.

    Args:
        duels: Of all sets.
        folder: Other studies may have theirs there.
        data: Stands for the content of the sets.
    """
    key = unit_key({"data": data, "signals": list(duels.signals), "k": duels.k})
    path = folder / f"study-{key[:16]}-duels.npz"
    save_duels(duels, path)
    return path
