"""Index, scan and the naive reading rank alike, whatever the texts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import naive_rank
from ranking_strategies import NOW, entries, texts

from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import Profile, load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan
from wsmem.retrieval.signals import FAMILY, NAMES

EVERYTHING = Profile(
    name="everything",
    weights={name: 1 + at / 8 for at, name in enumerate(NAMES)},
    evidence_share=0.1,
)
ALL_TERMS = Profile(
    name="all-terms",
    weights={name: 1 + at / 8 for at, name in enumerate(NAMES) if FAMILY[name] != "substring"},
    evidence_share=0.2,
    evidence_cap=2,
)
PROFILES = {
    "default": load_profile("default"),
    "reference": load_profile("reference"),
    "all-terms": ALL_TERMS,
    "everything": EVERYTHING,
}


def answers(
    store: list[MemoryEntry], query: str, profile: Profile, limit: int | None
) -> list[list[tuple[str, str, int, float]]]:
    given_ids = {"a", "b"}
    ranked = [
        rank(Index.build(store), query, profile, now=NOW, limit=limit, surfaced=given_ids),
        scan(store, query, profile, now=NOW, limit=limit, surfaced=given_ids),
    ]
    if profile.name != "everything":
        ranked.append(naive_rank(store, query, profile, now=NOW, limit=limit, surfaced=given_ids))
    return [
        [(m.entry.id, m.entry.content, m.matched, round(m.score, 8)) for m in matches]
        for matches in ranked
    ]


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=400, deadline=None)
@given(store=st.lists(entries, max_size=7), query=texts, limit=st.sampled_from([None, 0, 1, 3]))
def test_three_ways_one_ranking(
    name: str, store: list[MemoryEntry], query: str, limit: int | None
) -> None:
    first, *others = answers(store, query, PROFILES[name], limit)
    for other in others:
        assert other == first


def test_the_limit_cuts_the_full_ranking() -> None:
    store = [
        MemoryEntry(id=f"{at:02}", content=f"kafka {'topic' * (at % 2)}", importance=at % 3)
        for at in range(40)
    ]
    for name in ("default", "reference"):
        profile = load_profile(name)
        full = rank(Index.build(store), "kafka topic", profile, now=NOW, limit=None)
        assert len(full) >= 20
        for limit in (1, 7, 13, 19, 20, 39, 40, 90):
            cut = rank(Index.build(store), "kafka topic", profile, now=NOW, limit=limit)
            assert cut == full[:limit]
            first, *others = answers(store, "kafka topic", profile, limit)
            assert all(other == first for other in others)


def test_scores_are_never_infinite() -> None:
    store = [MemoryEntry(id="a", content="x" * 100_000), MemoryEntry(id="b", content="")]
    matches = rank(Index.build(store), "x" * 100_000, load_profile("default"), now=NOW)
    assert [m.entry.id for m in matches] == ["a"]
    assert math.isfinite(matches[0].score)
