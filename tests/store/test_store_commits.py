"""What a commit leaves on disk, and in which order it gets there."""

from __future__ import annotations

import errno
import json
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store_kit import (
    OTHER,
    PROJECT,
    SESSION,
    START_MS,
    Clock,
    add,
    fact,
    files_under,
    ids,
    leftovers,
    modes,
)

from wsmem.errors import (
    DamagedFileError,
    InvalidInputError,
    LockOrderError,
    LockTimeoutError,
    StaleSnapshotError,
    StoreError,
    StoreVersionError,
    StoreWriteError,
    UnreadableFileError,
)
from wsmem.records import MemoryMessage, MemoryState
from wsmem.store.faults import Fault, FaultyFileSystem
from wsmem.store.layout import GLOBAL, Layout, ScopeRef, checkpoint_name, iso_time, kind_of
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from wsmem.store.transaction import Transaction

DIRECTORY = f"scopes/{PROJECT.key}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(root: Path) -> MemoryStore:
    numbers = iter(range(1, 1000))
    return MemoryStore(
        root,
        fs=FaultyFileSystem(),
        clock=Clock(),
        new_id=lambda: f"00000000-{next(numbers):04x}-4000-8000-{0:012x}",
    )


# Layout


def test_reading_creates_nothing(root: Path, store: MemoryStore) -> None:
    snapshot = store.read_scope(PROJECT)
    assert not snapshot.exists
    assert snapshot.entries == ()
    assert snapshot.state == MemoryState()
    assert store.list_archived() == ()
    assert [scope.key for scope in store.list_scopes(sessions=True)] == ["global"]
    assert not store.read_archived(PROJECT.key).exists
    assert not root.exists()


def test_files_stand_where_the_other_program_looks(root: Path, store: MemoryStore) -> None:
    with store.transaction(PROJECT, GLOBAL, SESSION) as tx:
        for scope in (PROJECT, GLOBAL, SESSION):
            tx.set_entries(scope, [fact("a")])
        tx.set_state(PROJECT, MemoryState(version=1))
        tx.set_summary(PROJECT, "# s\n")
        tx.set_extra(PROJECT, {"lastError": None})
        name = tx.add_checkpoint(PROJECT, "audit")
    assert name == "2026-09-01T00-00-00.000Z.00000000-0001-4000-8000-000000000000.md"
    assert files_under(root) == [
        ".wsmem/format.json",
        "global/memory_entries.json",
        "global/scope.json",
        f"{DIRECTORY}/checkpoints/{name}",
        f"{DIRECTORY}/memory_entries.json",
        f"{DIRECTORY}/memory_summary.md",
        f"{DIRECTORY}/scope.json",
        f"{DIRECTORY}/state.json",
        f"{DIRECTORY}/wsmem.json",
        f"sessions/{SESSION.key}/memory_entries.json",
        f"sessions/{SESSION.key}/scope.json",
    ]
    assert (root / DIRECTORY / "summary_history").is_dir()
    descriptor = '{\n  "key": "ws-8d26a3233b5832695aac",\n  "cwd": "/srv/proj-a"\n}\n'
    assert (root / DIRECTORY / "scope.json").read_text() == descriptor


@pytest.mark.parametrize(
    "key",
    [
        *("", "ws-short", "ws-8D26A3233B5832695AAC", "ws-8d26a3233b5832695aac0", "Global"),
        *("ws-8d26a3233b5832695aac\n", "../global", "global/..", "ws-../../../../../../x", "."),
        *("session-8d26a3233b5832695aa/", "archived/ws-8d26a3233b5832695aac", "glob\x00al"),
    ],
)
def test_nothing_but_an_exact_scope_key_becomes_a_path(store: MemoryStore, key: str) -> None:
    scope = ScopeRef(key, "/srv/proj-a")
    with pytest.raises(InvalidInputError):
        store.read_scope(scope)
    with pytest.raises(InvalidInputError), store.transaction(scope):
        pass
    for act in (store.read_archived, store.archive, store.restore, store.purge_archived):
        with pytest.raises(InvalidInputError):
            act(key)


def test_times_in_names_are_iso_with_milliseconds() -> None:
    assert iso_time(START_MS + 7) == "2026-09-01T00:00:00.007Z"
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert checkpoint_name(START_MS, "u") == "2026-09-01T00-00-00.000Z.u.md"
    assert [kind_of(s.key) for s in (GLOBAL, PROJECT, SESSION)] == [
        "global",
        "workspace",
        "session",
    ]


def test_a_relative_root_is_fixed_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Layout.at("memory").root == str(tmp_path / "memory")


def test_a_new_workspace_needs_its_directory(store: MemoryStore) -> None:
    nameless = ScopeRef(PROJECT.key)
    with pytest.raises(InvalidInputError, match="needs its directory"):
        add(store, nameless, "a")
    add(store, PROJECT, "a")
    add(store, nameless, "b")  # an existing one knows it
    assert store.read_scope(nameless).cwd == "/srv/proj-a"


# Permissions and links (O-03 c)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
@pytest.mark.parametrize("umask", [0o022, 0o000, 0o277], ids=oct)
def test_only_the_owner_may_look_whatever_the_umask(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = MemoryStore(root)
        for number in range(2):
            with store.transaction(PROJECT, GLOBAL) as tx:
                tx.set_entries(PROJECT, [fact(f"m{number}")])
                tx.set_summary(PROJECT, f"# {number}\n", keep=3)
                tx.add_checkpoint(GLOBAL, "x")
            assert modes(root) == {("dir", "0o700"), ("file", "0o600")}
    finally:
        os.umask(before)


def test_a_store_made_by_others_is_closed_to_others_when_written(root: Path) -> None:
    directory = root / DIRECTORY
    (directory / "checkpoints").mkdir(parents=True, mode=0o755)
    (directory / "memory_entries.json").write_text("[]\n")
    (directory / "memory_entries.json").chmod(0o644)
    add(MemoryStore(root), PROJECT, "a")
    assert modes(root) == {("dir", "0o700"), ("file", "0o600")}


def test_a_root_reached_through_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    for entry_id in ("a", "b"):
        add(MemoryStore(link), PROJECT, entry_id)
    assert link.is_symlink()
    assert ids(MemoryStore(real), PROJECT) == ["a", "b"]
    assert leftovers(real) == []


def test_a_linked_file_stays_a_link_and_its_target_is_written(tmp_path: Path, root: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    add(MemoryStore(root), PROJECT, "a")
    file = root / DIRECTORY / "memory_entries.json"
    file.rename(elsewhere / "entries.json")
    file.symlink_to(elsewhere / "entries.json")
    add(MemoryStore(root), PROJECT, "b")
    assert file.is_symlink()
    assert [e["id"] for e in json.loads((elsewhere / "entries.json").read_text())] == ["a", "b"]
    assert [path.name for path in elsewhere.iterdir()] == ["entries.json"]


# Order of the steps (O-03 a)


def test_everything_is_fsynced_before_the_commit_point_and_after_the_renames(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore(root)
    add(store, PROJECT, "a")
    steps: list[tuple[str, Path]] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(fd: int) -> None:
        steps.append(("fsync", Path(f"/proc/self/fd/{fd}").readlink()))
        real_fsync(fd)

    def replace(source: str, target: str) -> None:
        assert Path(source).parent == Path(target).parent
        steps.extend([("from", Path(source)), ("to", Path(target))])
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a"), fact("b")])
        tx.set_state(PROJECT, MemoryState(version=2))
    directory, journals = root / DIRECTORY, root / ".wsmem/journal"
    point = next(i for i, s in enumerate(steps) if s[0] == "to" and s[1].parent == journals)
    renamed = [path for kind, path in steps[point + 1 :] if kind == "from"]
    assert len(renamed) == 2
    for path in renamed:
        assert steps.index(("fsync", path)) < point
    assert steps.index(("fsync", directory)) < point
    assert steps[point + 1] == ("fsync", journals)
    last_rename = max(i for i, s in enumerate(steps) if s[0] == "to")
    assert ("fsync", directory) in steps[last_rename:]


# Content


def test_what_is_not_set_stays_as_it_is(root: Path, store: MemoryStore) -> None:
    message = MemoryMessage(id="u1", role="user", text="hi")
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a")])
        tx.set_state(PROJECT, MemoryState(pending_messages=(message,)))
    before = (root / DIRECTORY / "memory_entries.json").stat()
    with store.transaction(PROJECT) as tx:
        tx.set_state(PROJECT, MemoryState(version=3))
    assert (root / DIRECTORY / "memory_entries.json").stat() == before
    assert store.read_scope(PROJECT).state.version == 3
    assert ids(store, PROJECT) == ["a"]


def test_setting_what_is_there_writes_nothing(root: Path, store: MemoryStore) -> None:
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a")])
        tx.set_state(PROJECT, MemoryState(version=1))
        tx.set_extra(PROJECT, {"n": 1})
    before = {path: path.stat() for path in root.rglob("*") if path.is_file()}
    with store.transaction(PROJECT) as tx:
        snapshot = tx.snapshot(PROJECT)
        tx.set_entries(PROJECT, list(snapshot.entries))
        tx.set_state(PROJECT, MemoryState(version=1))
        tx.set_extra(PROJECT, {"n": 1})
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a")])
    assert {path: path.stat() for path in root.rglob("*") if path.is_file()} == before


def test_an_exception_in_the_block_changes_nothing(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    before = {root / name: (root / name).read_bytes() for name in files_under(root)}

    def change(tx: Transaction) -> None:
        tx.set_entries(PROJECT, [])
        tx.set_entries(GLOBAL, [fact("g")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.update([PROJECT, GLOBAL], change)
    assert {root / name: (root / name).read_bytes() for name in files_under(root)} == before


def test_the_snapshot_after_a_commit_is_what_a_fresh_reader_finds(
    root: Path, store: MemoryStore
) -> None:
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("a", tags=("\ud83d\ude00", "\ud800")), fact("b")])
        tx.set_state(PROJECT, MemoryState(version=2, seen_message_ids=("u1", "\udfff")))
        tx.set_summary(PROJECT, "# \ud800\n")
        tx.set_extra(PROJECT, {"t": ("a", "b")})
        tx.describe(PROJECT, workspaceId="w-1")
    ours, fresh = store.read_scope(PROJECT), MemoryStore(root).read_scope(PROJECT)
    assert ours == fresh
    assert ours.entries == fresh.entries
    assert [e.stored for e in ours.entries] == [e.stored for e in fresh.entries]
    assert ours.entry_set.texts == fresh.entry_set.texts
    assert ours.descriptor["workspaceId"] == "w-1"
    assert ours.summary == "# \ufffd\n"


def test_replaced_summaries_are_kept_up_to_a_number(root: Path) -> None:
    clock = Clock()
    store = MemoryStore(root, clock=clock, fs=FaultyFileSystem())
    history = root / DIRECTORY / "summary_history"
    for number in range(5):
        with store.transaction(PROJECT) as tx:
            tx.set_summary(PROJECT, f"# {number}\n", keep=2)
        clock.now_ms += 1000
    kept = sorted(history.iterdir())
    assert [path.read_text() for path in kept] == ["# 2\n", "# 3\n"]
    assert [path.name.partition("-")[0] for path in kept] == ["1788220803000", "1788220804000"]
    (history / "notes.md").write_text("mine")
    with store.transaction(PROJECT) as tx:
        tx.set_summary(PROJECT, "# 5\n", keep=0)
    assert [path.name for path in history.iterdir()] == ["notes.md"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda tx: tx.set_entries(PROJECT, [fact("a"), fact("a")]), "share an id", id="two-ids"
        ),
        pytest.param(
            lambda tx: tx.set_entries(PROJECT, [fact("a", status="odd")]), "unknown", id="status"
        ),
        pytest.param(lambda tx: tx.set_extra(PROJECT, {"x": object()}), "plain JSON", id="extra"),
        pytest.param(lambda tx: tx.set_extra(PROJECT, {"format": 2}), "own field", id="format"),
        pytest.param(lambda tx: tx.describe(PROJECT, key="x"), "identity", id="key"),
        pytest.param(lambda tx: tx.set_state(OTHER, MemoryState()), "not part", id="other-scope"),
        pytest.param(
            lambda tx: tx.set_state(
                PROJECT,
                MemoryState(pending_messages=(MemoryMessage(id="a", role="bot", text="x"),)),  # type: ignore[arg-type]  # what is refused
            ),
            "not a message",
            id="role",
        ),
    ],
)
def test_a_value_with_no_place_in_the_format_is_refused_whole(
    root: Path, store: MemoryStore, change: Any, said: str
) -> None:
    add(store, PROJECT, "kept")
    before = files_under(root)

    def also_change(tx: Transaction) -> None:
        tx.set_summary(PROJECT, "never written")
        change(tx)

    with pytest.raises(InvalidInputError, match=said):
        store.update([PROJECT], also_change)
    assert ids(store, PROJECT) == ["kept"]
    assert files_under(root) == before


def test_a_transaction_over_nothing_is_refused(store: MemoryStore) -> None:
    with pytest.raises(InvalidInputError), store.transaction():
        pass


# Damage and newer formats


def test_a_broken_item_is_kept_aside_when_the_file_is_first_rewritten(
    root: Path, store: MemoryStore
) -> None:
    directory = root / DIRECTORY
    directory.mkdir(parents=True)
    original = b'[{"id": "a", "content": "b"}, {"id": 5}, null]'
    (directory / "memory_entries.json").write_bytes(original)
    (directory / "state.json").write_bytes(b"{oops")
    assert len(store.read_scope(PROJECT).problems) == 4
    assert files_under(root) == [f"{DIRECTORY}/memory_entries.json", f"{DIRECTORY}/state.json"]
    add(store, PROJECT, "new")
    (kept,) = (directory / "set-aside").iterdir()
    assert kept.name.startswith("memory_entries.json.2026-09-01T00-00-00.000Z.")
    assert kept.read_bytes() == original
    assert ids(store, PROJECT) == ["a", "new"]
    # the state was not rewritten, so its original is still in its place
    assert [p.file for p in store.read_scope(PROJECT).problems] == ["state.json"]
    with store.transaction(PROJECT) as tx:
        tx.set_state(PROJECT, MemoryState(version=1))
    assert sorted(p.name[:10] for p in (directory / "set-aside").iterdir()) == [
        "memory_ent",
        "state.json",
    ]
    assert store.read_scope(PROJECT).problems == ()
    assert MemoryStore(root).read_scope(PROJECT).problems == ()


def test_old_entries_are_backed_up_once_and_migrated_once(root: Path, store: MemoryStore) -> None:
    file = root / DIRECTORY / "memory_entries.json"
    file.parent.mkdir(parents=True)
    original = b'{"memories": [{"id": "a", "content": "b"}, {"id": "c", "content": "d"}]}'
    file.write_bytes(original)
    add(store, PROJECT, "new")
    (kept,) = (root / DIRECTORY / "set-aside").iterdir()
    assert kept.read_bytes() == original
    once = file.read_bytes()
    add(MemoryStore(root), PROJECT, "newer")
    assert file.read_bytes().startswith(once.removesuffix(b"\n]\n"))
    assert len(list(kept.parent.iterdir())) == 1


def test_rewriting_a_healthy_file_sets_nothing_aside(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    add(store, PROJECT, "b")
    assert not (root / DIRECTORY / "set-aside").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(".wsmem/format.json", '{"format": 2}', id="store"),
        pytest.param(f"{DIRECTORY}/wsmem.json", '{"format": 2, "x": 1}', id="scope"),
        pytest.param(f"{DIRECTORY}/memory_entries.json", '{"format": 9}', id="entries"),
        pytest.param(".wsmem/journal/x.json", '{"format": 2}', id="journal"),
    ],
)
def test_what_a_newer_wsmem_wrote_is_never_rewritten(
    root: Path, store: MemoryStore, path: str, text: str
) -> None:
    add(store, PROJECT, "a")
    (root / path).write_text(text)
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    with pytest.raises(StoreVersionError, match="upgrade"):
        add(MemoryStore(root), PROJECT, "b")
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before


def test_an_illegible_format_marker_stops_writers_not_readers(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")
    (root / ".wsmem/format.json").write_text("?")
    with pytest.raises(DamagedFileError, match=r"format\.json"):
        add(store, PROJECT, "b")
    assert ids(MemoryStore(root), PROJECT) == ["a"]


def test_a_forbidden_file_is_not_an_empty_one(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    forbidding = FaultyFileSystem(Fault(1, "error", errno.EACCES), counted=("read",))
    with pytest.raises(UnreadableFileError, match="Permission denied"):
        MemoryStore(root, fs=forbidding).read_scope(PROJECT)
    forbidding = FaultyFileSystem(Fault(2, "error", errno.EACCES), counted=("read",))
    with pytest.raises(UnreadableFileError):  # the first read is that of the format marker
        add(MemoryStore(root, fs=forbidding), PROJECT, "b")
    assert ids(store, PROJECT) == ["a"]


def test_a_directory_in_place_of_a_file_is_not_an_empty_file(
    root: Path, store: MemoryStore
) -> None:
    (root / DIRECTORY / "memory_entries.json").mkdir(parents=True)
    with pytest.raises(UnreadableFileError, match=r"memory_entries\.json"):
        store.read_scope(PROJECT)
    with pytest.raises(UnreadableFileError):
        add(store, PROJECT, "a")
    (listing,) = [s for s in store.list_scopes() if s.key == "global"]
    assert listing.problems == ()


@pytest.mark.parametrize(
    "error",
    [
        LockTimeoutError("global", 1.5),
        LockOrderError("a", "b"),
        StaleSnapshotError("global"),
        StoreVersionError("p", "2", 1),
        DamagedFileError("p", "r"),
        UnreadableFileError("p", "r"),
        StoreWriteError("writing", "p", "r", "unknown"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling_with_their_fields(error: StoreError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.__dict__) == (str(error), error.__dict__)
    assert copy.retryable == isinstance(error, (LockTimeoutError, StaleSnapshotError))
