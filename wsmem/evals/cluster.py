"""Work units on a Dask cluster: other machines, or real Dask workers on this one.

Workers need no disk in common with us: what is shared travels to each of them, those that join
later included. They need the same code: a worker with another wsmem is refused by name.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from wsmem.errors import ClusterError, InvalidInputError, LostUnitError, MissingExtraError
from wsmem.evals.surroundings import Surroundings
from wsmem.evals.workers import Shared, lacks, unit_name

try:
    import cloudpickle
    from distributed import Client, KilledWorker, LocalCluster, Security
    from distributed.client import ClosedClientError
    from distributed.comm.addressing import get_address_host_port

    from wsmem.evals.copies import ByValue, Copy, contents, copy_key, left_behind, unpacked
except ImportError as missing:
    raise MissingExtraError("distributed", "scale") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from distributed import Future

    from wsmem.evals.workers import Workers

UnitT = TypeVar("UnitT")
ResultT = TypeVar("ResultT")

LOCAL = "local:"
PATIENCE = 30.0
"""Seconds to wait for the first worker, or for another when the last one died."""
_CONNECTING = 10.0
"""Seconds to wait for a scheduler, at most."""

_POLL = 0.5
"""Seconds between two looks at whether anybody still works."""
_GONE = (OSError, TimeoutError, RuntimeError, ClosedClientError)
"""What a client says whose scheduler has gone away."""
_NO_WSMEM = "No module named 'wsmem"
_START_WORKER = "start one with: dask worker {} --nthreads 1"
_AGAIN = "repeat the command, wsmem eval with --resume"


@contextmanager
def open_cluster(cluster: str, *, patience: float = PATIENCE) -> Iterator[Workers]:
    """Workers of a cluster for the time of a `with`; those of `local:N` are ended with it.

    Args:
        cluster: `local:N`, or a scheduler's address.
        patience: Seconds to wait for the scheduler and for a worker.

    Raises:
        InvalidInputError: `cluster` is neither.
        ClusterError: nobody answers, nobody works, or a worker has other code.
    """
    _quiet()
    if cluster.startswith(LOCAL):
        with _local(_count(cluster)) as address:
            yield from _connected(cluster, address, patience)
    elif "://" in cluster:
        yield from _connected(cluster, cluster, patience)
    else:
        problem = f"{cluster!r} is no cluster"
        raise InvalidInputError(f"{problem}; give local:N, or an address as tcp://host:8786")


class ClusterWorkers:
    """The workers of one scheduler. Each works on one unit at a time, however many its threads.

    Python runs one thread at a time, so further units in one process would only wait; and a worker
    that dies with one unit leaves no doubt about whose fault it was.
    """

    def __init__(self, cluster: str, client: Client, patience: float) -> None:
        self.cluster, self.patience = cluster, patience
        self._client = client
        self._here = Surroundings.here()
        self._shared: dict[Path, Shared] = {}
        self._copies: list[str] = []
        """Keys of what the workers keep for us; equal data at two places is kept once."""
        self._seen = monotonic()
        """When a worker was last there."""

    @property
    def size(self) -> int:
        """How many workers there are now; more may come."""
        return max(1, self._width())

    def share(self, path: Path) -> Shared:
        """Bring a file, or all files of a folder, to every worker, also to those yet to come.

        Raises:
            ClusterError: a worker cannot keep it.
        """
        place = path.resolve()
        if place not in self._shared:
            files = contents(place)
            key = copy_key(files, self._client.id)
            if key not in self._copies:
                self._copies.append(key)
                try:
                    self._client.register_plugin(Copy(key, files), name=key)
                except OSError as error:
                    problem = f"a worker cannot keep a copy of {path} ({error})"
                    remedy = "give it room, or start it with another --local-directory"
                    raise ClusterError(self.cluster, problem, remedy) from error
            self._shared[place] = Shared(origin=path, key=key)
        return self._shared[place]

    def unordered(
        self,
        function: Callable[[UnitT], ResultT],
        units: Sequence[UnitT],
        *,
        on_told: Callable[[int, Any], None] | None = None,  # noqa: ARG002  not heard from afar
        on_lost: Callable[[int, LostUnitError], ResultT] | None = None,
    ) -> Iterator[tuple[int, ResultT]]:
        """As `Workers.unordered` says.

        Raises:
            ClusterError: a worker that came later has other code, or nobody works any more. What
                was yielded before stands.
        """
        queue = _Queue(len(units))
        busy: dict[Future[Any], int] = {}
        finished: SimpleQueue[Future[Any]] = SimpleQueue()
        lost: list[tuple[int, LostUnitError]] = []
        try:
            while queue.waits or busy:
                width = self._width()
                while (place := queue.take(busy=len(busy), width=width)) is not None:
                    job = (self._here, tuple(self._copies), function, units[place])
                    packed = cloudpickle.dumps((_work, job))
                    future = self._client.submit(ByValue(unpacked), packed, pure=False)
                    busy[future] = place
                    future.add_done_callback(finished.put)
                try:
                    future = finished.get(timeout=_POLL)
                except Empty:
                    continue
                place = busy.pop(future)
                try:
                    result = self._result(future)
                except KilledWorker as error:
                    if queue.try_alone(place):
                        continue
                    lost.append((place, _lost(units[place], place, error)))
                    continue
                yield place, result
        finally:
            with suppress(*_GONE):
                self._client.cancel(list(busy))
        for place, given_up in lost:  # after all others: none waits for what is given up
            if on_lost is None:
                raise given_up
            yield place, on_lost(place, given_up)

    def vet(self) -> None:
        """Wait for a worker, and see that all that are there have our code.

        What runs that were ended by force have left with the workers is thrown away.

        Raises:
            ClusterError: nobody came in time, does not answer, or has other code.
        """
        self._unregister(self._client.run_on_scheduler(ByValue(left_behind)))
        while not self._width():
            sleep(_POLL)
        for worker, answer in self._client.sync(self._introduced).items():
            self._refuse(f"worker {worker}", answer)

    def close(self) -> None:
        """Let the workers throw away their copies."""
        self._unregister(self._copies)
        self._copies.clear()
        self._shared.clear()

    async def _introduced(self) -> dict[str, Surroundings | Exception]:
        """What each worker says of itself; one that hangs must not keep us waiting for good."""
        workers = list(await self._client.nthreads())

        async def introduce(worker: str) -> Surroundings | Exception:
            asked = self._client.run(Surroundings.here, workers=[worker], on_error="return")
            try:
                found: dict[str, Surroundings | Exception] = await asyncio.wait_for(
                    asked, self.patience
                )
            except (OSError, TimeoutError) as error:
                return error
            return found[worker]

        return dict(zip(workers, await asyncio.gather(*map(introduce, workers)), strict=True))

    def _unregister(self, keys: Iterable[str]) -> None:
        async def unregister() -> None:
            for key in keys:
                await self._client.unregister_worker_plugin(key)

        # A scheduler that has ended has no worker left to tell.
        with suppress(*_GONE):
            self._client.sync(unregister, callback_timeout=self.patience)

    def _result(self, future: Future[Any]) -> Any:
        if future.cancelled():
            raise self._abandoned()
        stranger, answer = future.result()
        if stranger is not None:
            self._refuse(f"worker {stranger}", answer)
        if isinstance(answer, _Misfit):
            self._refuse(f"worker {answer.worker}", answer.surroundings)
            problem = f"worker {answer.worker} has lost its copies of what was shared"
            raise ClusterError(self.cluster, problem, f"start it again, then {_AGAIN}")
        return answer

    def _refuse(self, who: str, answer: Surroundings | Exception) -> None:
        """Raise if somebody cannot take part."""
        if isinstance(answer, Surroundings):
            found = self._here.problem(answer)
            if found is not None:
                raise ClusterError(self.cluster, f"{who} {found[0]}", found[1])
        elif isinstance(answer, (OSError, TimeoutError)):
            problem = f"{who} does not answer within {self.patience:g} seconds"
            raise ClusterError(self.cluster, problem, "end it, and start it again") from answer
        elif _NO_WSMEM in str(answer):
            problem = f"{who} has no wsmem, or an older one"
            remedy = f"install wsmem {self._here.wsmem} with its scale extra there"
            raise ClusterError(self.cluster, problem, remedy) from answer
        else:
            problem = f"{who} cannot load wsmem ({answer})"
            remedy = "install wsmem with its scale extra there"
            raise ClusterError(self.cluster, problem, remedy) from answer

    def _width(self) -> int:
        """How many workers there are.

        Raises:
            ClusterError: none for longer than our patience, or no scheduler.
        """
        if self._client.status == "closed":  # it does so where it cannot connect again
            raise self._abandoned()
        try:
            found = len(self._client.nthreads())
        except _GONE:
            found = 0
        if found:
            self._seen = monotonic()
        elif monotonic() - self._seen > self.patience:
            address = "" if self.cluster.startswith(LOCAL) else self.cluster
            problem = f"no worker for {self.patience:g} seconds"
            raise ClusterError(self.cluster, problem, _START_WORKER.format(address))
        return found

    def _abandoned(self) -> ClusterError:
        remedy = f"start it and its workers again, then {_AGAIN}"
        return ClusterError(self.cluster, "its scheduler has gone away", remedy)


class _Queue:
    """Places of units that wait for a worker.

    A scheduler blames every unit a dead worker had been given, and hands them all to the workers
    that are left. So who is blamed too often is tried once more with no other unit around.
    """

    def __init__(self, count: int) -> None:
        self._waiting = deque(range(count))
        self._suspects: deque[int] = deque()
        self._tried: set[int] = set()

    @property
    def waits(self) -> bool:
        """Whether any unit does."""
        return bool(self._waiting or self._suspects)

    def take(self, *, busy: int, width: int) -> int | None:
        """The next unit to begin while `busy` of `width` workers work; `None` for none now."""
        if busy < width and self._waiting:
            return self._waiting.popleft()
        if busy == 0 < width and self._suspects:
            return self._suspects.popleft()
        return None

    def try_alone(self, place: int) -> bool:
        """Put a blamed unit back; false when it was alone already, so the fault is its own."""
        if place in self._tried:
            return False
        self._tried.add(place)
        self._suspects.append(place)
        return True


class _Misfit:
    """What a worker with other code, or without what was shared, gives instead of a result."""

    def __init__(self, worker: str, surroundings: Surroundings) -> None:
        self.worker, self.surroundings = worker, surroundings


def _work(
    wanted: Surroundings,
    copies: Iterable[str],
    function: Callable[[UnitT], ResultT],
    unit: UnitT,
) -> Any:
    """Runs on a worker."""
    here = Surroundings.here()
    if wanted.problem(here) is not None or lacks(copies):
        from distributed import get_worker  # noqa: PLC0415  only where there is one

        return _Misfit(get_worker().address, here)
    return function(unit)


def _connected(cluster: str, address: str, patience: float) -> Iterator[Workers]:
    wait = min(patience, _CONNECTING)
    try:
        # A client that fails while it is made would take long to give up.
        get_address_host_port(address)
        if address.startswith("tls:") and not _certified():
            problem = "there is no certificate to show to it"
            remedy = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY"
            raise ClusterError(cluster, problem, remedy)
        client = Client(address, timeout=wait, set_as_default=False, name="wsmem")
    except (OSError, ValueError) as error:
        raise ClusterError(
            cluster,
            f"no scheduler answers ({error})",
            "start one with: dask scheduler; or correct the address",
        ) from error
    with client:
        workers = ClusterWorkers(cluster, client, patience)
        try:
            workers.vet()
            yield workers
        finally:
            workers.close()


def _certified() -> bool:
    found: bool = Security().get_connection_args("client")["ssl_context"] is not None
    return found


@contextmanager
def _local(count: int) -> Iterator[str]:
    """A scheduler and workers of our own, on loopback; a worker that dies is replaced."""
    try:
        started = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # a free port: the usual one may be taken
            memory_limit=0,
            scheduler_kwargs={"allowed_failures": 1},
        )
    except (OSError, RuntimeError) as error:
        raise ClusterError(
            f"{LOCAL}{count}",
            f"its workers cannot be started ({error})",
            "ask for fewer, or leave --cluster out",
        ) from error
    with started as cluster:
        yield cluster.scheduler_address


def _count(cluster: str) -> int:
    number = cluster.removeprefix(LOCAL)
    if not number.isdecimal() or int(number) < 1:
        problem = f"{number!r} is no number of workers"
        raise InvalidInputError(f"{problem}; write for example --cluster local:4")
    return int(number)


def _lost(unit: object, place: int, error: KilledWorker) -> LostUnitError:
    reason = f"the last of them was {error.last_worker.address}"
    return LostUnitError(unit_name(unit, place), 2 * (error.allowed_failures + 1), reason)


def _quiet() -> None:
    """Let errors speak only: what distributed says of workers that come and go is for its log."""
    for part in ("", ".client", ".nanny", ".scheduler", ".worker"):
        logging.getLogger(f"distributed{part}").setLevel(logging.CRITICAL)
