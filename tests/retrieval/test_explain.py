"""Explanations add up to the scores that ranking gives."""

from __future__ import annotations

import math

import pytest

from wsmem.records import MemoryEntry
from wsmem.retrieval.explain import explain
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.signals import NAMES

NOW = 1_790_000_000_000
STORE = [
    MemoryEntry(
        id="gateway",
        content="API 网关监听 127.0.0.1:3080",
        title="网关地址",
        tags=("network",),
        retrieval_terms=("proxy", "反向代理"),
        importance=2,
        updated_at="2026-09-20T08:00:00.000Z",
    ),
    MemoryEntry(id="cache", content="缓存使用 Redis 7", importance=math.nan),
    MemoryEntry(id="proxy", content="The proxy restarts the gateway nightly"),
]


@pytest.mark.parametrize("name", ["default", "reference"])
@pytest.mark.parametrize("query", ["网关 proxy 地址", "gateway", "redis", "nothing of that"])
def test_parts_add_up_to_the_ranked_score(name: str, query: str) -> None:
    index, profile = Index.build(STORE), load_profile(name)
    shown = {"gateway"}
    matches = rank(index, query, profile, now=NOW, limit=None, surfaced=shown)
    rows = explain(index, query, profile, now=NOW, surfaced=shown).rows
    assert [row.entry.id for row in rows] == [match.entry.id for match in matches]
    for row, match in zip(rows, matches, strict=True):
        total = sum(part.contribution for part in row.parts.values())
        assert total == pytest.approx(match.score, nan_ok=True)
        assert row.score == pytest.approx(match.score, nan_ok=True)
        assert tuple(row.parts) == NAMES


def test_every_signal_is_shown_even_without_weight() -> None:
    rows = explain(Index.build(STORE), "redis", load_profile("default"), now=NOW).rows
    assert [row.entry.id for row in rows] == ["cache"]
    part = rows[0].parts["phrase"]
    assert (part.value, part.weight, part.contribution) == (1.0, 0.0, 0.0)
    assert rows[0].parts["importance"].contribution == 0.0
