"""Searching a space for the weights that an objective likes best: Optuna's samplers, an ascent.

Trials are drawn, played and told in rounds. After every round the finished trials are exchanged
with a storage, if there is one: what others have found comes in, and a search that was broken off
goes on where it was. Sampling itself runs in memory, which a file would slow down tenfold.
"""

from __future__ import annotations

import math
import uuid
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import InvalidInputError, MissingExtraError, UnknownNameError
from wsmem.evals.tuning.ascent import Ascent
from wsmem.evals.tuning.space import CAP, SHARE, THRESHOLD
from wsmem.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from wsmem.evals.tuning.duels import Duels
    from wsmem.evals.tuning.objective import Objective
    from wsmem.evals.tuning.space import Parameters, Space

Sampler = Literal["tpe+ascent", "cma-es+ascent", "tpe", "cma-es", "ascent"]
"""Two names: the second goes on from the best that the first has found."""
SAMPLERS: tuple[Sampler, ...] = get_args(Sampler)

DEFAULT_SAMPLER: Sampler = "cma-es+ascent"
"""Hardly behind the ascent alone on many sets, and ahead of it on few, where steps are wide."""
_EXPLORED = 0.5
"""Share of the trials that the first of two samplers has."""
ROUND = 16
"""Trials drawn before any of them is told, which is also a generation of CMA-ES."""
_AUTHOR = "author"
_ATTEMPTS, _PAUSE = 6, 0.05
"""How often a storage is tried, and how many seconds longer the wait is each time."""


def sampler_named(name: str) -> Sampler:
    """The sampler of a name.

    Raises:
        UnknownNameError: there is none.
    """
    for sampler in SAMPLERS:
        if sampler == name:
            return sampler
    raise UnknownNameError("sampler", name, SAMPLERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best trial of a search."""

    parameters: Parameters
    """Of what was searched; `Space.all_of` adds the rest."""
    value: float
    history: tuple[float, ...]
    """The objective of every trial in the order played; the first is the start's."""

    @property
    def best_so_far(self) -> list[float]:
        """The best value after each trial."""
        best, found = float("-inf"), []
        for value in self.history:
            best = max(best, value)
            found.append(best)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where the trials of one search are kept, and shared with whoever else works on it."""

    place: str
    """The path of a journal file, or a database URL that Optuna knows."""
    study: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How to search; the same search of the same duels finds the same."""

    trials: int = 1000
    sampler: Sampler = DEFAULT_SAMPLER
    seed: int = 0

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise InvalidInputError(f"{self.trials} trials find nothing; ask for 1 or more")
        if self.seed < 0:
            raise InvalidInputError(f"a seed is 0 or more, not {self.seed}")

    def run(
        self,
        duels: Duels,
        space: Space,
        objective: Objective,
        *,
        storage: Storage | None = None,
        on_trials: Callable[[int], None] | None = None,
    ) -> Found:
        """Search, and return the best trial; of equals the first.

        Args:
            duels: Of the sets that count.
            space: What may be chosen.
            objective: What is to be as large as possible.
            storage: Trials there are not played again; they count towards `trials`.
            on_trials: Called with the number of further trials that are done.

        Raises:
            MissingExtraError: Optuna is not installed.
        """

        def value(parameters: Mapping[str, float]) -> float:
            return trial_value(duels, space, objective, parameters)

        tell = on_trials or (lambda _count: None)
        if not self.drawn:
            return self._climb(space, value, None, tell)
        found = _Study(self, space, storage).run(value, tell)
        return self._climb(space, value, found, tell) if self.climbed else found

    @property
    def climbed(self) -> int:
        """Trials of the ascent."""
        return self.trials - self.drawn

    @property
    def drawn(self) -> int:
        """Trials of Optuna's sampler."""
        if self.sampler == "ascent":
            return 0
        both = self.sampler.endswith("+ascent")
        return math.ceil(self.trials * _EXPLORED) if both else self.trials

    def _climb(
        self,
        space: Space,
        value: Callable[[Mapping[str, float]], float],
        found: Found | None,
        tell: Callable[[int], None],
    ) -> Found:
        """Go on by coordinate ascent from what was found, or from the start."""
        before = () if found is None else found.history
        ascent = Ascent(
            space.free,
            space.beginning() if found is None else found.parameters,
            value,
            seed=self.seed,
            known=None if found is None else found.value,
        )
        tell(len(ascent.history))
        while len(ascent.history) < self.climbed:
            played = len(ascent.history)
            ascent.step(self.climbed - played)
            tell(len(ascent.history) - played)
        history = (*before, *ascent.history)
        return Found(parameters=ascent.best, value=ascent.value, history=history)


def trial_value(
    duels: Duels, space: Space, objective: Objective, found: Mapping[str, float]
) -> float:
    """The objective of one trial."""
    parameters = space.all_of(found)
    weights = {name: value for name, value in parameters.items() if name not in THRESHOLD}
    outcome = duels.play(weights, share=parameters[SHARE], cap=parameters[CAP])
    return objective.value(outcome.ndcg.tolist(), outcome.false_recall.tolist())


class _Study:
    """One Optuna study in memory, and its mirror in a storage."""

    def __init__(self, search: Search, space: Space, storage: Storage | None) -> None:
        self.optuna = _optuna()
        self.search, self.space = search, space
        self.ranges = {
            name: self.optuna.distributions.FloatDistribution(low, high, log=log)
            for name, (low, high, log) in space.free.items()
        }
        self.study = self.optuna.create_study(direction="maximize")
        self.author = uuid.uuid4().hex
        """Tells our trials in the storage from those of others."""
        self.shared = None if storage is None else _shared_study(self.optuna, storage)
        self.seen: set[int] = set()

    def run(
        self, value: Callable[[Mapping[str, float]], float], tell: Callable[[int], None]
    ) -> Found:
        self._fetch()
        done = len(self.study.trials)
        tell(min(done, self.search.drawn))
        if not done:
            self.study.enqueue_trial(self.space.beginning())
        while done < self.search.drawn:
            self.study.sampler = self._sampler(done)
            further = min(ROUND, self.search.drawn - done)
            drawn = [self.study.ask(self.ranges) for _ in range(further)]
            for trial in drawn:
                trial.set_user_attr(_AUTHOR, self.author)
                self.study.tell(trial, value(trial.params))
            self._publish(further)
            self._fetch()
            tell(min(len(self.study.trials), self.search.drawn) - done)
            done = len(self.study.trials)
        history = [trial.value for trial in self.study.trials]
        best = max(self.study.trials, key=lambda trial: trial.value)
        return Found(parameters=dict(best.params), value=best.value, history=tuple(history))

    def _sampler(self, done: int) -> Any:
        """A sampler whose draws depend on what has been done, so that going on changes nothing."""
        seed = self.search.seed * 1_000_003 + done
        samplers = self.optuna.samplers
        with warnings.catch_warnings():
            # Both are marked experimental in parts; a change of them changes no promise of ours.
            warnings.simplefilter("ignore", self.optuna.exceptions.ExperimentalWarning)
            # Where CMA-ES begins may be said in another way from version 6 on, not before.
            warnings.simplefilter("ignore", FutureWarning)
            if self.search.sampler.startswith("tpe"):
                return samplers.TPESampler(
                    seed=seed, multivariate=True, n_startup_trials=4 * ROUND, constant_liar=False
                )
            return samplers.CmaEsSampler(
                seed=seed,
                x0=self.space.beginning(),
                popsize=ROUND,
                warn_independent_sampling=False,
            )

    def _publish(self, further: int) -> None:
        if self.shared is None:
            return
        for trial in self.study.trials[-further:]:
            self.shared.add_trial(trial)

    def _fetch(self) -> None:
        """Take in finished trials of others, or our own of an earlier start."""
        if self.shared is None:
            return
        finished = (self.optuna.trial.TrialState.COMPLETE,)
        for trial in self.shared.get_trials(deepcopy=False, states=finished):
            if trial.number in self.seen:
                continue
            self.seen.add(trial.number)
            if trial.user_attrs.get(_AUTHOR) != self.author:
                self.study.add_trial(trial)


def _shared_study(optuna: ModuleType, storage: Storage) -> Any:
    """The study in its storage, made there if need be.

    Raises:
        InvalidInputError: the storage cannot be used.
    """
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415  heavy; Optuna needs it

    for attempt in count(1):
        try:
            return _opened(optuna, storage)
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
            # Whoever comes while another makes the tables of a new database finds half of them.
            if attempt == _ATTEMPTS:
                raise _unusable(storage, error) from error
            sleep(_PAUSE * attempt)
        except ImportError as error:
            raise _unusable(storage, error) from error
    raise AssertionError  # the last attempt has returned or raised


def _unusable(storage: Storage, error: Exception) -> InvalidInputError:
    problem = str(error).strip().splitlines()[0]
    said = f"the storage {storage.place} cannot be used ({problem}); no trial was played"
    return InvalidInputError(redact(said))


def _opened(optuna: ModuleType, storage: Storage) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        place: Any = storage.place
        if "://" not in storage.place:
            backend = optuna.storages.journal.JournalFileBackend(storage.place)
            place = optuna.storages.JournalStorage(backend)
        return optuna.create_study(
            storage=place, study_name=storage.study, direction="maximize", load_if_exists=True
        )


def _optuna() -> ModuleType:
    try:
        import optuna  # noqa: PLC0415  heavy, and an extra
    except ImportError as error:
        raise MissingExtraError("optuna", "tune") from error
    if find_spec("cmaes") is None:  # Optuna would say so only when it samples
        raise MissingExtraError("cmaes", "tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
