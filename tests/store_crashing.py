"""Writers killed at random moments, and a ledger of what they had acknowledged.

The tests kill a few dozen; `benchmarks/crash/run.py` kills a thousand.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from store_kit import PROJECT, fact, leftovers, quick

from wsmem.errors import StoreError
from wsmem.store.fs import FileSystem
from wsmem.store.layout import GLOBAL
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wsmem.store.transaction import Transaction

SCOPES = (PROJECT, GLOBAL)


# One write and what it must leave


def write(store: MemoryStore, name: str) -> None:
    """One change in two scopes and in every file of theirs."""

    def change(tx: Transaction) -> None:
        for scope in SCOPES:
            before = tx.snapshot(scope)
            version = before.state.version + 1
            tx.set_entries(scope, [*before.entries, fact(name)])
            tx.set_state(scope, replace(before.state, version=version))
            tx.set_summary(scope, f"# {version}\n", keep=2)
        tx.add_checkpoint(PROJECT, f"stage {name}\n")

    store.update(SCOPES, change)


def written(store: MemoryStore) -> list[str]:
    """The writes a store holds, in order.

    Raises:
        AssertionError: a scope holds a part of one, or something that cannot be read.
    """
    found = []
    for scope in SCOPES:
        snapshot = store.read_scope(scope)
        assert snapshot.problems == (), snapshot.problems
        names = [entry.id for entry in snapshot.entries]
        assert snapshot.state.version == len(names), (snapshot.state.version, names[-3:])
        assert snapshot.summary == (f"# {len(names)}\n" if names else "")
        found.append(names)
    assert found[0] == found[1], "the scopes hold different writes"
    return found[0]


# Killing processes


@dataclass
class Tally:
    """What came of many crashes."""

    crashes: int = 0
    acknowledged: int = 0
    lost: int = 0
    """Acknowledged writes that were not there afterwards."""
    unreadable: int = 0
    """Stores that could not be read, or held a part of a write."""
    survived: int = 0
    """Writes nobody had acknowledged that were there, whole."""
    uncleared: int = 0
    """Stores in which something was left behind after the next write."""
    notes: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.unreadable or self.uncleared)


@dataclass
class _Writer:
    pid: int
    ledger: int
    said: str = ""

    def listen(self) -> None:
        """Take what the writer has acknowledged so far."""
        while select.select([self.ledger], [], [], 0)[0]:
            data = os.read(self.ledger, 65536)
            if not data:
                break
            self.said += data.decode()

    def acknowledged(self) -> list[str]:
        return self.said.split("\n")[:-1]


def _start_writer(root: Path, name: str, fs: FileSystem) -> _Writer:
    """Fork a process that writes, and acknowledges on a pipe, until it is killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Writer(pid, reading)
    try:  # in the child
        store = MemoryStore(root, fs=fs, lock_timeout=60)
        number = 0
        while True:
            number += 1
            write(store, f"{name}-{number}")
            os.write(writing, f"{name}-{number}\n".encode())
    finally:
        os._exit(1)


def kill_writers(
    folder: Path,
    *,
    kills: int,
    writers: int,
    seed: int,
    fs: FileSystem | None = None,
    rounds_a_store: int = 10,
) -> Tally:
    """Kill writers at random moments, look after each round, write again, look again.

    `fs` is what the writers use; a kill loses nothing the kernel holds, so one without real fsyncs
    proves as much, in less time.
    """
    write(quick(folder / "warm"), "x")  # loads everything before forking: children are quick
    chance = random.Random(seed)
    tally = Tally()
    root, ledger, round_number = folder / "0", set[str](), 0
    while tally.crashes < kills:
        if round_number % rounds_a_store == 0:
            shutil.rmtree(root, ignore_errors=True)
            root, ledger = folder / str(round_number), set()
        round_number += 1
        running = [
            _start_writer(root, f"r{round_number}w{n}", fs or FileSystem()) for n in range(writers)
        ]
        chance.shuffle(running)
        if chance.random() < 0.8:  # else the kill falls into the very first write
            select.select([writer.ledger for writer in running], [], [], 10)
        for writer in running:
            time.sleep(chance.uniform(0, 0.15))
            os.kill(writer.pid, signal.SIGKILL)
        for writer in running:
            os.waitpid(writer.pid, 0)
            writer.listen()
            os.close(writer.ledger)
            ledger.update(writer.acknowledged())
            tally.acknowledged += len(writer.acknowledged())
        tally.crashes += len(running)
        _look(root, ledger, tally, f"round {round_number}")
        ledger.update(_safely(root))
    shutil.rmtree(root, ignore_errors=True)
    return tally


def _safely(root: Path) -> list[str]:
    try:
        return written(MemoryStore(root))
    except (AssertionError, StoreError):
        return []


def _look(root: Path, ledger: set[str], tally: Tally, where: str) -> None:
    """Compare a store with the ledger: as it was left, and after one more write."""
    try:
        names = written(MemoryStore(root))
        tally.lost += len(ledger - set(names))
        tally.survived += len(set(names) - ledger)
        write(quick(root), f"{where} after")
        assert written(MemoryStore(root)) == [*names, f"{where} after"]
    except (AssertionError, StoreError) as error:
        tally.unreadable += 1
        tally.notes.append(f"{where}: {error!r}")
    quick(root).recover()  # also of scopes the last write did not touch
    if left := leftovers(root):
        tally.uncleared += 1
        tally.notes.append(f"{where}: left {left}")


# Processes that run to their end

WORKER = Path(__file__).with_name("store_workers.py")


@contextmanager
def workers(commands: Sequence[Sequence[str]]) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that all begin at once; they end with the block."""
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    try:
        for process in started:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def finish(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        assert process.stdout
        process.stdout.read()
        assert process.wait(60) == 0
