"""Stores with many workspaces, and questions to them, for `scaling.py`."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.scaling_page import IN_GLOBAL, sizes
from wsmem.engine.keeping import write_summary
from wsmem.evals.synthetic import synthetic_entries
from wsmem.evals.systems.pool_store import UnsyncedFiles
from wsmem.records import RecallInput
from wsmem.scopes import GLOBAL, workspace_scope
from wsmem.settings import Settings
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from wsmem.records import MemoryEntry

SEED = 11
BANK = 8000
"""Different entries; a workspace holds a run of them under ids of its own."""
TOGETHER = 32
"""Workspaces written by one commit while a store is built."""


def directory(number: int) -> str:
    """Where a workspace would be."""
    return f"/srv/project/{number}"


def contents(bank: Sequence[MemoryEntry], count: int) -> Iterator[list[MemoryEntry]]:
    """The entries of each workspace."""
    chance = random.Random(SEED + 1)
    for size in sizes(count):
        start = chance.randrange(len(bank) - size)
        yield [
            replace(entry, id=f"mem-{chance.getrandbits(48):012x}")
            for entry in bank[start : start + size]
        ]


@cache
def _bank() -> list[MemoryEntry]:
    return synthetic_entries(BANK, seed=SEED)


def build(root: Path, count: int) -> None:
    """Write a store with so many workspaces and a global scope."""
    bank = _bank()
    store, settings = MemoryStore(root, fs=UnsyncedFiles()), Settings(memory_dir=str(root))
    with store.transaction(GLOBAL) as transaction:
        transaction.set_entries(GLOBAL, bank[:IN_GLOBAL])
        write_summary(transaction, GLOBAL, bank[:IN_GLOBAL], settings)
    batch: list[tuple[int, list[MemoryEntry]]] = []
    for number, entries in enumerate(contents(bank, count)):
        batch.append((number, entries))
        if len(batch) == TOGETHER or number == count - 1:
            scopes = [workspace_scope(directory(each)) for each, _ in batch]
            with store.transaction(*scopes) as transaction:
                for scope, (_, entries_of_it) in zip(scopes, batch, strict=True):
                    transaction.describe(scope, title="scaling")
                    transaction.set_entries(scope, entries_of_it)
                    write_summary(transaction, scope, entries_of_it, settings)
            batch.clear()


class Questions:
    """Questions to the workspaces of one store, cut from what is in them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._chance = random.Random(SEED + 2)
        self._texts: dict[int, list[str]] = {}

    def prepare(self, numbers: Sequence[int]) -> None:
        """Look at these workspaces now, so that asking later takes no time to make the text."""
        store = MemoryStore(self._root)
        for number in dict.fromkeys(numbers):
            entries = store.read_scope(workspace_scope(directory(number))).entries
            self._texts[number] = [self._cut(self._chance.choice(entries)) for _ in range(4)]

    def ask(self, number: int) -> RecallInput:
        """One question to a workspace."""
        text = self._chance.choice(self._texts[number])
        return RecallInput(query=text, cwd=directory(number), deadline_ms=math.inf)

    def _cut(self, entry: MemoryEntry) -> str:
        """A run of letters and a tag; longer where there are spaces."""
        content = entry.content
        start = self._chance.randrange(max(1, len(content) - 40))
        return f"{content[start : start + (30 if content.isascii() else 8)]} {entry.tags[0]}"
