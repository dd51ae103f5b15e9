"""When a recall's entries get an index, and when scanning them is cheaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wsmem.engine.corpora import Corpora
from wsmem.records import MemoryEntry
from wsmem.scopes import workspace_scope
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class AtOnce:
    """A background that does what it is given before it returns."""

    def submit(self, work: Callable[[], None]) -> None:
        work()


@pytest.mark.parametrize(
    ("entries", "scanned"),
    [
        pytest.param(40, 17, id="a-small-memory-is-scanned-until-an-index-has-paid"),
        pytest.param(501, 2, id="a-larger-one-is-indexed-when-it-is-asked-again"),
    ],
)
def test_how_many_recalls_scan_before_there_is_an_index(
    tmp_path: Path, entries: int, scanned: int
) -> None:
    store, scope = MemoryStore(tmp_path / "memory"), workspace_scope("/srv/corpora")
    with store.transaction(scope) as transaction:
        transaction.set_entries(
            scope, [MemoryEntry(id=str(at), content=f"fact {at}") for at in range(entries)]
        )
    corpora = Corpora(AtOnce())  # type: ignore[arg-type]  # nothing but `submit` is called
    found = [corpora.of([store.read_scope(scope)]).index is None for _ in range(scanned + 3)]
    assert found == [True] * scanned + [False] * 3
