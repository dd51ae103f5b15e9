"""Apply proposed operations to entries, each on its own, with a reason for what became of it.

Pure: entries, operations, messages, a time and a source of ids in; entries and an audit out. An
operation that cannot be applied is refused alone and never disturbs the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wsmem.operations import changes
from wsmem.operations.differences import relation
from wsmem.operations.evidence import Spoken, attribution_fault, correction_fault, origin
from wsmem.operations.fields import (
    clean_fields,
    cut,
    says_something,
    well_formed,
    without_speaker_labels,
)
from wsmem.operations.outcome import OperationAudit, Outcome
from wsmem.operations.similarity import content_tokens, is_near
from wsmem.records import OPERATION_KINDS, QUOTED_MATERIAL, Provenance
from wsmem.redaction.redact import contains_secret
from wsmem.text.normalize import normalize_text, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.operations.fields import Fields
    from wsmem.operations.ledger import Ledger
    from wsmem.operations.outcome import Effect
    from wsmem.operations.parsing import Proposal
    from wsmem.records import Layer, MemoryEntry, MemoryMessage, MemoryOperation

MAX_OPERATIONS = 200
"""Operations one answer may hold; what a looping model adds beyond is refused."""

MAX_AUDIT_CONTENT = 2_000
"""UTF-16 units of a statement that the audit repeats."""

MIN_ECHO = 8
"""Shortest statement that is compared with the distiller's own instructions."""


class IdSource(Protocol):
    """Where new ids come from."""

    def entry_id(self) -> str:
        """A new memory id."""

    def group_id(self) -> str:
        """A new conflict group id."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a batch of operations is applied under."""

    home: Layer
    """Layer of the scope whose messages were distilled; in `global` everything goes there."""
    default_layer: Layer
    """Where an operation goes that names no layer."""
    at: str
    """Now, as ISO 8601."""
    ids: IdSource
    messages: Sequence[MemoryMessage] = ()
    """The batch the operations were distilled from: the only evidence there is."""
    instructions: Sequence[str] = ()
    """Texts that were told to the distiller; repeating them is no memory."""
    explicit: bool = False
    """The operations were asked for by the user or an agent, not distilled from messages."""


class Refused(Exception):  # noqa: N818 - control flow inside this module, never an error outside
    """An operation that is not applied; carries the reason."""


def apply_operations(
    ledgers: Mapping[Layer, Ledger], proposals: Iterable[Proposal], under: Circumstances
) -> Outcome:
    """Apply `proposals` in order to the ledgers, which are changed in place.

    Args:
        ledgers: One a layer that operations may reach; others are refused as unknown.
        proposals: What the distiller said, parsed.
        under: Time, ids, evidence.
    """
    applier = _Applier(ledgers, under)
    audit = [applier.apply(number, proposal) for number, proposal in enumerate(proposals)]
    return Outcome(
        entries={layer: ledger.entries for layer, ledger in ledgers.items() if ledger.changed},
        audit=audit,
    )


class _Applier:
    def __init__(self, ledgers: Mapping[Layer, Ledger], under: Circumstances) -> None:
        self._ledgers = ledgers
        self._under = under
        self._batch = [Spoken(message) for message in under.messages]
        self._instructions = [normalize_text(text) for text in under.instructions]

    def apply(self, number: int, proposal: Proposal) -> OperationAudit:
        operation = proposal.operation
        try:
            if number >= MAX_OPERATIONS:
                return self._refused(operation, f"beyond {MAX_OPERATIONS} operations in one answer")
            return self._apply(proposal)
        except Refused as refusal:
            return self._refused(operation, str(refusal))

    @staticmethod
    def _refused(operation: MemoryOperation, reason: str) -> OperationAudit:
        return OperationAudit(
            op=_printable(operation.op) or "invalid",
            effect="refused",
            reason=reason,
            content=_content_for_audit(operation.content),
            target_id=_target_for_audit(operation),
        )

    def _apply(self, proposal: Proposal) -> OperationAudit:
        operation = proposal.operation
        if proposal.fault is not None:
            raise Refused(proposal.fault)
        if operation.op not in OPERATION_KINDS:
            raise Refused("unsupported operation")
        layer = self._layer_of(operation)
        if not self._under.explicit:
            operation = _unlabelled(operation)
        fields = clean_fields(operation)
        self._check_content(operation, fields)
        step = _Step(operation, fields, layer, self._ledgers[layer])
        if operation.op == "add":
            return self._add(step)
        if operation.op == "revise":
            return self._revise(step)
        if operation.op == "supersede":
            return self._supersede(step)
        return self._join_in_conflict(step, self._target(step))

    def _layer_of(self, operation: MemoryOperation) -> Layer:
        if self._under.home == "global":
            return "global"
        if operation.target_scope is not None and operation.target_scope not in self._ledgers:
            raise Refused("unknown target scope")
        for named in (operation.target_scope, operation.scope):
            for layer in self._ledgers:
                if named == layer:
                    return layer
        return self._under.default_layer

    def _check_content(self, operation: MemoryOperation, fields: Fields) -> None:
        if not says_something(fields.content):
            raise Refused("content is too short to say anything")
        if any(map(contains_secret, _proposed_texts(operation))):
            raise Refused("it holds a credential")
        wording = normalize_text(fields.content)
        if (
            len(wording) >= MIN_ECHO
            and any(wording in text for text in self._instructions)
            and not any(wording in spoken.normalized for spoken in self._batch)
        ):
            raise Refused("it repeats the instructions given to the distiller")

    def _add(self, step: _Step) -> OperationAudit:
        fields = step.fields
        self._check_attribution(step)
        for entry, _ in step.ledger.near(fields.content):
            if changes.says_nothing_new(entry, fields):
                return step.audit("unchanged", "already remembered", entry)
            stands = relation(fields.content, entry.content)
            if stands == "covered":
                return step.audit("unchanged", "an entry says this and more", entry)
            if stands != "different":
                step.ledger.replace(changes.revised(entry, fields, at=self._under.at))
                reason = "nearly the same as an entry: its old wording is kept"
                return step.audit("updated", reason, entry, target=entry)
        entry = self._new_entry(step)
        step.ledger.append(entry)
        return step.audit("added", "new memory", entry, created=True)

    def _revise(self, step: _Step) -> OperationAudit:
        found = self._target(step)
        if found.forked:
            raise Refused("its target has several successors")
        target = found.heads[0]
        self._check_attribution(step)
        if not is_near(content_tokens(step.fields.content), content_tokens(target.content)):
            raise Refused(
                "a revision must nearly repeat its target; use supersede or flag-conflict"
            )
        if changes.says_nothing_new(target, step.fields):
            return step.audit("unchanged", "already worded so", target, target=target)
        evidence = step.operation.evidence_message_ids
        entry = changes.revised(target, step.fields, at=self._under.at).with_changes(
            provenance=Provenance(message_ids=evidence, reason="revision")
        )
        step.ledger.replace(entry)
        return step.audit("updated", "revised: the old wording is kept", entry, target=target)

    def _supersede(self, step: _Step) -> OperationAudit:
        found = self._target(step)
        if found.forked:
            return self._join_in_conflict(step, found)
        target = found.heads[0]
        fault = correction_fault(step.operation, target, self._batch)
        if fault is not None:
            raise Refused(fault)
        at = self._under.at
        standing = step.ledger.same(step.fields.content)
        if standing is not None and standing.status == "active":
            # The correction was remembered before it was seen to be one: no second entry for it.
            ancestors = (*standing.supersedes, target.id)
            entry = standing.with_changes(supersedes=ancestors, updated_at=at)
            step.ledger.replace(entry)
        else:
            standing = None
            evidence = step.operation.evidence_message_ids
            entry = self._new_entry(step).with_changes(
                supersedes=(target.id,),
                provenance=Provenance(message_ids=evidence, reason="explicit-correction"),
            )
            step.ledger.append(entry)
        step.ledger.replace(changes.superseded(target, entry.id, at=at))
        reason = f"corrected by the user: {entry.id} takes its place"
        return step.audit("superseded", reason, entry, target=target, created=standing is None)

    def _join_in_conflict(self, step: _Step, found: _Target) -> OperationAudit:
        """Put the heads, the groups they are in and the new statement into one group."""
        members = {head.id: head for head in found.heads}
        groups = [
            head.conflict_group_id
            for head in found.heads
            if head.status == "conflict" and head.conflict_group_id
        ]
        for group in groups:
            members.update((entry.id, entry) for entry in step.ledger.group(group))
        wording = normalize_text(step.fields.content)
        if any(normalize_text(member.content) == wording for member in members.values()):
            raise Refused("it says what its target or a rival of it says already")
        self._check_attribution(step)
        group_id = groups[0] if groups else self._under.ids.group_id()
        for member in members.values():
            step.ledger.replace(changes.in_conflict(member, group_id, at=self._under.at))
        entry = self._new_entry(step).with_changes(status="conflict", conflict_group_id=group_id)
        step.ledger.append(entry)
        forked = "its successors disagree; " if found.forked else ""
        reason = f"{forked}all are kept in conflict group {group_id}"
        target = None if found.forked else found.heads[0]
        return step.audit("conflict", reason, entry, target=target, created=True)

    def _target(self, step: _Step) -> _Target:
        """The entry an operation is about, its chain of successors followed to the end."""
        named = step.ledger.get(step.operation.target_id)
        if named is None:
            raise Refused("no such target in this scope")
        if named.status == "deleted":
            raise Refused("its target was forgotten")
        chain = step.ledger.heads(named)
        if chain.broken:
            raise Refused("a successor of its target is missing")
        if not chain.entries:
            raise Refused("the successors of its target run in a ring")
        heads = tuple(head for head in chain.entries if head.recallable)
        if not heads:
            raise Refused("what replaced its target was forgotten")
        return _Target(heads, forked=len(chain.entries) > 1)

    def _check_attribution(self, step: _Step) -> None:
        if self._under.explicit:
            return
        type_ = step.fields.type or "fact"
        fault = attribution_fault(step.operation, type_, self._batch)
        if fault is not None:
            raise Refused(fault)

    def _new_entry(self, step: _Step) -> MemoryEntry:
        entry_id = self._under.ids.entry_id()
        while any(entry_id in ledger for ledger in self._ledgers.values()):
            entry_id = self._under.ids.entry_id()
        entry = changes.new_entry(entry_id, step.layer, step.fields, at=self._under.at)
        if self._batch and origin(step.operation, self._batch) == "pasted":
            evidence = step.operation.evidence_message_ids
            quoted = Provenance(message_ids=evidence, reason=QUOTED_MATERIAL)
            entry = entry.with_changes(provenance=quoted)
        return entry


class _Target(NamedTuple):
    heads: tuple[MemoryEntry, ...]
    """Recallable, at least one."""
    forked: bool
    """Whether there were several heads, also when only one of them is left: nobody chose it."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One operation that may be considered."""

    operation: MemoryOperation
    fields: Fields
    layer: Layer
    ledger: Ledger

    def audit(
        self,
        effect: Effect,
        reason: str,
        entry: MemoryEntry,
        *,
        target: MemoryEntry | None = None,
        created: bool = False,
    ) -> OperationAudit:
        return OperationAudit(
            op=self.operation.op,
            effect=effect,
            reason=reason,
            content=_content_for_audit(self.fields.content),
            target_id=target.id if target is not None else _target_for_audit(self.operation),
            entry_id=entry.id,
            created=created,
            layer=self.layer,
        )


def _unlabelled(operation: MemoryOperation) -> MemoryOperation:
    title, description = operation.title, operation.description
    return replace(
        operation,
        content=without_speaker_labels(operation.content),
        title=without_speaker_labels(title) if title else title,
        description=without_speaker_labels(description) if description else description,
    )


def _proposed_texts(operation: MemoryOperation) -> Iterable[str]:
    optional = (operation.title, operation.description, operation.old_quote, operation.new_quote)
    yield operation.content
    yield from (text for text in optional if text)
    yield from operation.tags
    yield from operation.retrieval_terms


def _content_for_audit(content: str) -> str:
    content = trim(well_formed(content))
    if not says_something(content) or contains_secret(content):
        return ""
    return trim(cut(content, MAX_AUDIT_CONTENT))


def _target_for_audit(operation: MemoryOperation) -> str | None:
    """The target as the distiller named it; an `add` has none, whatever it says."""
    return None if operation.op == "add" else _printable(operation.target_id)


def _printable(text: str | None) -> str | None:
    """An id or word of the distiller's, short and without a credential, for the audit."""
    if not text:
        return None
    return "[…]" if contains_secret(text) else well_formed(" ".join(text.split())[:80])
