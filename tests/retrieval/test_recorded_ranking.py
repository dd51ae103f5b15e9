"""The `reference` profile ranks as the public plugin did, case by recorded case."""

from __future__ import annotations

import math
from typing import Any

import pytest
from shared_data import golden

from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import Profile, load_profile
from wsmem.retrieval.ranking import rank

DEFAULT_LIMIT, MOST = 8, 50


def ranked(case: dict[str, Any], entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    given, options = case["input"], case["input"]["options"]
    limit = max(1, min(MOST, math.floor(options.get("limit", DEFAULT_LIMIT))))
    matches = rank(
        Index.build([MemoryEntry.from_stored(entry) for entry in entries]),
        given["query"],
        reference(options),
        now=options["now"],
        limit=limit,
        surfaced=options.get("surfacedMemoryIds", ()),
    )
    return [
        {"id": match.entry.id, "score": match.score, "matchedTokens": match.matched}
        for match in matches
    ]


def reference(options: dict[str, Any]) -> Profile:
    profile = load_profile("reference")
    if "surfacedPenalty" in options:
        return profile.with_weights(surfaced=-options["surfacedPenalty"])
    return profile


def same(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    def plain(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
        return [(row["id"], row["matchedTokens"]) for row in rows]

    return plain(got) == plain(expected) and all(
        math.isnan(a["score"]) if b["score"] is None else abs(a["score"] - b["score"]) <= 1e-9
        for a, b in zip(got, expected, strict=True)
    )


def test_every_recorded_ranking_is_reproduced() -> None:
    recorded = golden("ranking.json")
    failures = []
    for case in recorded["cases"]:
        given = case["input"]
        entries = given["entries"] if "entries" in given else recorded["corpora"][given["corpus"]]
        got = ranked(case, entries)
        if not same(got, case["expected"]):
            failures.append(f"{case['name']}: {got} is not {case['expected']}")
    assert not failures, "\n".join(failures)
    assert len(recorded["cases"]) == pytest.approx(recorded["count"])
