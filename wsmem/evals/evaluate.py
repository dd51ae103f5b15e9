"""Carrying out a plan: every system on every dataset; what fails becomes a result with a reason.

Systems are asked first, by units that may be worked on anywhere and that a ledger can keep; then
each dataset is scored. Neither depends on who works, so equal plans give equal figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.errors import SystemUnavailableError
from wsmem.evals.asking import Answers, Asked, Work, ask
from wsmem.evals.board import mean_rows
from wsmem.evals.card import checksum, checksums
from wsmem.evals.judging import Answered, judge
from wsmem.evals.ledger import unit_key
from wsmem.evals.reading import CORPUS, QUERIES
from wsmem.evals.results import EVERY_SYSTEM, DatasetResult, Evaluation, Skipped
from wsmem.evals.slices import mean_slice_rows
from wsmem.evals.surroundings import Surroundings
from wsmem.evals.systems.registry import make_system
from wsmem.evals.systems.wsmem import PREFIX, profile_of
from wsmem.evals.workers import Shared, open_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wsmem.errors import LostUnitError
    from wsmem.evals.catalogue import Source
    from wsmem.evals.ledger import Ledger
    from wsmem.evals.plan import Plan
    from wsmem.evals.workers import Workers

    OnProgress = Callable[[str, float], None]
    """Called with a dataset's name and which further part of it, 0 to 1, is done."""

_ASKING = 0.85
"""About which part of the time asking takes; scoring is the rest."""


def evaluate(
    plan: Plan, *, on_progress: OnProgress | None = None, ledger: Ledger | None = None
) -> Evaluation:
    """Carry out a plan.

    Datasets that cannot be read, systems that cannot run here and systems that fail are listed as
    skipped, each with its reason; the others go on. Equal plans over equal files give equal
    figures, whoever works on them.

    Args:
        plan: What to do, and how many work on it.
        on_progress: Hears how far each dataset is.
        ledger: Answers in it are not asked for again; new ones are recorded as they come. What
            failed is not recorded, so it is tried again.

    Raises:
        ClusterError: the plan's cluster cannot be used.
    """
    started = datetime.now(UTC)
    report = on_progress or (lambda _dataset, _part: None)
    runnable, skipped = _runnable(plan.systems)
    able = replace(plan, systems=runnable)
    outcomes = _outcomes(able, report, ledger) if runnable else []
    datasets = tuple(outcome for outcome in outcomes if isinstance(outcome, DatasetResult))
    skipped += [outcome for outcome in outcomes if isinstance(outcome, Skipped)]
    skipped += [item for dataset in datasets for item in dataset.skipped]
    rows = [row for dataset in datasets for row in dataset.rows]
    means = mean_rows(rows, plan.measures) if len(datasets) > 1 else []
    slices = [row for dataset in datasets for row in dataset.slices]
    return Evaluation(
        plan=plan,
        datasets=datasets,
        rows=(*rows, *means),
        slices=(*slices, *mean_slice_rows(slices, plan.measures)),
        skipped=tuple(skipped),
        started=started,
        finished=datetime.now(UTC),
    )


def evaluate_dataset(source: Source, plan: Plan) -> DatasetResult | Skipped:
    """All systems of a plan on one of its datasets, in this process."""
    folder = Shared(origin=source.path)
    work = Work(name=source.name, folder=folder, systems=plan.systems, plan=plan)
    asked = ask(work)
    if isinstance(asked, Skipped):
        return asked
    return judge(Answered(work=work, answers=asked.answers, failed=asked.failed))


def _runnable(names: Sequence[str]) -> tuple[tuple[str, ...], list[Skipped]]:
    """Systems that can run here; the others are skipped once, not on every dataset again."""
    runnable, skipped = [], []
    for name in names:
        try:
            make_system(name)
        except SystemUnavailableError as error:
            skipped.append(Skipped(system=name, dataset=None, reason=error.reason))
        else:
            runnable.append(name)
    return tuple(runnable), skipped


def _outcomes(
    plan: Plan, report: OnProgress, ledger: Ledger | None
) -> list[DatasetResult | Skipped]:
    """Results in the order of the plan."""
    with open_workers(jobs=plan.jobs, cluster=plan.cluster) as workers:
        files = {name: Path(profile_of(name)) for name in plan.systems if _is_file(name)}
        profiles = {name: workers.share(path) for name, path in files.items()}
        trials = [
            _Trial(source, plan, profiles, workers, ledger)
            for source in sorted(plan.sources, key=_size, reverse=True)
        ]
        _ask_all(trials, workers, report)
        done = {trial.name: trial.skipped for trial in trials if trial.skipped is not None}
        answered = [trial.answered() for trial in trials if trial.skipped is None]
        judged: dict[str, DatasetResult | Skipped] = {**done}
        for place, outcome in workers.unordered(judge, answered, on_lost=_lost_dataset(answered)):
            judged[answered[place].name] = outcome
            report(answered[place].name, 1 - _ASKING)
    return [judged[source.name] for source in plan.sources]


class _Trial:
    """One dataset while its systems are being asked, maybe by several workers."""

    def __init__(
        self,
        source: Source,
        plan: Plan,
        profiles: Mapping[str, Shared],
        workers: Workers,
        ledger: Ledger | None,
    ) -> None:
        self.name, self.ledger = source.name, ledger
        self.size = _size(source)
        self.work = Work(
            name=source.name,
            folder=workers.share(source.path),
            systems=plan.systems,
            profiles=profiles,
            plan=plan,
        )
        self.skipped: Skipped | None = None
        self.answers: dict[str, Answers] = {}
        self.failed: dict[str, str] = {}
        self._keys = {} if ledger is None else _keys(self.work)
        for name, key in self._keys.items():
            if ledger is not None and key in ledger:
                self.answers[name] = Answers(**ledger[key])

    def units(self, *, apart: bool) -> list[Work]:
        """What is still to be asked: all systems together, which share a store, or each alone."""
        left = tuple(name for name in self.work.systems if name not in self.answers)
        groups = [(name,) for name in left] if apart else [left]
        return [replace(self.work, systems=group) for group in groups if group]

    def take(self, asked: Asked | Skipped) -> None:
        """Take up what a unit gave, and record it."""
        if isinstance(asked, Skipped):
            self.skipped = asked
            return
        self.failed |= asked.failed
        for answers in asked.answers:
            self.answers[answers.system] = answers
            if self.ledger is not None:
                name = f"{answers.system} on {self.name}"
                self.ledger.record(self._keys[answers.system], answers.to_json(), unit=name)

    def answered(self) -> Answered:
        """All answers, in the order of the plan."""
        names = self.work.systems
        return Answered(
            work=self.work,
            answers=tuple(self.answers[name] for name in names if name in self.answers),
            failed={name: self.failed[name] for name in names if name in self.failed},
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit with the dataset it is of, and which part of that it is."""

    trial: _Trial
    work: Work
    share: float


def _ask_all(trials: Sequence[_Trial], workers: Workers, report: OnProgress) -> None:
    """Have every system asked on every dataset, as far as no ledger has its answers."""
    parts = _parts(trials, workers.size)
    told = [0.0] * len(parts)

    def on_told(number: int, part: float) -> None:
        told[number] += part
        report(parts[number].trial.name, part * parts[number].share)

    def on_lost(number: int, error: LostUnitError) -> Asked | Skipped:
        work = parts[number].work
        if work.systems == work.plan.systems:
            return Skipped(system=EVERY_SYSTEM, dataset=work.name, reason=str(error))
        return Asked(answers=(), failed=dict.fromkeys(work.systems, str(error)))

    units = [part.work for part in parts]
    for number, asked in workers.unordered(ask, units, on_told=on_told, on_lost=on_lost):
        parts[number].trial.take(asked)
        on_told(number, 1 - told[number])


def _parts(trials: Sequence[_Trial], size: int) -> list[_Part]:
    """The units, longest first, so that no worker is left alone with a long one at the end.

    Systems on one dataset share a store. They are taken apart only where that dataset alone would
    keep one worker busy for more than half of its part of the whole.
    """
    much = sum(trial.size for trial in trials) / (2 * size)
    parts = []
    for trial in trials:
        units = trial.units(apart=size > 1 and trial.size > much)
        parts += [_Part(trial, work, _ASKING / len(units)) for work in units]
    return sorted(parts, key=lambda part: part.trial.size * part.share, reverse=True)


def _lost_dataset(
    answered: Sequence[Answered],
) -> Callable[[int, LostUnitError], DatasetResult | Skipped]:
    return lambda place, error: Skipped(
        system=EVERY_SYSTEM, dataset=answered[place].name, reason=str(error)
    )


def _keys(work: Work) -> dict[str, str]:
    """What each system's answers depend on, as the ledger's keys."""
    plan = work.plan
    common = {
        "kind": "answers",
        "with": Surroundings.here().to_json(),
        "dataset": work.name,
        "checksums": checksums(work.folder.origin),
        "split": plan.split,
        "limit": plan.limit,
        "depth": plan.depth,
    }
    return {
        name: unit_key(
            common
            | {"system": name}
            | ({"profile": checksum(work.profiles[name].origin)} if name in work.profiles else {})
        )
        for name in plan.systems
    }


def _is_file(system: str) -> bool:
    return system.startswith(PREFIX) and profile_of(system).endswith(".json")


def _size(source: Source) -> int:
    """About how long a dataset takes: what is searched, times how often."""
    sizes = [(source.path / file) for file in (CORPUS, QUERIES)]
    corpus, queries = (path.stat().st_size if path.is_file() else 0 for path in sizes)
    return corpus + 8 * queries
