"""Processes killed at random moments, many at once: the ledger of what was acknowledged holds."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from store_crashing import finish, kill_writers, workers, write
from store_failing import SCENARIOS, Scenario, fail_calls, fault_plans
from store_kit import PROJECT, ids, leftovers

from wsmem.errors import StoreWriteError
from wsmem.store.faults import FaultyFileSystem
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.store.faults import FaultKind

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_a_writer_killed_at_random_moments_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    tally = kill_writers(tmp_path, kills=30, writers=1, seed=1, fs=FaultyFileSystem())
    assert tally.clean, tally.notes
    assert tally.acknowledged > 30


@needs_fork
def test_many_writers_killed_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    tally = kill_writers(tmp_path, kills=32, writers=8, seed=2, fs=FaultyFileSystem())
    assert tally.clean, tally.notes
    assert tally.acknowledged > 8


def test_eight_processes_writing_one_scope_keep_every_fact(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    names = [f"p{number}" for number in range(8)]
    with workers([["remember", str(root), name, "5"] for name in names]) as processes:
        finish(processes)
    expected = {f"{name}-{number}" for name in names for number in range(5)}
    found = ids(MemoryStore(root), PROJECT)
    assert set(found) == expected
    assert len(found) == 40
    assert leftovers(root) == []


@pytest.mark.parametrize("scenario", SCENARIOS[1:], ids=lambda scenario: scenario.name)
@pytest.mark.parametrize(
    ("name", "fault", "code", "cuts"),
    [pytest.param(*plan, id=plan[0]) for plan in fault_plans(power_cuts=1)],
)
def test_whatever_a_call_does_things_happen_whole_or_not_at_all(
    tmp_path: Path, scenario: Scenario, name: str, fault: FaultKind, code: int, cuts: int
) -> None:
    tally = fail_calls(tmp_path, scenario, fault=fault, code=code, power_cuts=cuts, step=3)
    assert tally.clean, (name, tally.notes)


class Forgetful(FaultyFileSystem):
    """Says that it renamed, and does not."""

    def replace(self, source: str, target: str) -> None:
        if not target.endswith("memory_entries.json"):
            super().replace(source, target)


def test_the_ledger_notices_a_store_that_forgets(tmp_path: Path) -> None:
    """A proof that cannot fail proves nothing."""
    if hasattr(os, "fork"):
        tally = kill_writers(tmp_path, kills=3, writers=1, seed=1, fs=Forgetful())
        assert not tally.clean

    def acknowledge_whatever_happens(store: MemoryStore) -> None:
        with suppress(StoreWriteError):
            write(store, "new")

    lying = Scenario("commit", acknowledge_whatever_happens)
    assert fail_calls(tmp_path, lying, fault="error", code=errno.EIO, step=5).lost
