"""What the store's tests share: scopes, entries, and a look at what is on disk."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

from wsmem.records import MemoryEntry
from wsmem.store.faults import Fault, FaultKind, FaultyFileSystem, SimulatedCrash
from wsmem.store.layout import ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from wsmem.store.transaction import Transaction

PROJECT = ScopeRef("ws-8d26a3233b5832695aac", "/srv/proj-a")
OTHER = ScopeRef("ws-cfa384c467cd41ac61c3", "/srv/proj-b")
SESSION = ScopeRef("session-0123456789abcdef0123")
START_MS = 1_788_220_800_000
"""2026-09-01T00:00:00.000Z."""


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def quick(root: Path) -> MemoryStore:
    """A store that does not fsync: for tests of everything but a loss of power."""
    return MemoryStore(root, fs=FaultyFileSystem())


def fact(entry_id: str, content: str = "", **fields: Any) -> MemoryEntry:
    content = content or f"Fact {entry_id} is on record."
    defaults = {"title": content, "description": content}
    return MemoryEntry(id=entry_id, content=content, **{**defaults, **fields})


def add(store: MemoryStore, scope: ScopeRef, *entry_ids: str) -> None:
    """Append facts to a scope."""

    def change(tx: Transaction) -> None:
        tx.set_entries(scope, [*tx.snapshot(scope).entries, *map(fact, entry_ids)])

    store.update([scope], change)


def ids(store: MemoryStore, scope: ScopeRef) -> list[str]:
    return [entry.id for entry in store.read_scope(scope).entries]


def files_under(root: Path) -> list[str]:
    """Every file below a directory but the locks, relative to it."""
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    )


def leftovers(root: Path) -> list[str]:
    """Staged files, journals and trash that should not be there once all is done."""
    suspicious = (".tmp", ".draft", ".damaged")
    return [
        name
        for name in files_under(root)
        if name.endswith(suspicious) or ".purged-" in name or "/journal/" in name
    ]


def modes(root: Path) -> set[tuple[str, str]]:
    """Kinds of things below a directory, itself included, with their permissions."""
    return {
        ("dir" if path.is_dir() else "file", oct(stat.S_IMODE(path.stat().st_mode)))
        for path in [root, *root.rglob("*")]
    }


def seed(root: Path, files: Mapping[str, str]) -> None:
    """Lay out files by path under the root, as some program left them."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def crash_points(
    folder: Path,
    prepare: Callable[[Path], object],
    run: Callable[[MemoryStore], object],
    kinds: tuple[FaultKind, ...] = ("crash", "crash-after"),
    *,
    step: int = 1,
) -> Iterator[Path]:
    """Roots in each of which `run` was cut short at another file-system call, all or every n-th."""
    for kind in kinds:
        for at_call in range(1, 1000, step):
            root = folder / f"{kind}-{at_call}"
            prepare(root)
            try:
                run(MemoryStore(root, fs=FaultyFileSystem(Fault(at_call, kind))))
            except SimulatedCrash:
                yield root
            else:
                break


def write_entries(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    """Write an entries file as another program would: a new file renamed over the old."""
    temporary = path.with_suffix(".other")
    text = json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n"
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
