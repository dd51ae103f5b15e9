"""An index brought up to date answers as one built anew, and reads only what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_strategies import NOW, entries, texts

from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.records import Match, MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan
from wsmem.retrieval.stream import TermStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.retrieval.vocabulary import Vocabulary

STORE = synthetic_entries(12, seed=3)
QUERIES = ["kafka 队列", "修订 3", *(q.text for q in synthetic_queries(STORE, 4, seed=5))]
PROFILES = [load_profile("default"), load_profile("reference")]


def answers(index: Index, query: str) -> list[list[Match]]:
    return [rank(index, query, profile, now=NOW, limit=None) for profile in PROFILES]


@settings(max_examples=100, deadline=None)
@given(stores=st.lists(st.lists(entries, max_size=6), min_size=2, max_size=5), query=texts)
def test_any_history_ends_in_the_index_of_its_last_store(
    stores: list[list[MemoryEntry]], query: str
) -> None:
    index = Index.build(stores[0])
    for store in stores[1:]:
        index = index.updated(store)
    assert answers(index, query) == answers(Index.build(stores[-1]), query)


def edited(store: Sequence[MemoryEntry], edit: str, at: int, step: int) -> list[MemoryEntry]:
    if edit == "add" or not store:
        return [*store, MemoryEntry(id=f"new-{step}", content=f"kafka topic {step} 队列")]
    at %= len(store)
    changed = {
        "revise": [replace(store[at], content=f"{store[at].content} 修订 {step}")],
        "retire": [replace(store[at], status="superseded")],
        "remove": [],
    }
    return [*store[:at], *changed[edit], *store[at + 1 :]]


@settings(max_examples=60, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.sampled_from(["add", "revise", "retire", "remove"]), st.integers(0, 30)),
        min_size=1,
        max_size=12,
    )
)
def test_edits_one_by_one(edits: list[tuple[str, int]]) -> None:
    store = list(STORE)
    index = Index.build(store)
    for step, (edit, at) in enumerate(edits):
        store = edited(store, edit, at, step)
        index = index.updated(store)
    fresh = Index.build(store)
    for query in QUERIES:
        assert answers(index, query) == answers(fresh, query)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the entries that are analysed from now on."""
    ids: list[str] = []
    analyse = TermStream.read

    def spy(entries: Sequence[MemoryEntry], vocabulary: Vocabulary, *, letters: bool) -> TermStream:
        ids.extend(entry.id for entry in entries)
        return analyse(entries, vocabulary, letters=letters)

    monkeypatch.setattr(TermStream, "read", spy)
    return ids


def test_only_changed_entries_are_analysed_again(read: list[str]) -> None:
    index = Index.build(STORE)
    read.clear()
    # Equal copies stand for a store that another process rewrote without changing them.
    changed = [replace(entry) for entry in STORE]
    changed[7] = replace(changed[7], content="改过的内容")
    changed.append(MemoryEntry(id="new", content="新的内容"))
    updated = index.updated(changed)
    assert read == [changed[7].id, "new"]
    assert updated.updated(changed) is updated


def test_an_entry_that_moved_is_not_analysed_again(read: list[str]) -> None:
    index = Index.build(STORE)
    read.clear()
    first = MemoryEntry(id="first", content="kafka 队列")
    moved = [first, *reversed(STORE)]
    updated = index.updated(moved)
    assert read == ["first"]
    assert updated.entries == tuple(entry for entry in moved if entry.recallable)
    assert answers(updated, "kafka 队列") == answers(Index.build(moved), "kafka 队列")


def test_one_change_costs_one_entry_whatever_the_size(read: list[str]) -> None:
    store = tuple(
        MemoryEntry(id=f"{at}", content=f"fact {at} 第{at % 97}号 about topic{at % 13}")
        for at in range(5_000)
    )
    index = Index.build(store)
    read.clear()
    base = index.segments[0]
    for step in range(40):
        place = step * 117
        revised = replace(store[place], content=f"revised {step} topic{step % 13}")
        store = (
            *store[:place],
            revised,
            *store[place + 1 :],
            MemoryEntry(id=f"n{step}", content="队列"),
        )
        index = index.updated(store, changed=(place,))
        assert read == [f"{place}", f"n{step}"]
        read.clear()
        # What is large stays as it is; what is new is little, however it was merged.
        assert index.segments[0] is base
        assert sum(map(len, index.segments[1:])) == 2 * (step + 1)
    fresh = Index.build(store)
    for query in ("revised 39 topic0", "fact 117", "队列", "第3号"):
        assert answers(index, query) == answers(fresh, query)


def test_two_indexes_may_grow_from_one() -> None:
    index = Index.build(STORE)
    left = [*STORE, MemoryEntry(id="left", content="kafka 队列 左")]
    right = [*STORE[1:], MemoryEntry(id="right", content="kafka 队列 右边")]
    grown = [index.updated(left), index.updated(right)]
    for updated, store in zip(grown, (left, right), strict=True):
        assert answers(updated, "kafka 队列 右边") == answers(Index.build(store), "kafka 队列 右边")
    assert answers(index, "kafka 队列") == answers(Index.build(STORE), "kafka 队列")


@settings(max_examples=20, deadline=None)
@given(
    edits=st.lists(
        st.tuples(
            st.sampled_from([0, 0, 0, 0, 1, 2, 9]),
            st.sampled_from(["add", "add", "add", "revise", "retire", "remove"]),
            st.integers(0, 30),
            st.booleans(),
        ),
        min_size=2,
        max_size=30,
    )
)
def test_every_version_of_a_tree_of_edits_stays_right(
    edits: list[tuple[int, str, int, bool]],
) -> None:
    versions = [(tuple(STORE), Index.build(STORE))]
    for step, (parent, edit, at, named) in enumerate(edits):
        # Most grow from the newest: only a long branch has what was kept unsorted sorted.
        store, index = versions[max(0, len(versions) - 1 - parent)]
        changed = tuple(edited(store, edit, at, step))
        places = range(len(changed)) if edit == "remove" else [at % max(1, len(store))]
        grown = index.updated(changed, changed=places if named else None)
        versions.append((changed, grown))
    for store, index in versions:
        assert index.given == store
        fresh = Index.build(store)
        for query in QUERIES[:2]:
            assert answers(index, query) == answers(fresh, query)


def test_a_term_that_occurs_more_often_than_can_be_counted_is_ranked_alike() -> None:
    often = MemoryEntry(id="often", content="x " * 70_000)
    store = (MemoryEntry(id="once", content="x ab12"), often)
    grown = Index.build(store[:1]).updated(store)
    fresh = Index.build([*STORE, *store]).updated(store)
    found, expected = (rank(index, "x", PROFILES[0], now=NOW) for index in (grown, fresh))
    assert found == expected
    assert len(found) == 2


def test_what_is_gone_is_purged_in_time() -> None:
    store = [MemoryEntry(id=f"{at}", content=f"fact {at} 第{at}号") for at in range(100)]
    index = Index.build(store)
    for step in range(1, 8):
        store = [replace(entry, content=f"{entry.content} 修订 v{step}") for entry in store]
        index = index.updated(store)
        assert index.documents.size <= 2 * len(store) + 100
    assert len(index.vocabulary) < 2 * len(Index.build(store).vocabulary)
    for query in ("v7 fact 42", "第42号", "修订", "v3"):
        assert answers(index, query) == answers(Index.build(store), query)


@settings(max_examples=60, deadline=None)
@given(
    store=st.lists(entries, max_size=12),
    query=texts,
    limit=st.integers(1, 4),
    weight=st.sampled_from([-1.0, -0.01, 0.5]),
)
def test_what_was_shown_lately_is_cut_as_in_the_full_ranking(
    store: list[MemoryEntry], query: str, limit: int, weight: float
) -> None:
    profile = PROFILES[0].with_weights(surfaced=weight)
    index, shown = Index.build(store), {"a", "b", "c"}
    full = rank(index, query, profile, now=NOW, limit=None, surfaced=shown)
    assert rank(index, query, profile, now=NOW, limit=limit, surfaced=shown) == full[:limit]


def test_many_small_changes_keep_few_segments() -> None:
    store: list[MemoryEntry] = []
    index = Index.build(store)
    for at in range(300):
        store.append(MemoryEntry(id=f"{at}", content=f"fact {at}"))
        index = index.updated(store)
    assert len(index.segments) <= 9
    assert [m.entry.id for m in rank(index, "fact 299", PROFILES[0], now=NOW)] == ["299"]


def test_questions_leave_nothing_behind_in_an_index() -> None:
    index = Index.build(STORE)
    answers(index, QUERIES[-1])
    attributes = sorted(index.__dict__)
    expected = [answers(index, f"nothing{at} {QUERIES[-1]}") for at in range(20)]
    assert sorted(index.__dict__) == attributes
    assert [answers(index, f"nothing{at} {QUERIES[-1]}") for at in range(20)] == expected


def test_pairs_are_found_in_every_segment_however_many_are_sought() -> None:
    words = [f"word{at}" for at in range(40)]
    store = [MemoryEntry(id="together", content=" ".join(words))]
    for at in range(6):
        store.append(MemoryEntry(id=f"apart{at}", content=" ".join(words[at::2] + words[::-3])))
        store.append(MemoryEntry(id=f"again{at}", content=" ".join(words[: 20 + at] * 2)))
    index = Index.build(store[:-1]).updated(store)
    assert len(index.segments) == 2
    for count in (2, 16, 17, 18, 40):
        query = " ".join(words[:count])
        expected = rank(Index.build(store), query, PROFILES[0], now=NOW, limit=None)
        assert rank(index, query, PROFILES[0], now=NOW, limit=None) == expected
        scanned = scan(store, query, PROFILES[0], now=NOW, limit=None)
        assert [(m.entry.id, round(m.score, 9)) for m in expected] == [
            (m.entry.id, round(m.score, 9)) for m in scanned
        ]


def test_single_letters_are_found_after_dead_documents_were_cleared_away() -> None:
    store = [MemoryEntry(id=f"{at}", content=f"登录端口 {at}") for at in range(100)]
    index = Index.build(store)
    for content in ("缓存", "部署脚本"):
        revised = [replace(entry, content=f"{content} {entry.id}") for entry in store[:-1]]
        store = [*revised, store[-1]]
        index = index.updated(store)
    assert index.documents.size == index.size
    for query in ("登", "登入端口"):
        assert answers(index, query) == answers(Index.build(store), query)
        assert answers(index, query)[0]
