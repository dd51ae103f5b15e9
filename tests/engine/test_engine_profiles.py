from __future__ import annotations

from typing import TYPE_CHECKING

from engine_runs import A, engine_at, recall, run

from wsmem.engine.corpora import Corpora
from wsmem.engine.reports import RememberInput
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime
    from wsmem.records import MemoryEntry


def test_engines_with_profiles_of_their_own_share_one_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    build = Index.build

    def counting(entries: Sequence[MemoryEntry]) -> Index:
        built.append(len(entries))
        return build(entries)

    monkeypatch.setattr(Index, "build", counting)
    flat = load_profile("default").with_weights(importance=0.0, recency=0.0)
    steep = flat.with_weights(importance=100.0)
    corpora = Corpora()

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
        for content, importance in (("标记词 标记词 次要", 0), ("标记词 提到的主要的一条", 3)):
            await engine.remember(RememberInput(content=content, cwd=A, importance=importance))
        other = engine_at(tmp_path, time, profile=steep, corpora=corpora)
        found = []
        for each in (engine, other):
            await each.warm(cwd=A)
            context = await recall(each, "标记词")
            found.append([match.importance for match in context.matches])
        await other.close()
        assert found == [[0, 3], [3, 0]]

    run(tmp_path, steps, profile=flat, corpora=corpora)
    assert built == [2]
