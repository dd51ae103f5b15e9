"""Reading: always one committed state, never waiting, never stale, nothing derived twice."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from store_kit import OTHER, PROJECT, add, fact, files_under, ids, leftovers, quick, write_entries

from wsmem.errors import StaleSnapshotError
from wsmem.records import MemoryEntry, MemoryState
from wsmem.store.faults import Fault, FaultyFileSystem, SimulatedCrash
from wsmem.store.layout import GLOBAL, ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.store.entry_set import Prior
    from wsmem.store.transaction import Transaction

ENTRIES = f"scopes/{PROJECT.key}/memory_entries.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(root: Path) -> MemoryStore:
    return quick(root)


# Freshness


def test_an_unchanged_scope_is_the_same_object(store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    assert store.read_scope(PROJECT) is store.read_scope(PROJECT)


def test_a_write_by_another_store_object_is_seen_at_once(root: Path, store: MemoryStore) -> None:
    other = quick(root)
    for number in range(30):
        add(other, PROJECT, f"m{number}")
        assert len(store.read_scope(PROJECT).entries) == number + 1


def test_two_quick_rewrites_of_one_size_are_told_apart(root: Path, store: MemoryStore) -> None:
    """Inodes are reused and the kernel's clock is coarse: only our own dating tells."""
    writer = quick(root)
    seen = set()
    for number in range(40):
        with writer.transaction(PROJECT) as tx:
            tx.set_state(PROJECT, MemoryState(version=number % 10))
        snapshot = store.read_scope(PROJECT)
        assert snapshot.state.version == number % 10
        seen.add(snapshot.generation)
    assert len(seen) == 40


def test_a_rewritten_file_is_dated_later_even_if_the_clock_goes_back(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")
    future = 2_000_000_000_000_000_000
    os.utime(root / ENTRIES, ns=(future, future))
    add(store, PROJECT, "b")
    assert (root / ENTRIES).stat().st_mtime_ns > future


def test_a_file_rewritten_by_another_program_is_read_again(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a", "b")
    before = store.read_scope(PROJECT)
    records = [dict(entry.stored) for entry in before.entries]
    write_entries(root / ENTRIES, [*records, {"id": "c", "content": "from elsewhere"}])
    after = store.read_scope(PROJECT)
    assert [entry.id for entry in after.entries] == ["a", "b", "c"]
    assert after.entries[0] is before.entries[0]


def test_a_scope_removed_by_another_program_is_gone(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    (root / "scopes" / PROJECT.key).rename(root / "elsewhere")
    assert not store.read_scope(PROJECT).exists
    assert store.read_scope(PROJECT).entries == ()


# One state


def test_writers_start_from_what_is_on_disk_not_from_what_they_read_before(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")
    store.read_scope(PROJECT)
    write_entries(root / ENTRIES, [{"id": "other", "content": "written by another program"}])
    add(store, PROJECT, "b")
    assert ids(store, PROJECT) == ["other", "b"]


def test_a_file_that_moves_under_a_transaction_is_not_overwritten(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")

    def change(tx: Transaction) -> None:
        tx.set_entries(PROJECT, [*tx.snapshot(PROJECT).entries, fact("b")])
        tx.set_summary(GLOBAL, "# never\n")
        write_entries(root / ENTRIES, [{"id": "other", "content": "written meanwhile"}])

    with pytest.raises(StaleSnapshotError):
        store.update([PROJECT, GLOBAL], change, attempts=1)
    assert ids(store, PROJECT) == ["other"]
    assert not store.read_scope(GLOBAL).exists
    assert leftovers(root) == []


def test_an_update_is_repeated_on_what_another_program_wrote(
    root: Path, store: MemoryStore
) -> None:
    add(store, PROJECT, "a")
    calls: list[list[str]] = []

    def change(tx: Transaction) -> str:
        before = tx.snapshot(PROJECT).entries
        calls.append([entry.id for entry in before])
        if len(calls) == 1:
            write_entries(root / ENTRIES, [{"id": "other", "content": "written meanwhile"}])
        tx.set_entries(PROJECT, [*before, fact("b")])
        return "done"

    assert store.update([PROJECT], change) == "done"
    assert calls == [["a"], ["other"]]
    assert ids(store, PROJECT) == ["other", "b"]


def crash_while_committing(root: Path, at_call: int) -> FaultyFileSystem:
    """Change two scopes and die at one of the calls."""
    fs = FaultyFileSystem(Fault(at_call, "crash"))
    store = MemoryStore(root, fs=fs)

    def change(tx: Transaction) -> None:
        for scope in (PROJECT, GLOBAL):
            tx.set_entries(scope, [*tx.snapshot(scope).entries, fact("new")])
            tx.set_state(scope, replace(tx.snapshot(scope).state, version=2))
            tx.set_summary(scope, "# new\n")

    with pytest.raises(SimulatedCrash):
        store.update([PROJECT, GLOBAL], change)
    return fs


def test_readers_see_one_state_of_all_scopes_wherever_a_writer_died(tmp_path: Path) -> None:
    states = set()
    for at_call in range(1, 200):
        root = tmp_path / str(at_call)
        store = quick(root)
        with store.transaction(PROJECT, GLOBAL) as tx:
            for scope in (PROJECT, GLOBAL):
                tx.set_entries(scope, [fact("old")])
                tx.set_state(scope, MemoryState(version=1))
                tx.set_summary(scope, "# old\n")
        try:
            fs = crash_while_committing(root, at_call)
        except pytest.fail.Exception:
            break  # the commit takes fewer calls than this
        listing = files_under(root)
        seen = {
            (len(s.entries), s.state.version, s.summary)
            for reader in (store, MemoryStore(root))
            for s in map(reader.read_scope, (PROJECT, GLOBAL))
        }
        assert seen in ({(1, 1, "# old\n")}, {(2, 2, "# new\n")}), fs.calls[-1]
        assert files_under(root) == listing  # reading wrote nothing
        states |= seen
    else:
        pytest.fail("the commit never ended")
    assert len(states) == 2


def test_reading_while_others_write_never_mixes_states(root: Path) -> None:
    """Two scopes' versions and entry counts always agree with each other."""
    stop = threading.Event()
    failures: list[str] = []

    def write() -> None:
        writer = quick(root)

        def change(tx: Transaction) -> None:
            count = len(tx.snapshot(PROJECT).entries) + 1
            tx.set_entries(PROJECT, [fact(f"m{n}") for n in range(count)])
            tx.set_state(PROJECT, MemoryState(version=count))
            tx.set_summary(PROJECT, f"# {count}\n", keep=0)

        for _ in range(60):
            writer.update([PROJECT], change)
        stop.set()

    thread = threading.Thread(target=write)
    thread.start()
    readings = 0
    while not stop.is_set():
        snapshot = MemoryStore(root).read_scope(PROJECT)  # nothing remembered
        readings += 1
        count = len(snapshot.entries)
        if (snapshot.state.version, snapshot.summary or "# 0\n") != (count, f"# {count}\n"):
            failures.append(f"{count} entries, {snapshot.state}, {snapshot.summary}")
    thread.join()
    assert failures == []
    assert readings > 20


def test_a_journal_that_makes_no_sense_blocks_nobody(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    journal = root / ".wsmem/journal/00000000-0000-4000-8000-000000000000.json"
    for number, nonsense in enumerate([b"", b"\xff", b"[]", b'{"format": 1, "scopes": 3}']):
        journal.write_bytes(nonsense)
        assert ids(MemoryStore(root), PROJECT) == ["a"]
        add(quick(root), GLOBAL, f"g{number}")
        assert not journal.exists()
        assert journal.with_suffix(".damaged").read_bytes() == nonsense


# What is derived


def test_derived_values_live_as_long_as_the_entries_and_are_handed_on(store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    built: list[tuple[int, int | None]] = []

    def count(entries: tuple[MemoryEntry, ...], prior: Prior[int] | None) -> int:
        built.append((len(entries), prior.value if prior else None))
        return len(entries)

    assert store.read_scope(PROJECT).derive("count", count) == 1
    with store.transaction(PROJECT) as tx:
        tx.set_state(PROJECT, MemoryState(version=5))  # not the entries
    assert store.read_scope(PROJECT).derive("count", count) == 1
    assert built == [(1, None)]
    add(store, PROJECT, "b")
    add(store, PROJECT, "c")  # two versions on, the last value is still there
    assert store.read_scope(PROJECT).derive("count", count) == 3
    assert built == [(1, None), (3, 1)]
    add(MemoryStore(store.layout.root), PROJECT, "d")
    assert store.read_scope(PROJECT).derive("count", count) == 4
    assert built[-1] == (4, 3)


def test_entries_that_stay_are_the_same_objects_across_commits(store: MemoryStore) -> None:
    add(store, PROJECT, "a", "b")
    before = store.read_scope(PROJECT).entries
    add(store, PROJECT, "c")
    after = store.read_scope(PROJECT).entries
    assert after[:2] == before
    assert all(old is new for old, new in zip(before, after, strict=False))


def test_a_commit_in_this_process_is_not_parsed_again(root: Path) -> None:
    fs = FaultyFileSystem(counted=("read",))
    store = MemoryStore(root, fs=fs)
    add(store, PROJECT, "a")
    fs.calls.clear()
    for number in range(3):
        add(store, PROJECT, f"m{number}")
        assert len(store.read_scope(PROJECT).entries) == number + 2
    assert [call for call in fs.calls if "memory_entries" in call] == []


def test_a_scope_that_is_read_again_and_again_is_not_crowded_out(store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    snapshot = store.read_scope(PROJECT)
    for number in range(200):
        store.read_scope(ScopeRef(f"ws-{number:020x}"))
        assert store.read_scope(PROJECT) is snapshot


def test_only_the_scopes_used_last_stay_in_memory(store: MemoryStore) -> None:
    first = store.read_scope(OTHER)
    for number in range(70):
        store.read_scope(PROJECT._replace(key=f"ws-{number:020x}"))
    assert store.read_scope(OTHER) is not first
