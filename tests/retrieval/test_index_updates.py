"""An index brought up to date answers as one built anew, and reads only what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_strategies import NOW, entries, texts

from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.records import Match, MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.stream import TermStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

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


def test_only_changed_entries_are_analysed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(STORE)
    read: list[str] = []
    analyse = TermStream.read

    def spy(
        entries: Sequence[MemoryEntry], vocabulary: Vocabulary, *, letters: bool
    ) -> TermStream:
        read.extend(entry.id for entry in entries)
        return analyse(entries, vocabulary, letters=letters)

    monkeypatch.setattr(TermStream, "read", spy)
    # Equal copies stand for a store that another process rewrote without changing them.
    changed = [replace(entry) for entry in STORE]
    changed[7] = replace(changed[7], content="改过的内容")
    changed.append(MemoryEntry(id="new", content="新的内容"))
    updated = index.updated(changed)
    assert read == [changed[7].id, "new"]
    assert updated.updated(changed) is updated


def test_many_small_changes_keep_few_segments() -> None:
    store: list[MemoryEntry] = []
    index = Index.build(store)
    for at in range(300):
        store.append(MemoryEntry(id=f"{at}", content=f"fact {at}"))
        index = index.updated(store)
    assert len(index.segments) <= 9
    assert [m.entry.id for m in rank(index, "fact 299", PROFILES[0], now=NOW)] == ["299"]
