"""An engine keeps postings beside large memories, in its own time, and nobody waits for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from engine_runs import A, recall, run
from store_kit import fact, quick

from wsmem.engine import upkeep
from wsmem.engine.reports import RememberInput
from wsmem.engine.upkeep import QUIET_MS, PostingsUpkeep
from wsmem.scopes import workspace_scope
from wsmem.store import postings_writing
from wsmem.store.postings import POSTINGS

if TYPE_CHECKING:
    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime

SCOPE = workspace_scope(A)


@pytest.fixture(autouse=True)
def _twenty_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "WORTHWHILE", 20)
    monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)


def fill(root: Path, count: int) -> None:
    with quick(root).transaction(SCOPE) as transaction:
        transaction.set_entries(SCOPE, [fact(f"m{at}", f"网关 fact {at}") for at in range(count)])


def postings(root: Path) -> Path:
    return Path(quick(root).layout.cache(SCOPE.key)) / POSTINGS


def test_a_large_memory_in_use_gets_postings_after_a_while(tmp_path: Path) -> None:
    fill(tmp_path, 30)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        await recall(engine, "网关")
        await time.advance(QUIET_MS - 1, idle=engine.idle)
        assert not postings(tmp_path).exists()
        await time.advance(1, idle=engine.idle)
        assert postings(tmp_path).exists()
        assert time.waiting == []
        await recall(engine, "网关")
        assert time.waiting == []

    run(tmp_path, steps)


def test_they_follow_what_is_written(tmp_path: Path) -> None:
    fill(tmp_path, 30)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        for number in range(3):
            await engine.remember(RememberInput(content=f"quokka {number} 号", cwd=A))
        while not time.waiting:  # noqa: ASYNC110 - until the background has looked at the scope
            await asyncio.sleep(0.01)
        assert len(time.waiting) == 1
        await time.advance(QUIET_MS, idle=engine.idle)
        files = quick(tmp_path).open_files()
        found = quick(tmp_path).open_postings(SCOPE, files)
        assert found is not None
        assert found.postings.postings.size == 33
        files.close()

    run(tmp_path, steps)


@pytest.mark.parametrize(
    ("count", "settings"),
    [
        pytest.param(19, {}, id="a-small-memory"),
        pytest.param(30, {"postings": "off"}, id="switched-off"),
    ],
)
def test_otherwise_nothing_is_written(tmp_path: Path, count: int, settings: dict[str, str]) -> None:
    fill(tmp_path, count)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        await recall(engine, "网关")
        await time.advance(10 * QUIET_MS, idle=engine.idle)
        assert not postings(tmp_path).exists()

    run(tmp_path, steps, settings=settings)


def test_a_memory_that_shrank_does_not_keep_its_old_words(tmp_path: Path) -> None:
    fill(tmp_path, 30)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        await recall(engine, "网关")
        await time.advance(QUIET_MS, idle=engine.idle)
        assert b"29" in postings(tmp_path).read_bytes()
        fill(tmp_path, 5)
        await recall(engine, "网关")
        await time.advance(30 * QUIET_MS, idle=engine.idle)
        files = quick(tmp_path).open_files()
        found = quick(tmp_path).open_postings(SCOPE, files)
        assert found is not None
        assert found.postings.postings.size == 5
        files.close()

    run(tmp_path, steps)


def test_what_did_not_come_to_rest_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, 30)
    monkeypatch.setattr(postings_writing, "SETTLED_S", 3_600.0)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        await recall(engine, "网关")
        await time.advance(QUIET_MS, idle=engine.idle)
        assert not postings(tmp_path).exists()
        monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)
        await time.advance(QUIET_MS, idle=engine.idle)
        assert postings(tmp_path).exists()

    run(tmp_path, steps)


def test_closing_gives_up_what_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, 30)
    began = asyncio.Event()

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        loop = asyncio.get_running_loop()

        def pause(self: PostingsUpkeep) -> bool:
            loop.call_soon_threadsafe(began.set)
            return not self._closed.wait(20)

        monkeypatch.setattr(PostingsUpkeep, "_pause", pause)
        await recall(engine, "网关")
        await time.advance(QUIET_MS)
        await asyncio.wait_for(began.wait(), 20)
        assert (await recall(engine, "网关")).matches
        await engine.close()

    run(tmp_path, steps)
    assert not postings(tmp_path).exists()
