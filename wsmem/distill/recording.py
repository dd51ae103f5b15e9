"""Making recordings: what is missing is asked for, some requests at a time, under a cost cap."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wsmem.distill.cassettes import Planned, recording_of
from wsmem.distill.completion import unusable
from wsmem.distill.failures import (
    BudgetError,
    DistillError,
    KeyRefusedError,
    PaymentRequiredError,
)
from wsmem.distill.model import model_request
from wsmem.text.utf8 import utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.distill.cassettes import Cassette
    from wsmem.distill.completion import Completion
    from wsmem.distill.conversation import Bounds
    from wsmem.distill.model import Ask
    from wsmem.distill.prices import Price
    from wsmem.distill.prompting import Prompt
    from wsmem.operations.contract import DistillRequest

_DEFAULT_OUTPUT_TOKENS = 4096
"""Reckoned for a request without a length limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What recording would take."""

    requests: int
    recorded: int
    """Requests that are on the cassette already."""
    request_bytes: int
    most: float | None
    """Upper bound of the cost; `None` where the price is unknown."""
    currency: str | None


@dataclass(slots=True, kw_only=True)
class RecordReport:
    """What a run of recording did."""

    recorded: int = 0
    unusable: int = 0
    """Recorded answers that are cut, filtered or empty: a result of the model like any other."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Cases without a recording, and why."""
    cost: float | None = 0.0
    """`None` as soon as one call's cost is unknown."""
    currency: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    stopped: str | None = None
    """Why the run ended before its time; what was recorded is on the cassette."""


OnProgress = Callable[[Planned, "str | None"], None]
"""Told each case that is done, and what went wrong with it, if anything did."""


def plan(
    cases: Iterable[tuple[str, DistillRequest]],
    prompt: Prompt,
    *,
    model: str,
    parameters: dict[str, object] | None = None,
    bounds: Bounds | None = None,
    language: str | None = None,
) -> list[Planned]:
    """What a model is asked about each case under a prompt."""
    return [
        Planned(
            case=case,
            request=model_request(
                prompt,
                request,
                model=model,
                parameters=parameters,
                bounds=bounds,
                language=language,
            ),
        )
        for case, request in cases
    ]


def estimate(planned: Sequence[Planned], cassette: Cassette, price: Price | None) -> Estimate:
    """How much there is to record and what it may cost at most."""
    lacking = cassette.missing(planned)
    return Estimate(
        requests=len(lacking),
        recorded=len(planned) - len(lacking),
        request_bytes=sum(map(_request_bytes, lacking)),
        most=sum(_most(item, price) for item in lacking) if price else None,
        currency=price.currency if price else None,
    )


async def record(
    planned: Sequence[Planned],
    *,
    ask: Ask,
    cassette: Cassette,
    concurrency: int = 4,
    price: Price | None = None,
    max_cost: float | None = None,
    on_progress: OnProgress | None = None,
    now: Callable[[], str] | None = None,
) -> RecordReport:
    """Ask for what the cassette lacks and append each answer as it arrives.

    A case that fails is reported and the others go on; run again to try it again. A refused key or
    an empty account ends the run. No request is begun that could pass `max_cost`, reckoning those
    under way at the most they may cost.

    Args:
        planned: All requests; those on the cassette are not asked again.
        ask: Where completions come from.
        cassette: Where they go.
        concurrency: Requests under way at a time.
        price: Of the model.
        max_cost: In the price's currency.
        on_progress: Told about every case.
        now: Gives the time for `recorded_at`.

    Raises:
        BudgetError: there is a cap and no price; nothing was sent.
        MissingExtraError: the client library is not installed.
    """
    if max_cost is not None and price is None:
        raise BudgetError(None, max_cost, len(cassette.missing(planned)))
    run = _Run(cassette.missing(planned), ask, cassette, price, max_cost)
    run.on_progress = on_progress or (lambda _item, _problem: None)
    run.now = now or utc_now
    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(run.work())
    return run.report


class _Run:
    """One run of recording, shared by its workers."""

    def __init__(
        self,
        lacking: Sequence[Planned],
        ask: Ask,
        cassette: Cassette,
        price: Price | None,
        max_cost: float | None,
    ) -> None:
        self._queue = deque(lacking)
        self._ask, self._cassette = ask, cassette
        self._price, self._max_cost = price, max_cost
        self._reserved = 0.0
        self.report = RecordReport(currency=price.currency if price else None)
        self.on_progress: OnProgress
        self.now: Callable[[], str]

    async def work(self) -> None:
        """Take requests until there are none or the run is stopped."""
        while self._queue and self.report.stopped is None:
            most = _most(self._queue[0], self._price)
            if self._would_pass(most):
                spent = self.report.cost or 0.0
                error = BudgetError(spent, self._max_cost or 0.0, len(self._queue))
                self.report.stopped = str(error)
                return
            item = self._queue.popleft()
            self._reserved += most
            try:
                problem = await self._one(item)
            finally:
                self._reserved -= most
            self.on_progress(item, problem)

    def _would_pass(self, most: float) -> bool:
        if self._max_cost is None:
            return False
        return (self.report.cost or 0.0) + self._reserved + most > self._max_cost

    async def _one(self, item: Planned) -> str | None:
        try:
            completion = await self._ask(item.request)
        except DistillError as error:
            self.report.failed.append((item.case, str(error)))
            if isinstance(error, (KeyRefusedError, PaymentRequiredError)):
                self.report.stopped = str(error)
            return str(error)
        self._cassette.append(recording_of(item, completion, at=self.now()))
        self._count(completion)
        failure = unusable(completion)
        if failure is not None:
            self.report.unusable += 1
        return None if failure is None else failure.cause

    def _count(self, completion: Completion) -> None:
        report, usage = self.report, completion.usage
        report.recorded += 1
        report.input_tokens += usage.input_tokens or 0
        report.output_tokens += usage.output_tokens or 0
        cost = self._price.cost(usage) if self._price else None
        if cost is None and self._price is not None and self._max_cost is not None:
            report.stopped = "the endpoint does not count tokens, so the cap cannot be kept"
        report.cost = None if cost is None or report.cost is None else report.cost + cost


def _most(item: Planned, price: Price | None) -> float:
    if price is None:
        return 0.0
    limit = item.request.parameters.get("max_tokens")
    tokens = limit if isinstance(limit, int) else _DEFAULT_OUTPUT_TOKENS
    return price.most(request_bytes=_request_bytes(item), output_tokens=tokens)


def _request_bytes(item: Planned) -> int:
    return sum(utf8_length(message.content) for message in item.request.messages)


def utc_now() -> str:
    """The time for `recorded_at`."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
