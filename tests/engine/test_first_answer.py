"""The first answer of an engine comes from postings where there are good ones, and is the same."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

import pytest
from store_kit import quick

from wsmem.engine.chains import rings_in
from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.evals.synthetic import synthetic_entries
from wsmem.records import RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store import postings_writing

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.records import MemoryContext

NOW = 1_788_220_800_000
CWD = "/srv/first"
SCOPE = workspace_scope(CWD)
ENTRIES = synthetic_entries(60, seed=5)
QUERY = f"{ENTRIES[7].tags[0]} {ENTRIES[11].content[:40]}"


@pytest.fixture(autouse=True)
def _nothing_has_to_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with postings that are good for its entries."""
    put(tmp_path, 50)
    assert quick(tmp_path).write_postings(SCOPE, rings_of=rings_in) == "written"
    return tmp_path


def put(root: Path, count: int) -> None:
    with quick(root).transaction(SCOPE) as transaction:
        transaction.set_entries(SCOPE, ENTRIES[:count])
        transaction.set_summary(SCOPE, f"# {count} entries\n", keep=3)


def engine_at(root: Path, **settings: str) -> WorkspaceMemoryEngine:
    chosen = Settings(memory_dir=str(root), **settings)  # type: ignore[arg-type]  # on or off
    return WorkspaceMemoryEngine(chosen, store=quick(root), clock=lambda: NOW)


async def ask(engine: WorkspaceMemoryEngine) -> MemoryContext:
    return await engine.recall(RecallInput(query=QUERY, cwd=CWD, deadline_ms=math.inf))


def held(engine: WorkspaceMemoryEngine) -> bool:
    return engine.store.held(SCOPE) is not None


def test_a_first_answer_leaves_the_entries_unread_and_a_second_has_them_read(root: Path) -> None:
    async def steps() -> None:
        async with engine_at(root, postings="off") as reading:
            expected = await ask(reading)
            assert held(reading)
        async with engine_at(root) as engine:
            assert await ask(engine) == expected
            assert not held(engine)
            assert await ask(engine) == expected
            for _ in range(500):
                if held(engine):
                    break
                await asyncio.sleep(0.01)
            assert held(engine)
            assert await ask(engine) == expected
        assert expected.degraded is None
        assert expected.matches

    asyncio.run(steps())


def test_postings_of_earlier_entries_answer_nothing(root: Path) -> None:
    async def steps() -> None:
        async with engine_at(root) as engine:
            await ask(engine)
            put(root, 60)
            found = await ask(engine)
            assert held(engine)
        async with engine_at(root, postings="off") as reading:
            assert found == await ask(reading)

    asyncio.run(steps())


def test_entries_that_are_in_memory_need_no_postings(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps() -> None:
        async with engine_at(root) as engine:
            await engine.warm(cwd=CWD)
            monkeypatch.setattr(engine.store, "open_postings", None)  # it cannot be called
            found = await ask(engine)
        async with engine_at(root, postings="off") as reading:
            assert found == await ask(reading)

    asyncio.run(steps())
