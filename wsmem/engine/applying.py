"""Apply a distiller's proposals inside the transaction of their stage, and word its audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.engine.keeping import ledger_of, write_entries, write_summary
from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.redaction.redact import redact
from wsmem.scopes import GLOBAL
from wsmem.store.checkpoints import AuditLine, render_checkpoint
from wsmem.store.layout import iso_time
from wsmem.store.wording import wording_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.engine.locating import Place
    from wsmem.engine.staging import Batch
    from wsmem.operations.apply import IdSource
    from wsmem.operations.ledger import Ledger
    from wsmem.operations.outcome import OperationAudit, Outcome
    from wsmem.operations.parsing import Proposal
    from wsmem.records import Layer
    from wsmem.scopes import Scope
    from wsmem.settings import Settings
    from wsmem.store.transaction import Transaction


class ProposalApplier:
    """What a stage's proposals do to the scopes they reach."""

    def __init__(self, settings: Settings, ids: IdSource) -> None:
        self._settings = settings
        self._ids = ids

    def scopes_for(self, place: Place, proposals: Iterable[Proposal]) -> dict[Layer, Scope]:
        """The stage's own scope, and the layers that operations name: each is a lock more."""
        main = place.main
        scopes: dict[Layer, Scope] = {main.layer: main}
        default = self._default_layer(place)
        named = {default} | {
            name
            for proposal in proposals
            for name in (proposal.operation.target_scope, proposal.operation.scope)
        }
        if main.layer == "workspace":
            if "global" in named:
                scopes["global"] = GLOBAL
            if "session" in named and default == "session" and place.session is not None:
                scopes["session"] = place.session
        return scopes

    def apply(
        self,
        transaction: Transaction,
        scopes: Mapping[Layer, Scope],
        place: Place,
        batch: Batch,
        proposals: Sequence[Proposal],
        *,
        instructions: Sequence[str],
        now: int,
    ) -> Outcome:
        """Apply the proposals and put what they changed into the transaction."""
        ledgers: dict[Layer, Ledger] = {
            layer: ledger_of(transaction.snapshot(scope)) for layer, scope in scopes.items()
        }
        under = Circumstances(
            home=place.main.layer,
            default_layer=self._default_layer(place),
            at=iso_time(now),
            ids=self._ids,
            messages=batch.messages,
            instructions=instructions,
        )
        outcome = apply_operations(ledgers, proposals, under)
        write_entries(transaction, scopes, outcome.entries, self._settings)
        return outcome

    def consolidate(self, transaction: Transaction, scope: Scope, outcome: Outcome) -> bool:
        """Rebuild the stage's own summary when it is due; whether it was rebuilt at all.

        A change to its entries rebuilt it already; else it is due every `consolidate_every` stages,
        and when there is none.
        """
        if scope.layer in outcome.entries:
            return True
        snapshot = transaction.snapshot(scope)
        due = (snapshot.state.checkpoint_count + 1) % self._settings.consolidate_every == 0
        if not due and snapshot.has_summary:
            return False
        write_summary(transaction, scope, snapshot.entries, self._settings)
        return True

    def audit_text(self, reason: str, batch: Batch, outcome: Outcome, *, now: int) -> str:
        """The checkpoint file of the stage; its messages were redacted when they came."""
        return render_checkpoint(
            at_ms=now,
            reason=reason,
            messages=batch.messages,
            audit=map(_audit_line, outcome.audit),
            counts=counts_of(outcome),
            wording=wording_of(self._settings.language),
        )

    def _default_layer(self, place: Place) -> Layer:
        if place.main.layer != "workspace":
            return place.main.layer
        wanted = self._settings.write_layer
        return "workspace" if wanted == "session" and place.session is None else wanted


def counts_of(outcome: Outcome) -> dict[str, int]:
    """What the operations did, as a `CheckpointResult` counts it."""
    return {
        "added": outcome.added,
        "updated": outcome.count("updated"),
        "superseded": outcome.count("superseded"),
        "conflicts": outcome.count("conflict"),
        "ignored": outcome.ignored,
    }


def _audit_line(record: OperationAudit) -> AuditLine:
    return AuditLine(
        op=record.op,
        content=redact(record.content),
        accepted=record.accepted,
        target_id=record.target_id or "",
        detail=redact(record.reason),
    )
