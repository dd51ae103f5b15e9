"""What travels to the workers of a cluster before anybody knows whether they have wsmem at all.

A worker that cannot load what it is sent says nothing: at its start it neither works nor leaves,
later it ends, and the work is blamed. So what is here travels by value, a unit travels as bytes,
and only then the rest of wsmem is asked for. A scheduler, which reads what passes, needs no wsmem.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
from distributed import WorkerPlugin, get_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from distributed import Scheduler, Worker

_PREFIX = "wsmem-copy"
_TREE = "tree"


class Copy(WorkerPlugin):
    """Files that each worker keeps for as long as they are needed."""

    def __init__(self, key: str, files: Mapping[str, bytes]) -> None:
        self.key, self.files = key, files
        self.folder: Path | None = None

    def setup(self, worker: Worker) -> None:
        """Write the files into the worker's own folder; called by each worker, early or late."""
        try:
            from wsmem.evals.workers import hold  # noqa: PLC0415  must not be needed to load this
        except ImportError:
            return  # whoever has no wsmem is refused at the first unit
        self.folder = Path(tempfile.mkdtemp(prefix="wsmem-", dir=worker.local_directory))
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        single = [name for name in self.files if not name.startswith(f"{_TREE}/")]
        hold(self.key, self.folder / (single[0] if single else _TREE))

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002  distributed calls it so
        """Throw the files away."""
        if self.folder is not None:
            from wsmem.evals.workers import release  # noqa: PLC0415  as above

            release(self.key)
            shutil.rmtree(self.folder, ignore_errors=True)


def unpacked(packed: bytes) -> tuple[str | None, Any]:
    """Runs on a worker: what a packed call gives; its address and the error if it has no wsmem."""
    try:
        function, arguments = cloudpickle.loads(packed)
    except ImportError as error:
        return get_worker().address, error
    return None, function(*arguments)


cloudpickle.register_pickle_by_value(sys.modules[__name__])


class ByValue:
    """A function of this module that is there, too, where this module is not."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        """Arrive as the function itself."""
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


def contents(path: Path) -> dict[str, bytes]:
    """Every file by the name it gets in a copy: those of a folder lie below `tree/`."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {f"{_TREE}/{file.relative_to(path).as_posix()}": file.read_bytes() for file in files}


def copy_key(files: Mapping[str, bytes], client: str) -> str:
    """What a copy is known by: equal files of one client are kept once.

    Two runs on one cluster may share the same data and end at different times, so each has its own.
    """
    digest = sha256()
    for name, content in files.items():
        digest.update(f"{name}\0".encode() + sha256(content).digest())
    return f"{_PREFIX} {digest.hexdigest()} {client}"


def left_behind(dask_scheduler: Scheduler) -> list[str]:
    """Runs on the scheduler: keys of copies whose client ended without taking them back."""
    keys = [name for name in dask_scheduler.worker_plugins if name.startswith(f"{_PREFIX} ")]
    return [key for key in keys if key.rpartition(" ")[2] not in dask_scheduler.clients]
