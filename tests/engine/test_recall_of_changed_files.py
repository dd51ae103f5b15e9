"""Recalls of a living engine after another process has changed the files."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from engine_runs import A, engine_at, recall, run

from wsmem.engine.corpora import Corpora
from wsmem.engine.recalling import LATE
from wsmem.engine.reports import RememberInput
from wsmem.records import RecallInput
from wsmem.retrieval.index import Index

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime

WAIT_MS = 400.0


def late_recall(root: Path, monkeypatch: pytest.MonkeyPatch, *, first: bool) -> Any:
    """A recall that cannot read the entries in time, after others kept one and forgot one."""
    let_go = threading.Event()

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> Any:
        other = engine_at(root, time)
        kept = await other.remember(RememberInput(content="标记词 is gone today", cwd=A))
        if not first:
            assert len((await recall(engine, "标记词")).matches) == 1
        await other.forget(kept.entry_id, cwd=A)
        await other.remember(RememberInput(content="标记词 stands", cwd=A))
        await other.close()
        read = engine.store.read_scope

        def read_slowly(scope: Any) -> Any:
            let_go.wait(10)
            return read(scope)

        monkeypatch.setattr(engine.store, "read_scope", read_slowly)
        try:
            return await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=WAIT_MS))
        finally:
            let_go.set()

    return run(root, steps)


@pytest.mark.parametrize("first", [True, False], ids=["nothing-in-memory", "earlier-in-memory"])
def test_without_time_for_the_entries_there_is_the_summary_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, first: bool
) -> None:
    context = late_recall(tmp_path, monkeypatch, first=first)
    assert context.degraded == LATE
    assert context.scope.startswith("ws-")
    assert "标记词 stands" in context.summary
    assert "标记词 stands" in context.text
    assert context.matches == ()
    assert "gone" not in context.text


def test_an_index_takes_in_only_what_another_process_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry of eight is changed: one place is handed to the index, seven entries stay."""
    changes: list[list[int]] = []
    updated = Index.updated

    def counted(index: Index, entries: Any, **more: Any) -> Index:
        changes.append(list(more.get("changed") or ()))
        return updated(index, entries, **more)

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> Any:
        other = engine_at(tmp_path, time)
        for number in range(8):
            kept = await other.remember(RememberInput(content=f"标记词 number {number}", cwd=A))
        await engine.warm(cwd=A)
        monkeypatch.setattr(Index, "updated", counted)
        await other.forget(kept.entry_id, cwd=A)
        found = await recall(engine, "标记词")
        await other.close()
        return found

    context = run(tmp_path, steps, corpora=Corpora())
    assert changes == [[7]]
    assert {match.content for match in context.matches} == {f"标记词 number {n}" for n in range(7)}
