"""Many threads and processes on one workspace: everything reported as kept is there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from engine_runs import A

from wsmem.engine.reports import RememberInput
from wsmem.engine.sync import SyncMemory
from wsmem.engine.testing import FakeDistiller
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage, RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys, time
from pathlib import Path
from wsmem.engine.reports import RememberInput
from wsmem.engine.sync import SyncMemory
from wsmem.settings import Settings
root, name, cwd = sys.argv[1:]
with SyncMemory(Settings(memory_dir=root)) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(20):
        result = memory.remember(RememberInput(content=f"{name} 记下的第 {number} 件事", cwd=cwd))
        print(result.entry_id if result.added else "not added", flush=True)
"""


def contents(root: Path) -> list[str]:
    snapshot = MemoryStore(root).read_scope(workspace_scope(A))
    assert snapshot.problems == ()
    assert len({entry.id for entry in snapshot.entries}) == len(snapshot.entries)
    return [entry.content for entry in snapshot.entries if entry.status == "active"]


def leftovers(root: Path) -> list[str]:
    return [str(path) for path in root.rglob("*") if ".tmp" in path.name or "draft" in path.name]


def test_eight_threads_keep_all_their_facts(tmp_path: Path) -> None:
    with SyncMemory(Settings(memory_dir=str(tmp_path))) as memory:

        def write(thread: int) -> int:
            return sum(
                memory.remember(
                    RememberInput(content=f"线程 {thread} 记下的第 {number} 件事", cwd=A)
                ).added
                for number in range(20)
            )

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(write, range(8))) == 160
    assert len(contents(tmp_path)) == 160
    assert leftovers(tmp_path) == []


def test_two_processes_keep_all_their_facts(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name, A],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("甲进程", "乙进程")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    told = []
    for writer in writers:  # both are ready: start them together
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        out, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0
        told += out.split()
    assert len(told) == len(set(told)) == 40
    assert len(contents(tmp_path)) == 40
    assert leftovers(tmp_path) == []
    for path in tmp_path.rglob("*.json"):
        json.loads(path.read_bytes().decode("utf-8", "strict"))


@pytest.mark.slow
def test_forty_adds_into_five_thousand_entries_take_less_than_three_seconds(tmp_path: Path) -> None:
    from wsmem.evals.synthetic import synthetic_entries  # noqa: PLC0415 - NumPy, for this test only

    # Processor time: other programs on the machine must not decide whether this passes.
    entries = synthetic_entries(5_040, seed=3)
    scope = workspace_scope(A)
    with MemoryStore(tmp_path).transaction(scope) as transaction:
        transaction.set_entries(scope, entries[:5_000])
    fresh = [entry.content for entry in entries[5_000:]]
    answered = 0.0

    def answer(_: DistillRequest) -> DistillOutput:
        nonlocal answered
        answered = time.process_time()
        operations = [{"op": "add", "content": content} for content in fresh]
        return DistillOutput(answer={"version": 1, "operations": operations})

    with SyncMemory(Settings(memory_dir=str(tmp_path)), distiller=FakeDistiller(answer)) as memory:
        message = MemoryMessage(id="m1", role="user", text="\n".join(fresh))
        result = memory.checkpoint(CheckpointInput(reason="task-end", cwd=A, messages=[message]))
        took = time.process_time() - answered
        assert result.status == "committed"
        assert result.added + result.updated + result.ignored == 40
        assert took < 3
        memory.warm(cwd=A)
        times = []
        for entry in entries[:100]:
            started = time.process_time()
            memory.recall(RecallInput(query=entry.content[:20], cwd=A))
            times.append(time.process_time() - started)
        assert sorted(times)[94] < 0.15
