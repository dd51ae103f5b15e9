"""Every file-system call may fail, tear, or be the last: acknowledged writes survive, all of them.

The long version, with thousands of faults and kills, is `benchmarks/crash/run.py`.
"""

from __future__ import annotations

import errno
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from store_kit import OTHER, PROJECT, Clock, crash_points, fact, files_under, ids, leftovers, quick

from wsmem.errors import StoreError, StoreWriteError, UnreadableFileError
from wsmem.store.faults import (
    READING_CALLS,
    WRITING_CALLS,
    Fault,
    FaultKind,
    FaultyFileSystem,
    PowerCutFileSystem,
    SimulatedCrash,
)
from wsmem.store.layout import GLOBAL
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.store.transaction import Transaction

SCOPES = (PROJECT, GLOBAL)


def write(store: MemoryStore, number: int) -> None:
    """One change in two scopes and all their files."""

    def change(tx: Transaction) -> None:
        for scope in SCOPES:
            before = tx.snapshot(scope)
            tx.set_entries(scope, [*before.entries, fact(f"m{number}")])
            tx.set_state(scope, replace(before.state, version=before.state.version + 1))
            tx.set_summary(scope, f"# {number}\n", keep=2)
            tx.add_checkpoint(scope, f"stage {number}\n")

    store.update(SCOPES, change)


def whole(store: MemoryStore) -> int:
    """How many changes the store holds; fails unless both scopes hold all of each."""
    counts = set()
    for scope in SCOPES:
        snapshot = store.read_scope(scope)
        assert snapshot.problems == ()
        count = len(snapshot.entries)
        assert [entry.id for entry in snapshot.entries] == [f"m{n}" for n in range(count)]
        assert snapshot.state.version == count
        assert snapshot.summary == (f"# {count - 1}\n" if count else "")
        counts.add(count)
    assert len(counts) == 1
    return counts.pop()


def prepare(root: Path) -> None:
    for number in range(2):
        write(MemoryStore(root, clock=Clock(), fs=FaultyFileSystem()), number)


def calls_of_a_write(root: Path) -> int:
    prepare(root)
    fs = FaultyFileSystem()
    write(MemoryStore(root, fs=fs), 2)
    return len(fs.calls)


def test_every_call_that_writes_is_counted(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    write(MemoryStore(tmp_path / "memory", fs=fs), 0)
    made = {call.partition(" ")[0] for call in fs.calls}
    assert made >= {"make_directory", "create", "write", "set_mtime", "sync", "close", "replace"}
    assert made >= {"unlink", "sync_directory"}
    assert made <= set(WRITING_CALLS)


@pytest.mark.parametrize(
    ("kind", "step"), [("crash", 1), ("crash-after", 3), ("torn-crash", 2)], ids=str
)
def test_a_kill_at_any_call_leaves_the_old_or_the_new_state(
    tmp_path: Path, kind: FaultKind, step: int
) -> None:
    found = set()
    for root in crash_points(tmp_path, prepare, lambda store: write(store, 2), (kind,), step=step):
        before = files_under(root)
        count = whole(MemoryStore(root))
        assert files_under(root) == before
        write(quick(root), count)
        assert whole(MemoryStore(root)) == count + 1
        assert leftovers(root) == []
        found.add(count)
    assert found == {2, 3}


@pytest.mark.parametrize(
    ("kind", "code", "step"),
    [
        pytest.param("error", errno.ENOSPC, 1, id="disk-full"),
        pytest.param("error", errno.EIO, 3, id="input-output-error"),
        pytest.param("torn", errno.ENOSPC, 2, id="disk-full-in-the-middle"),
    ],
)
def test_a_refusal_at_any_call_is_reported_or_harmless(
    tmp_path: Path, kind: FaultKind, code: int, step: int
) -> None:
    total = calls_of_a_write(tmp_path / "count")
    outcomes = set()
    for at_call in range(1, total + 1, step):
        root = tmp_path / str(at_call)
        prepare(root)
        store = MemoryStore(root, fs=FaultyFileSystem(Fault(at_call, kind, code)))
        try:
            write(store, 2)
            outcome = "acknowledged"
        except StoreWriteError as error:
            outcome = error.outcome
        count = whole(MemoryStore(root))
        assert whole(store) == count  # the failing process sees what is true as well
        assert count == {"acknowledged": 3, "unchanged": 2}.get(outcome, count)
        write(store, count)  # the disk has room again: the same process goes on
        assert whole(MemoryStore(root)) == count + 1
        assert leftovers(root) == []
        outcomes.add(outcome)
    assert outcomes >= {"acknowledged", "unchanged"}
    assert step > 1 or "unknown" in outcomes


def test_a_disk_that_stays_full_loses_nothing_and_says_so(tmp_path: Path) -> None:
    class Full(FaultyFileSystem):
        def write(self, fd: int, data: bytes) -> None:
            raise OSError(errno.ENOSPC, f"No space left for {len(data)} bytes in {fd}")

    root = tmp_path / "memory"
    prepare(root)
    store = MemoryStore(root, fs=Full())
    for _ in range(3):
        with pytest.raises(StoreWriteError, match="nothing was changed") as caught:
            write(store, 2)
        assert caught.value.outcome == "unchanged"
    assert whole(store) == 2
    assert leftovers(root) == []


def test_a_commit_that_cannot_be_carried_out_is_acknowledged_and_seen(tmp_path: Path) -> None:
    """After the commit point the change is a fact, whatever becomes of the renames."""

    class NoRenames(FaultyFileSystem):
        def replace(self, source: str, target: str) -> None:
            if not target.endswith(".json") or "/journal/" not in target:
                raise OSError(errno.EIO, "Input/output error", target)
            super().replace(source, target)

    root = tmp_path / "memory"
    prepare(root)
    store = MemoryStore(root, fs=NoRenames())
    write(store, 2)
    assert whole(store) == whole(MemoryStore(root)) == 3
    with pytest.raises(StoreWriteError, match="earlier change"):  # nothing may overtake it
        write(store, 3)
    assert whole(MemoryStore(root)) == 3
    write(quick(root), 3)
    assert whole(store) == 4
    assert leftovers(root) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_power_cut_at_any_call_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    total = calls_of_a_write(tmp_path / "count")
    for at_call in range(1 + seed, total + 1, 4):
        root = tmp_path / str(at_call)
        prepare(root)
        fs = PowerCutFileSystem(Fault(at_call, chance.choice(["crash", "crash-after"])), chance)
        with pytest.raises(SimulatedCrash):
            write(MemoryStore(root, fs=fs), 2)
        count = whole(MemoryStore(root))
        assert count in {2, 3}, fs.calls[-1]
        write(quick(root), count)
        assert whole(MemoryStore(root)) == count + 1
        assert leftovers(root) == [], fs.calls[-1]


@pytest.mark.parametrize("seed", range(8))
def test_a_power_cut_after_the_acknowledgement_loses_nothing(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "memory"
    prepare(root)
    fs = PowerCutFileSystem(None, random.Random(seed))
    write(MemoryStore(root, fs=fs), 2)
    fs.crash()
    assert whole(MemoryStore(root)) == 3


def test_the_power_cut_really_forgets(tmp_path: Path) -> None:
    """The proof above is worth something only if unsynced things can be lost."""
    lost = set()
    for seed in range(30):
        fs = PowerCutFileSystem(None, random.Random(seed))
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "b").write_text("old")
        fd = fs.create(f"{folder}/a")
        fs.write(fd, b"new text")
        fs.close(fd)
        fs.replace(f"{folder}/a", f"{folder}/b")
        fs.crash()
        lost.add((folder / "b").read_text())
    assert "old" in lost
    assert any(text not in {"old", "new text"} for text in lost)


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES], ids=["io", "forbidden"])
def test_a_reader_whose_call_is_refused_says_so_and_never_answers_empty(
    tmp_path: Path, code: int
) -> None:
    root = tmp_path / "memory"
    prepare(root)
    fs = FaultyFileSystem(counted=READING_CALLS)
    MemoryStore(root, fs=fs).read_scope(PROJECT)
    for at_call in range(1, len(fs.calls) + 1):
        fault = Fault(at_call, "error", code)
        store = MemoryStore(root, fs=FaultyFileSystem(fault, counted=READING_CALLS))
        with pytest.raises(UnreadableFileError):
            store.read_scope(PROJECT)
        assert len(store.read_scope(PROJECT).entries) == 2


def test_a_writer_whose_reading_is_refused_changes_nothing(tmp_path: Path) -> None:
    count = tmp_path / "count"
    prepare(count)
    fs = FaultyFileSystem(counted=READING_CALLS)
    write(MemoryStore(count, fs=fs), 2)
    for at_call in range(1, len(fs.calls) + 1):
        root = tmp_path / str(at_call)
        prepare(root)
        fault = Fault(at_call, "error", errno.EIO)
        store = MemoryStore(root, fs=FaultyFileSystem(fault, counted=READING_CALLS))
        try:
            write(store, 2)
        except StoreError:
            assert whole(MemoryStore(root)) in {2, 3}
        else:
            assert whole(MemoryStore(root)) == 3
        write(store, whole(store))
        assert leftovers(root) == []


def test_recovering_finishes_and_clears_everything(tmp_path: Path) -> None:
    def also_elsewhere(root: Path) -> None:
        prepare(root)
        with quick(root).transaction(OTHER) as tx:
            tx.set_entries(OTHER, [fact("other")])

    done = set()
    for root in crash_points(
        tmp_path, also_elsewhere, lambda store: write(store, 2), ("crash",), step=2
    ):
        count = whole(MemoryStore(root))
        store = quick(root)
        done |= {line.partition(":")[0] for line in store.recover()}
        assert leftovers(root) == []
        assert whole(store) == count
        assert ids(store, OTHER) == ["other"]
        assert store.recover() == ()
    assert done == {"change carried out", "unfinished change cleared"}
