"""Cases and judgements as JSON values, for run folders and pages; no credential is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.distillation.cases import ExpectedText
from wsmem.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wsmem.evals.distillation.cases import ExpectedOperation
    from wsmem.evals.distillation.judging import Answer, Judgement
    from wsmem.evals.distillation.matching import Pair
    from wsmem.evals.distillation.measures import DistillMeasure
    from wsmem.operations.outcome import OperationAudit
    from wsmem.operations.parsing import Proposal
    from wsmem.records import MemoryEntry

HIDDEN = "[…]"
"""Stands where a text may not be repeated."""
_KEPT_DETAILS = (
    "prompt", "model", "finish_reason", "input_tokens", "output_tokens", "cost", "currency",
    "latency_ms", "omitted_messages",
)  # fmt: skip


def stored_case(judged: Judgement) -> dict[str, Any]:
    """What a case says, the same for every distiller."""
    case, clean = judged.case, _cleaner(judged)
    return {
        "id": case.id,
        "language": case.language,
        "split": case.split,
        "slices": list(case.slices),
        "scope": judged.trial.home,
        "messages": [
            {"id": message.id, "role": message.role, "text": clean(message.text)}
            for message in case.messages
        ],
        "existing": [_entry(entry, clean) for entry in judged.trial.before],
        "expected": [_expected(operation, clean) for operation in case.expected],
        "forbidden": [clean(text) for text in case.forbidden],
        "note": clean(case.note),
    }


def stored_judgement(judged: Judgement, measures: Sequence[DistillMeasure]) -> dict[str, Any]:
    """What one distiller made of a case, and what is right and wrong about it.

    `units` holds what the case adds to every measure it adds anything to.
    """
    clean = _cleaner(judged)
    trial, matching = judged.trial, judged.matching
    units = {measure.name: list(measure.units(judged)) for measure in measures}
    return {
        "case": judged.case.id,
        "failure": None if trial.failure is None else clean(trial.failure),
        "faults": [clean(fault) for fault in judged.faults],
        "proposed": [_proposal(proposal, clean) for proposal in trial.proposals],
        "audit": [_audit(record, clean) for record in trial.audit],
        "pairs": [_pair(pair) for pair in (*matching.pairs, *matching.also)],
        "missed": list(matching.missed),
        "extra": list(matching.extra),
        "confusion": [list(cell) for cell in judged.confusion],
        "answers": [_answer(answer, clean) for answer in judged.answers],
        "details": {
            name: trial.details[name]
            for name in _KEPT_DETAILS
            if trial.details.get(name) is not None
        },
        "units": {name: values for name, values in units.items() if values},
    }


def _cleaner(judged: Judgement) -> Callable[[str], str]:
    """Hides what has the shape of a credential, and what a case says is one."""
    secrets = judged.case.forbidden if judged.has_secret else ()

    def clean(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)
        return redact(text)

    return clean


def _entry(entry: MemoryEntry, clean: Callable[[str], str]) -> dict[str, Any]:
    return {
        "id": entry.id,
        "scope": entry.scope,
        "type": entry.type,
        "title": clean(entry.title),
        "content": clean(entry.content),
        "status": entry.status,
    }


def _expected(operation: ExpectedOperation, clean: Callable[[str], str]) -> dict[str, Any]:
    return {
        "op": operation.op,
        "accept": list(operation.kinds),
        "scope": operation.scope,
        "targets": list(operation.targets),
        "required": [
            [needed] if isinstance(needed, str) else list(needed) for needed in operation.required
        ],
        "forbidden": list(operation.forbidden),
        "reference": clean(operation.reference),
    }


def _proposal(proposal: Proposal, clean: Callable[[str], str]) -> dict[str, Any]:
    operation = proposal.operation
    found = {
        "op": clean(operation.op),
        "scope": operation.scope,
        "targetId": operation.target_id,
        "type": operation.type,
        "title": operation.title,
        "content": operation.content,
        "oldQuote": operation.old_quote,
        "newQuote": operation.new_quote,
        "fault": proposal.fault,
    }
    cleaned = {name: clean(value) for name, value in found.items() if value}
    return cleaned | {
        name: [clean(item) for item in items]
        for name, items in (
            ("evidenceMessageIds", operation.evidence_message_ids),
            ("tags", operation.tags),
        )
        if items
    }


def _audit(record: OperationAudit, clean: Callable[[str], str]) -> dict[str, Any]:
    return {
        "effect": record.effect,
        "reason": clean(record.reason),
        "entry": record.entry_id,
        "layer": record.layer,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "expected": pair.expected,
        "proposed": pair.proposed,
        "kind": pair.kind,
        "target": pair.target,
        "scope": pair.scope,
        "content": pair.content,
        "overlap": round(pair.overlap, 4),
    }


def _answer(answer: Answer, clean: Callable[[str], str]) -> dict[str, Any]:
    wanted = answer.question.winner
    texts = wanted.required if isinstance(wanted, ExpectedText) else (wanted,)
    return {
        "query": clean(answer.question.query),
        "wanted": [needed if isinstance(needed, str) else " | ".join(needed) for needed in texts],
        "first": list(answer.first),
        "winner": answer.winner,
        "stale": answer.stale,
    }
