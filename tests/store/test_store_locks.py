"""Locks: between processes, threads and tasks, in one order, never waiting for oneself."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from store_crashing import finish, workers
from store_kit import OTHER, PROJECT, SESSION, add, fact, ids, leftovers, quick

from wsmem.errors import LockOrderError, LockTimeoutError
from wsmem.store.layout import GLOBAL, ScopeRef, lock_rank
from wsmem.store.locks import _locks
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from wsmem.store.transaction import Transaction


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(root: Path) -> MemoryStore:
    return quick(root)


# Between processes


def test_three_processes_counting_lose_no_round(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")  # makes the lock's directory
    (root / "number").write_text("0")
    with workers([["count", str(root), "300"]] * 3) as processes:
        finish(processes)
    assert (root / "number").read_text() == "900"


def test_processes_writing_one_scope_keep_every_fact(root: Path) -> None:
    with workers([["remember", str(root), name, "10"] for name in "abcd"]) as processes:
        finish(processes)
    expected = {f"{name}-{number}" for name in "abcd" for number in range(10)}
    assert set(ids(MemoryStore(root), PROJECT)) == expected
    assert leftovers(root) == []


def test_two_workspaces_that_also_write_global_both_finish(root: Path) -> None:
    keys = (PROJECT.key, OTHER.key)
    with workers([["remember_globally", str(root), key, "12"] for key in keys]) as processes:
        finish(processes)
    store = MemoryStore(root)
    assert len(ids(store, GLOBAL)) == 24
    assert len(ids(store, PROJECT)) == len(ids(store, OTHER)) == 12


def test_waiting_for_another_process_ends_in_a_clear_error(root: Path, store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    with workers([["hold", str(root)]]) as (holder,):
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        started = time.monotonic()
        with (
            pytest.raises(LockTimeoutError, match="another process") as caught,
            store.transaction(PROJECT, timeout=0.2),
        ):
            pass
        assert 0.15 < time.monotonic() - started < 2
        assert caught.value.retryable
        assert caught.value.scope == PROJECT.key
        assert ids(store, PROJECT) == ["a"]  # readers do not wait
        add(store, OTHER, "b")  # nor do writers of other scopes
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        add(store, PROJECT, "c")  # the lock died with its holder


def test_the_lock_file_stays(store: MemoryStore) -> None:
    add(store, PROJECT, "a")
    file = Path(store.layout.lock(PROJECT.key))
    before = file.stat().st_ino
    add(store, PROJECT, "b")
    assert file.stat().st_ino == before
    store.archive(PROJECT.key)
    store.purge_archived(PROJECT.key)
    assert file.stat().st_ino == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_neither_has_nor_frees_its_parents_locks(
    root: Path, store: MemoryStore
) -> None:
    with store.lock(PROJECT):
        child = os.fork()
        if child == 0:  # pragma: no cover - in the child
            try:
                with MemoryStore(root).transaction(PROJECT, timeout=0.1):
                    os._exit(1)
            except LockTimeoutError:
                os._exit(0)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        with workers([["hold", str(root)]]) as (holder,):
            assert holder.stdout
            assert select.select([holder.stdout], [], [], 0.3)[0] == []  # still waiting


# Between threads and tasks


def test_eight_threads_keep_every_fact(root: Path, store: MemoryStore) -> None:
    def work(name: int) -> None:
        for number in range(5):
            add(store if name % 2 else quick(root), PROJECT, f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids(store, PROJECT))) == 40


def test_waiting_for_another_thread_ends_in_a_clear_error(store: MemoryStore) -> None:
    release, held = threading.Event(), threading.Event()

    def work() -> None:
        with store.lock(PROJECT):
            held.set()
            release.wait()

    thread = threading.Thread(target=work)
    thread.start()
    held.wait()
    with (
        pytest.raises(LockTimeoutError, match="another thread"),
        store.transaction(PROJECT, timeout=0.05),
    ):
        pass
    release.set()
    thread.join()


def test_tasks_writing_through_worker_threads_keep_every_fact(store: MemoryStore) -> None:
    async def main() -> None:
        tasks = [asyncio.to_thread(add, store, PROJECT, f"m{number}") for number in range(20)]
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(ids(store, PROJECT)) == 20


def test_a_task_is_refused_at_once_what_another_task_of_its_thread_holds(
    store: MemoryStore,
) -> None:
    async def hold(started: asyncio.Event, done: asyncio.Event) -> None:
        with store.lock(PROJECT):
            started.set()
            await done.wait()

    async def main() -> None:
        started, done = asyncio.Event(), asyncio.Event()
        holder = asyncio.create_task(hold(started, done))
        await started.wait()
        begun = time.monotonic()
        with pytest.raises(LockTimeoutError, match="another task"):
            add(store, PROJECT, "a")
        assert time.monotonic() - begun < 1
        done.set()
        await holder
        add(store, PROJECT, "b")

    asyncio.run(main())
    assert ids(store, PROJECT) == ["b"]


# One holder, one order


def test_a_scope_named_twice_is_locked_once(store: MemoryStore) -> None:
    """A checkpoint of the global scope whose operations target global (O-02 b)."""

    def change(tx: Transaction) -> None:
        tx.set_entries(GLOBAL, [*tx.snapshot(GLOBAL).entries, fact("g")])

    begun = time.monotonic()
    store.update([GLOBAL, GLOBAL], change)
    assert time.monotonic() - begun < 2
    assert ids(store, GLOBAL) == ["g"]


def test_a_holder_may_take_its_lock_again(root: Path, store: MemoryStore) -> None:
    with store.lock(PROJECT, GLOBAL):
        add(store, PROJECT, "a")
        add(MemoryStore(root), PROJECT, "b")
        with store.lock(PROJECT):
            add(store, GLOBAL, "g")
    assert ids(store, PROJECT) == ["a", "b"]
    add(store, PROJECT, "c")


def test_a_link_to_the_root_names_the_same_lock(tmp_path: Path, root: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    with MemoryStore(root).lock(PROJECT):
        add(MemoryStore(link), PROJECT, "a")


def test_locks_are_ordered_workspace_global_session() -> None:
    keys = [SESSION.key, GLOBAL.key, OTHER.key, PROJECT.key]
    assert sorted(keys, key=lock_rank) == [PROJECT.key, OTHER.key, GLOBAL.key, SESSION.key]


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        pytest.param(GLOBAL, PROJECT, id="workspace-after-global"),
        pytest.param(SESSION, GLOBAL, id="global-after-session"),
        pytest.param(OTHER, PROJECT, id="workspaces-against-their-keys"),
    ],
)
def test_an_order_that_can_deadlock_is_refused(
    store: MemoryStore, held: object, wanted: object
) -> None:
    with store.lock(held):  # type: ignore[arg-type]  # a parametrised scope
        with pytest.raises(LockOrderError), store.lock(wanted):  # type: ignore[arg-type]
            pass
        with store.lock(held):  # type: ignore[arg-type]
            pass


def test_other_stores_do_not_count_for_the_order(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "a").lock(GLOBAL):
        add(MemoryStore(tmp_path / "b"), PROJECT, "a")


# In memory


def test_a_lock_is_kept_only_while_it_is_used(store: MemoryStore) -> None:
    for number in range(20):
        add(store, ScopeRef(f"ws-{number:020x}", f"/srv/project/{number}"), "a")
    assert _locks == {}
    with store.lock(PROJECT), store.lock(PROJECT):
        assert len(_locks) == 1
        with (
            ThreadPoolExecutor(1) as other,
            pytest.raises(LockTimeoutError, match="another thread"),
        ):
            other.submit(_try, store, PROJECT).result()
        assert [lock.users for lock in _locks.values()] == [2]
    assert _locks == {}


def test_whoever_waits_gets_the_lock_that_is_being_released(store: MemoryStore) -> None:
    inside = threading.Lock()

    def work(_: int) -> None:
        for _round in range(20):
            with store.lock(PROJECT):
                assert inside.acquire(blocking=False)  # nobody else is in here
                inside.release()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [None] * 4
    assert _locks == {}


def _try(store: MemoryStore, scope: ScopeRef) -> None:
    with store.transaction(scope, timeout=0.05):
        pass
