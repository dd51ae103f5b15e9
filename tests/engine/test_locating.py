"""Finding the scopes of a request without looking at more than it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store_kit import fact

from wsmem.engine.locating import Locator
from wsmem.scopes import ScopeResolver, workspace_scope
from wsmem.store.layout import DESCRIPTOR, ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = [f"/srv/known/{number}" for number in range(5)]


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(tmp_path / "memory")
    for cwd in KNOWN:
        with store.transaction(scope := workspace_scope(cwd)) as transaction:
            transaction.set_entries(scope, [fact("a")])
    return store


def test_a_new_directory_waits_for_no_memory_of_others(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = MemoryStore.read_scope

    def note(self: MemoryStore, scope: ScopeRef) -> object:
        read.append(scope.key)
        return real(self, scope)

    monkeypatch.setattr(MemoryStore, "read_scope", note)
    new = workspace_scope("/srv/new")
    assert Locator(store, ScopeResolver()).place(cwd="/srv/new").main == new
    assert set(read) <= set(new.keys)


@pytest.mark.parametrize("descriptor", ["", "{", "[]", '{"cwd": 5}', "{}"])
def test_a_descriptor_that_names_no_directory_is_passed_over(
    store: MemoryStore, descriptor: str, tmp_path: Path
) -> None:
    damaged = workspace_scope(KNOWN[0])
    (tmp_path / "memory" / "scopes" / damaged.key / DESCRIPTOR).write_text(descriptor)
    locator = Locator(store, ScopeResolver())
    assert locator.place(cwd="/srv/new").main == workspace_scope("/srv/new")
    assert locator.place(cwd=KNOWN[1]).main == workspace_scope(KNOWN[1])
