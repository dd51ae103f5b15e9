"""Work units on other processes: here, on this machine; `wsmem.evals.cluster` has the machines.

A unit is a value, and what is done with it is a top-level function that may be called on it more
than once. Whoever has units needs not know where they are worked on.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from wsmem.errors import InvalidInputError, LostUnitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

UnitT = TypeVar("UnitT")
ResultT = TypeVar("ResultT")

ATTEMPTS = 3
"""How often a unit may end the process it is worked on before it is given up."""

_told: ContextVar[Callable[[Any], None] | None] = ContextVar("_told", default=None)
_carried: dict[str, Path] = {}
"""In a worker without our disk: where copies of shared files lie, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A file or folder that units can read wherever they are worked on."""

    origin: Path
    """Where it lies with whoever made the units; what results and messages call it."""
    key: str | None = None
    """Under which a worker without this disk has its copy; `None` where the disk is the same."""

    @property
    def path(self) -> Path:
        """Where it can be read in this process."""
        return self.origin if self.key is None else _carried.get(self.key, self.origin)


class Workers(Protocol):
    """Processes that work on units."""

    @property
    def size(self) -> int:
        """How many units are worked on at a time, as things stand."""

    def share(self, path: Path) -> Shared:
        """Let units read a file or a folder; the value returned goes into the units."""

    def unordered(
        self,
        function: Callable[[UnitT], ResultT],
        units: Sequence[UnitT],
        *,
        on_told: Callable[[int, Any], None] | None = None,
        on_lost: Callable[[int, LostUnitError], ResultT] | None = None,
    ) -> Iterator[tuple[int, ResultT]]:
        """Work on every unit; results as they are finished, each with its unit's place.

        A unit whose process dies is worked on again elsewhere, and results that are there stay.
        What the function raises ends the work.

        Args:
            function: Top-level, and without harm if called twice on one unit. It and its modules
                must be importable by the workers.
            units: Picklable, as are the results. They are begun in this order, so the longest
                come first.
            on_told: Called here with a unit's place and what its function gave to `tell`. Only
                units that are worked on in this process are heard.
            on_lost: Makes the result of a unit that ended its process every time.

        Raises:
            LostUnitError: such a unit, without `on_lost`; once all others are done.
        """


def tell(news: Any) -> None:
    """From within a unit: say something to whoever waits, if it can be heard there."""
    listener = _told.get()
    if listener is not None:
        listener(news)


def hold(key: str, path: Path) -> None:
    """From within a worker: note where the copy of something shared lies."""
    _carried[key] = path


def lacks(keys: Iterable[str]) -> bool:
    """From within a worker: whether a copy is not there, or no longer."""
    return not all(key in _carried and _carried[key].exists() for key in keys)


def release(key: str) -> None:
    """From within a worker: forget a copy."""
    _carried.pop(key, None)


@contextmanager
def open_workers(*, jobs: int, cluster: str | None = None) -> Iterator[Workers]:
    """Workers for the time of a `with`.

    Args:
        jobs: Processes on this machine; one means this very process. Not read with a cluster.
        cluster: `local:N` for N Dask workers on this machine, or the address of a scheduler that
            somebody has started, as `tcp://host:8786`.

    Raises:
        InvalidInputError: fewer than one process, or no such kind of cluster.
        ClusterError: the cluster cannot be used; the message says why.
        MissingExtraError: a cluster without `distributed` installed.
    """
    if cluster is not None:
        from wsmem.evals.cluster import open_cluster  # noqa: PLC0415  slow to import, an extra

        with open_cluster(cluster) as far:
            yield far
        return
    if jobs < 1:
        raise InvalidInputError(f"{jobs} processes cannot work; ask for 1 or more")
    near = LocalWorkers(jobs)
    try:
        yield near
    finally:
        near.close()


class LocalWorkers:
    """Processes of this machine; with one of them, or one unit, this very process works.

    Each process is a pool of its own, so that one that dies takes no other unit with it and leaves
    no doubt about whose fault it was.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._idle: list[ProcessPoolExecutor] = []

    @property
    def size(self) -> int:
        """How many processes there may be."""
        return self.jobs

    def share(self, path: Path) -> Shared:
        """Our processes read the same disk."""
        return Shared(origin=path)

    def unordered(
        self,
        function: Callable[[UnitT], ResultT],
        units: Sequence[UnitT],
        *,
        on_told: Callable[[int, Any], None] | None = None,
        on_lost: Callable[[int, LostUnitError], ResultT] | None = None,
    ) -> Iterator[tuple[int, ResultT]]:
        """As `Workers.unordered` says."""
        if self.jobs == 1 or len(units) < 2:
            return _here(function, units, on_told)
        return self._apart(function, units, on_lost)

    def close(self) -> None:
        """End the processes, once they have finished what they are at."""
        while self._idle:
            self._idle.pop().shutdown(cancel_futures=True)

    def _apart(
        self,
        function: Callable[[UnitT], ResultT],
        units: Sequence[UnitT],
        on_lost: Callable[[int, LostUnitError], ResultT] | None,
    ) -> Iterator[tuple[int, ResultT]]:
        waiting = deque(range(len(units)))
        deaths = [0] * len(units)
        busy: dict[Future[ResultT], tuple[int, ProcessPoolExecutor]] = {}
        lost: LostUnitError | None = None
        try:
            while waiting or busy:
                while waiting and len(busy) < self.jobs:
                    place, process = waiting.popleft(), self._process()
                    busy[process.submit(function, units[place])] = (place, process)
                for task in wait(busy, return_when=FIRST_COMPLETED).done:
                    place, process = busy.pop(task)
                    try:
                        result = task.result()
                    except BrokenExecutor as error:
                        process.shutdown()
                        deaths[place] += 1
                        if deaths[place] < ATTEMPTS:
                            waiting.append(place)
                            continue
                        found = LostUnitError(unit_name(units[place], place), ATTEMPTS, str(error))
                        if on_lost is None:
                            lost = lost or found
                            continue
                        result = on_lost(place, found)
                    except BaseException:
                        self._idle.append(process)
                        raise
                    else:
                        self._idle.append(process)
                    yield place, result
        finally:
            # Nobody wants what is still being worked on, but a process is given back idle.
            wait(busy)
            self._idle += [process for _, process in busy.values()]
        if lost is not None:
            raise lost

    def _process(self) -> ProcessPoolExecutor:
        if self._idle:
            return self._idle.pop()
        # Fresh interpreters: a forked one would inherit the threads of NumPy and of the caller.
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def unit_name(unit: object, place: int) -> str:
    """What to call a unit in a message: its `name` if it has one, else its number from 1."""
    return str(getattr(unit, "name", None) or f"unit {place + 1}")


def _here(
    function: Callable[[UnitT], ResultT],
    units: Sequence[UnitT],
    on_told: Callable[[int, Any], None] | None,
) -> Iterator[tuple[int, ResultT]]:
    for place, unit in enumerate(units):
        heard = _told.set(None if on_told is None else _Listener(place, on_told))
        try:
            result = function(unit)
        finally:
            _told.reset(heard)
        yield place, result


@dataclass(frozen=True, slots=True)
class _Listener:
    place: int
    on_told: Callable[[int, Any], None]

    def __call__(self, news: Any) -> None:
        self.on_told(self.place, news)
