"""Carrying out: each case's conversation through a distiller, and what it says applied.

The way is the engine's own (what a distiller is shown, reading, applying), but for files: nothing
is stored. Clock and ids are fixed, so equal answers give equal trials. Whether a trial is right is
not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from wsmem.distill.failures import MissingRecordingError
from wsmem.engine.distilling import distil
from wsmem.engine.redacting import redacted_entry
from wsmem.engine.staging import usable_messages
from wsmem.errors import UnreadableOutputError, WsmemError
from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.operations.candidates import select_candidates
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.operations.ledger import Ledger
from wsmem.redaction.redact import redact
from wsmem.scopes import normalize_cwd, scope_key
from wsmem.store.layout import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.evals.distillation.cases import Case
    from wsmem.operations.contract import Distiller
    from wsmem.operations.outcome import OperationAudit
    from wsmem.operations.parsing import Proposal
    from wsmem.records import Layer, MemoryEntry, MemoryMessage, MemoryOperation

NOW_MS = 1_788_220_800_000
"""When every case is distilled: 2026-09-01, after everything the shipped cases hold."""
LIMIT_S = 600.0
"""How long a distiller may take for a case."""
MAX_SHOWN, MAX_SHOWN_BYTES = 20, 12_000
"""Existing entries a distiller is shown, as many as the engine shows by default."""

OnProgress = Callable[[str], None]
"""Told the id of each case that is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One case as one distiller handled it."""

    case: Case
    proposals: tuple[Proposal, ...] = ()
    """What it proposed, in its order."""
    audit: tuple[OperationAudit, ...] = ()
    """What became of each proposal."""
    before: tuple[MemoryEntry, ...]
    after: tuple[MemoryEntry, ...]
    """The entries afterwards; those of before when the distiller failed."""
    failure: str | None = None
    """Why nothing could be applied; `None` when the answer was read, even if it was empty."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Tokens, cost and time, where the distiller knows them."""

    @property
    def home(self) -> Layer:
        """The layer the conversation belongs to."""
        return home_of(self.case)

    def layer_of(self, operation: MemoryOperation) -> str:
        """Where an operation would be applied, right or wrong."""
        if self.home == "global":
            return "global"
        for named in (operation.target_scope, operation.scope):
            if named in {"global", "workspace"}:
                return str(named)
        return self.home

    def entry_before(self, entry_id: str | None) -> MemoryEntry | None:
        """An entry that was held before the conversation."""
        return next((entry for entry in self.before if entry.id == entry_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """All cases that a distiller could be asked about."""

    done: tuple[Trial, ...]
    """In the order of the cases."""
    unrecorded: tuple[str, ...]
    """Cases a replay holds no answer to; they are no failures and are not scored."""


def home_of(case: Case) -> Layer:
    """The layer a case's conversation belongs to."""
    return "workspace" if case.cwd else "global"


def request_of(case: Case) -> DistillRequest:
    """What a distiller is asked about a case; the same every time, so that recordings fit."""
    messages = usable_messages(case.conversation())
    existing = select_candidates(
        case.entries(),
        messages,
        now=NOW_MS,
        max_entries=MAX_SHOWN,
        max_bytes=MAX_SHOWN_BYTES,
    )
    return DistillRequest(
        scope=scope_key(normalize_cwd(case.cwd, platform="linux")),
        cwd=case.cwd or "",
        reason="segment-end",
        messages=messages,
        existing=tuple(map(redacted_entry, existing)),
        language="en" if case.language == "en" else "zh",
        now=NOW_MS,
    )


def carry_out(
    cases: Iterable[Case], distiller: Distiller, *, on_progress: OnProgress | None = None
) -> Trials:
    """Ask about the cases one after the other; one that fails is a result like any other."""
    work = _carry_out(cases, distiller, on_progress or (lambda _: None))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A notebook runs its cells inside a loop, where no other can be run: one in a thread can.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _carry_out(
    cases: Iterable[Case], distiller: Distiller, on_progress: OnProgress
) -> Trials:
    done: list[Trial] = []
    unrecorded: list[str] = []
    for case in cases:
        try:
            done.append(await _attempt(case, distiller))
        except MissingRecordingError:
            unrecorded.append(case.id)
        on_progress(case.id)
    return Trials(done=tuple(done), unrecorded=tuple(unrecorded))


async def _attempt(case: Case, distiller: Distiller) -> Trial:
    before = case.entries()
    asked = request_of(case)
    given = _Listener(distiller)
    try:
        proposals, instructions = await distil(given, asked, limit_s=LIMIT_S)
    except MissingRecordingError:
        raise
    except Exception as error:  # noqa: BLE001  a failing case is a result, not the end
        return Trial(
            case=case,
            before=before,
            after=before,
            failure=_reason(error),
            details=given.details,
        )
    after, audit = applied(case, proposals, messages=asked.messages, instructions=instructions)
    return Trial(
        case=case,
        proposals=proposals,
        audit=audit,
        before=before,
        after=after,
        details=given.details,
    )


def applied(
    case: Case,
    proposals: Sequence[Proposal],
    *,
    messages: Sequence[MemoryMessage],
    instructions: Sequence[str],
) -> tuple[tuple[MemoryEntry, ...], tuple[OperationAudit, ...]]:
    """The entries after the proposals, each case's own; and what became of every proposal."""
    home, entries = home_of(case), case.entries()
    ledgers: dict[Layer, Ledger] = {home: Ledger(entries)}
    if home == "workspace":
        ledgers = {
            layer: Ledger([entry for entry in entries if entry.scope == layer])
            for layer in ("workspace", "global")
        }
    under = Circumstances(
        home=home,
        default_layer=home,
        at=iso_time(NOW_MS),
        ids=_CountedIds(),
        messages=messages,
        instructions=instructions,
    )
    outcome = apply_operations(ledgers, proposals, under)
    after = tuple(entry for ledger in ledgers.values() for entry in ledger.entries)
    return after, tuple(outcome.audit)


class _Listener:
    """Passes requests on and keeps what came beside the answer."""

    def __init__(self, distiller: Distiller) -> None:
        self._distiller = distiller
        self.details: Mapping[str, Any] = {}

    async def __call__(self, request: DistillRequest) -> DistillOutput | str:
        answer = await self._distiller(request)
        if isinstance(answer, DistillOutput):
            self.details = answer.details
        return answer


class _CountedIds:
    """Ids in the order they are asked for."""

    def __init__(self) -> None:
        self._entries, self._groups = count(1), count(1)

    def entry_id(self) -> str:
        """A new memory id."""
        return f"mem-{next(self._entries):012x}"

    def group_id(self) -> str:
        """A new conflict group id."""
        return f"conflict-{next(self._groups):012x}"


def _reason(error: Exception) -> str:
    """Why a case failed, in one line and without a credential the error may repeat."""
    if isinstance(error, UnreadableOutputError):
        text = f"the answer is unreadable ({error.found})"
    else:
        text = str(error) if isinstance(error, WsmemError) else f"{type(error).__name__}: {error}"
    return redact(" ".join(text.split()))
