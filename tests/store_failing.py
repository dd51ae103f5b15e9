"""Everything a store does with every file-system call failing in turn.

The tests run some of it; `benchmarks/crash/run.py` all of it, several times.
"""

from __future__ import annotations

import errno
import random
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store_crashing import Tally, write
from store_kit import OTHER, PROJECT, Clock, add, leftovers

from wsmem.errors import StoreError, StoreWriteError
from wsmem.store.faults import (
    Fault,
    FaultKind,
    FaultyFileSystem,
    PowerCutFileSystem,
    SimulatedCrash,
)
from wsmem.store.layout import GLOBAL
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Scenario:
    """Something done to a store that must happen whole or not at all."""

    name: str
    act: Callable[[MemoryStore], object]
    archived: bool = False
    """Whether the workspace is in the archive to begin with."""


def _archive(store: MemoryStore) -> None:
    store.archive(PROJECT.key)


def _restore(store: MemoryStore) -> None:
    store.restore(PROJECT.key)


def _purge_archived(store: MemoryStore) -> None:
    store.purge_archived(PROJECT.key)


def _purge_entry(store: MemoryStore) -> None:
    store.purge_entry(PROJECT, "first", summarise=lambda entries: f"# {len(entries)}\n")


SCENARIOS = (
    Scenario("commit", lambda store: write(store, "new")),
    Scenario("archive", _archive),
    Scenario("restore", _restore, archived=True),
    Scenario("purge archive", _purge_archived, archived=True),
    Scenario("purge entry", _purge_entry),
)

ERRORS: tuple[tuple[FaultKind, int], ...] = (
    ("error", errno.ENOSPC),
    ("error", errno.EIO),
    ("torn", errno.ENOSPC),
)
KILLS: tuple[FaultKind, ...] = ("crash", "crash-after", "torn-crash")


def prepare(root: Path, scenario: Scenario) -> None:
    """A store with something in it, in the archive too."""
    store = MemoryStore(root, clock=Clock(), fs=FaultyFileSystem())
    add(store, OTHER, "elsewhere")
    for name in ("first", "second"):
        write(store, name)
    if scenario.archived:
        store.archive(PROJECT.key)


def content(root: Path) -> object:
    """Everything a store says, live and archived."""
    store = MemoryStore(root)
    snapshots = [store.read_scope(scope) for scope in (PROJECT, OTHER, GLOBAL)]
    snapshots += [store.read_archived(PROJECT.key)]
    assert not [snapshot.problems for snapshot in snapshots if snapshot.problems]
    return [([e.id for e in s.entries], s.state, s.summary) for s in snapshots]


def fail_calls(
    folder: Path,
    scenario: Scenario,
    *,
    fault: FaultKind,
    code: int,
    power_cuts: int = 0,
    seed: int = 0,
    step: int = 1,
) -> Tally:
    """Do a scenario with every file-system call, or every n-th, failing in turn.

    With `power_cuts`, each is a loss of power, that many times with other things lost.
    """
    chance = random.Random(seed)
    template = folder / "template"
    prepare(template, scenario)
    before = content(template)
    done = shutil.copytree(template, folder / "done", symlinks=True)
    calls = FaultyFileSystem()
    scenario.act(MemoryStore(done, fs=calls))
    after = content(done)
    tally = Tally()
    for at_call in range(1, len(calls.calls) + 1, step):
        for _ in range(power_cuts or 1):
            root = shutil.copytree(template, folder / "root", symlinks=True)
            wanted = Fault(at_call, fault, code)
            fs = PowerCutFileSystem(wanted, chance) if power_cuts else FaultyFileSystem(wanted)
            _one_fault(root, scenario, fs, (before, after), tally)
            shutil.rmtree(root)
    shutil.rmtree(template)
    shutil.rmtree(done)
    return tally


def _one_fault(
    root: Path,
    scenario: Scenario,
    fs: FaultyFileSystem,
    states: tuple[object, object],
    tally: Tally,
) -> None:
    before, after = states
    tally.crashes += 1
    allowed = [before, after]
    try:
        scenario.act(MemoryStore(root, fs=fs))
    except SimulatedCrash:
        pass
    except StoreWriteError as error:
        if error.outcome == "unchanged":
            allowed = [before]
    else:
        tally.acknowledged += 1
        allowed = [after]
    where = f"{scenario.name}, call {len(fs.calls)}: {fs.calls[-1] if fs.calls else 'none'}"
    try:
        found = content(root)
        if found not in allowed:
            tally.lost += found == before
            tally.unreadable += found != before
            tally.notes.append(f"{where}: {found}")
        add(MemoryStore(root, fs=FaultyFileSystem()), OTHER, "next")
        MemoryStore(root, fs=FaultyFileSystem()).recover()
    except (AssertionError, StoreError) as error:
        tally.unreadable += 1
        tally.notes.append(f"{where}: {error!r}")
    if left := leftovers(root):
        tally.uncleared += 1
        tally.notes.append(f"{where}: left {left}")


def fault_plans(*, power_cuts: int) -> Iterator[tuple[str, FaultKind, int, int]]:
    """Every kind of fault: a name, the fault, its error number, how many power cuts a call."""
    for kind, code in ERRORS:
        yield f"{kind} {errno.errorcode[code]}", kind, code, 0
    for kind in KILLS:
        yield f"kill ({kind})", kind, errno.EIO, 0
    yield "power cut", "crash", errno.EIO, power_cuts
