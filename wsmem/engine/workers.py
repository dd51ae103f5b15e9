"""Threads the engine works in, so that the event loop never waits for a file or a ranking."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from wsmem.errors import EngineClosedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")

READERS, WRITERS = 4, 4
"""Separate, because a writer may wait for a lock and a recall must not."""


class Workers:
    """Thread pools for recalls, for changes, and for building indexes; made when first used."""

    def __init__(self) -> None:
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="wsmem-recall")
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="wsmem-write")
        self.background = ThreadPoolExecutor(1, thread_name_prefix="wsmem-index")
        """Where indexes are built, one at a time."""
        self._later: set[Future[None]] = set()
        self._closed = False

    def read(
        self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run `function` among the recalls."""
        return self._submit(self._readers, partial(function, *args, **kwargs))

    def write(
        self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run `function` among the changes, which may wait for locks."""
        return self._submit(self._writers, partial(function, *args, **kwargs))

    def in_background(
        self, function: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Run something that only saves time later; what it raises is nobody's concern."""
        with suppress(RuntimeError):  # the pool is closed: nothing will need it any more
            self.background.submit(partial(function, *args, **kwargs))

    def write_later(self, function: Callable[[], None]) -> None:
        """Run `function` among the changes without anybody waiting; at once when closed."""
        try:
            task = self._writers.submit(function)
        except RuntimeError:
            function()
        else:
            self._later.add(task)
            task.add_done_callback(self._later.discard)

    async def settled(self) -> None:
        """Wait for what `write_later` was given."""
        await asyncio.gather(*map(asyncio.wrap_future, set(self._later)), return_exceptions=True)

    def close(self) -> None:
        """Take no more work; changes are finished, recalls and indexes that wait are dropped."""
        self._closed = True
        for pool in (self._readers, self._writers, self.background):
            pool.shutdown(wait=False, cancel_futures=pool is not self._writers)

    def _submit(self, pool: ThreadPoolExecutor, function: Callable[[], T]) -> asyncio.Future[T]:
        if self._closed:
            raise EngineClosedError
        return asyncio.get_running_loop().run_in_executor(pool, function)
