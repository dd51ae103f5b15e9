"""Another process that writes to the store: how it is started, and what it does.

    python -m wsmem.evals.latency.writing ROOT CWD SEED STREAM PAUSE_MS

It keeps statements through an engine of its own, one commit each. It says `ready` when it has
loaded everything; then each line it is sent is answered by one commit and the line `written`. After
the line `on` it commits without being asked, with a pause after each. It ends when its input does,
hence also when whoever started it has died.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.reports import RememberInput
from wsmem.errors import RefusedMemoryError, SystemUnavailableError
from wsmem.evals.synthetic import synthetic_entries
from wsmem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

_READY, _WRITTEN, _ON, _WRITE = "ready", "written", "on", "write"
_STATEMENTS = 2_000
"""Prepared by each process; more commits than any measurement waits for."""
_FIRST_STREAM = 200
"""Of the texts that the first process writes; those of the others follow."""
_PATIENCE_S = 30.0


class Writer:
    """A process that writes, seen from the one that measures."""

    def __init__(self, root: Path, cwd: str, *, seed: int, stream: int, pause_ms: float) -> None:
        told = (str(root), cwd, str(seed), str(stream), str(pause_ms))
        self._process = subprocess.Popen(  # noqa: S603  this interpreter and our own module
            [sys.executable, "-m", "wsmem.evals.latency.writing", *told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # the interrupt key is for who measures, and that ends this
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise SystemUnavailableError("writer", "there is no pipe to it")
        self._orders, self._news = self._process.stdin, self._process.stdout
        self.commits = 0
        """What it has said to have committed."""
        self._counting = threading.Thread(target=self._count, daemon=True)

    def wait_ready(self) -> None:
        """Wait until it has loaded everything.

        Raises:
            SystemUnavailableError: it ended instead.
        """
        self._expect(_READY)

    def write(self) -> None:
        """Let it make one commit, and wait until it stands.

        Raises:
            SystemUnavailableError: it ended instead.
        """
        self._order(_WRITE)
        self._expect(_WRITTEN)
        self.commits += 1

    def start(self) -> None:
        """Let it commit on and on; `commits` then grows by itself."""
        self._counting.start()
        self._order(_ON)

    def stop(self) -> None:
        """Let it finish its commit and end; end it after a while if it does not."""
        self._orders.close()
        try:
            self._process.wait(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._counting.is_alive():
            self._counting.join(timeout=_PATIENCE_S)
        self._news.close()

    def _order(self, line: str) -> None:
        try:
            self._orders.write(f"{line}\n")
            self._orders.flush()
        except BrokenPipeError as error:
            raise SystemUnavailableError("writer", "the process that writes has ended") from error

    def _expect(self, wanted: str) -> None:
        line = self._news.readline().strip()
        if line != wanted:
            said = f"it said {line!r}" if line else "it has ended"
            raise SystemUnavailableError("writer", f"the process should be {wanted}: {said}")

    def _count(self) -> None:
        for line in self._news:
            self.commits += line.strip() == _WRITTEN


@contextmanager
def writers(
    root: Path, cwd: str, *, count: int, seed: int, pause_ms: float = 0.0
) -> Iterator[list[Writer]]:
    """So many processes that are ready to write, until the block ends.

    Raises:
        SystemUnavailableError: one of them could not start.
    """
    started: list[Writer] = []
    try:
        # One by one, so that those that have started are stopped if another one cannot.
        started.extend(
            Writer(root, cwd, seed=seed, stream=_FIRST_STREAM + number, pause_ms=pause_ms)
            for number in range(count)
        )
        for writer in started:
            writer.wait_ready()
        yield started
    finally:
        for writer in started:
            writer.stop()


def main(root: str, cwd: str, seed: str, stream: str, pause_ms: str) -> None:
    """Write as told on standard input."""
    entries = synthetic_entries(_STATEMENTS, seed=int(seed), stream=int(stream))
    statements = iter([entry.content for entry in entries])
    asyncio.run(_write(root, cwd, statements, float(pause_ms) / 1000, sys.stdin))


async def _write(
    root: str, cwd: str, statements: Iterator[str], pause_s: float, orders: TextIO
) -> None:
    async with WorkspaceMemoryEngine(Settings(memory_dir=root)) as engine:
        _say(_READY)
        while order := (await asyncio.to_thread(orders.readline)).strip():
            if order == _ON:
                break
            await _keep(engine, cwd, statements)
        else:
            return
        ended = threading.Event()
        threading.Thread(target=_await_end, args=(orders, ended), daemon=True).start()
        while not ended.is_set():
            await _keep(engine, cwd, statements)
            await asyncio.sleep(pause_s)


async def _keep(engine: WorkspaceMemoryEngine, cwd: str, statements: Iterator[str]) -> None:
    """Make one commit; a statement that is refused makes none, so the next one is tried."""
    for content in statements:
        try:
            await engine.remember(RememberInput(content=content, cwd=cwd))
        except RefusedMemoryError:
            continue
        _say(_WRITTEN)
        return


def _await_end(orders: TextIO, ended: threading.Event) -> None:
    while orders.readline():
        pass
    ended.set()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
