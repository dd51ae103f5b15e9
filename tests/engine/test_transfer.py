from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import START_MS, Clock, fact, files_under, leftovers, quick

from wsmem.engine.locating import Locator
from wsmem.engine.transfer import (
    ForeignScope,
    Transfer,
    export_document,
    plan_import,
    read_document,
)
from wsmem.errors import InputFileError, InvalidInputError, StoreVersionError
from wsmem.records import MEMORY_TYPES, STATUSES, MemoryEntry
from wsmem.scopes import GLOBAL, ScopeResolver, workspace_scope
from wsmem.settings import Settings
from wsmem.store.codec import entry_to_stored
from wsmem.store.jsontext import json_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.engine.transfer import Export, ScopeImport
    from wsmem.scopes import Scope
    from wsmem.store.store import MemoryStore

SHOP, OTHER = workspace_scope("/srv/shop"), workspace_scope("/srv/other")


def transfer(store: MemoryStore) -> Transfer:
    return Transfer(
        store,
        Settings(memory_dir=store.layout.root),
        Locator(store, ScopeResolver()),
        clock=Clock(),
    )


def fill(store: MemoryStore, scope: Scope, entries: Sequence[MemoryEntry]) -> None:
    store.update([scope], lambda tx: tx.set_entries(scope, entries))


def document(*scopes: dict[str, Any], version: Any = 1) -> bytes:
    fields = {"format": "wsmem-export", "version": version, "scopes": list(scopes)}
    return json.dumps(fields).encode()


def scope_of(*entries: Any, cwd: str = "/srv/shop", layer: str = "workspace") -> dict[str, Any]:
    return {"key": "whatever", "cwd": cwd, "layer": layer, "entries": list(entries)}


def record(entry_id: str, content: str = "", **fields: Any) -> dict[str, Any]:
    return {**entry_to_stored(fact(entry_id, content)), **fields}


def take(store: MemoryStore, data: bytes, **options: Any) -> tuple[ScopeImport, ...]:
    return transfer(store).import_scopes(read_document(data, source="backup.json"), **options)


def into_shop(store: MemoryStore, *entries: Any, **options: Any) -> ScopeImport:
    (done,) = take(store, document(scope_of(*entries)), **options)
    return done


def contents(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in files_under(root)}


# The round trip

TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
"""Halves of characters included, which JSON can say and UTF-8 cannot."""
LISTS = st.lists(TEXT, max_size=3)
REVISION = st.fixed_dictionaries(dict.fromkeys(("content", "title", "description", "at"), TEXT))
UNKNOWN = st.dictionaries(
    st.text(min_size=1, max_size=8).map("x-".__add__),
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXT | st.floats(allow_nan=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=2,
)
FIELDS = st.fixed_dictionaries(
    {"id": st.uuids().map(str), "content": TEXT},
    optional={
        "scope": st.sampled_from(("workspace", "global", "elsewhere")),
        "type": st.sampled_from(MEMORY_TYPES),
        "title": TEXT,
        "description": TEXT,
        "retrievalTerms": LISTS,
        "tags": LISTS,
        "importance": st.integers(0, 3) | st.floats(0, 3),
        "status": st.sampled_from(STATUSES),
        "conflictGroupId": TEXT,
        "supersedes": LISTS,
        "supersededBy": LISTS,
        "revisions": st.lists(REVISION, max_size=2),
        "provenance": st.fixed_dictionaries({"messageIds": LISTS, "reason": TEXT}),
        "createdAt": TEXT,
        "updatedAt": TEXT,
    },
)
RECORDS = st.tuples(FIELDS, UNKNOWN).map(lambda parts: {**parts[0], **parts[1]})
SCOPES = st.dictionaries(
    st.sampled_from((GLOBAL, SHOP, OTHER)), st.lists(RECORDS, min_size=1, max_size=4), min_size=1
)


@settings(max_examples=25, deadline=None)
@given(SCOPES)
def test_an_export_imported_into_an_empty_store_gives_the_same_files(
    scopes: dict[Scope, list[dict[str, Any]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = quick(Path(folder, "first")), quick(Path(folder, "second"))
        for scope, records in scopes.items():
            fill(first, scope, [MemoryEntry.from_stored(raw) for raw in records])
        found = transfer(first).export_all()
        data = json_bytes(found.document)
        done = take(second, data)
        for result in done:
            assert (result.refused, result.error) == ((), None)
        for scope in scopes:
            assert second.read_scope(scope).entries == first.read_scope(scope).entries
            name = f"{'' if scope is GLOBAL else 'scopes/'}{scope.key}/memory_entries.json"
            assert Path(folder, "second", name).read_bytes() == (
                Path(folder, "first", name).read_bytes()
            )
        before = contents(Path(folder, "second"))
        again = take(second, data)
        assert sum(len(result.added) for result in again) == 0
        assert contents(Path(folder, "second")) == before
        assert json_bytes(transfer(second).export_all().document) == data


# Exporting


def test_a_document_names_its_format_its_time_and_its_scopes(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1", "数据库使用 PostgreSQL")])
    assert transfer(store).export(cwd="/srv/shop").document == {
        "format": "wsmem-export",
        "version": 1,
        "exportedAt": "2026-09-01T00:00:00.000Z",
        "scopes": [
            {
                "key": SHOP.key,
                "cwd": "/srv/shop",
                "layer": "workspace",
                "entries": [record("mem-1", "数据库使用 PostgreSQL")],
            }
        ],
    }


def test_everything_is_global_memory_first_then_workspaces_by_directory(tmp_path: Path) -> None:
    store = quick(tmp_path)
    for scope in (SHOP, OTHER, GLOBAL):
        fill(store, scope, [fact(f"mem-{scope.key[-4:]}")])
    store.archive(OTHER.key)
    fill(store, workspace_scope("/srv/a"), [fact("mem-a")])
    found = transfer(store).export_all()
    assert [scope["cwd"] for scope in found.document["scopes"]] == ["", "/srv/a", "/srv/shop"]
    assert found.entry_count == 3


def test_credentials_are_redacted_in_every_field_and_counted(tmp_path: Path) -> None:
    store = quick(tmp_path)
    revision = {"content": "密码：Kx7pQ2vL9z", "title": "t", "description": "d", "at": "2026"}
    raw = record("mem-1", "连接密码：Kx7pQ2vL9z，端口 5432", revisions=[revision])
    raw["x-note"] = {"deep": ["token=Zq81Lm4Tx0aa"]}
    fill(store, SHOP, [MemoryEntry.from_stored(raw)])
    before = contents(tmp_path)
    found = transfer(store).export(cwd="/srv/shop")
    text = json_bytes(found.document).decode()
    assert "Kx7pQ2vL9z" not in text
    assert "Zq81Lm4Tx0aa" not in text
    assert "端口 5432" in text
    assert found.redacted == 5  # content, title, description, revision, the unknown field
    assert contents(tmp_path) == before
    (done,) = take(store, text.encode())
    assert (done.added, done.identical, done.refused) == ((), 1, ())


def test_an_archived_workspace_can_be_exported_before_it_is_purged(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1")])
    store.archive(SHOP.key)
    found = transfer(store).export(cwd="/srv/shop")
    assert found.document["scopes"][0]["entries"] == [record("mem-1")]


def test_a_workspace_without_memory_is_not_an_empty_document(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no memory of /srv/shop"):
        transfer(quick(tmp_path)).export(cwd="/srv/shop")
    assert transfer(quick(tmp_path)).export().entry_count == 0


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1"), fact("mem-2")])
    path = tmp_path / "scopes" / SHOP.key / "memory_entries.json"
    path.write_text(path.read_text(encoding="utf-8")[:-10], encoding="utf-8")
    found: Export = transfer(store).export(cwd="/srv/shop")
    assert [entry["id"] for entry in found.document["scopes"][0]["entries"]] == ["mem-1"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"{SHOP.key}: memory_entries.json: not valid JSON")


def test_an_export_is_pure() -> None:
    assert export_document([], at_ms=START_MS).document["scopes"] == []


# Importing


def test_what_is_new_is_added_behind_what_is_there(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1")])
    new = record("mem-2", "缓存使用 Redis 7", x_custom={"kept": True}, status="conflict")
    done = into_shop(store, record("mem-1"), new)
    assert (done.scope, done.cwd) == (SHOP.key, "/srv/shop")
    assert (done.added, done.identical, done.refused) == (("mem-2",), 1, ())
    kept = store.read_scope(SHOP).entries
    assert [entry_to_stored(entry) for entry in kept] == [record("mem-1"), new]
    assert leftovers(tmp_path) == []


def test_the_summary_tells_what_was_imported(tmp_path: Path) -> None:
    store = quick(tmp_path)
    into_shop(store, record("mem-1", "缓存使用 Redis 7"))
    assert "缓存使用 Redis 7" in store.read_scope(SHOP).summary


def test_an_id_that_says_something_else_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1", "端口是 8080")])
    before = contents(tmp_path)
    done = into_shop(store, record("mem-1", "端口是 9090"))
    assert [refusal.entry_id for refusal in done.refused] == ["mem-1"]
    assert "there is another entry with this id" in done.refused[0].reason
    assert "9090" not in done.refused[0].reason
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        pytest.param("text", "entry 2 is a text, not an object", id="no-object"),
        pytest.param({"id": "mem-9"}, "entry 2 has no text id and content", id="no-content"),
        pytest.param({**record("mem-9"), "id": ""}, "entry 2 has an empty id", id="empty-id"),
        pytest.param(record("mem-9", title=3), "entry 2 title is a number", id="wrong-kind"),
        pytest.param(record("mem-9", tags=[1]), "holds 1 item(s) that are not text", id="tags"),
        pytest.param(record("mem-9", status="odd"), "status 'odd' is unknown", id="status"),
        pytest.param(record("mem-9", "登录密码：Kx7pQ2vL9z"), "it holds a credential", id="secret"),
        pytest.param(
            record("mem-9", x={"y": ["token=Zq81Lm4Tx0aa"]}), "it holds a credential", id="hidden"
        ),
        pytest.param(record("mem-1", "更长的内容"), "the file has another entry", id="twice"),
    ],
)
def test_an_entry_that_cannot_be_taken_is_named_and_stops_no_other(
    tmp_path: Path, item: Any, reason: str
) -> None:
    store = quick(tmp_path)
    done = into_shop(store, record("mem-1"), item, record("mem-3"))
    assert done.added == ("mem-1", "mem-3")
    (refusal,) = done.refused
    assert reason in refusal.reason
    assert "Kx7pQ2vL9z" not in refusal.reason


def test_an_entry_of_an_older_shape_gains_its_defaults_once(tmp_path: Path) -> None:
    store = quick(tmp_path)
    old = {"id": "mem-1", "content": "缓存使用 Redis 7", "extra": "too large"}
    data = document(scope_of(old)).replace(b'"too large"', b"1e400")  # no such number in JSON
    (done,) = take(store, data)
    assert done.added == ("mem-1",)
    (entry,) = store.read_scope(SHOP).entries
    assert (entry.title, entry.type, entry.status, entry.scope) == (
        *("缓存使用 Redis 7", "fact", "active", "workspace"),
    )
    before = contents(tmp_path)
    assert take(store, data)[0].identical == 1
    assert contents(tmp_path) == before


def test_a_dry_run_tells_the_same_and_touches_nothing(tmp_path: Path) -> None:
    data = (record("mem-1"), record("mem-2", "密码：Kx7pQ2vL9z"))
    planned = into_shop(quick(tmp_path / "new"), *data, dry_run=True)
    assert not (tmp_path / "new").exists()
    assert into_shop(quick(tmp_path / "new"), *data) == planned


def test_two_spellings_of_one_directory_are_one_scope(tmp_path: Path) -> None:
    store = quick(tmp_path)
    spelled = scope_of(record("mem-2"), record("mem-1"), cwd="/srv/./shop/")
    (done,) = take(store, document(scope_of(record("mem-1")), spelled))
    assert (done.added, done.identical) == (("mem-1", "mem-2"), 1)


def test_the_directory_decides_and_not_the_key_in_the_file(tmp_path: Path) -> None:
    store = quick(tmp_path)
    scope = {**scope_of(record("mem-1")), "key": OTHER.key}
    (done,) = take(store, document(scope))
    assert done.scope == SHOP.key
    assert not store.read_scope(OTHER).exists


def test_a_file_of_one_workspace_can_go_to_another(tmp_path: Path) -> None:
    store = quick(tmp_path)
    done = into_shop(store, record("mem-1"), cwd="/srv/other")
    assert (done.scope, done.added) == (OTHER.key, ("mem-1",))
    assert not store.read_scope(SHOP).exists
    two = document(scope_of(), scope_of(cwd="/srv/other"))
    with pytest.raises(InvalidInputError, match="holds 2 scopes"):
        take(store, two, cwd="/srv/third")
    with pytest.raises(InvalidInputError, match="belongs to no workspace"):
        take(store, document(scope_of(layer="global")), cwd="/srv/third")


def test_an_archived_workspace_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    store = quick(tmp_path)
    fill(store, SHOP, [fact("mem-1")])
    store.archive(SHOP.key)
    both = document(scope_of(record("mem-2")), scope_of(record("mem-3"), cwd="/srv/other"))
    other, shop = take(store, both)
    assert (other.scope, other.added) == (OTHER.key, ("mem-3",))
    assert (shop.scope, shop.added) == (SHOP.key, ())
    assert shop.error is not None
    assert "is archived" in shop.error


def test_global_memory_goes_to_the_global_scope_whatever_its_directory_says(
    tmp_path: Path,
) -> None:
    store = quick(tmp_path)
    (done,) = take(store, document(scope_of(record("mem-1"), layer="global", cwd="/srv/shop")))
    assert (done.scope, done.added) == ("global", ("mem-1",))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"\xff\xfe", "byte 0 is not UTF-8", id="no-text"),
        pytest.param(b"{", "is not valid JSON", id="no-json"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
        pytest.param(b"[]", 'does not say "format": "wsmem-export"', id="no-object"),
        pytest.param(b'{"format": "other"}', "does not say", id="other-format"),
        pytest.param(document(version=None), "no version number", id="no-version"),
        pytest.param(document(version=True), "no version number", id="version-true"),
        pytest.param(b'{"format": "wsmem-export", "version": 1}', 'no list of "scopes"', id="bare"),
        pytest.param(document("x"), "scope 1 is no object", id="scope-text"),  # type: ignore[arg-type]  # what a stranger may write
        pytest.param(document(scope_of(layer="session")), "layer is none of", id="session"),
        pytest.param(document({"layer": "global"}), 'no list of "entries"', id="no-entries"),
        pytest.param(
            document({"layer": "workspace", "entries": []}), "does not name its", id="no-cwd"
        ),
        pytest.param(document(scope_of(cwd="shop")), "is a relative path", id="relative"),
        pytest.param(document(scope_of(cwd="/")), "names no workspace's directory", id="root"),
        pytest.param(document(scope_of(cwd=" ")), "names no workspace's directory", id="blank"),
    ],
)
def test_a_file_of_another_kind_is_refused_whole(data: bytes, problem: str) -> None:
    with pytest.raises(InputFileError, match="nothing of it was taken") as caught:
        read_document(data, source="backup.json")
    assert problem in str(caught.value)


def test_a_newer_format_is_never_guessed_at() -> None:
    with pytest.raises(StoreVersionError, match="wsmem-export 2, newest"):
        read_document(document(version=2), source="backup.json")


def test_unknown_parts_of_a_document_are_passed_over() -> None:
    data = json.dumps(
        {"format": "wsmem-export", "version": 1, "by": "a friend", "scopes": [scope_of()]}
    ).encode()
    (scope,) = read_document(b"\xef\xbb\xbf" + data, source="backup.json")
    assert scope == ForeignScope(layer="workspace", cwd="/srv/shop", items=())


def test_a_plan_is_pure() -> None:
    plan = plan_import([fact("mem-1")], [record("mem-1"), record("mem-2")], layer="workspace")
    assert ([entry.id for entry in plan.additions], plan.identical) == (["mem-2"], 1)
