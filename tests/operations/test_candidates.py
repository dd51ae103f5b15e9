from __future__ import annotations

from typing import Any

import pytest
from shared_data import golden

from wsmem.operations.candidates import select_candidates
from wsmem.records import MemoryEntry, MemoryMessage

NOW = 1_789_027_200_000


def entry(entry_id: str, content: str, **fields: Any) -> MemoryEntry:
    return MemoryEntry(id=entry_id, content=content, **fields)


def message(text: str, message_id: str = "u1") -> MemoryMessage:
    return MemoryMessage(id=message_id, role="user", text=text)


def test_the_recorded_choices_are_reproduced() -> None:
    recorded = golden("candidates.json")
    wrong = {}
    for case in recorded["cases"]:
        given = case["input"]
        raw = given.get("entries") or recorded["corpora"][given["corpus"]]
        limits = {
            name: given[key]
            for name, key in (("max_entries", "maxEntries"), ("max_bytes", "maxBytes"))
            if key in given
        }
        chosen = select_candidates(
            [MemoryEntry.from_stored(item) for item in raw],
            [MemoryMessage(**item) for item in given["messages"]],
            now=given["now"],
            **limits,
        )
        if [item.id for item in chosen] != case["expected"]:
            wrong[case["name"]] = [item.id for item in chosen], case["expected"]
    assert wrong == {}


def test_a_long_conversation_is_searched_with_its_end() -> None:
    old = entry("mem-old", "消息队列采用 RabbitMQ", updated_at="2026-01-01T00:00:00.000Z")
    fillers = [
        entry(f"mem-{n}", f"filler number {n}", updated_at=f"2026-08-{n + 1:02}T00:00:00.000Z")
        for n in range(20)
    ]
    chatter = message("zzz " * 20_000, "u1")
    chosen = select_candidates(
        [old, *fillers], [chatter, message("RabbitMQ 不用了", "u2")], now=NOW
    )
    assert chosen[0] is old


@pytest.mark.parametrize("status", ["superseded", "deleted", "odd"])
def test_what_recall_does_not_return_is_not_shown(status: str) -> None:
    assert select_candidates([entry("a", "数据库 状态", status=status)], [], now=NOW) == []


@pytest.mark.parametrize(
    ("topic", "said", "named"),
    [
        pytest.param("Deploy", "we deploy today", True, id="a-word"),
        pytest.param("deploy", "redeployment", False, id="within-a-word"),
        pytest.param("部署", "今天部署新版本", True, id="ideographs"),
        pytest.param("部署", "部 署", True, id="ideographs-with-a-gap-are-a-pair"),
        pytest.param("部署", "今天发布", False, id="other-ideographs"),
        pytest.param("ｃｉ部署", "CI部署", True, id="another-spelling"),
        pytest.param("がく", "か\u3099く", True, id="composed"),
    ],
)
def test_a_conversation_names_a_topic_as_a_word(topic: str, said: str, *, named: bool) -> None:
    """The tagged entry is older than the ones shown for being new."""
    tagged = MemoryEntry(id="tagged", content="x", tags=(topic,), updated_at="2026-01-01")
    newer = [MemoryEntry(id=f"n{n}", content="y", updated_at=f"2026-02-0{n + 1}") for n in range(9)]
    message = MemoryMessage(id="m", role="user", text=said)
    chosen = select_candidates([tagged, *newer], [message], now=0, search=lambda _query, _limit: [])
    assert ("tagged" in {entry.id for entry in chosen}) == named
