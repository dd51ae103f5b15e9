"""What is counted and timed while `scaling.py` runs: files, memory, handles, recalls, stages."""

from __future__ import annotations

import gc
import os
import time
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.scaling_stores import directory
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage
from wsmem.store.fs import FileSystem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.records import RecallInput

OPERATIONS = 5
"""Of a stage."""
_NUMBERS = count()
"""Of messages: each has an id of its own."""


class CountingFiles(FileSystem):
    """The real files; counts what a commit asks of the disk."""

    def __init__(self) -> None:
        self.syncs = self.written = 0

    def sync(self, fd: int) -> None:
        self.syncs += 1
        super().sync(fd)

    def sync_directory(self, path: str) -> None:
        self.syncs += 1
        super().sync_directory(path)

    def write(self, fd: int, data: bytes) -> None:
        self.written += len(data)
        super().write(fd, data)


class Answers:
    """A distiller that adds prepared contents."""

    def __init__(self, contents_: Iterator[str]) -> None:
        self._contents = contents_

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        del request
        operations = [{"op": "add", "content": next(self._contents)} for _ in range(OPERATIONS)]
        return DistillOutput(answer={"version": 1, "operations": operations})


def resident() -> int:
    """Bytes of memory this process holds, what it let go of given back first."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_in(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def handles() -> dict[str, int]:
    """Open files and threads of this process."""
    return {
        "open_files": sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1,
        "threads": sum(1 for _ in Path("/proc/self/task").iterdir()),
    }


async def cost_of(engine: WorkspaceMemoryEngine, asked: Sequence[RecallInput]) -> float:
    """Seconds of processor for each recall, whatever it sets off in the background included."""
    begun = time.process_time()
    for request in asked:
        context = await engine.recall(request)
        if context.degraded is not None:
            raise SystemExit(f"a recall was not whole: {context.degraded}")
    return (time.process_time() - begun) / len(asked)


async def stage(engine: WorkspaceMemoryEngine, number: int, text: str) -> float:
    """Seconds until a message to one workspace is distilled and committed."""
    message = MemoryMessage(id=f"m-{next(_NUMBERS)}", role="user", text=text)
    started = time.perf_counter()
    result = await engine.checkpoint(
        CheckpointInput(reason="task-end", cwd=directory(number), messages=[message])
    )
    if result.status != "committed":
        raise SystemExit(f"a stage was not committed: {result}")
    return time.perf_counter() - started


@asynccontextmanager
async def unstarted(engine: WorkspaceMemoryEngine) -> AsyncIterator[WorkspaceMemoryEngine]:
    """An engine that is closed in the end, without the walk over all scopes in the beginning."""
    try:
        yield engine
    finally:
        await engine.close()
