"""Short ways to write entries, messages and operations, shared by the tests of this folder."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.operations.ledger import Ledger
from wsmem.operations.parsing import parse_output
from wsmem.records import MemoryEntry, MemoryMessage, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.operations.outcome import Outcome
    from wsmem.records import Layer

OLD = "2026-08-01T00:00:00.000Z"
NOW = "2026-09-01T00:00:00.000Z"


class CountedIds:
    """Ids in the order they are asked for: mem-000000000001, conflict-000000000001, …"""

    def __init__(self) -> None:
        self._entries, self._groups = count(1), count(1)

    def entry_id(self) -> str:
        return f"mem-{next(self._entries):012x}"

    def group_id(self) -> str:
        return f"conflict-{next(self._groups):012x}"


def entry(entry_id: str, content: str, **fields: Any) -> MemoryEntry:
    """A plain active entry of August."""
    defaults = {"title": content[:80], "description": content[:240]}
    return MemoryEntry(
        id=entry_id, content=content, **{"created_at": OLD, "updated_at": OLD, **defaults, **fields}
    )


def message(message_id: str, text: str, role: Role = "user") -> MemoryMessage:
    return MemoryMessage(id=message_id, role=role, text=text)


def apply(
    entries: Iterable[MemoryEntry],
    operations: Sequence[dict[str, Any]],
    messages: Sequence[MemoryMessage] = (),
    *,
    home: Layer = "workspace",
    **more: Any,
) -> tuple[dict[str, MemoryEntry], Outcome]:
    """Apply operations to a workspace; its entries by id afterwards, and the outcome."""
    ledgers: dict[Layer, Ledger] = {
        "global": Ledger(more.pop("everywhere", ())),
        home: Ledger([*entries]),
    }
    under = Circumstances(
        home=home, default_layer=home, at=NOW, ids=CountedIds(), messages=messages, **more
    )
    outcome = apply_operations(
        ledgers, parse_output({"version": 1, "operations": list(operations)}), under
    )
    return {item.id: item for item in ledgers[home].entries}, outcome
