"""Processes the store's tests start: `python store_workers.py TASK ROOT ARGUMENTS…`.

Each says `ready` on its output when it has loaded everything, and begins when it is sent a line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run from a checkout, not installed

from store_kit import PROJECT, add, fact

from wsmem.store.layout import GLOBAL, ScopeRef
from wsmem.store.locks import hold_locks
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from wsmem.store.transaction import Transaction


def say(line: str) -> None:
    """Tell whoever started this process, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def count(root: str, rounds: str) -> None:
    """Add one to a number in a file, under the scope's lock."""
    store = MemoryStore(root, lock_timeout=60)
    number = Path(root) / "number"
    for _ in range(int(rounds)):
        with hold_locks({PROJECT.key: store.layout.lock(PROJECT.key)}, timeout=60):
            number.write_text(str(int(number.read_text()) + 1))


def remember(root: str, name: str, rounds: str) -> None:
    """Append facts one by one, saying each when it is acknowledged."""
    store = MemoryStore(root, lock_timeout=60)
    for number in range(int(rounds)):
        add(store, PROJECT, f"{name}-{number}")
        say(f"{name}-{number}")


def remember_globally(root: str, key: str, rounds: str) -> None:
    """Append facts to a workspace and to the global scope, in one commit each."""
    store = MemoryStore(root, lock_timeout=60)
    scope = ScopeRef(key, f"/srv/{key}")

    for number in range(int(rounds)):

        def change(tx: Transaction, number: int = number) -> None:
            for each in (GLOBAL, scope):
                entries = tx.snapshot(each).entries
                tx.set_entries(each, [*entries, fact(f"{key}-{number}")])

        store.update([GLOBAL, scope], change)


def hold(root: str) -> None:
    """Hold the scope's lock until told to stop."""
    with MemoryStore(root).lock(PROJECT):
        say("held")
        sys.stdin.readline()


if __name__ == "__main__":
    import filelock  # noqa: F401 - so that a worker is ready when it says so

    tasks = {task.__name__: task for task in (count, remember, remember_globally, hold)}
    say("ready")
    sys.stdin.readline()
    tasks[sys.argv[1]](*sys.argv[2:])
