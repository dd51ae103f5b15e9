"""The rule distiller on talk written for these tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rule_examples import (
    CORRECTIONS,
    DECISIONS,
    LEFT_ALONE,
    NOTHING,
    PREFERENCES,
    REQUESTS,
    RULES,
    Correct,
    Keep,
    Said,
)
from wsmem.distill.rules.distiller import propose
from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.operations.contract import DistillRequest
from wsmem.operations.ledger import Ledger
from wsmem.operations.parsing import parse_output
from wsmem.records import MemoryEntry, MemoryMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.operations.outcome import Outcome


def request(talk: Sequence[Said], known: Sequence[str] = (), **changes: Any) -> DistillRequest:
    messages = tuple(
        MemoryMessage(id=f"m{number}", role=said.role, text=said.text)  # type: ignore[arg-type]
        for number, said in enumerate(talk, start=1)
    )
    existing = tuple(MemoryEntry(id=f"mem-{n}", content=text) for n, text in enumerate(known))
    arguments = {"scope": "ws-1", "cwd": "/p", "reason": "explicit", **changes}
    return DistillRequest(messages=messages, existing=existing, **arguments)


def ids(rows: Sequence[Any]) -> list[Any]:
    return [pytest.param(row, id=row[0]) for row in rows]


@pytest.mark.parametrize("row", ids([*REQUESTS, *PREFERENCES, *DECISIONS, *RULES]))
def test_what_is_said_outright_is_kept(row: Keep) -> None:
    operations = propose(request(row.talk))
    assert [operation["op"] for operation in operations] == ["add"], operations
    content = operations[0]["content"].lower()
    assert all(text.lower() in content for text in row.needs), content
    assert not any(text.lower() in content for text in row.lacks), content
    assert operations[0]["scope"] == row.scope
