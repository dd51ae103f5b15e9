"""Any interleaving of calls, failures, crashes and restarts keeps the engine's promises.

Nothing acknowledged is lost, nothing is distilled into memory twice, ids are unique, every file is
strict UTF-8 and JSON, and a recall always answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any, cast

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.reports import RememberInput
from wsmem.engine.testing import DistillerError, ManualTime
from wsmem.errors import MemoryIdError, StoreWriteError
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryMessage, Reason, RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.faults import Fault, FaultyFileSystem, SimulatedCrash
from wsmem.store.store import MemoryStore

CWD = "/srv/proj-a"
SCOPE = workspace_scope(CWD)

kinds = st.sampled_from(["error", "torn", "crash", "crash-after", "torn-crash"])
trouble = st.none() | st.tuples(st.integers(1, 60), kinds)
reasons = st.sampled_from(["segment-end", "task-end", "idle", "session-close"])


class EngineMachine(RuleBasedStateMachine):
    """One workspace, one engine at a time, on a disk that fails now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.time = ManualTime()
        self.answer = "facts"
        self.number = 0
        self.acknowledged: set[str] = set()
        """Messages a checkpoint reported as kept."""
        self.kept: dict[str, str] = {}
        """Contents a remember reported as kept, by id."""
        self.forgotten: set[str] = set()
        """Ids a forget reported as forgotten, or may have."""
        logging.disable(logging.ERROR)
        self.open()

    def open(self) -> None:
        self.files = FaultyFileSystem()
        self.engine = WorkspaceMemoryEngine(
            Settings(memory_dir=str(self.root), checkpoint_turns=4, checkpoint_max_chars=40),
            distiller=self.distil,
            store=MemoryStore(self.root, fs=self.files, clock=self.time.now),
            clock=self.time.now,
            sleep=self.time.sleep,
        )
        self.run(self.engine.start())

    async def distil(self, request: DistillRequest) -> DistillOutput:
        if self.answer == "raise":
            raise DistillerError("no route")
        if self.answer == "prose":
            return DistillOutput(answer="没有值得记住的。")
        contents = [f"第 {message.id} 号消息说的事实" for message in request.messages]
        operations = [{"op": "add", "content": content} for content in dict.fromkeys(contents)]
        return DistillOutput(answer={"version": 1, "operations": operations})

    def run(self, call: Any) -> Any:
        """The result of a call, or `None` when the process died or the disk refused."""
        try:
            return self.loop.run_until_complete(call)
        except SimulatedCrash:
            self.restart()
        except StoreWriteError:
            pass
        return None

    def trip(self, trouble: tuple[int, Any] | None) -> None:
        """Make the disk fail some calls from now."""
        if trouble is not None:
            after, kind = trouble
            at = len(self.files.calls) + after
            self.files.fault = Fault(at, kind, errno.ENOSPC)

    @rule()
    def restart(self) -> None:
        """The process dies without a word; another one starts."""
        self.files.crashed = True
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0.001))
        self.loop.close()
        self.loop = asyncio.new_event_loop()
        self.time = ManualTime(self.time.ms + 1_000)
        self.open()

    @rule(fresh=st.integers(0, 3), replays=st.integers(0, 2), reason=reasons, trouble=trouble)
    def checkpoint(self, fresh: int, replays: int, reason: str, trouble: Any) -> None:
        ids = [str(self.number + at) for at in range(fresh)]
        ids += [str(at) for at in range(max(0, self.number - replays), self.number)]
        self.number += fresh
        messages = [MemoryMessage(id=at, role="user", text=f"消息 {at} 的内容文字") for at in ids]
        self.trip(trouble)
        result = self.run(
            self.engine.checkpoint(
                CheckpointInput(reason=cast("Reason", reason), cwd=CWD, messages=messages)
            )
        )
        if result is not None and result.pending + result.accepted + result.added:
            known = self.state_ids()
            if all(at in known for at in ids):
                self.acknowledged.update(ids)
            else:  # only a checkpoint that says it failed may have kept nothing
                assert result.status == "failed"
        elif result is not None and result.status in {"buffered", "committed"}:
            self.acknowledged.update(ids)

    @rule(trouble=trouble)
    def remember(self, trouble: Any) -> None:
        self.number += 1
        content = f"记住第 {self.number} 件要紧的事情"
        self.trip(trouble)
        result = self.run(self.engine.remember(RememberInput(content=content, cwd=CWD)))
        if result is not None:
            assert result.added == 1
            self.kept[result.entry_id] = content

    @rule(which=st.integers(0, 99), trouble=trouble)
    def forget(self, which: int, trouble: Any) -> None:
        if not self.kept:
            return
        entry_id = sorted(self.kept)[which % len(self.kept)]
        self.forgotten.add(entry_id)  # also when it is not known whether it happened
        self.trip(trouble)
        with contextlib.suppress(MemoryIdError):
            self.run(self.engine.forget(entry_id, cwd=CWD))

    @rule(answer=st.sampled_from(["facts", "facts", "raise", "prose"]))
    def model_changes(self, answer: str) -> None:
        self.answer = answer

    @rule(seconds=st.sampled_from([1, 40, 400]))
    def wait(self, seconds: int) -> None:
        self.run(self.time.advance(seconds * 1000, idle=self.engine.idle))

    @invariant()
    def recall_answers(self) -> None:
        request = RecallInput(query="要紧的事情 消息", cwd=CWD, limit=50, deadline_ms=math.inf)
        context = self.run(self.engine.recall(request))
        if context is None:
            return
        assert context.degraded is None
        gone = self.forgotten & {match.id for match in context.matches}
        entries = {entry.id: entry for entry in self.entries()}
        assert all(entries[entry_id].status == "active" for entry_id in gone)

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        assert self.acknowledged <= self.state_ids()
        entries = {entry.id: entry for entry in self.entries()}
        for entry_id, content in self.kept.items():
            assert entries[entry_id].content == content
            if entry_id not in self.forgotten:
                assert entries[entry_id].status == "active"

    @invariant()
    def nothing_is_distilled_twice(self) -> None:
        contents = [entry.content for entry in self.entries()]
        assert len(contents) == len(set(contents))
        state = MemoryStore(self.root).read_scope(SCOPE).state
        pending = {message.id for message in state.pending_messages}
        assert not pending & set(state.seen_message_ids)
        for message_id in state.seen_message_ids:
            assert f"第 {message_id} 号消息说的事实" in contents

    @invariant()
    def files_are_strict(self) -> None:
        ids = [entry.id for entry in self.entries()]
        assert len(ids) == len(set(ids))
        for path in self.root.rglob("*.json"):
            if ".wsmem" not in path.parts:
                json.loads(path.read_bytes().decode("utf-8", "strict"))

    def entries(self) -> Any:
        return MemoryStore(self.root).read_scope(SCOPE).entries

    def state_ids(self) -> set[str]:
        state = MemoryStore(self.root).read_scope(SCOPE).state
        return {*state.seen_message_ids, *(message.id for message in state.pending_messages)}

    def teardown(self) -> None:
        self.files.fault = None
        self.loop.run_until_complete(self.engine.close(drain_s=1))
        self.loop.close()
        logging.disable(logging.NOTSET)
        shutil.rmtree(self.root)


TestEngineMachine = EngineMachine.TestCase
TestEngineMachine.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
