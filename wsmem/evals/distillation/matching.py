"""Which proposed operation answers which expected one: the pairing that fits best as a whole.

A proposal and an expectation may be paired when they are about the same thing: the proposal names
an entry that the expectation is about, or its content shares enough with the reference, or holds at
least half of the strings that must occur. Among all pairings the one with the greatest sum of
likeness is chosen (an optimal assignment), where likeness counts

    4   the kind is one that counts as right
    3   the target is right (an add that should have none, has none)
    1   the layer is right
    0-1 the token overlap with the reference

so wording only decides between proposals that are otherwise alike. How right the content of a pair
is, is a question of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.evals.distillation.content import holds, overlap
from wsmem.records import OPERATION_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.evals.distillation.cases import ExpectedOperation
    from wsmem.evals.distillation.execution import Trial
    from wsmem.records import MemoryOperation

KIND_COUNTS, TARGET_COUNTS, SCOPE_COUNTS = 4.0, 3.0, 1.0
LEAST_OVERLAP = 0.2
"""Token overlap from which two contents are about the same thing."""
LEAST_HELD = 0.5
"""Share of the strings that must occur from which they are, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A proposal beside the expectation it answers."""

    expected: int
    """Place among the case's expectations."""
    proposed: int
    """Place among the trial's proposals."""
    kind: bool
    """Whether the kind is one that counts as right."""
    target: bool
    """Whether the target is one that counts as right, or there is none and should be none."""
    scope: bool
    overlap: float
    """Token overlap of content and reference."""
    content: bool
    """Whether the content holds every string it must and none that it must not; where no string
    is asked for, whether it overlaps with the reference by half."""

    @property
    def likeness(self) -> float:
        """What the pairing maximises."""
        flags = KIND_COUNTS * self.kind + TARGET_COUNTS * self.target + SCOPE_COUNTS * self.scope
        return flags + self.overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """All that was expected of a case and proposed for it, paired as far as it goes."""

    pairs: tuple[Pair, ...]
    """In the order of the expectations."""
    missed: tuple[int, ...]
    """Expectations that nothing answers."""
    extra: tuple[int, ...]
    """Proposals that nothing asked for."""
    also: tuple[Pair, ...] = ()
    """Further right answers to an expectation that names several entries: one for each entry that
    the statement outdates. They are right, and nobody is the worse for leaving them out."""

    def pair_of(self, proposed: int) -> Pair | None:
        """The pair a proposal is in."""
        found = (pair for pair in (*self.pairs, *self.also) if pair.proposed == proposed)
        return next(found, None)


def match(trial: Trial) -> Matching:
    """Pair a trial's proposals with its case's expectations.

    Proposals that cannot be read, or are of a kind nobody knows, take no part: they change nothing
    and are counted as refused.
    """
    expected = trial.case.expected
    usable = [
        number
        for number, proposal in enumerate(trial.proposals)
        if proposal.fault is None and proposal.operation.op in OPERATION_KINDS
    ]
    possible = {
        (wanted, given): pair
        for wanted in range(len(expected))
        for given in usable
        if (pair := _pair(trial, wanted, given)) is not None
    }
    chosen = _best(possible, expected, usable)
    paired = {pair.expected for pair in chosen}
    answering = {pair.proposed for pair in chosen}
    also = _also(trial, possible, chosen)
    answering |= {pair.proposed for pair in also}
    return Matching(
        pairs=tuple(chosen),
        missed=tuple(number for number in range(len(expected)) if number not in paired),
        extra=tuple(number for number in usable if number not in answering),
        also=also,
    )


def content_right(content: str, expected: ExpectedOperation) -> bool:
    """Whether a content holds every string it must and none that it must not."""
    if any(holds(content, text) for text in expected.forbidden):
        return False
    if not expected.required:
        return overlap(content, expected.reference) >= LEAST_HELD
    return all(holds(content, needed) for needed in expected.required)


def _pair(trial: Trial, wanted: int, given: int) -> Pair | None:
    """The two as a pair, unless they are about different things."""
    expected, operation = trial.case.expected[wanted], trial.proposals[given].operation
    shared = overlap(operation.content, expected.reference)
    names_it = operation.op != "add" and operation.target_id in expected.targets
    if not (names_it or shared >= LEAST_OVERLAP or _held(operation, expected) >= LEAST_HELD):
        return None
    return Pair(
        expected=wanted,
        proposed=given,
        kind=operation.op in expected.kinds,
        target=names_it or (operation.op == "add" and "add" in expected.kinds),
        scope=trial.layer_of(operation) == ("global" if trial.home == "global" else expected.scope),
        overlap=shared,
        content=content_right(operation.content, expected),
    )


def _held(operation: MemoryOperation, expected: ExpectedOperation) -> float:
    needed = expected.required
    if not needed:
        return 0.0
    return sum(holds(operation.content, text) for text in needed) / len(needed)


def _also(
    trial: Trial, possible: dict[tuple[int, int], Pair], chosen: Sequence[Pair]
) -> tuple[Pair, ...]:
    """Right proposals about a further target of an expectation that is answered already."""
    answering = {pair.proposed for pair in chosen}
    named = {(pair.expected, trial.proposals[pair.proposed].operation.target_id) for pair in chosen}
    found: list[Pair] = []
    for (wanted, given), pair in possible.items():
        operation = trial.proposals[given].operation
        about = (wanted, operation.target_id)
        fits = pair.kind and pair.target and operation.op != "add"
        if fits and given not in answering and about not in named:
            named.add(about)
            answering.add(given)
            found.append(pair)
    return tuple(found)


def _best(
    possible: dict[tuple[int, int], Pair],
    expected: Sequence[ExpectedOperation],
    usable: Sequence[int],
) -> list[Pair]:
    """The pairs of greatest likeness in sum; each expectation and each proposal is in one."""
    if len(possible) <= 1:
        return list(possible.values())
    import numpy as np  # noqa: PLC0415  heavy, and most cases need no assignment
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    likeness = np.zeros((len(expected), len(usable)))
    for (wanted, given), pair in possible.items():
        likeness[wanted, usable.index(given)] = pair.likeness
    rows, columns = linear_sum_assignment(likeness, maximize=True)
    found = zip(rows.tolist(), columns.tolist(), strict=True)
    keys = [(wanted, usable[column]) for wanted, column in found]
    return [possible[key] for key in keys if key in possible]
