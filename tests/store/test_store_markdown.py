"""Summaries and checkpoint files: recorded structure, order and budgets under our own words."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import golden
from store_kit import START_MS, fact

from wsmem.records import MemoryEntry, MemoryMessage
from wsmem.store.checkpoints import AuditLine, render_checkpoint
from wsmem.store.history import names_to_drop
from wsmem.store.summary import render_summary
from wsmem.store.wording import CHINESE, ENGLISH, split_head, with_wording, wording_of
from wsmem.text.utf8 import utf8_length

RECORDED = ENGLISH._replace(
    global_heading="全局记忆",
    workspace_heading="项目记忆",
    note="由 dsh-workspace-memory 维护的长期事实。",
    checkpoint="Memory checkpoint",
    conversation="Conversation",
    facts="Durable facts",
    audit="Operation audit",
    invalid="(invalid operation)",
    refused="rejected",
)
"""The other program's words, to compare everything but the words."""


def raw_entry(record: dict[str, Any]) -> MemoryEntry:
    """An entry as the recorded function took it: only null fields replaced."""
    shown = {n: record["content"] for n in ("title", "description") if record.get(n) is None}
    return MemoryEntry.from_stored(record | shown)


def test_summaries_are_the_recorded_ones_but_for_the_words() -> None:
    for case in golden("summary.json")["cases"]:
        given_ = case["input"]
        text = render_summary(
            map(raw_entry, given_["entries"]),
            kind=given_["scope"],
            max_bytes=given_["maxBytes"],
            wording=RECORDED,
        )
        assert text == case["expected"]["text"], case["name"]
        assert utf8_length(text) == case["expected"]["bytes"], case["name"]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        pytest.param("zh", "# 关于本工作区\n\n以下是供参考的长期事实，由 wsmem 维护。\n", id="zh"),
        pytest.param(
            "en", "# About this workspace\n\nLasting facts for reference, kept by wsmem.\n", id="en"
        ),
    ],
)
def test_the_heading_follows_the_language(language: Any, expected: str) -> None:
    wording = wording_of(language)
    assert render_summary([], kind="workspace", max_bytes=0, wording=wording) == expected
    text = render_summary([fact("a", "x y")], kind="workspace", max_bytes=3000, wording=wording)
    assert text == f"{expected}\n- x y: x y\n"


@settings(deadline=None)
@given(
    st.lists(st.builds(fact, st.text(min_size=1), st.text()), max_size=12),
    st.integers(0, 600),
)
def test_a_summary_keeps_its_budget_and_whole_lines(
    entries: list[MemoryEntry], max_bytes: int
) -> None:
    text = render_summary(entries, kind="global", max_bytes=max_bytes, wording=ENGLISH)
    bare = render_summary([], kind="global", max_bytes=0, wording=ENGLISH)
    assert utf8_length(text) <= max(max_bytes, utf8_length(bare))
    roomier = render_summary(entries, kind="global", max_bytes=max_bytes + 50, wording=ENGLISH)
    assert roomier.startswith(text.rstrip()) or text == roomier


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.5, float("nan")]),
            st.sampled_from([None, "", "2026-01-01", "2026-02-01"]),
            st.sampled_from(["active", "superseded"]),
        ),
        max_size=12,
    )
)
def test_a_summary_is_by_importance_then_date_then_place(
    written: list[tuple[float, str | None, str]],
) -> None:
    """What is no number counts as 0; what has no date as newer than any."""
    entries = [
        fact(f"e{place}", importance=importance, updated_at=date, status=status)
        for place, (importance, date, status) in enumerate(written)
    ]
    text = render_summary(entries, kind="workspace", max_bytes=10**6, wording=ENGLISH)
    places = [place for place, (_, _, status) in enumerate(written) if status == "active"]

    def rank(place: int) -> tuple[float, str]:
        importance, date, _ = written[place]
        return (0.0 if math.isnan(importance) else importance, date or "undefined")

    expected = sorted(places, key=rank, reverse=True)
    assert [line.split()[2] for line in text.split("\n") if line.startswith("- ")] == [
        f"e{place}" for place in expected
    ]


@pytest.mark.parametrize(
    ("text", "kind", "body"),
    [
        pytest.param(
            "# 项目记忆\n\n由 dsh-workspace-memory 维护的长期事实。\n\n- a: b\n",
            "workspace",
            "- a: b\n",
            id="theirs",
        ),
        pytest.param(
            "# Global memory\n\nDurable reference facts maintained by dsh-workspace-memory.\n- a\n",
            "global",
            "- a\n",
            id="theirs-older",
        ),
        pytest.param("# 关于本次会话\n\n- a\n", "session", "- a\n", id="ours-without-note"),
        pytest.param("# My notes\n\n- a\n", None, "# My notes\n\n- a\n", id="a-persons"),
        pytest.param("", None, "", id="empty"),
        pytest.param("# Workspace memory", "workspace", "", id="heading-alone"),
    ],
)
def test_known_headings_are_recognised(text: str, kind: str | None, body: str) -> None:
    assert split_head(text) == (kind, body)


def test_whoever_wrote_it_a_summary_is_shown_under_our_heading() -> None:
    for case in golden("engine.json")["cases"]:
        if case["name"] == "recall/legacy-headings":
            shown = case["expected"]["steps"][0]["result"]["summary"]
            texts = list(case["input"]["seedFiles"].values())
            assert "\n\n".join(with_wording(text, RECORDED) for text in texts) == shown
    entries = [fact("a", "x y")]
    theirs = render_summary(entries, kind="global", max_bytes=3000, wording=RECORDED)
    for wording in (CHINESE, ENGLISH):
        ours = render_summary(entries, kind="global", max_bytes=3000, wording=wording)
        assert with_wording(theirs, wording) == ours
        assert with_wording(ours, wording) == ours
    assert with_wording("# My notes\n", ENGLISH) == "# My notes\n"


def recorded_checkpoint(case_name: str) -> str:
    (case,) = [c for c in golden("engine.json")["cases"] if c["name"] == case_name]
    (text,) = [t for path, t in case["expected"]["files"].items() if "/checkpoints/" in path]
    return str(text)


def test_a_checkpoint_file_has_the_recorded_shape() -> None:
    text = render_checkpoint(
        at_ms=START_MS,
        reason="task-end",
        messages=[
            MemoryMessage(id="u1", role="user", text="第一行\n第二行"),
            MemoryMessage(id="a1", role="assistant", text="- 列表\n# 标题"),
        ],
        audit=[
            AuditLine(
                op="add", content="多行\n内容的事实。", accepted=True, detail="new durable memory"
            ),
            AuditLine(
                op="nope",
                content="Unsupported but long enough.",
                accepted=False,
                detail="unsupported operation",
            ),
            AuditLine(op="add", accepted=False, detail="invalid or secret-bearing content"),
        ],
        counts={"added": 1, "updated": 0, "superseded": 0, "conflicts": 0, "ignored": 2},
        wording=RECORDED,
    )
    assert text == recorded_checkpoint("checkpoint/markdown-shapes")


def test_a_checkpoint_names_the_target_of_a_change() -> None:
    line = AuditLine(
        op="supersede",
        content="项目数据库使用 PostgreSQL 15。",
        accepted=True,
        target_id="mem-db",
        detail="superseded 1 entry by mem-000000000001",
    )
    text = render_checkpoint(
        at_ms=START_MS,
        reason="task-end",
        messages=[
            MemoryMessage(id="u1", role="user", text="不对，我们把数据库改成 PostgreSQL 15 了。"),
            MemoryMessage(id="a1", role="assistant", text="收到"),
        ],
        audit=[line],
        counts={"added": 1, "updated": 0, "superseded": 1, "conflicts": 0, "ignored": 0},
        wording=RECORDED,
    )
    assert text == recorded_checkpoint("supersede/valid")


def test_a_stage_without_operations_says_so_in_every_language() -> None:
    for wording in (RECORDED, CHINESE, ENGLISH):
        text = render_checkpoint(
            at_ms=START_MS, reason="idle", messages=[], audit=[], counts={}, wording=wording
        )
        assert text.count(f"- {wording.nothing}\n") == 3
        assert text.startswith(f"# {wording.checkpoint} 2026-09-01T00-00-00.000Z\n")


UUID = "00000000-0001-4000-8000-000000000002"


@pytest.mark.parametrize(
    ("names", "keep", "expected"),
    [
        pytest.param([], 2, (True, ()), id="first"),
        pytest.param([f"{n}-{UUID}.md" for n in (7, 8)], 2, (True, (f"7-{UUID}.md",)), id="oldest"),
        pytest.param([f"{n}-{UUID}.md" for n in (7, 11)], 1, (False, (f"7-{UUID}.md",)), id="late"),
        pytest.param([f"9-{UUID}.md"], 0, (False, (f"9-{UUID}.md",)), id="none-kept"),
        pytest.param(["notes.md", "9.md", ".x"], 0, (False, ()), id="not-ours"),
    ],
)
def test_the_newest_summaries_are_kept(
    names: list[str], keep: int, expected: tuple[bool, tuple[str, ...]]
) -> None:
    assert names_to_drop(names, adding=f"10-{UUID}.md", keep=keep) == expected
