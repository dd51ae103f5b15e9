"""A recall by postings says what a recall that reads everything says, however the files stand."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from store_kit import fact, quick

from wsmem.engine.chains import rings_in
from wsmem.engine.once import recall_once
from wsmem.evals.synthetic import synthetic_entries
from wsmem.records import RecallInput
from wsmem.scopes import GLOBAL, workspace_scope
from wsmem.settings import Settings
from wsmem.store import postings as postings_files
from wsmem.store import postings_writing
from wsmem.store.layout import ENTRIES, STATE
from wsmem.store.postings import POSTINGS
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.records import MemoryContext, MemoryEntry
    from wsmem.scopes import Scope

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_788_220_800_000
CWD = "/srv/shop"
SHOP = workspace_scope(CWD)
WORDS = "网关 监听 端口 gateway backup nightly postgres getUserName 订单 超时 the is policy".split(
    " "
)
QUERIES = (
    "网关 端口",
    "nightly backup policy",
    "the getUserName",
    "订单超时",
    "nothing such",
    "关",
)


@pytest.fixture(autouse=True)
def _nothing_has_to_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)


def facts(count: int, seed: int) -> list[MemoryEntry]:
    chance = random.Random(seed)
    return [
        fact(
            f"m{seed}-{at:03}",
            " ".join(chance.choices(WORDS, k=9)),
            title=" ".join(chance.choices(WORDS, k=3)),
            importance=float(chance.randrange(4)),
            updated_at=f"2026-08-{1 + chance.randrange(28):02}T00:00:00.000Z",
            status=chance.choice(["active", "active", "conflict", "deleted"]),
            conflict_group_id=f"g{at % 3}",
        )
        for at in range(count)
    ]


def put(root: Path, scope: Scope, entries: list[MemoryEntry]) -> None:
    with quick(root).transaction(scope) as transaction:
        transaction.set_entries(scope, entries)
        transaction.set_summary(scope, f"# {len(entries)} entries\n", keep=3)


def file_postings(root: Path, scope: Scope) -> Path:
    store = quick(root)
    assert store.write_postings(scope, rings_of=rings_in) in {"written", "current"}
    return Path(store.layout.cache(scope.key)) / POSTINGS


def ask(root: Path, query: str, **more: object) -> MemoryContext:
    settings = Settings(memory_dir=str(root), profile=str(more.pop("profile", "default")))
    request = RecallInput(query=query, cwd=CWD, **more)  # type: ignore[arg-type]  # any of them
    return recall_once(settings, request, clock=lambda: NOW)


@pytest.fixture
def scopes_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Keys of the scopes whose entries were read whole."""
    read: list[str] = []
    whole = MemoryStore.read_scope

    def noting(store: MemoryStore, scope: Scope) -> object:
        read.append(scope.key)
        return whole(store, scope)

    monkeypatch.setattr(MemoryStore, "read_scope", noting)
    return read  # type: ignore[return-value]  # nothing to clear up


class TestTheSameAnswer:
    @pytest.mark.parametrize(
        "filed",
        [(SHOP,), (GLOBAL,), (GLOBAL, SHOP)],
        ids=["the-workspace", "the-user", "both"],
    )
    def test_whichever_scopes_have_postings(
        self, tmp_path: Path, filed: tuple[Scope, ...], scopes_read: list[str]
    ) -> None:
        put(tmp_path, GLOBAL, facts(40, 1))
        put(tmp_path, SHOP, facts(90, 2))
        shown = ("m1-003", "m2-007", "unknown")
        before = [ask(tmp_path, q, surfaced_ids=shown, limit=12) for q in QUERIES]
        assert any(match.conflict_with for context in before for match in context.matches)
        for scope in filed:
            file_postings(tmp_path, scope)
        scopes_read.clear()
        assert [ask(tmp_path, q, surfaced_ids=shown, limit=12) for q in QUERIES] == before
        assert set(scopes_read) == {GLOBAL.key, SHOP.key} - {scope.key for scope in filed}

    def test_what_is_wrong_with_a_scope_is_said_either_way(self, tmp_path: Path) -> None:
        ring = [
            fact("a", "网关 one", status="superseded", superseded_by=("b",)),
            fact("b", "网关 two", status="superseded", superseded_by=("a",)),
            fact("c", "网关 three"),
        ]
        put(tmp_path, SHOP, ring)
        state = Path(quick(tmp_path).layout.scope(SHOP.key)) / STATE
        state.write_text("{ not json")
        before = ask(tmp_path, "网关")
        assert before.degraded is not None
        assert "ring" in before.degraded
        assert STATE in before.degraded
        file_postings(tmp_path, SHOP)
        assert ask(tmp_path, "网关") == before

    def test_a_profile_of_substrings_reads_the_texts(
        self, tmp_path: Path, scopes_read: list[str]
    ) -> None:
        put(tmp_path, SHOP, facts(30, 3))
        before = ask(tmp_path, "网关 端", profile="reference")
        file_postings(tmp_path, SHOP)
        scopes_read.clear()
        assert ask(tmp_path, "网关 端", profile="reference") == before
        assert SHOP.key in scopes_read

    def test_after_any_change_the_answer_is_the_new_one(self, tmp_path: Path) -> None:
        put(tmp_path, SHOP, facts(30, 4))
        file_postings(tmp_path, SHOP)
        put(tmp_path, SHOP, [*facts(30, 4), fact("new", "quokka 网关 端口")])
        assert [match.id for match in ask(tmp_path, "quokka").matches] == ["new"]
        file_postings(tmp_path, SHOP)
        assert [match.id for match in ask(tmp_path, "quokka").matches] == ["new"]
        quick(tmp_path).purge_entry(SHOP, "new")
        assert ask(tmp_path, "quokka").matches == ()
        quick(tmp_path).archive(SHOP.key)
        assert ask(tmp_path, "网关").matches == ()

    def test_an_entry_rewritten_without_a_trace_is_not_shown_as_it_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Even where a file system's times told nothing."""
        put(tmp_path, SHOP, [fact("a", "quokka one"), fact("b", "walrus two")])
        monkeypatch.setattr(postings_files, "version_of", lambda _: [0, 0, 0, 0])
        monkeypatch.setattr(postings_writing, "version_of", lambda _: [0, 0, 0, 0])
        file_postings(tmp_path, SHOP)
        entries = Path(quick(tmp_path).layout.scope(SHOP.key)) / ENTRIES
        entries.write_bytes(entries.read_bytes().replace(b"quokka one", b"quokka two"))
        assert [match.content for match in ask(tmp_path, "quokka").matches] == ["quokka two"]


class TestDamage:
    @pytest.fixture
    def memory(self, tmp_path: Path) -> Path:
        put(tmp_path, SHOP, facts(60, 5))
        file_postings(tmp_path, SHOP)
        return tmp_path

    def test_any_byte_may_change(self, memory: Path, scopes_read: list[str]) -> None:
        path = file_postings(memory, SHOP)
        data = path.read_bytes()
        expected = ask(memory, QUERIES[0])
        scopes_read.clear()
        chance = random.Random(6)
        head = range(0, 1_400, 7)
        places = {*head, *chance.sample(range(len(data)), 150), len(data) - 1}
        for place in places:
            changed = bytearray(data)
            changed[place] ^= 1 << chance.randrange(8)
            path.write_bytes(changed)
            assert ask(memory, QUERIES[0]) == expected, place
        # Damage to the head and to pages that were wanted was noticed.
        assert len(head) < scopes_read.count(SHOP.key) <= len(places)

    def test_damage_where_nobody_looks_is_none(
        self, tmp_path: Path, scopes_read: list[str]
    ) -> None:
        put(tmp_path, SHOP, synthetic_entries(600, seed=3))
        path = file_postings(tmp_path, SHOP)
        data = path.read_bytes()
        query = "shared nothing of the kind"
        expected = ask(tmp_path, query)
        scopes_read.clear()
        places = range(20_000, len(data), len(data) // 30)
        for place in places:
            path.write_bytes(data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :])
            assert ask(tmp_path, query) == expected, place
        assert scopes_read.count(SHOP.key) < len(places)

    def test_it_may_be_cut_short_anywhere_or_have_grown(self, memory: Path) -> None:
        path = file_postings(memory, SHOP)
        data = path.read_bytes()
        expected = ask(memory, "网关 端口")
        for size in (0, *range(1, 40, 3), *range(40, len(data), 1997), len(data) - 1):
            path.write_bytes(data[:size])
            assert ask(memory, "网关 端口") == expected, size
        path.write_bytes(data + b"\0")
        assert ask(memory, "网关 端口") == expected

    def test_pages_may_change_places(self, memory: Path) -> None:
        path = file_postings(memory, SHOP)
        data = path.read_bytes()
        expected = [ask(memory, query) for query in QUERIES]
        a, b = len(data) - 3 * 4096, len(data) - 2 * 4096
        path.write_bytes(data[:a] + data[b : b + 4096] + data[a:b] + data[b + 4096 :])
        assert [ask(memory, query) for query in QUERIES] == expected

    @pytest.mark.parametrize("kind", ["a-directory", "empty", "another-file", "a-pipe"])
    def test_anything_may_stand_in_its_place(self, memory: Path, kind: str) -> None:
        path = file_postings(memory, SHOP)
        expected = ask(memory, "网关 端口")
        path.unlink()
        if kind == "a-directory":
            path.mkdir()
        elif kind == "a-pipe":
            if not hasattr(os, "mkfifo"):
                pytest.skip("no named pipes here")
            os.mkfifo(path)
        else:
            path.write_bytes(b"" if kind == "empty" else b"not postings at all" * 999)
        assert ask(memory, "网关 端口") == expected

    def test_damage_is_mended_by_writing_again(self, memory: Path, scopes_read: list[str]) -> None:
        path = file_postings(memory, SHOP)
        data = bytearray(path.read_bytes())
        data[-9] ^= 1
        path.write_bytes(data)
        assert quick(memory).write_postings(SHOP, rings_of=rings_in) == "written"
        scopes_read.clear()
        ask(memory, "网关 端口")
        assert SHOP.key not in scopes_read


def test_readers_never_see_two_states_at_once(tmp_path: Path) -> None:
    """While commits, purges of the cache and new postings follow one another."""
    states = [[fact(f"m{at}", f"gateway {mark} {at}") for at in range(12)] for mark in "ab"]
    put(tmp_path, SHOP, states[0])
    over = threading.Event()

    def change() -> None:
        for turn in range(40):
            put(tmp_path, SHOP, states[turn % 2])
            if turn % 3:
                quick(tmp_path).write_postings(SHOP, rings_of=rings_in)
        over.set()

    writer = threading.Thread(target=change)
    writer.start()
    answers = 0
    while not over.is_set():
        contents = {match.content.split(" ")[1] for match in ask(tmp_path, "gateway").matches}
        assert contents in ({"a"}, {"b"})
        answers += 1
    writer.join()
    assert answers > 5


def test_a_process_that_answers_by_postings_stays_light(tmp_path: Path) -> None:
    put(tmp_path, SHOP, facts(200, 8))
    file_postings(tmp_path, SHOP)
    code = (
        "import sys\n"
        "from wsmem.cli.main import main\n"
        f"main(['recall', '网关 端口', '--cwd', {CWD!r}, '--memory-dir', {str(tmp_path)!r}])\n"
        "print(*sorted(sys.modules), sep='\\n', file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True
    )
    loaded = set(ran.stderr.split())
    assert "m8-" in ran.stdout
    assert "wsmem.retrieval.persisted.postings" in loaded
    assert "wsmem.retrieval.text_scan" not in loaded
    assert not loaded & {"numpy", "filelock", "asyncio", "ast", "mmap", "wsmem.store.locks"}


def test_where_nothing_is_nothing_is_made(tmp_path: Path) -> None:
    assert ask(tmp_path / "none", "网关").text == ""
    assert not (tmp_path / "none").exists()
