"""Look at scopes without changing them: how they stand, what they hold. Synchronous."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from wsmem.engine.chains import chain_faults
from wsmem.engine.claims import claimed_ids
from wsmem.engine.policy import idle_left, total_units
from wsmem.engine.redacting import redacted_entry
from wsmem.engine.reports import ScopeStatus, ScopeView
from wsmem.redaction.redact import redact
from wsmem.scopes import Scope
from wsmem.store.layout import ENTRIES, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from wsmem.settings import Settings
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore


class Inspector:
    """Reads scopes for people."""

    def __init__(self, store: MemoryStore, settings: Settings, *, clock: Callable[[], int]) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock

    def status(self, scope: Scope, *, archived: bool = False) -> ScopeStatus:
        """Counters, what waits, and what went wrong last.

        Raises:
            StoreError: its files cannot be read.
        """
        snapshot = self._read(scope, archived=archived)
        state, extra, now = snapshot.state, snapshot.extra, self._clock()
        retry_at = _time(extra.get("retryAt"))
        next_stage_at = None
        if state.pending_messages and not archived:
            left = idle_left(state, settings=self._settings, now=now)
            next_stage_at = retry_at if retry_at is not None else now + (left or 0)
        return ScopeStatus(
            scope=scope.key,
            cwd=snapshot.cwd or scope.cwd,
            archived=archived,
            entries=dict(Counter(entry.status for entry in snapshot.entries)),
            pending=len(state.pending_messages),
            pending_chars=total_units(state.pending_messages),
            claimed=len(claimed_ids(snapshot, now=now)),
            checkpoint_count=state.checkpoint_count,
            last_checkpoint_at=state.last_checkpoint_at or None,
            last_buffered_at=state.last_buffered_at or None,
            next_stage_at=next_stage_at,
            failures=_time(extra.get("failures")) or 0,
            last_error=_text(extra.get("lastError")),
            last_error_at=_time(extra.get("lastErrorAt")),
            retry_at=retry_at,
            problems=_problems(snapshot),
        )

    def show(self, scope: Scope, *, archived: bool = False) -> ScopeView:
        """Summary and all entries of a scope, redacted; no messages.

        Raises:
            StoreError: its files cannot be read.
        """
        snapshot = self._read(scope, archived=archived)
        state = snapshot.state
        return ScopeView(
            scope=scope.key,
            cwd=snapshot.cwd or scope.cwd,
            archived=archived,
            summary=redact(snapshot.summary),
            entries=tuple(map(redacted_entry, snapshot.entries)),
            state={
                "version": state.version,
                "checkpointCount": state.checkpoint_count,
                "lastCheckpointAt": state.last_checkpoint_at,
                "lastBufferedAt": state.last_buffered_at,
                "pendingMessages": len(state.pending_messages),
            },
            problems=_problems(snapshot),
        )

    def _read(self, scope: Scope, *, archived: bool) -> ScopeSnapshot:
        return self._store.read_archived(scope.key) if archived else self._store.read_scope(scope)


def scope_of_key(key: str, cwd: str = "") -> Scope:
    """The scope a key names.

    Raises:
        InvalidInputError: it is not a scope key.
    """
    return Scope(key=key, cwd=cwd, layer=kind_of(key))


def _problems(snapshot: ScopeSnapshot) -> tuple[str, ...]:
    faults = chain_faults(snapshot)
    return (
        *(f"{problem.file}: {problem.detail}" for problem in snapshot.problems),
        *(f"{ENTRIES}: {entry_id} is its own successor in the end" for entry_id in faults.rings),
        *(f"{ENTRIES}: a successor of {entry_id} is missing" for entry_id in faults.missing),
    )


def _time(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return redact(value) if isinstance(value, str) else None
