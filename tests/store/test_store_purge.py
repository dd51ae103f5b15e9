"""Purging one entry: its words are nowhere in the store afterwards, and nothing else is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import (
    OTHER,
    PROJECT,
    SESSION,
    add,
    crash_points,
    fact,
    files_under,
    ids,
    leftovers,
    quick,
)

from wsmem.records import MemoryMessage, MemoryState, Revision
from wsmem.store.checkpoints import AuditLine, render_checkpoint
from wsmem.store.erasing import ERASED, Words
from wsmem.store.layout import GLOBAL
from wsmem.store.store import MemoryStore
from wsmem.store.summary import render_summary
from wsmem.store.wording import CHINESE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wsmem.records import MemoryEntry
    from wsmem.store.transaction import Transaction

SECRET = "部署口令是 XYZZY-77。\n第二行也要消失"
EARLIER = "The deploy phrase was PLUGH-42, said the user."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def summarise(entries: Sequence[MemoryEntry]) -> str:
    return render_summary(entries, kind="workspace", max_bytes=3000, wording=CHINESE)


def fill(root: Path) -> MemoryStore:
    """A store in which one entry's words stand in every kind of file."""
    store = quick(root)
    doomed = fact(
        "doomed",
        SECRET,
        title="口令",
        tags=("deploy",),
        superseded_by=("heir",),
        revisions=(Revision(content=EARLIER, title="t", description=EARLIER, at="x"),),
    )
    heir = fact("heir", "口令已经停用，改用密钥登录。", supersedes=("doomed",))
    said = MemoryMessage(id="u1", role="user", text=f"记住：{SECRET}")

    def change(tx: Transaction) -> None:
        for scope in (PROJECT, GLOBAL, SESSION, OTHER):
            audit = render_checkpoint(
                at_ms=0,
                reason="task-end",
                messages=[said],
                audit=[AuditLine(op="add", content=SECRET, accepted=True, detail="new")],
                counts={"added": 1},
                wording=CHINESE,
            )
            tx.add_checkpoint(scope, audit)
            tx.set_state(scope, MemoryState(pending_messages=(said,), seen_message_ids=("u1",)))
            tx.set_extra(scope, {"lastError": f"could not store {EARLIER.upper()}"})
            tx.set_summary(scope, summarise([doomed, heir]))
        tx.set_entries(PROJECT, [doomed, heir, fact("bystander")])
        tx.set_entries(GLOBAL, [fact("same", SECRET), fact("g", supersedes=("doomed",))])

    everything = (PROJECT, GLOBAL, SESSION, OTHER)
    store.update(everything, change)
    with store.transaction(*everything) as tx:
        for scope in everything:
            tx.set_summary(scope, f"# now\n\n- 口令: {SECRET}\n- x: y\n")
    aside = root / "scopes" / PROJECT.key / "set-aside"
    aside.mkdir()
    (aside / "old.json").write_bytes(b"\xff" + json.dumps([SECRET, EARLIER]).encode())
    cache = root / ".wsmem/cache" / PROJECT.key
    cache.mkdir(parents=True)
    (cache / "segment").write_text(SECRET)
    store.archive(OTHER.key)
    return store


def places(root: Path, *words: str) -> list[str]:
    """Files in which any of these words stands, in any JSON spelling."""
    spellings = {s for word in words for s in (word, json.dumps(word)[1:-1])}
    return [
        name
        for name in files_under(root)
        if any(
            spelling.lower() in (root / name).read_bytes().decode("utf-8", "replace").lower()
            for spelling in spellings
        )
    ]


def test_the_words_of_a_purged_entry_are_nowhere(root: Path) -> None:
    store = fill(root)
    words = ("XYZZY-77", "PLUGH-42", "第二行也要消失")
    assert len(places(root, *words)) > 15
    with store.transaction(GLOBAL) as tx:  # the other entry that says the same
        tx.set_entries(GLOBAL, [e for e in tx.snapshot(GLOBAL).entries if e.id != "same"])
    report = store.purge_entry(PROJECT, "doomed", summarise=summarise)
    assert places(root, *words, "口令: ") == []
    assert report.found
    assert report.unlinked == ("g", "heir")
    assert report.also_in == ()
    assert leftovers(root) == []
    for path in report.rewritten:
        assert (root / path).is_file()


def test_what_others_said_stays(root: Path) -> None:
    store = fill(root)
    report = store.purge_entry(PROJECT, "doomed", summarise=summarise)
    assert report.also_in == (("global", "same"),)
    assert ids(store, PROJECT) == ["heir", "bystander"]
    assert ids(store, GLOBAL) == ["same", "g"]
    snapshot = store.read_scope(PROJECT)
    assert snapshot.summary == summarise(snapshot.entries)
    assert snapshot.state.pending_messages[0].text == f"记住：{ERASED}"
    assert snapshot.state.seen_message_ids == ("u1",)
    assert MemoryStore(root).read_scope(PROJECT) == snapshot
    (checkpoint,) = (root / "archived" / OTHER.key / "checkpoints").iterdir()
    assert f"- add: {ERASED}\n" in checkpoint.read_text()


def test_without_a_summariser_only_the_entrys_lines_leave_the_summary(root: Path) -> None:
    store = fill(root)
    store.purge_entry(PROJECT, "doomed")
    assert store.read_scope(PROJECT).summary == f"# now\n\n{ERASED}\n- x: y\n"


def test_purging_what_is_not_there_changes_nothing(root: Path) -> None:
    store = fill(root)
    before = {name: (root / name).read_bytes() for name in files_under(root)}
    assert not store.purge_entry(PROJECT, "nobody").found
    assert not store.purge_entry(OTHER, "doomed").found
    assert {name: (root / name).read_bytes() for name in files_under(root)} == before
    assert not MemoryStore(root / "none").purge_entry(GLOBAL, "x").found
    assert not (root / "none").exists()


def test_a_purge_cut_short_has_happened_whole_or_not_at_all(tmp_path: Path) -> None:
    def run(store: MemoryStore) -> None:
        store.purge_entry(PROJECT, "doomed", summarise=summarise)

    outcomes = set()
    for root in crash_points(tmp_path, fill, run, ("crash",), step=9):
        store = quick(root)
        gone = "doomed" not in ids(store, PROJECT)
        add(store, PROJECT, "next")
        assert (places(root, "PLUGH-42") == []) == gone
        outcomes.add(gone)
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    ("content", "text", "left"),
    [
        pytest.param("use pnpm", "we Use PNPM here", f"we {ERASED} here", id="any-case"),
        pytest.param("Port is 8080.", "port is 8080, ok", f"{ERASED}, ok", id="closing-mark"),
        pytest.param(
            "第一句话就是这样。第二句话也是这样。",
            "他说：第二句话也是这样！",
            f"他说：{ERASED}！",
            id="one-sentence",
        ),
        pytest.param("ok", "ok then", "ok then", id="too-short-to-be-its-words"),
        pytest.param("a.b*c(d", "xa.b*c(dx aXbYc", f"x{ERASED}x aXbYc", id="no-pattern-in-it"),
    ],
)
def test_words_are_found_as_they_were_said(content: str, text: str, left: str) -> None:
    assert Words.of(fact("a", content)).cut(text) == left


@settings(deadline=None)
@given(st.text(min_size=4), st.text(), st.text())
def test_no_text_keeps_the_content(content: str, before: str, after: str) -> None:
    words = Words.of(fact("a", content))
    text = before + content + after
    assert words.cut(words.cut(text)) == words.cut(text) or ERASED in content
    if content.strip():
        assert words.cut(text) != text
