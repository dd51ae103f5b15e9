"""Work units on a Dask cluster: other machines, or real Dask workers on this one.

Workers need no disk in common with us: what is shared travels to each of them, those that join
later included. They need the same code: a worker with another wsmem is refused by name.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import deque
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

from wsmem.errors import ClusterError, InvalidInputError, LostUnitError, MissingExtraError
from wsmem.evals.surroundings import Surroundings
from wsmem.evals.workers import Shared, hold, release, unit_name

try:
    from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin
except ImportError as missing:
    raise MissingExtraError("distributed", "scale") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from distributed import Future, Worker

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
_NO_WSMEM = "No module named 'wsmem"
_START_WORKER = "start one with: dask worker {} --nthreads 1"


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
        self._copies: set[str] = set()
        """Keys of what the workers keep for us; equal data at two places is kept once."""
        self._seen = monotonic()
        """When a worker was last there."""

    @property
    def size(self) -> int:
        """How many workers there are now; more may come."""
        return max(1, self._width())

    def share(self, path: Path) -> Shared:
        """Bring a file, or all files of a folder, to every worker, also to those yet to come."""
        place = path.resolve()
        if place not in self._shared:
            files = _contents(place)
            # Two runs on one cluster may share the same data and end at different times.
            key = f"{_digest(files)}-{self._client.id}"
            if key not in self._copies:
                self._client.register_plugin(_Copy(key, files), name=key)
                self._copies.add(key)
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
        lost: LostUnitError | None = None
        try:
            while queue.waits or busy:
                width = self._width()
                while (place := queue.take(busy=len(busy), width=width)) is not None:
                    future = self._client.submit(
                        _work, self._here, function, units[place], pure=False
                    )
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
                    found = _lost(units[place], place, error)
                    if on_lost is None:
                        lost = lost or found
                        continue
                    result = on_lost(place, found)
                yield place, result
        finally:
            self._client.cancel(list(busy))
        if lost is not None:
            raise lost

    def vet(self) -> None:
        """Wait for a worker, and see that all that are there have our code.

        Raises:
            ClusterError: nobody came in time, or a worker has other code.
        """
        while not self._width():
            sleep(_POLL)
        answers = self._client.run(Surroundings.here, on_error="return")
        for worker, answer in answers.items():
            self._refuse(worker, answer)

    def close(self) -> None:
        """Let the workers throw away their copies."""
        for key in self._copies:
            # A scheduler that has ended has no worker left to tell.
            with suppress(OSError, TimeoutError):
                self._client.unregister_worker_plugin(key)
        self._copies.clear()
        self._shared.clear()

    def _result(self, future: Future[Any]) -> Any:
        if future.cancelled():
            raise ClusterError(
                self.cluster,
                "its scheduler has gone away",
                "start it again, then repeat the command with --resume",
            )
        try:
            answer = future.result()
        except ModuleNotFoundError as error:
            self._refuse("a worker that came later", error)
            raise
        if isinstance(answer, _Misfit):
            self._refuse(answer.worker, answer.surroundings)
        return answer

    def _refuse(self, worker: str, answer: Surroundings | Exception) -> None:
        """Raise if a worker cannot take part."""
        if isinstance(answer, Exception) and _NO_WSMEM in str(answer):
            problem = f"{worker} has no wsmem, or an older one"
            remedy = f"install wsmem {self._here.wsmem} with its eval and scale extras there"
            raise ClusterError(self.cluster, problem, remedy)
        if isinstance(answer, Exception):
            raise ClusterError(
                self.cluster, f"{worker} cannot load wsmem ({answer})", "mend its installation"
            ) from answer
        found = self._here.problem(answer)
        if found is not None:
            problem, remedy = found
            raise ClusterError(self.cluster, f"worker {worker} {problem}", remedy)

    def _width(self) -> int:
        """How many workers there are.

        Raises:
            ClusterError: none for longer than our patience.
        """
        try:
            found = len(self._client.nthreads())
        except (OSError, TimeoutError):
            found = 0
        if found:
            self._seen = monotonic()
        elif monotonic() - self._seen > self.patience:
            address = "" if self.cluster.startswith(LOCAL) else self.cluster
            problem = f"no worker for {self.patience:g} seconds"
            raise ClusterError(self.cluster, problem, _START_WORKER.format(address))
        return found


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


class _Copy(WorkerPlugin):
    """Files that each worker keeps for as long as we need them."""

    def __init__(self, key: str, files: Mapping[str, bytes]) -> None:
        self.key, self.files = key, files
        self.folder: Path | None = None

    def setup(self, worker: Worker) -> None:
        """Write the files into the worker's own folder; called by each worker, early or late."""
        self.folder = Path(tempfile.mkdtemp(prefix="wsmem-", dir=worker.local_directory))
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        single = [name for name in self.files if not name.startswith("tree/")]
        hold(self.key, self.folder / (single[0] if single else "tree"))

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002  distributed calls it so
        """Throw the files away."""
        release(self.key)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


class _Misfit:
    """What a worker with other code answers instead of a result."""

    def __init__(self, worker: str, surroundings: Surroundings) -> None:
        self.worker, self.surroundings = worker, surroundings


def _work(wanted: Surroundings, function: Callable[[UnitT], ResultT], unit: UnitT) -> Any:
    """Runs on a worker."""
    here = Surroundings.here()
    if wanted.problem(here) is not None:
        from distributed import get_worker  # noqa: PLC0415  only where there is one

        return _Misfit(get_worker().address, here)
    return function(unit)


def _connected(cluster: str, address: str, patience: float) -> Iterator[Workers]:
    try:
        wait = min(patience, _CONNECTING)
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


def _contents(path: Path) -> dict[str, bytes]:
    """Every file by the name it gets in a copy: those of a folder lie below `tree/`."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {f"tree/{file.relative_to(path).as_posix()}": file.read_bytes() for file in files}


def _digest(files: Mapping[str, bytes]) -> str:
    digest = sha256()
    for name, content in files.items():
        digest.update(f"{name}\0".encode() + sha256(content).digest())
    return digest.hexdigest()


def _lost(unit: object, place: int, error: KilledWorker) -> LostUnitError:
    reason = f"the last of them was {error.last_worker.address}"
    return LostUnitError(unit_name(unit, place), 2 * (error.allowed_failures + 1), reason)


def _quiet() -> None:
    """Let errors speak only: what distributed says of workers that come and go is for its log."""
    for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.worker"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
