from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from wsmem.errors import SystemUnavailableError
from wsmem.evals.latency.contestants import contestants
from wsmem.evals.latency.plan import OTHERS, PLUGIN, RANKING, LatencyPlan
from wsmem.evals.latency.stores import timed_store
from wsmem.evals.systems.registry import make_system
from wsmem.evals.systems.shared import peer_terms
from wsmem.records import MemoryEntry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOW = 1_767_225_600_000


def entry(identifier: str, content: str, *, updated_at: str = "2025-12-01") -> MemoryEntry:
    return MemoryEntry(id=identifier, content=content, updated_at=f"{updated_at}T00:00:00Z")


def ranking(system: str, entries: Sequence[MemoryEntry], query: str) -> list[str]:
    return make_system(system).prepare(tuple(entries), now=NOW).search(query, limit=9)


@pytest.mark.parametrize("system", ["tantivy", "rank-bm25"])
def test_equal_scores_are_listed_newer_first_then_by_id(system: str) -> None:
    dates = {"c": "2025-01-01", "b": "2025-01-01", "a": "2024-01-01", "d": "2025-02-01"}
    entries = [entry(name, "kestrel", updated_at=date) for name, date in dates.items()]
    assert ranking(system, entries, "kestrel") == ["d", "b", "c", "a"]


@pytest.mark.parametrize("system", ["tantivy", "rank-bm25"])
def test_more_of_a_term_in_a_shorter_text_comes_first(system: str) -> None:
    entries = [
        entry("often", "kestrel kestrel exports"),
        entry("once", "kestrel billing nightly exports backup"),
        entry("never", "backup nightly"),
    ]
    assert ranking(system, entries, "kestrel") == ["often", "once"]


def test_rank_bm25_does_not_list_what_matches_in_nothing() -> None:
    """Its variant gives every entry something for every term."""
    entries = [entry(name, f"{name} notes") for name in ("alpha", "beta", "gamma")]
    assert ranking("rank-bm25", entries, "beta gamma unknown") == ["beta", "gamma"]


def test_rank_bm25_scores_are_those_of_its_formula() -> None:
    entries = [
        entry("a", "kestrel kestrel exports"),
        entry("b", "kestrel billing nightly exports backup"),
        entry("c", "billing billing kestrel nightly"),
        entry("d", "backup"),
    ]
    texts = {item.id: peer_terms(item.content) for item in entries}
    mean = sum(map(len, texts.values())) / len(texts)

    def score(identifier: str) -> float:
        from math import log  # noqa: PLC0415  beside the formula

        total = 0.0
        for term in peer_terms("kestrel billing"):
            rarity = log((len(texts) + 1) / sum(term in words for words in texts.values()))
            count, length = texts[identifier].count(term), len(texts[identifier]) / mean
            total += rarity * (1.0 + count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length)))
        return total

    expected = sorted(("a", "b", "c"), key=score, reverse=True)
    assert ranking("rank-bm25", entries, "kestrel billing") == expected


@pytest.mark.parametrize(
    ("system", "module"),
    [
        pytest.param("bm25", "bm25s", id="bm25s"),
        pytest.param("tantivy", "tantivy", id="tantivy"),
        pytest.param("rank-bm25", "rank_bm25", id="rank-bm25"),
    ],
)
def test_a_peer_that_is_not_installed_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, system: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemUnavailableError, match=r"run: pip install 'wsmem\[(eval|peers)\]'"):
        make_system(system).prepare((entry("a", "kestrel"),), now=NOW)


def missing(plan: LatencyPlan) -> tuple[list[str], dict[str, str]]:
    """Who takes part in a measurement, and who cannot."""
    with timed_store(plan, 20) as store, contestants(plan, store) as (found, without):
        return [each.name for each in found], without


def test_a_measurement_goes_on_without_peers_that_cannot_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in ("tantivy", "rank_bm25"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found, without = missing(LatencyPlan(each=1, cold=1, plugin=str(tmp_path)))
    able = [name for name in OTHERS if name not in {"tantivy", "rank-bm25", PLUGIN}]
    assert found == [RANKING, *able]
    assert without.keys() == {"tantivy", "rank-bm25", PLUGIN}
    assert "pip install 'wsmem[peers]'" in without["tantivy"]
    assert "needs Node" in without[PLUGIN]


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        pytest.param(None, "name the folder by --plugin", id="not-named"),
        pytest.param("nothing-there", "holds no @flowingspring/dsh-workspace-memory", id="empty"),
    ],
)
def test_the_plugin_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, folder: str | None, said: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/bin/node")
    _, without = missing(LatencyPlan(each=1, cold=1, peers=(PLUGIN,), plugin=folder))
    assert said in without[PLUGIN]
