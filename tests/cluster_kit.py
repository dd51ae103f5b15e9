"""A scheduler and workers started as a person would, on loopback, and units to work on there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.workers import Shared

TESTS = Path(__file__).resolve().parent
_DEADLINE = 60.0
_ON_LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    name: str
    folder: Path
    """Where every attempt leaves a file named after the unit and its process."""
    deaths: int = 0
    """How many of the processes that work on it die of it."""
    waits_for: str | None = None
    """A file in the folder without which it does not end."""


def work(unit: Unit) -> str:
    """Leave a mark, then die or answer."""
    earlier = len(list(unit.folder.glob(f"{unit.name}.*")))
    (unit.folder / f"{unit.name}.{os.getpid()}").touch()
    if earlier < unit.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    while unit.waits_for is not None and not (unit.folder / unit.waits_for).exists():
        time.sleep(0.02)
    return unit.name.upper()


def read(shared: Shared) -> tuple[str, dict[str, str]]:
    """Where something shared lies in the worker, and the texts in it."""
    files = [shared.path] if shared.path.is_file() else sorted(shared.path.rglob("*.*"))
    return str(shared.path), {file.name: file.read_text(encoding="utf-8") for file in files}


def refuse(unit: Unit) -> str:
    """Fail on one unit."""
    if unit.name == "b":
        raise ZeroDivisionError(unit.name)
    return unit.name


def units(folder: Path, names: str = "abcde", **deaths: int) -> list[Unit]:
    """One unit a letter."""
    return [Unit(name=name, folder=folder, deaths=deaths.get(name, 0)) for name in names]


def attempts(folder: Path) -> dict[str, int]:
    """How many processes worked on each unit, by name."""
    found: dict[str, int] = {}
    for mark in sorted(folder.glob("?.*")):
        found[mark.stem] = found.get(mark.stem, 0) + 1
    return found


class Cluster:
    """Processes of one scheduler; each is ended by its own id when the cluster is left."""

    def __init__(self, folder: Path, stack: ExitStack, code: Path | None) -> None:
        self.folder, self._stack = folder, stack
        self._started = 0
        file = folder / "scheduler.json"
        options = ("--port", "0", "--scheduler-file", str(file))
        self.scheduler = self._start("scheduler", *options, code=code)
        self.address = str(_awaited(file)["address"])

    @classmethod
    @contextmanager
    def start(cls, folder: Path, *, code: Path | None = None) -> Iterator[Self]:
        """A scheduler without workers.

        Args:
            folder: Where its files and those of its workers lie; made if need be.
            code: As for `worker`.
        """
        folder.mkdir(exist_ok=True)
        with ExitStack() as stack:
            yield cls(folder, stack, code)

    def worker(self, *, code: Path | None = None) -> subprocess.Popen[bytes]:
        """One more worker, in a working directory of its own.

        Args:
            code: Where it finds `wsmem` instead of where we do.
        """
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
        return self._start("worker", self.address, *options, code=code)

    def _start(self, *arguments: str, code: Path | None = None) -> subprocess.Popen[bytes]:
        self._started += 1
        place = self.folder / f"machine{self._started}"
        place.mkdir()
        paths = [*([] if code is None else [str(code)]), str(TESTS), *sys.path]
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, *_ON_LOOPBACK],
                cwd=place,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._stack.callback(_end, process)
        return process


def _awaited(file: Path) -> dict[str, object]:
    begun = time.monotonic()
    while time.monotonic() - begun < _DEADLINE:
        if file.exists() and (text := file.read_text()).endswith("}"):
            found: dict[str, object] = json.loads(text)
            return found
        time.sleep(0.05)
    raise TimeoutError(str(file))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(_DEADLINE)
