"""The measures of distillers: what each counts, as units of cases whose mean is the figure.

A case contributes any number of units to a measure, so every figure, F1 included, is a sum over a
sum and can be drawn again case by case: F1 = 2TP / (2TP + FP + FN) is the mean over two ones a hit
and a nought a false or missed operation.

A case without a readable answer is no gap: its expectations are missed, and it was not left alone
on purpose, so it counts as zero in `Restraint` and `LeftAlone`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wsmem.errors import UnknownNameError
from wsmem.evals.distillation.judging import NONE
from wsmem.records import OPERATION_KINDS

if TYPE_CHECKING:
    from wsmem.evals.distillation.judging import Judgement

Units = Callable[["Judgement"], Sequence[float]]
Form = Literal["share", "f1", "mean"]
"""`share`: each unit is 0 or 1. `f1`: units of an F1. `mean`: any number."""

ALL = "all"
"""Stands for all kinds of operations together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillMeasure:
    """A measure by its name; two of one name are one measure."""

    name: str
    meaning: str = field(compare=False)
    """What its units are and when one counts."""
    units: Units = field(compare=False, repr=False)
    form: Form = field(compare=False, default="share")
    higher_is_better: bool = field(compare=False, default=True)
    unit: str = field(compare=False, default="")
    """Of a `mean` that is no fraction: tokens, ms."""

    def __str__(self) -> str:
        return self.name

    @property
    def bounded(self) -> bool:
        """Whether values lie between 0 and 1."""
        return not self.unit


def measure_named(name: str) -> DistillMeasure:
    """A measure by its name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in MEASURES:
        raise UnknownNameError("measure", name, tuple(MEASURES), "of distillers")
    return MEASURES[name]


def _precision(kind: str) -> Units:
    return lambda judged: [
        float(wanted == given) for wanted, given in judged.confusion if _is(given, kind)
    ]


def _recall(kind: str) -> Units:
    return lambda judged: [
        float(wanted == given) for wanted, given in judged.confusion if _is(wanted, kind)
    ]


def _f1(kind: str) -> Units:
    def units(judged: Judgement) -> list[float]:
        found: list[float] = []
        for wanted, given in judged.confusion:
            if wanted == given and _is(wanted, kind):
                found += (1.0, 1.0)
            else:  # a wrong kind is a false one of its own and a missed one of the other
                found += [0.0] * (_is(wanted, kind) + _is(given, kind))
        return found

    return units


def _strict_f1(kind: str, *, whole: bool) -> Units:
    """F1 in which a pair counts only when its content is right, too (`whole`: and all else)."""

    def units(judged: Judgement) -> list[float]:
        expected, proposals = judged.case.expected, judged.trial.proposals
        found: list[float] = []
        for pair in judged.matching.pairs:
            given = proposals[pair.proposed].operation.op
            wanted = given if pair.kind else expected[pair.expected].op
            right = pair.kind and pair.content and (not whole or (pair.target and pair.scope))
            if right and _is(given, kind):
                found += (1.0, 1.0)
            elif not right:
                found += [0.0] * (_is(wanted, kind) + _is(given, kind))
        found += [0.0] * sum(_is(expected[number].op, kind) for number in judged.matching.missed)
        extra = (proposals[number].operation.op for number in judged.matching.extra)
        return found + [0.0] * sum(_is(op, kind) for op in extra)

    return units


def _is(found: str, kind: str) -> bool:
    return found == kind or (kind == ALL and found != NONE)


def _targets(kind: str) -> Units:
    def units(judged: Judgement) -> list[float]:
        found = []
        for number, proposal in enumerate(judged.trial.proposals):
            op = proposal.operation.op
            if op in OPERATION_KINDS and op != "add" and kind in {ALL, op}:
                pair = judged.matching.pair_of(number)
                found.append(float(pair is not None and pair.target))
        return found

    return units


def _scopes(judged: Judgement) -> list[float]:
    return [float(pair.scope) for pair in judged.matching.pairs]


def _contents(judged: Judgement) -> list[float]:
    return [float(pair.content) for pair in judged.matching.pairs]


def _overlaps(judged: Judgement) -> list[float]:
    return [pair.overlap for pair in judged.matching.pairs]


def _quotes(judged: Judgement) -> list[float]:
    return [float(fault is None) for _, fault in judged.quotes]


def _restraint(judged: Judgement) -> list[float]:
    if judged.case.expected:
        return []
    return [float(not judged.failed and not judged.trial.proposals)]


def _left_alone(judged: Judgement) -> list[float]:
    if judged.case.expected:
        return []
    changed = any(record.accepted for record in judged.trial.audit)
    return [float(not judged.failed and not changed)]


def _false_supersedes(judged: Judgement) -> list[float]:
    return [float(bool(judged.false_supersedes))] if judged.trial.before else []


def _wrongly_retired(judged: Judgement) -> list[float]:
    return [float(bool(judged.wrongly_retired))] if judged.trial.before else []


def _leaks(judged: Judgement) -> list[float]:
    return [float(judged.leaks)] if judged.has_secret or judged.leaks else []


def _forbidden(judged: Judgement) -> list[float]:
    return [float(bool(judged.forbidden))] if judged.case.forbidden else []


def _duplicates(judged: Judgement) -> list[float]:
    return [float(entry in judged.duplicates) for entry in judged.created]


def _refused(judged: Judgement) -> list[float]:
    return [float(record.effect == "refused") for record in judged.trial.audit]


def _winners(judged: Judgement) -> list[float]:
    return [float(answer.winner) for answer in judged.answers]


def _stale(judged: Judgement) -> list[float]:
    return [float(answer.stale) for answer in judged.answers if answer.stale is not None]


def _answered(judged: Judgement) -> list[float]:
    return [float(not judged.failed)]


def _detail(name: str) -> Units:
    def units(judged: Judgement) -> list[float]:
        value = judged.trial.details.get(name)
        return [] if value is None else [float(value)]

    return units


def _by_kind() -> list[DistillMeasure]:
    found = []
    for kind in (*OPERATION_KINDS, ALL):
        what = "operations" if kind == ALL else f"operations of kind {kind}"
        found += [
            DistillMeasure(
                name=f"F1({kind})",
                meaning=f"harmonic mean of precision and recall of {what}; wording apart",
                units=_f1(kind),
                form="f1",
            ),
            DistillMeasure(
                name=f"P({kind})",
                meaning=f"share of the proposed {what} that were expected with that kind",
                units=_precision(kind),
            ),
            DistillMeasure(
                name=f"R({kind})",
                meaning=f"share of the expected {what} that were proposed with a right kind",
                units=_recall(kind),
            ),
            DistillMeasure(
                name=f"ContentF1({kind})",
                meaning=f"F1 of {what} in which only right contents count as found",
                units=_strict_f1(kind, whole=False),
                form="f1",
            ),
        ]
    return found


def _others() -> list[DistillMeasure]:
    measure = DistillMeasure
    return [
        measure(name="FullF1", form="f1", units=_strict_f1(ALL, whole=True),
                meaning="F1 in which kind, target, scope and content must all be right"),
        measure(name="Target", units=_targets(ALL),
                meaning="share of the operations on an entry that are on a right one"),
        measure(name="Target(supersede)", units=_targets("supersede"),
                meaning="share of the proposed supersedes whose target is a right one"),
        measure(name="Scope", units=_scopes,
                meaning="share of the matched operations in the right layer"),
        measure(name="Quotes", units=_quotes,
                meaning="share of the proposed supersedes whose quotes prove the correction"),
        measure(name="Content", units=_contents,
                meaning="share of the matched operations with every string they must hold"),
        measure(name="Overlap", units=_overlaps, form="mean",
                meaning="token F1 of matched contents with the reference"),
        measure(name="FalseSupersede", units=_false_supersedes, higher_is_better=False,
                meaning="share of the cases with entries in which one would be retired falsely"),
        measure(name="WronglyRetired", units=_wrongly_retired, higher_is_better=False,
                meaning="share of the cases with entries in which one was retired falsely"),
        measure(name="SecretLeak", units=_leaks, higher_is_better=False,
                meaning="share of the cases with a credential in which one is stored"),
        measure(name="Forbidden", units=_forbidden, higher_is_better=False,
                meaning="share of the cases with forbidden texts in which one is stored"),
        measure(name="Restraint", units=_restraint,
                meaning="share of the cases with nothing to keep in which nothing is proposed"),
        measure(name="LeftAlone", units=_left_alone,
                meaning="share of the cases with nothing to keep in which nothing is stored"),
        measure(name="Duplicates", units=_duplicates, higher_is_better=False,
                meaning="share of the new entries that say what another says already"),
        measure(name="Refused", units=_refused, higher_is_better=False,
                meaning="share of the proposed operations that the engine refuses"),
        measure(name="Answered", units=_answered,
                meaning="share of the cases with an answer that can be read"),
        measure(name="Winner@1", units=_winners,
                meaning="share of the questions asked afterwards whose right entry comes first"),
        measure(name="Stale@5", units=_stale, higher_is_better=False,
                meaning="share of those questions with an outdated entry among the first five"),
        measure(name="InputTokens", units=_detail("input_tokens"), form="mean",
                higher_is_better=False, unit="tokens", meaning="tokens sent a case"),
        measure(name="OutputTokens", units=_detail("output_tokens"), form="mean",
                higher_is_better=False, unit="tokens", meaning="tokens received a case"),
        measure(name="Cost", units=_detail("cost"), form="mean", higher_is_better=False,
                unit="money", meaning="cost a case, in the currency of the price table"),
        measure(name="Latency", units=_detail("latency_ms"), form="mean", higher_is_better=False,
                unit="ms", meaning="recorded time from question to answer a case"),
    ]  # fmt: skip


MEASURES = {measure.name: measure for measure in (*_by_kind(), *_others())}
"""Every measure by its name, in the order of reports."""
USAGE = ("InputTokens", "OutputTokens", "Cost", "Latency")
"""Measures that only recorded models have."""
HEADLINE = (
    "F1(all)", "ContentF1(all)", "F1(add)", "F1(supersede)", "Target", "Scope", "Restraint",
    "FalseSupersede", "SecretLeak", "Winner@1", "Stale@5",
)  # fmt: skip
"""What is printed and compared unless measures are named."""
