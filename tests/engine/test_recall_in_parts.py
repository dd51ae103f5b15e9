"""A recall that cannot rank everything in time ranks as many of the newest entries as it can."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING, Any

from engine_runs import A, run

from wsmem.engine.recalling import LATE
from wsmem.engine.reports import RememberInput
from wsmem.records import RecallInput

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime
    from wsmem.records import MemoryContext

ENTRIES = 8


def answer(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, entry_s: float, deadline_ms: float
) -> tuple[MemoryContext, float, list[int]]:
    """A recall whose ranking takes so long an entry; its seconds, and how many each part ranked."""
    monkeypatch.setattr("wsmem.engine.recalling.PREVIEW_FROM", ENTRIES)
    monkeypatch.setattr("wsmem.engine.recalling.PREVIEW_SIZE", 1)
    parts: list[int] = []

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> tuple[MemoryContext, float]:
        for number in range(ENTRIES):
            await engine.remember(RememberInput(content=f"标记词 number {number}", cwd=A))
            time.ms += 1_000
        ranked = engine._recaller._rank

        def rank_slowly(request: Any, corpus: Any, shown: Any) -> Any:
            parts.append(len(corpus.entries))
            wall.sleep(entry_s * len(corpus.entries))
            return ranked(request, corpus, shown)

        monkeypatch.setattr(engine._recaller, "_rank", rank_slowly)
        started = wall.monotonic()
        found = await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=deadline_ms))
        return found, wall.monotonic() - started

    context, seconds = run(root, steps)
    return context, seconds, parts


def test_a_larger_part_is_ranked_while_there_is_time_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry takes 150 of 975 ms; 80 % of the 5.5 that fit are tried, no more double it."""
    context, seconds, parts = answer(tmp_path, monkeypatch, entry_s=0.15, deadline_ms=1_000)
    assert context.degraded == LATE
    assert seconds < 1.0
    first, larger = parts
    assert (first, larger) in {(1, 4), (1, 3)}  # a busy machine has time for one less
    newest = [f"标记词 number {number}" for number in range(ENTRIES - 1, -1, -1)]
    assert {match.content for match in context.matches} == set(newest[:larger])


def test_everything_is_ranked_when_there_is_time_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, _, parts = answer(tmp_path, monkeypatch, entry_s=0.01, deadline_ms=1_000)
    assert (context.degraded, len(context.matches)) == (None, ENTRIES)
    assert parts == [1, ENTRIES]


def test_the_first_part_is_kept_when_no_larger_one_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, seconds, parts = answer(tmp_path, monkeypatch, entry_s=0.3, deadline_ms=500)
    assert context.degraded == LATE
    assert seconds < 0.5
    assert [match.content for match in context.matches] == ["标记词 number 7"]
    assert parts == [1]
