"""Postings kept in a file rank as the scan does, whatever the texts and however they are dealt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import naive_rank
from ranking_strategies import NOW, WORDS, entries, texts

from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.records import MemoryEntry
from wsmem.retrieval.persisted import contenders
from wsmem.retrieval.persisted.building import Record, build_postings
from wsmem.retrieval.persisted.layout import Pages
from wsmem.retrieval.persisted.postings import Location, Postings
from wsmem.retrieval.persisted.ranking import (
    EntriesPart,
    Part,
    PostingsPart,
    rank_parts,
)
from wsmem.retrieval.profile import Profile, load_profile
from wsmem.retrieval.scan import scan
from wsmem.retrieval.scanned_terms import ScannedTerms
from wsmem.retrieval.signals import FAMILY, NAMES
from wsmem.retrieval.terms_scan import Question, terms_earned
from wsmem.text.analysis import analyze_query

if TYPE_CHECKING:
    from wsmem.records import Match

DEFAULT = load_profile("default")
EVERY_TERM = Profile(
    name="every-term",
    weights={
        name: 1 + at / 8 for at, name in enumerate(NAMES) if FAMILY[name] in {"terms", "entry"}
    },
    evidence_share=0.1,
)
AGAINST = DEFAULT.with_weights(
    pairs=-0.5, title=-1.0, recency=-0.2, importance=-0.3, surfaced=2.0, word_coverage=0.7
)
PROFILES = {"default": DEFAULT, "every-term": EVERY_TERM, "against": AGAINST}


def filed(store: list[MemoryEntry]) -> PostingsPart:
    """The entries as a file holds them, read back by their place in the list."""
    data = build_postings([Record(entry, at, b"") for at, entry in enumerate(store)], {})

    def read(location: Location) -> MemoryEntry:
        return store[location.start]

    return PostingsPart(Postings(Pages(lambda at, size: data[at : at + size], len(data))), read)


def told(matches: list[Match]) -> list[tuple[MemoryEntry, int, float]]:
    return [(match.entry, match.matched, round(match.score, 9)) for match in matches]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@settings(max_examples=80, deadline=None)
@given(
    stores=st.lists(
        st.tuples(st.booleans(), st.lists(entries, max_size=6)), min_size=1, max_size=3
    ),
    query=texts,
    limit=st.sampled_from([None, 0, 1, 3]),
    surfaced=st.sets(st.sampled_from("abcdefgh"), max_size=2),
)
def test_any_mixture_of_files_and_texts_ranks_as_one_scan(
    profile: Profile,
    stores: list[tuple[bool, list[MemoryEntry]]],
    query: str,
    limit: int | None,
    surfaced: set[str],
) -> None:
    parts: list[Part] = [filed(own) if kept else EntriesPart(own) for kept, own in stores]
    every = [entry for _, own in stores for entry in own]
    ranked = rank_parts(parts, query, profile, now=NOW, limit=limit, surfaced=surfaced)
    scanned = scan(every, query, profile, now=NOW, limit=limit, surfaced=surfaced)
    assert told(ranked) == told(scanned)
    if profile is DEFAULT:
        naive = naive_rank(every, query, profile, now=NOW, limit=limit, surfaced=surfaced)
        assert [match.entry for match in ranked] == [match.entry for match in naive]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@settings(max_examples=30, deadline=None)
@given(
    store=st.lists(entries, min_size=12, max_size=40),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
    limit=st.integers(1, 5),
)
def test_leaving_out_who_cannot_win_changes_nothing(
    profile: Profile, store: list[MemoryEntry], query: str, limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contenders, "_FEW", 0)
        patch.setattr(contenders, "_PROBED", 1)
        ranked = rank_parts([filed(store)], query, profile, now=NOW, limit=limit)
    assert told(ranked) == told(scan(store, query, profile, now=NOW, limit=limit))


def test_a_grown_store_ranks_alike_for_every_kind_of_question() -> None:
    store = synthetic_entries(700, seed=5)
    parts: list[Part] = [EntriesPart(store[:100]), filed(store[100:])]
    for query in synthetic_queries(store, 24, seed=6):
        scanned = told(scan(store, query.text, DEFAULT, now=NOW, limit=None))
        for limit in (1, 8, 40, None):
            ranked = rank_parts(parts, query.text, DEFAULT, now=NOW, limit=limit)
            assert told(ranked) == scanned[:limit]


def test_few_of_many_are_weighed() -> None:
    words = "gateway kafka postgres redis nginx vault grafana consul".split(" ")
    common = [
        MemoryEntry(id=f"m{at:04}", content=f"{words[at % 8]} is one of {at % 5} parts")
        for at in range(1_200)
    ]
    store = [*common, *(MemoryEntry(id=f"z{at}", content=" ".join(words)) for at in range(9))]
    part = filed(store)
    weighed: list[int] = []
    importance = part.importance

    def counting(entry: int) -> float:
        weighed.append(entry)
        return importance(entry)

    part.importance = counting
    query = " ".join(words)
    scanned = scan(store, query, DEFAULT, now=NOW, limit=None)
    ranked = rank_parts([part], query, DEFAULT, now=NOW)
    assert told(ranked) == told(scanned[:8])
    assert len(scanned) == 1_209
    assert len(weighed) < 100


@pytest.mark.parametrize("profile", [EVERY_TERM], ids=["every-term"])
@settings(max_examples=60, deadline=None)
@given(store=st.lists(entries, min_size=1, max_size=8), query=texts)
def test_every_share_is_within_its_bound(
    profile: Profile, store: list[MemoryEntry], query: str
) -> None:
    """The contenders rest on it: a new signal of the family must keep it."""
    analysed = analyze_query(query)
    kept = [entry for entry in store if entry.recallable]
    if not kept or not analysed.terms:
        return
    source = ScannedTerms(kept, analysed)
    earned, _ = terms_earned(source, Question.of(source, analysed, profile), profile)
    for signals in earned.values():
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in signals.values())


def test_what_reads_substrings_is_not_ranked_from_postings() -> None:
    assert DEFAULT.by_terms_alone
    assert not load_profile("reference").by_terms_alone
    assert not DEFAULT.with_weights(phrase=1.0).by_terms_alone
