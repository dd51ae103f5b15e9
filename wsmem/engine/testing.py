"""Test doubles for hosts and for wsmem itself: a distiller, a whole memory, and time."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

from wsmem.errors import WsmemError
from wsmem.operations.contract import DistillOutput
from wsmem.records import CheckpointResult, MemoryContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wsmem.operations.contract import DistillRequest
    from wsmem.records import CheckpointInput, RecallInput


class DistillerError(WsmemError):
    """What a fake distiller raises when it is told to fail."""


class FakeDistiller:
    """A distiller that gives prepared answers in turn and writes down what it was asked.

    An answer is what a model would have said (text, or the document already decoded), an exception
    to raise, or a function of the request that returns either, awaited if need be. When the answers
    are used up, the last one is given again; without any the answer is that nothing is worth
    keeping.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers = deque(answers)
        self.requests: list[DistillRequest] = []
        """Every request, in order."""

    def answer_with(self, *answers: Any) -> None:
        """Prepare further answers."""
        self._answers.extend(answers)

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        """Give the next answer."""
        self.requests.append(request)
        answer: Any = {"version": 1, "operations": []}
        if self._answers:
            answer = self._answers[0] if len(self._answers) == 1 else self._answers.popleft()
        if callable(answer) and not isinstance(answer, BaseException):
            answer = answer(request)
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, DistillOutput) else DistillOutput(answer=answer)


class EchoDistiller(FakeDistiller):
    """A distiller that adds every line of every message, as the worst model would."""

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        """Add every line that is long enough to say something."""
        self.requests.append(request)
        lines = [line.strip() for message in request.messages for line in message.text.splitlines()]
        operations = [{"op": "add", "content": line} for line in lines if len(line) > 3]
        return DistillOutput(answer={"version": 1, "operations": operations})


class FakeMemory:
    """A `WorkspaceMemory` without files, for the tests of a host.

    `context` is the answer to every recall, or a function that makes one; `delay_s` makes it late;
    an exception as `context` is raised, which a real engine never does.
    """

    def __init__(
        self,
        context: MemoryContext
        | BaseException
        | Callable[[RecallInput], MemoryContext]
        | None = None,
        *,
        result: CheckpointResult | None = None,
        delay_s: float = 0.0,
    ) -> None:
        self.context = context or MemoryContext(scope="global", summary="", matches=(), text="")
        self.result = result or CheckpointResult(status="buffered", scope="global")
        self.delay_s = delay_s
        self.recalls: list[RecallInput] = []
        """Every recall that was asked for."""
        self.checkpoints: list[CheckpointInput] = []
        """Every checkpoint that was handed over."""

    async def recall(self, request: RecallInput) -> MemoryContext:
        """Give the prepared answer."""
        self.recalls.append(request)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if isinstance(self.context, BaseException):
            raise self.context
        return self.context if isinstance(self.context, MemoryContext) else self.context(request)

    async def checkpoint(self, request: CheckpointInput) -> CheckpointResult:
        """Give the prepared result."""
        self.checkpoints.append(request)
        return self.result


class ManualTime:
    """A clock and a sleep that only move when told to: `await time.advance(5_000)`.

    Hand `time.now` to an engine as its clock and `time.sleep` as its sleep.
    """

    def __init__(self, start_ms: int = 1_788_220_800_000) -> None:
        self.ms = start_ms
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return self.ms

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved so far."""
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        until = self.ms + round(seconds * 1000)
        heapq.heappush(self._sleepers, (until, next(self._order), wake))
        await wake

    async def advance(self, ms: int, *, idle: Callable[[], Awaitable[None]] | None = None) -> None:
        """Move the clock, waking sleepers in order.

        Args:
            ms: How far.
            idle: Waits until what a sleeper does is over, before the clock moves on; an engine's
                `idle`.
        """
        until = self.ms + ms
        await self._let_run(idle)
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, wake = heapq.heappop(self._sleepers)
            if wake.done():  # its timer was cancelled
                continue
            self.ms = max(self.ms, at)
            wake.set_result(None)
            await self._let_run(idle)
        self.ms = until

    @property
    def waiting(self) -> list[int]:
        """When the sleepers that still wait would wake, in ms since the epoch."""
        return sorted(at for at, _, wake in self._sleepers if not wake.done())

    @staticmethod
    async def _let_run(idle: Callable[[], Awaitable[None]] | None) -> None:
        for _ in range(3):  # wake the sleeper, start its action, register it
            await asyncio.sleep(0)
        if idle is not None:
            await idle()
