"""The two transactions of a stage, before the model is asked and after; synchronous.

`begin` buffers messages and claims a batch; `commit` applies what the distiller said; `fail` and
`release` give the claim back. Nothing is locked between them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.engine.applying import ProposalApplier, counts_of
from wsmem.engine.claims import Claim, ended, live_claims, started, with_claims
from wsmem.engine.corpora import search
from wsmem.engine.keeping import duplicates_of
from wsmem.engine.policy import stage_is_ready
from wsmem.engine.redacting import redacted_entry
from wsmem.engine.staging import (
    Batch,
    buffered,
    is_pending,
    next_batch,
    settled,
    usable_messages,
)
from wsmem.engine.timers import backoff_ms
from wsmem.operations.candidates import select_candidates
from wsmem.records import CheckpointResult
from wsmem.scopes import GLOBAL
from wsmem.store.layout import new_uuid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wsmem.engine.corpora import Corpora
    from wsmem.engine.locating import Place
    from wsmem.operations.apply import IdSource
    from wsmem.operations.parsing import Proposal
    from wsmem.records import CheckpointStatus, Layer, MemoryEntry, MemoryState
    from wsmem.scopes import Scope
    from wsmem.settings import Settings
    from wsmem.store.store import MemoryStore
    from wsmem.store.transaction import Transaction

EXACT_SEARCH_UP_TO = 200
"""Entries up to which the distiller's candidates are found as the public plugin finds them, which
compares every word with every text; beyond, by the `default` profile, with an index if there is
one."""

LEASE_SLACK_MS = 60_000
"""How much longer than the model's own limit a claim holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What `begin` did."""

    place: Place
    reason: str
    accepted: int
    pending: int
    last_buffered_at: int
    batch: Batch | None = None
    """What the stage distils; `None` when there is nothing to distil now."""
    owner: str = ""

    def result(self, status: CheckpointStatus | None = None, **fields: Any) -> CheckpointResult:
        """The result of a call that ended here."""
        counts = {"pending": self.pending, **fields}
        waiting: CheckpointStatus = "buffered" if counts["pending"] else "empty"
        return CheckpointResult(
            status=status or waiting,
            scope=self.place.main.key,
            accepted=self.accepted,
            **counts,
        )


class Failure(NamedTuple):
    """A stage that failed."""

    in_a_row: int
    retry_ms: int
    pending: int


class Stages:
    """Begins and ends stages in one store."""

    def __init__(
        self,
        store: MemoryStore,
        settings: Settings,
        *,
        clock: Callable[[], int],
        ids: IdSource,
        corpora: Corpora,
    ) -> None:
        self._store = store
        self._corpora = corpora
        self._settings = settings
        self._clock = clock
        self._applier = ProposalApplier(settings, ids)

    def begin(self, place: Place, messages: Any, *, reason: str, force: bool) -> Begun:
        """Buffer messages that are new; claim a batch if the stage is ready.

        Raises:
            StoreError: nothing was buffered.
        """
        scope = place.main
        usable = usable_messages(messages)
        if not usable:
            state = self._store.read_scope(scope).state
            if not state.pending_messages:
                return Begun(place=place, reason=reason, accepted=0, pending=0, last_buffered_at=0)
        owner = new_uuid()

        def change(transaction: Transaction) -> Begun:
            snapshot = transaction.snapshot(scope)
            now = self._clock()
            state, accepted = buffered(snapshot.state, usable, now=now)
            transaction.set_state(scope, state)
            batch = None
            if stage_is_ready(state, reason=reason, settings=self._settings, now=now, force=force):
                batch = self._claim(transaction, scope, state, owner)
            return Begun(
                place=place,
                reason=reason,
                accepted=accepted,
                pending=len(state.pending_messages),
                last_buffered_at=state.last_buffered_at,
                batch=batch,
                owner=owner,
            )

        started(owner)
        try:
            begun = self._store.update([scope], change)
        except BaseException:
            ended(owner)
            raise
        if begun.batch is None:
            ended(owner)
        return begun

    def existing(self, begun: Begun) -> tuple[MemoryEntry, ...]:
        """The entries the distiller is shown, redacted."""
        main = begun.place.main
        scopes = (main,) if main.layer == "global" else (GLOBAL, main)
        snapshots = [self._store.read_scope(scope) for scope in scopes]
        corpus = self._corpora.of([snapshot for snapshot in snapshots if snapshot.entries])
        now = self._clock()
        large = len(corpus.entries) > EXACT_SEARCH_UP_TO
        chosen = select_candidates(
            corpus.entries,
            begun.batch.messages if begun.batch else (),
            now=now,
            max_entries=self._settings.candidate_limit,
            max_bytes=self._settings.candidate_max_bytes,
            search=partial(search, corpus, now=now) if large else None,
        )
        return tuple(map(redacted_entry, chosen))

    def prepare(self, begun: Begun) -> None:
        """Index what `commit` will compare with; meant to run beside it, while the model thinks."""
        for scope in dict.fromkeys((begun.place.main, GLOBAL)):
            duplicates_of(self._store.read_scope(scope)).prepare()

    def commit(
        self, begun: Begun, proposals: Sequence[Proposal], instructions: Sequence[str] = ()
    ) -> CheckpointResult:
        """Apply what the distiller said and settle the batch, in one transaction.

        When another process settled these messages meanwhile nothing is applied a second time.

        Raises:
            StoreError: nothing was changed; the batch is still claimed.
        """
        batch = begun.batch
        if batch is None:
            return begun.result()
        scopes = self._applier.scopes_for(begun.place, proposals)

        def change(transaction: Transaction) -> CheckpointResult:
            return self._commit(transaction, scopes, begun, batch, proposals, instructions)

        try:
            return self._store.update(scopes.values(), change)
        finally:
            ended(begun.owner)

    def fail(self, begun: Begun, error: str) -> Failure:
        """Give the batch back and write down why, and when it is tried again.

        Raises:
            StoreError: it could not be written down; the claim ends by itself.
        """

        def change(transaction: Transaction) -> Failure:
            failures = self._settle_extra(transaction, begun, failed=True, error=error)
            state = transaction.snapshot(begun.place.main).state
            return Failure(failures, self.backoff_ms(failures), len(state.pending_messages))

        try:
            return self._store.update([begun.place.main], change)
        finally:
            ended(begun.owner)

    def backoff_ms(self, failures: int) -> int:
        """How long to wait after so many failures in a row."""
        settings = self._settings
        return backoff_ms(
            failures, initial_ms=settings.retry_initial_ms, max_ms=settings.retry_max_ms
        )

    def release(self, begun: Begun) -> None:
        """Give the batch back, as if it had never been claimed.

        Raises:
            StoreError: it could not be written; the claim ends by itself.
        """
        try:
            self._store.update(
                [begun.place.main],
                lambda transaction: self._settle_extra(transaction, begun, failed=None),
            )
        finally:
            ended(begun.owner)

    def _claim(
        self, transaction: Transaction, scope: Scope, state: MemoryState, owner: str
    ) -> Batch | None:
        """Claim the oldest messages nobody works on."""
        snapshot, now = transaction.snapshot(scope), self._clock()
        claims = live_claims(snapshot, now=now)
        batch = next_batch(
            state,
            claimed={message_id for claim in claims for message_id in claim.ids},
            max_units=self._settings.checkpoint_max_chars,
        )
        if batch is not None:
            until = now + self._settings.model_timeout_ms + LEASE_SLACK_MS
            mine = Claim(owner=owner, process=os.getpid(), ids=batch.ids, until=until)
            transaction.set_extra(scope, with_claims(snapshot, [*claims, mine]))
        return batch

    def _commit(  # noqa: PLR0917 - the parts of one stage, from one caller
        self,
        transaction: Transaction,
        scopes: Mapping[Layer, Scope],
        begun: Begun,
        batch: Batch,
        proposals: Sequence[Proposal],
        instructions: Sequence[str],
    ) -> CheckpointResult:
        main, now = begun.place.main, self._clock()
        before = transaction.snapshot(main).state
        self._settle_extra(transaction, begun, failed=False)
        if not is_pending(before, batch):
            return begun.result(pending=len(before.pending_messages))
        outcome = self._applier.apply(
            transaction, scopes, begun.place, batch, proposals, instructions=instructions, now=now
        )
        state = settled(
            before,
            batch,
            now=now,
            window=self._settings.seen_window,
            summary_rebuilt=self._applier.consolidate(transaction, main, outcome),
        )
        transaction.set_state(main, state)
        text = self._applier.audit_text(begun.reason, batch, outcome, now=now)
        transaction.add_checkpoint(main, text, at_ms=now)
        pending = len(state.pending_messages)
        return begun.result("committed", pending=pending, **counts_of(outcome))

    def _settle_extra(
        self,
        transaction: Transaction,
        begun: Begun,
        *,
        failed: bool | None,
        error: str = "",
    ) -> int:
        """End the claim; note a failure, or forget earlier ones after a success.

        Returns how many stages failed in a row. `failed=None` leaves that as it is.
        """
        scope = begun.place.main
        snapshot = transaction.snapshot(scope)
        others = [
            claim
            for claim in live_claims(snapshot, now=self._clock())
            if claim.owner != begun.owner
        ]
        extra = with_claims(snapshot, others)
        failures = _whole(extra.get("failures"))
        if failed is not None:
            for name in ("failures", "lastError", "lastErrorAt", "retryAt"):
                extra.pop(name, None)
            failures = failures + 1 if failed else 0
        if failed:
            now = self._clock()
            retry_at = now + self.backoff_ms(failures)
            extra.update(failures=failures, lastError=error, lastErrorAt=now, retryAt=retry_at)
        transaction.set_extra(scope, extra)
        return failures


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
