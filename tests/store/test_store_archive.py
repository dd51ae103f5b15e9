"""Whole scopes: archived, listed, restored, removed for good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from shared_data import golden
from store_kit import (
    OTHER,
    PROJECT,
    SESSION,
    add,
    crash_points,
    fact,
    files_under,
    ids,
    leftovers,
    quick,
    seed,
)

from wsmem.errors import InvalidInputError
from wsmem.scopes import workspace_scope
from wsmem.store.layout import GLOBAL, ScopeRef

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.store.store import MemoryStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(root: Path) -> MemoryStore:
    return quick(root)


def scope_of(cwd: str) -> ScopeRef:
    scope = workspace_scope(cwd)
    return ScopeRef(scope.key, scope.cwd)


def listed(scopes: Any) -> list[dict[str, str]]:
    return [{"key": scope.key, "cwd": scope.cwd} for scope in scopes]


def test_the_recorded_life_of_an_archived_scope(store: MemoryStore) -> None:
    (case,) = [c for c in golden("engine.json")["cases"] if c["name"] == "archive/lifecycle"]
    steps = zip(case["input"]["steps"], case["expected"]["steps"], strict=True)
    written = 0
    for step, expected in steps:
        operation, result = step["op"], expected.get("result")
        if operation == "remember":
            written += 1
            add(store, scope_of(step["input"]["cwd"]), f"m{written}")
        elif operation == "listScopes":
            assert listed(store.list_scopes()) == result
        elif operation == "listArchivedScopes":
            assert listed(store.list_archived()) == result
        elif operation == "readArchivedSnapshot":
            archived = store.read_archived(scope_of(step["cwd"]).key)
            assert (archived.cwd, len(archived.entries)) == (step["cwd"], len(result["entries"]))
        elif step.get("cwd") == "":  # the recorded program answers false; we say why
            with pytest.raises(InvalidInputError, match="only workspaces are archived"):
                store.archive("global")
        elif operation == "archiveScope":
            assert (store.archive(scope_of(step["cwd"]).key) == "moved") is result
        elif operation == "purgeArchivedScope":
            assert store.purge_archived(scope_of(step["cwd"]).key) is result
        else:
            assert operation == "recall"
            assert store.read_scope(scope_of(step["input"]["cwd"])).entries == ()


def test_listings_skip_and_order_as_recorded(root: Path, store: MemoryStore) -> None:
    (case,) = [c for c in golden("engine.json")["cases"] if c["name"] == "archive/listing-filters"]
    seed(root, case["input"]["seedFiles"])
    for directory in case["input"]["seedDirs"]:
        (root / directory).mkdir(parents=True)
    live, archived = (step["result"] for step in case["expected"]["steps"])
    assert listed(store.list_scopes()) == live
    assert listed(store.list_archived()) == archived


def test_counters_are_the_recorded_ones(root: Path, store: MemoryStore) -> None:
    recorded = golden("http_api.json")
    seed(root, recorded["seedFiles"])
    cases = {
        case["name"]: case["expected"]["body"]["scopes"]
        for case in recorded["cases"]
        if case["name"] in {"scopes", "archived-scopes"}
    }
    for scopes, name in (
        (store.list_scopes(), "scopes"),
        (store.list_archived(), "archived-scopes"),
    ):
        assert [
            {
                "key": scope.key,
                "cwd": scope.cwd,
                "kind": scope.kind,
                "entryCount": scope.entry_count,
                "hasSummary": scope.has_summary,
                "pending": scope.pending,
                "checkpointCount": scope.checkpoint_count,
                **({"updatedAt": scope.updated_at} if scope.updated_at else {}),
            }
            for scope in scopes
        ] == cases[name]


def test_one_unreadable_scope_does_not_hide_the_others(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    add(store, OTHER, "b")
    (root / "scopes" / OTHER.key / "state.json").mkdir()
    scopes = {scope.key: scope for scope in store.list_scopes()}
    assert scopes[PROJECT.key].entry_count == 1
    assert [str(problem) for problem in scopes[OTHER.key].problems] == [
        "state.json: cannot be read (it is not a regular file)"
    ]


def test_sessions_are_listed_when_asked_for(store: MemoryStore) -> None:
    add(store, SESSION, "a")
    assert SESSION.key not in [scope.key for scope in store.list_scopes()]
    (session,) = [scope for scope in store.list_scopes(sessions=True) if scope.kind == "session"]
    assert (session.key, session.entry_count) == (SESSION.key, 1)


def test_a_restored_scope_is_the_one_that_was_archived(root: Path, store: MemoryStore) -> None:
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a")])
        tx.set_summary(PROJECT, "# s\n")
        tx.add_checkpoint(PROJECT, "audit")
    before = {name: (root / name).read_bytes() for name in files_under(root)}
    assert store.archive(PROJECT.key) == "moved"
    assert ids(store, PROJECT) == []
    assert store.archive(PROJECT.key) == "absent"
    assert store.restore(PROJECT.key) == "moved"
    assert store.restore(PROJECT.key) == "absent"
    assert {name: (root / name).read_bytes() for name in files_under(root)} == before
    assert ids(store, PROJECT) == ["a"]


def test_empty_directories_in_the_place_give_way_but_memory_does_not(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")
    store.archive(PROJECT.key)
    scaffold = root / "scopes" / PROJECT.key
    (scaffold / "checkpoints").mkdir(parents=True)
    (scaffold / "scope.json").write_text(json.dumps({"key": PROJECT.key, "cwd": PROJECT.cwd}))
    assert store.restore(PROJECT.key) == "moved"
    assert ids(store, PROJECT) == ["a"]
    store.archive(PROJECT.key)
    add(store, PROJECT, "b")
    assert store.restore(PROJECT.key) == "occupied"
    assert ids(store, PROJECT) == ["b"]
    assert [entry.id for entry in store.read_archived(PROJECT.key).entries] == ["a"]
    assert leftovers(root) == []


def test_purging_removes_every_byte(root: Path, store: MemoryStore) -> None:
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a")])
        tx.add_checkpoint(PROJECT, "audit")
    cache = root / ".wsmem/cache" / PROJECT.key
    cache.mkdir(parents=True)
    (cache / "segment").write_text("derived")
    store.archive(PROJECT.key)
    assert store.purge_archived(PROJECT.key)
    assert files_under(root) == [".wsmem/format.json"]
    assert not store.purge_archived(PROJECT.key)


def test_purging_does_not_follow_links_out_of_the_scope(
    tmp_path: Path, root: Path, store: MemoryStore
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    add(store, PROJECT, "a")
    (root / "scopes" / PROJECT.key / "link").symlink_to(precious)
    store.archive(PROJECT.key)
    assert store.purge_archived(PROJECT.key)
    assert (precious / "file").read_text() == "kept"


def test_a_session_can_be_discarded_and_nothing_else(root: Path, store: MemoryStore) -> None:
    add(store, SESSION, "a")
    assert store.discard_session(SESSION.key)
    assert not store.discard_session(SESSION.key)
    assert files_under(root) == [".wsmem/format.json"]
    for key in (PROJECT.key, GLOBAL.key):
        with pytest.raises(InvalidInputError, match="not a session"):
            store.discard_session(key)


@pytest.mark.parametrize("act", ["archive", "restore", "purge_archived"])
def test_a_move_that_is_cut_short_leaves_one_or_the_other(tmp_path: Path, act: str) -> None:
    whole = [entry.id for entry in map(fact, "abc")]

    def prepare(root: Path) -> None:
        store = quick(root)
        add(store, PROJECT, *whole)
        if act != "archive":
            store.archive(PROJECT.key)

    def run(store: MemoryStore) -> None:
        getattr(store, act)(PROJECT.key)

    places = set()
    for root in crash_points(tmp_path, prepare, run):
        store = quick(root)
        live, archived = ids(store, PROJECT), store.read_archived(PROJECT.key)
        kept = [entry.id for entry in archived.entries]
        assert (live, kept) in [(whole, []), ([], whole)] + [([], [])] * (act == "purge_archived")
        places.add((bool(live), bool(kept)))
        store.recover()
        assert leftovers(root) == []
    assert len(places) == 2
