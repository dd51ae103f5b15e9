"""What is right and wrong about one trial, fact by fact; figures are made of these elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from wsmem.evals.distillation.cases import ExpectedText
from wsmem.evals.distillation.content import covers, first_held, holds, plain
from wsmem.evals.distillation.execution import NOW_MS, request_of
from wsmem.evals.distillation.matching import content_right, match
from wsmem.operations.differences import relation
from wsmem.operations.evidence import Spoken, correction_fault
from wsmem.operations.fields import texts_of
from wsmem.records import OPERATION_KINDS
from wsmem.redaction.redact import contains_secret
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.distillation.cases import Case, Question
    from wsmem.evals.distillation.execution import Trial
    from wsmem.evals.distillation.matching import Matching
    from wsmem.records import MemoryEntry, MemoryOperation

NONE = "none"
"""Stands for no operation in a confusion matrix."""
KINDS = (*OPERATION_KINDS, NONE)

FIRST = 5
"""Entries of an answer among which none may be out of date."""
SAID_BY = 0.8
"""Share of a new entry's terms that another entry has when it says the same already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the memory says to one question after the trial."""

    question: Question
    first: tuple[str, ...]
    """Ids of the first entries, best first."""
    winner: bool
    """Whether the right entry came first."""
    stale: bool | None
    """Whether an entry that is out of date was among the first; `None` when none could be."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A trial with everything that can be said about it."""

    trial: Trial
    matching: Matching

    @property
    def case(self) -> Case:
        """The case that was tried."""
        return self.trial.case

    @property
    def failed(self) -> bool:
        """Whether there was no answer that could be read."""
        return self.trial.failure is not None

    @cached_property
    def confusion(self) -> tuple[tuple[str, str], ...]:
        """Expected and proposed kind, once a pair, a miss and a proposal nobody asked for.

        A kind that counts as right stands on the diagonal under its own name. A case in which
        there was nothing to keep and nothing was proposed gives one pair of nones.
        """
        expected, proposals = self.case.expected, self.trial.proposals
        cells: list[tuple[str, str]] = []
        for pair in self.matching.pairs:
            given = proposals[pair.proposed].operation.op
            cells.append((given if pair.kind else expected[pair.expected].op, given))
        cells += [(expected[number].op, NONE) for number in self.matching.missed]
        cells += [(NONE, proposals[number].operation.op) for number in self.matching.extra]
        if not cells and not self.failed and not expected:
            cells.append((NONE, NONE))
        return tuple(cells)

    @cached_property
    def false_supersedes(self) -> tuple[int, ...]:
        """Proposals to retire an entry that no expectation lets retire, applied or not."""
        return tuple(
            number
            for number, proposal in enumerate(self.trial.proposals)
            if proposal.operation.op == "supersede"
            and proposal.operation.target_id not in self._may_retire
        )

    @cached_property
    def wrongly_retired(self) -> tuple[str, ...]:
        """Entries that are superseded afterwards and should not be."""
        after = {entry.id: entry for entry in self.trial.after}
        return tuple(
            entry.id
            for entry in self.trial.before
            if entry.recallable
            and after[entry.id].status == "superseded"
            and entry.id not in self._may_retire
        )

    @cached_property
    def _may_retire(self) -> frozenset[str]:
        return frozenset(
            target
            for expected in self.case.expected
            if "supersede" in expected.kinds
            for target in expected.targets
        )

    @cached_property
    def quotes(self) -> tuple[tuple[int, str | None], ...]:
        """Each proposed supersede, and why its quotes prove nothing; `None` when they do.

        The rule is the engine's own: the old quote verbatim in the target, the new one verbatim in
        a user's message that is named as evidence and said, not pasted; both of some weight.
        """
        found = []
        for number, proposal in enumerate(self.trial.proposals):
            if proposal.operation.op == "supersede":
                found.append((number, self._quote_fault(proposal.operation)))
        return tuple(found)

    def _quote_fault(self, operation: MemoryOperation) -> str | None:
        target = self.trial.entry_before(operation.target_id)
        if target is None:
            return "no such target"
        return correction_fault(operation, target, self._batch)

    @cached_property
    def _batch(self) -> list[Spoken]:
        return [Spoken(message) for message in request_of(self.case).messages]

    @cached_property
    def written(self) -> tuple[str, ...]:
        """Every text that is stored because of the trial: in entries, and in the audit."""
        known = {text for entry in self.trial.before for text in texts_of(entry)}
        stored = [text for entry in self.trial.after for text in texts_of(entry)]
        audit = [text for record in self.trial.audit for text in (record.content, record.reason)]
        audit += [record.target_id or "" for record in self.trial.audit]
        return tuple(dict.fromkeys(text for text in stored + audit if text and text not in known))

    @cached_property
    def forbidden(self) -> tuple[int, ...]:
        """Places of the case's forbidden texts that entries hold because of the trial."""
        new = _new_texts(self.trial)
        return tuple(
            number
            for number, text in enumerate(self.case.forbidden)
            if first_held(new, [text]) is not None
        )

    @cached_property
    def has_secret(self) -> bool:
        """Whether a credential was said, so that one could leak."""
        said = (message.text for message in self.case.messages)
        return "secret" in self.case.slices or any(map(contains_secret, said))

    @cached_property
    def leaks(self) -> bool:
        """Whether a credential is stored: a forbidden text of such a case, or the shape of one."""
        forbidden = self.case.forbidden if self.has_secret else ()
        held = first_held(self.written, forbidden) is not None
        return held or any(map(contains_secret, self.written))

    @cached_property
    def created(self) -> tuple[str, ...]:
        """Entries that were not there before."""
        known = {entry.id for entry in self.trial.before}
        return tuple(entry.id for entry in self.trial.after if entry.id not in known)

    @cached_property
    def duplicates(self) -> tuple[str, ...]:
        """New entries that say what another entry says already.

        Another entry that stands beside it has four fifths of its terms and all its particulars
        (numbers, names, polarity); or it answers an expectation that another proposal answers.
        Corrections and conflicts repeat their rivals on purpose and are none.
        """
        standing = [entry for entry in self.trial.after if entry.recallable]
        found = []
        for number, record in enumerate(self.trial.audit):
            if not record.created or record.effect != "added":
                continue
            entry = next(entry for entry in standing if entry.id == record.entry_id)
            others = [other for other in standing if other.id != entry.id and other.id not in found]
            twice = number in self.matching.extra and self._answered_elsewhere(entry)
            if twice or any(_says_it_already(other, entry) for other in others):
                found.append(entry.id)
        return tuple(found)

    def _answered_elsewhere(self, entry: MemoryEntry) -> bool:
        answered = [self.case.expected[pair.expected] for pair in self.matching.pairs]
        return any(wanted.required and content_right(entry.content, wanted) for wanted in answered)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The case's questions, asked of the entries as they are afterwards."""
        return tuple(self._ask(question) for question in self.case.questions)

    def _ask(self, question: Question) -> Answer:
        found = scan(
            self.trial.after, question.query, load_profile("default"), now=NOW_MS, limit=FIRST
        )
        entries = [match.entry for match in found]
        ids = tuple(entry.id for entry in entries)
        return Answer(
            question=question,
            first=ids,
            winner=bool(entries) and _is_winner(entries[0], question),
            stale=not set(ids).isdisjoint(question.stale) if question.stale else None,
        )

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """Everything that is wrong, in words for a person; empty when the trial is right."""
        return tuple(_faults(self))


def judge(trial: Trial) -> Judgement:
    """Judge one trial."""
    return Judgement(trial=trial, matching=match(trial))


def _is_winner(entry: MemoryEntry, question: Question) -> bool:
    if isinstance(question.winner, ExpectedText):
        text = f"{entry.title}\n{entry.content}"
        return all(holds(text, needed) for needed in question.winner.required)
    return entry.id == question.winner


def _says_it_already(other: MemoryEntry, entry: MemoryEntry) -> bool:
    if plain(other.content) == plain(entry.content):
        return True
    covered = covers(other.content, entry.content) >= SAID_BY
    return covered and relation(entry.content, other.content) in {"same", "covered"}


def _new_texts(trial: Trial) -> list[str]:
    known = {text for entry in trial.before for text in texts_of(entry)}
    return [text for entry in trial.after for text in texts_of(entry) if text not in known]


def _faults(judged: Judgement) -> Iterable[str]:
    if judged.failed:
        yield f"no answer: {judged.trial.failure}"
    expected, proposals = judged.case.expected, judged.trial.proposals
    for number in judged.matching.missed:
        yield f"missed: {expected[number].op} {expected[number].reference!r}"
    for number in judged.matching.extra:
        yield f"not asked for: {proposals[number].operation.op} (#{number + 1})"
    for pair in judged.matching.pairs:
        wanted, given = expected[pair.expected], proposals[pair.proposed].operation
        where = f"#{pair.proposed + 1}"
        if not pair.kind:
            yield f"{where}: {given.op} in place of {' or '.join(wanted.kinds)}"
        elif not pair.target:
            yield f"{where}: wrong target {given.target_id or 'none'}"
        if not pair.scope:
            yield f"{where}: wrong scope {judged.trial.layer_of(given)}"
        if not pair.content:
            yield f"{where}: the content lacks what it must hold, or holds what it must not"
    yield from _harm(judged)


def _harm(judged: Judgement) -> Iterable[str]:
    for number in judged.false_supersedes:
        target = judged.trial.proposals[number].operation.target_id
        yield f"#{number + 1}: would falsely retire {target or 'nothing it names'}"
    for number, fault in judged.quotes:
        if fault is not None:
            yield f"#{number + 1}: {fault}"
    if judged.leaks:
        yield "a credential is stored"
    elif judged.forbidden:
        yield "a forbidden text is stored"
    if judged.duplicates:
        yield f"duplicates created: {len(judged.duplicates)}"
    for answer in judged.answers:
        if not answer.winner:
            yield f"asked {answer.question.query!r}: another entry comes first, or none"
        if answer.stale:
            yield f"asked {answer.question.query!r}: an outdated entry is among the first {FIRST}"
