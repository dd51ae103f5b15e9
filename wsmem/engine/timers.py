"""One timer a scope: the next idle stage or the next retry, whichever was set last."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Action = Callable[[], Awaitable[object]]
    Sleep = Callable[[float], Awaitable[None]]

Purpose = Literal["idle", "retry"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A timer that waits."""

    purpose: Purpose
    delay_ms: int
    """As it was set."""
    task: asyncio.Task[None]


class Timers:
    """Timers by scope key; every action runs as a task of the event loop it was armed in.

    Args:
        sleep: Waits for seconds; tests hand in one they control.
    """

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._live: dict[str, Timer] = {}
        self._acting: set[asyncio.Task[None]] = set()

    def arm(self, key: str, delay_ms: int, action: Action, *, purpose: Purpose) -> None:
        """Run `action` after the delay, instead of whatever was to run for this scope."""
        self.cancel(key)
        task = asyncio.get_running_loop().create_task(self._wait(key, delay_ms, action))
        self._live[key] = Timer(purpose=purpose, delay_ms=delay_ms, task=task)

    def cancel(self, key: str) -> None:
        """Forget the timer of a scope; an action that began goes on."""
        timer = self._live.pop(key, None)
        if timer is not None:
            timer.task.cancel()

    def cancel_all(self) -> None:
        """Forget every timer."""
        for key in list(self._live):
            self.cancel(key)

    def get(self, key: str) -> Timer | None:
        """The timer that waits for a scope."""
        return self._live.get(key)

    def delays(self) -> dict[str, int]:
        """The delay of every timer that waits, as it was set."""
        return {key: timer.delay_ms for key, timer in self._live.items()}

    async def idle(self) -> None:
        """Wait until no action runs; timers that wait go on waiting."""
        while self._acting:
            await asyncio.wait(set(self._acting))

    async def close(self, *, drain_s: float) -> None:
        """Forget all timers; wait so long for actions that began, then cancel them."""
        self.cancel_all()
        acting = set(self._acting)
        if acting:
            _, late = await asyncio.wait(acting, timeout=drain_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*acting, return_exceptions=True)

    async def _wait(self, key: str, delay_ms: int, action: Action) -> None:
        await self._sleep(delay_ms / 1000)
        # From here on the timer is not live: arming another must not cancel the action.
        task = asyncio.current_task()
        timer = self._live.get(key)
        if timer is not None and timer.task is task:
            del self._live[key]
        if task is not None:
            self._acting.add(task)
            task.add_done_callback(self._acting.discard)
        try:
            await action()
        except Exception:  # noqa: BLE001 - nobody waits for a timer: the log is where it can be read
            _log.exception("a timed stage of scope %s failed", key)


def backoff_ms(failures: int, *, initial_ms: int, max_ms: int) -> int:
    """Wait after so many failures in a row: `initial_ms`, doubling, never above `max_ms`."""
    doublings = min(max(failures - 1, 0), 40)  # beyond, any start is over any limit
    return min(max_ms, initial_ms << doublings)
