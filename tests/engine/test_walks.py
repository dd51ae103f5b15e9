"""What looks at every scope reads one small file of each, however much it remembers."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from store_kit import fact

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.registry import MARK, RegistrySync
from wsmem.records import MemoryMessage, MemoryState
from wsmem.scopes import ScopeResolver, workspace_scope
from wsmem.settings import Settings
from wsmem.store.fs import FileStamp, FileSystem
from wsmem.store.layout import ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

SCOPES = [workspace_scope(f"/srv/walk-{at}") for at in range(4)]
WAITING = SCOPES[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Workspaces with everything a scope can have; one waits to be distilled."""
    store = MemoryStore(tmp_path / "memory")
    for scope in SCOPES:
        with store.transaction(scope) as transaction:
            transaction.set_entries(scope, [fact(f"m{at}") for at in range(50)])
            transaction.set_summary(scope, "summary\n" * 100)
            transaction.set_extra(scope, {MARK: scope is not SCOPES[0]})
            said = (MemoryMessage(id="m", role="user", text="记住"),) if scope is WAITING else ()
            transaction.set_state(scope, MemoryState(pending_messages=said, last_buffered_at=1))
    return tmp_path / "memory"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often files of each name are read from now on."""
    names: Counter[str] = Counter()
    plain = FileSystem.read

    def counted(self: FileSystem, path: str) -> tuple[bytes, FileStamp] | None:
        found = plain(self, path)
        if found is not None and "/scopes/" in path:
            names[path.rpartition("/")[2]] += 1
        return found

    monkeypatch.setattr(FileSystem, "read", counted)
    return names


def test_an_engine_starts_by_descriptors_and_states(root: Path, read: Counter[str]) -> None:
    async def started() -> None:
        engine = WorkspaceMemoryEngine(Settings(memory_dir=str(root)))
        await engine.start()
        await engine.close()

    asyncio.run(started())
    assert read == {"scope.json": len(SCOPES), "state.json": len(SCOPES)}


def test_only_scopes_with_messages_wait(root: Path) -> None:
    (head,) = MemoryStore(root).list_waiting()
    assert (head.key, head.cwd) == (WAITING.key, WAITING.cwd)
    assert [message.text for message in head.state.pending_messages] == ["记住"]


def test_an_unreadable_state_keeps_no_other_scope_from_waiting(root: Path) -> None:
    state = root / "scopes" / SCOPES[0].key / "state.json"
    state.unlink()
    state.mkdir()
    assert [head.key for head in MemoryStore(root).list_waiting()] == [WAITING.key]


def test_the_registry_is_compared_with_two_small_files(root: Path, read: Counter[str]) -> None:
    class Registered(ScopeResolver):
        def registered_keys(self) -> frozenset[str]:
            return frozenset(scope.key for scope in SCOPES[:3])

    store = MemoryStore(root)
    read.clear()
    sync = RegistrySync(store, Registered(None))
    assert sync.step() == (SCOPES[3].key,)
    assert store.read_registration(ScopeRef(SCOPES[0].key)).extra[MARK] is True
    read.clear()
    assert sync.step() == ()
    assert read == {"scope.json": 3, "wsmem.json": 3}
