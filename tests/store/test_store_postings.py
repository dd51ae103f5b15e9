"""Postings beside the entries: good for one version of them, gone with them, never in the way."""

from __future__ import annotations

import ast
import errno
import json
import os
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store_kit import PROJECT, add, quick

from wsmem.engine.chains import rings_in
from wsmem.errors import WsmemError
from wsmem.retrieval.persisted import fingerprint as fingerprints
from wsmem.retrieval.persisted.fingerprint import SOURCES, fingerprint
from wsmem.store import postings_writing
from wsmem.store.faults import Fault, FaultyFileSystem
from wsmem.store.layout import ENTRIES
from wsmem.store.postings import POSTINGS, FiledScope
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from wsmem.store.postings_writing import WriteOutcome

WORD = "zebraquark"
A = '{"id": "a", "content": "x"}'


@pytest.fixture(autouse=True)
def _nothing_has_to_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_writing, "SETTLED_S", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = quick(tmp_path / "memory")
    add(store, PROJECT, "first", "second")
    add(store, PROJECT, WORD)
    return store


def write(store: MemoryStore) -> WriteOutcome:
    return store.write_postings(PROJECT, rings_of=rings_in)


def opened(store: MemoryStore) -> FiledScope | None:
    files = store.open_files()
    try:
        return store.open_postings(PROJECT, files)
    finally:
        files.close()


def entries_file(store: MemoryStore) -> Path:
    return Path(store.layout.scope(PROJECT.key)) / ENTRIES


def postings_file(store: MemoryStore) -> Path:
    return Path(store.layout.cache(PROJECT.key)) / POSTINGS


class TestBeingGood:
    def test_they_are_good_for_the_entries_they_were_made_of(self, store: MemoryStore) -> None:
        assert opened(store) is None
        assert write(store) == "written"
        found = opened(store)
        assert found is not None
        assert found.postings.postings.size == 3
        assert found.head.cwd == PROJECT.cwd
        assert write(store) == "current"

    def test_a_commit_ends_them(self, store: MemoryStore) -> None:
        write(store)
        add(store, PROJECT, "third")
        assert opened(store) is None
        assert write(store) == "written"
        found = opened(store)
        assert found is not None
        assert found.postings.postings.size == 4

    @pytest.mark.parametrize(
        "keep_time", [False, True], ids=["as-programs-do", "with-its-time-set-back"]
    )
    def test_another_program_rewriting_in_place_ends_them(
        self, store: MemoryStore, *, keep_time: bool
    ) -> None:
        write(store)
        path = entries_file(store)
        before = path.stat()
        time.sleep(0.02)  # a tick of the file system's clock
        with path.open("r+b") as file:
            data = file.read().replace(b"first", b"FIRST")
            file.seek(0)
            file.write(data)
        if keep_time:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert path.stat().st_mtime_ns == before.st_mtime_ns
        assert path.stat().st_size == before.st_size
        assert path.stat().st_ino == before.st_ino
        assert opened(store) is None

    def test_a_copy_put_in_place_ends_them(self, store: MemoryStore) -> None:
        write(store)
        path = entries_file(store)
        status, data = path.stat(), path.read_bytes()
        copy = path.with_suffix(".copy")
        copy.write_bytes(data)
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        copy.replace(path)
        assert opened(store) is None

    def test_entries_gone_end_them(self, store: MemoryStore) -> None:
        write(store)
        entries_file(store).unlink()
        assert opened(store) is None
        assert write(store) == "absent"
        assert not postings_file(store).exists()

    def test_other_code_ends_them(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store)
        monkeypatch.setattr("wsmem.store.postings.fingerprint", lambda: "another")
        assert opened(store) is None

    def test_code_that_cannot_be_read_uses_none(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store)
        monkeypatch.setattr("wsmem.store.postings.fingerprint", lambda: None)
        assert opened(store) is None

    def test_entries_written_just_now_have_to_wait(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postings_writing, "SETTLED_S", 5.0)
        assert write(store) == "unsettled"
        assert not postings_file(store).exists()

    def test_a_change_while_they_are_made_is_noticed(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        built = postings_writing._built

        def meanwhile(*arguments: Any) -> bytes | None:
            add(store, PROJECT, "late")
            return built(*arguments)

        monkeypatch.setattr(postings_writing, "_built", meanwhile)
        assert write(store) == "changed"
        assert not postings_file(store).exists()

    def test_a_writer_does_not_wait_for_another(self, store: MemoryStore) -> None:
        with store.lock(PROJECT), ThreadPoolExecutor(1) as pool:
            assert pool.submit(write, store).result() == "busy"
        assert write(store) == "written"


class TestWhatIsRead:
    @pytest.mark.parametrize(
        ("text", "outcome"),
        [
            pytest.param(f"[{A}, ", "unsuitable", id="cut-short"),
            pytest.param(f'{{"memories": [{A}]}}', "unsuitable", id="old-shape"),
            pytest.param(f"[{A}, 7]", "unsuitable", id="a-stray-item"),
            pytest.param(f'[{A},{{"id":"é","content":"\\ud800"}}]', "written", id="dense"),
            pytest.param(" \n[ ]\n", "written", id="empty"),
            pytest.param(f"[{A}, {A}]", "written", id="one-id-twice"),
        ],
    )
    def test_only_entries_that_are_read_whole_have_postings(
        self, store: MemoryStore, text: str, outcome: str
    ) -> None:
        entries_file(store).write_text(text, encoding="utf-8")
        assert write(store) == outcome

    def test_each_entry_is_read_back_from_its_place(self, store: MemoryStore) -> None:
        path = entries_file(store)
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw.insert(0, {"id": "lean", "content": "网关 🚀 8081", "unknown": [1, {"x": "é"}]})
        raw.append({"id": "gone", "content": "not recalled", "status": "deleted"})
        path.write_text(json.dumps(raw, ensure_ascii=False), encoding="utf-8")
        assert write(store) == "written"
        files = store.open_files()
        found = store.open_postings(PROJECT, files)
        assert found is not None
        postings = found.postings.postings
        recallable = [e for e in store.read_scope(PROJECT).entries if e.recallable]
        read = [found.postings.entry(postings.location(at)) for at in range(postings.size)]
        assert read == recallable
        assert [entry.stored for entry in read] == [entry.stored for entry in recallable]
        assert [postings.entry_id(at) for at in range(postings.size)] == [e.id for e in recallable]
        files.close()

    def test_a_reader_keeps_the_version_it_opened(self, store: MemoryStore) -> None:
        write(store)
        files = store.open_files()
        found = store.open_postings(PROJECT, files)
        assert found is not None
        store.purge_entry(PROJECT, WORD)
        add(store, PROJECT, "third")
        assert write(store) == "written"
        postings = found.postings.postings
        assert postings.frequency(WORD) == 1
        assert found.postings.entry(postings.location(2)).id == WORD
        files.close()


class TestWhatIsLeft:
    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
    def test_nobody_else_may_read_them(self, store: MemoryStore) -> None:
        old = os.umask(0)
        try:
            write(store)
        finally:
            os.umask(old)
        path = postings_file(store)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    def test_opening_creates_nothing(self, tmp_path: Path) -> None:
        store = MemoryStore(tmp_path / "nowhere")
        assert opened(store) is None
        assert write(store) == "absent"
        assert not (tmp_path / "nowhere").exists()

    def test_a_purge_leaves_no_word_of_the_entry(self, store: MemoryStore) -> None:
        write(store)
        assert WORD.encode() in postings_file(store).read_bytes()
        store.purge_entry(PROJECT, WORD)
        assert not postings_file(store).exists()
        assert write(store) == "written"
        root = entries_file(store).parents[2]
        held = [p for p in root.rglob("*") if p.is_file() and WORD.encode() in p.read_bytes()]
        assert not held

    def test_a_purge_while_they_are_made_leaves_no_word_either(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        built = postings_writing._built

        def meanwhile(*arguments: Any) -> bytes | None:
            made = built(*arguments)
            store.purge_entry(PROJECT, WORD)
            return made

        monkeypatch.setattr(postings_writing, "_built", meanwhile)
        assert write(store) == "changed"
        assert not postings_file(store).parent.exists()

    def test_an_archived_workspace_keeps_none(self, store: MemoryStore) -> None:
        write(store)
        store.archive(PROJECT.key)
        assert not postings_file(store).parent.exists()
        store.restore(PROJECT.key)
        assert opened(store) is None
        assert write(store) == "written"
        store.archive(PROJECT.key)
        store.purge_archived(PROJECT.key)
        assert not postings_file(store).parent.exists()

    def test_what_a_dead_writer_left_is_cleared(self, store: MemoryStore) -> None:
        write(store)
        left = postings_file(store).parent / f".{POSTINGS}.0.tmp"
        left.write_text(WORD)
        add(store, PROJECT, "third")
        write(store)
        assert [path.name for path in left.parent.iterdir()] == [POSTINGS]


class TestTheSystemRefusing:
    def test_whatever_call_fails_they_are_good_or_not_there(self, tmp_path: Path) -> None:
        root = tmp_path / "memory"
        add(quick(root), PROJECT, "first", "second")
        write(quick(root))
        failures = 0
        for call in range(1, 200):
            add(quick(root), PROJECT, f"more-{call}")
            failing = MemoryStore(
                root, fs=FaultyFileSystem(Fault(at_call=call, kind="error", code=errno.ENOSPC))
            )
            try:
                outcome: str = write(failing)
            except WsmemError:
                outcome = "failed"
                failures += 1
            good = opened(MemoryStore(root)) is not None
            assert good == (outcome == "written"), call
            folder = postings_file(MemoryStore(root)).parent
            assert {path.name for path in folder.iterdir()} <= {POSTINGS}
            if call > 20 and outcome == "written":
                break
        assert failures > 5


class TestTheMarkOfTheCode:
    def test_everything_texts_are_read_with_is_in_it(self) -> None:
        """Whatever the statistics are made by, directly or by an import, changes the mark."""
        package = Path(fingerprints._PACKAGE)

        def imports(name: str) -> set[str]:
            tree = ast.parse((package / name).read_text(encoding="utf-8"))
            modules = {
                str(node.module).removeprefix("wsmem.").replace(".", "/") + ".py"
                for node in tree.body
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wsmem.")
            }
            return {module for module in modules if (package / module).exists()}

        # What errors are called and how files are named changes no number.
        beside = {"errors.py", "store/layout.py", "store/salvage.py"}
        for name in SOURCES:
            assert imports(name) - beside <= set(SOURCES), name

    def test_any_change_of_a_source_changes_it(self, tmp_path: Path) -> None:
        for name in SOURCES:
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((Path(fingerprints._PACKAGE) / name).read_bytes())
        assert fingerprint(str(tmp_path)) == fingerprint()
        changed = tmp_path / "text" / "stopwords.py"
        changed.write_bytes(changed.read_bytes().replace(b"the", b"teh", 1))
        assert fingerprint(str(tmp_path)) != fingerprint()
        changed.unlink()
        assert fingerprint(str(tmp_path)) is None
