"""Evaluating distillers on sets of cases: what is to be done, doing it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import InvalidInputError
from wsmem.evals.distillation.board import DistillRow, board_rows
from wsmem.evals.distillation.cases import SPLITS, Split
from wsmem.evals.distillation.execution import carry_out
from wsmem.evals.distillation.judging import judge
from wsmem.evals.distillation.measures import MEASURES
from wsmem.evals.intervals import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from wsmem.evals.distillation.cases import Case, CaseSet
    from wsmem.evals.distillation.judging import Judgement
    from wsmem.operations.contract import Distiller

    OnProgress = Callable[[str, str], None]

Choice = Literal["default", "all"] | Split
"""Which cases: those of a split, all, or `default`."""
CHOICES: tuple[Choice, ...] = ("default", "all", *SPLITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDistiller:
    """A distiller under test."""

    name: str
    """As it stands in reports: `rules@3`, or a prompt with a model, `careful@1 × small`."""
    ask: Distiller = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What made it what it is, for the manifest: prompt, model, recording and its checksum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillPlan:
    """The definition of an evaluation."""

    sets: tuple[CaseSet, ...]
    distillers: tuple[NamedDistiller, ...]
    split: Choice = "default"
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        names = [distiller.name for distiller in self.distillers]
        if len(set(names)) < len(names):
            raise InvalidInputError(f"two distillers share a name: {', '.join(sorted(names))}")
        if len({cases.name for cases in self.sets}) < len(self.sets):
            raise InvalidInputError("two sets of cases share a name; rename one of their folders")
        if self.seed < 0:
            raise InvalidInputError(f"a seed is 0 or more, not {self.seed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillerResult:
    """One distiller on one set."""

    dataset: str
    distiller: str
    judgements: tuple[Judgement, ...]
    """In the order of the set; cases without a recording are not among them."""
    unrecorded: tuple[str, ...]
    rows: tuple[DistillRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotScored:
    """What was asked for and not scored, with the reason."""

    dataset: str
    distiller: str
    reason: str
    cases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As printed and stored."""
        return {
            "dataset": self.dataset,
            "distiller": self.distiller,
            "reason": self.reason,
            "cases": list(self.cases),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillEvaluation:
    """Everything one plan gave."""

    plan: DistillPlan
    results: tuple[DistillerResult, ...]
    """Set by set, each distiller in the order of the plan."""
    skipped: tuple[NotScored, ...]
    started: datetime
    finished: datetime

    @property
    def rows(self) -> tuple[DistillRow, ...]:
        """The board."""
        return tuple(row for result in self.results for row in result.rows)


def chosen_cases(cases: CaseSet, split: Choice) -> tuple[Case, ...]:
    """The cases that are meant.

    By default those of the development split, so that the test split is only opened by name; all
    of a set that has no development split, which then is no set to tune on.
    """
    if split == "default":
        return cases.of_split("dev") or cases.cases
    return cases.cases if split == "all" else cases.of_split(split)


def evaluate_distiller(
    cases: CaseSet,
    distiller: NamedDistiller,
    *,
    split: Choice = "default",
    seed: int = 0,
    resamples: int = RESAMPLES,
    on_progress: Callable[[str], None] | None = None,
) -> DistillerResult:
    """One distiller on the cases of one split; a case that fails is a result with its reason."""
    trials = carry_out(chosen_cases(cases, split), distiller.ask, on_progress=on_progress)
    judgements = tuple(map(judge, trials.done))
    rows = board_rows(
        cases.name,
        distiller.name,
        judgements,
        tuple(MEASURES.values()),
        seed=seed,
        resamples=resamples,
    )
    return DistillerResult(
        dataset=cases.name,
        distiller=distiller.name,
        judgements=judgements,
        unrecorded=trials.unrecorded,
        rows=tuple(rows),
    )


def evaluate(plan: DistillPlan, *, on_progress: OnProgress | None = None) -> DistillEvaluation:
    """Carry out a plan; `on_progress` is told the set and the case after each one."""
    from datetime import UTC, datetime  # noqa: PLC0415  also named by the annotations above

    started = datetime.now(UTC)
    results: list[DistillerResult] = []
    skipped: list[NotScored] = []
    for cases in plan.sets:
        for distiller in plan.distillers:
            result = evaluate_distiller(
                cases,
                distiller,
                split=plan.split,
                seed=plan.seed,
                resamples=plan.resamples,
                on_progress=_about(cases.name, on_progress),
            )
            skipped += _not_scored(result, chosen_cases(cases, plan.split))
            if result.judgements:
                results.append(result)
    return DistillEvaluation(
        plan=plan,
        results=tuple(results),
        skipped=tuple(skipped),
        started=started,
        finished=datetime.now(UTC),
    )


def _about(name: str, on_progress: OnProgress | None) -> Callable[[str], None] | None:
    return None if on_progress is None else lambda case: on_progress(name, case)


def _not_scored(result: DistillerResult, asked: Sequence[object]) -> list[NotScored]:
    missing = len(result.unrecorded)
    if not asked:
        reason = "the set has no case in this split"
    elif missing:
        reason = f"{missing} of {len(asked)} cases have no recorded answer"
    else:
        return []
    return [
        NotScored(
            dataset=result.dataset,
            distiller=result.distiller,
            reason=reason,
            cases=result.unrecorded,
        )
    ]
