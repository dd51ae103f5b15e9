from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import document, query, write_set

from wsmem.evals.catalogue import Source
from wsmem.evals.evaluate import evaluate
from wsmem.evals.plan import Plan

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.worst import WorstQuery

DOCUMENTS = [
    document("a", "kestrel owns exports", scope="s"),
    document("b", "kestrel deploys nightly", scope="s", importance=3),
    document("old", "kestrel was retired", scope="s", status="superseded"),
    document("far", "billing", scope="s"),
    document("elsewhere", "kestrel elsewhere", scope="t"),
]


def worst(
    folder: Path,
    queries: list[dict[str, Any]],
    labels: list[tuple[str, str, int]],
    *,
    system: str = "wsmem:reference",
    count: int = 5,
    measures: tuple[str, ...] = ("RR@10",),
) -> tuple[WorstQuery, ...]:
    write_set(folder / "set", documents=DOCUMENTS, queries=queries, labels=labels)
    source = Source(name="set", path=folder / "set")
    plan = Plan.of([source], systems=[system], measures=measures, jobs=1, worst=count)
    return evaluate(plan).datasets[0].worst


def unanswerable(identifier: str, text: str) -> dict[str, Any]:
    return query(identifier, text, scope="s", answerable=False)


def test_the_worst_come_first_and_perfect_answers_never(tmp_path: Path) -> None:
    queries = [
        query("fine", "exports", scope="s"),
        query("second", "kestrel", scope="s"),
        query("missed", "zebra", scope="s"),
    ]
    labels = [("fine", "a", 1), ("second", "a", 1), ("missed", "a", 1)]
    found = worst(tmp_path, queries, labels)
    assert [(item.facts.id, item.value) for item in found] == [("missed", 0.0), ("second", 0.5)]
    assert [item.facts.id for item in worst(tmp_path, queries, labels, count=1)] == ["missed"]
    assert worst(tmp_path, queries, labels, count=0) == ()


def test_equal_values_keep_the_order_of_the_set(tmp_path: Path) -> None:
    queries = [query(name, "zebra", scope="s") for name in ("z", "a", "m")]
    found = worst(tmp_path, queries, [(name, "a", 1) for name in ("z", "a", "m")])
    assert [item.facts.id for item in found] == ["z", "a", "m"]


def test_the_first_entry_stands_beside_the_best_relevant_one(tmp_path: Path) -> None:
    (item,) = worst(tmp_path, [query("q", "kestrel", scope="s")], [("q", "a", 2)])
    first, relevant = item.shown
    assert (first.entry.id, first.rank, first.grade) == ("b", 1, 0)
    assert (relevant.entry.id, relevant.rank, relevant.grade) == ("a", 2, 2)
    assert first.match is not None
    assert relevant.match is not None
    assert sum(part.contribution for part in first.match.parts.values()) == first.match.score
    stored = item.to_json()["entries"][0]
    # Both hold the one long token (5 + 12); b has importance 3 where a has 1.
    assert stored["signals"]["importance"] == [3.0, 1.5, 4.5]
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored


@pytest.mark.parametrize(
    ("text", "relevant", "system", "place"),
    [
        pytest.param("kestrel", "far", "wsmem:reference", "not-matched", id="no-word-in-common"),
        pytest.param("kestrel", "old", "wsmem:reference", "not-recallable", id="superseded"),
    ],
)
def test_a_relevant_entry_that_was_not_recalled_says_why(
    tmp_path: Path, text: str, relevant: str, system: str, place: str
) -> None:
    queries = [query("q", text, scope="s")]
    (item,) = worst(tmp_path, queries, [("q", relevant, 1)], system=system)
    assert (item.shown[-1].entry.id, item.shown[-1].place) == (relevant, place)
    assert item.shown[-1].rank is None


def test_an_entry_below_the_evidence_threshold_shows_what_it_would_have_earned(
    tmp_path: Path,
) -> None:
    profile = tmp_path / "strict.json"
    profile.write_text(
        json.dumps(
            {
                "name": "strict",
                "matching": "terms",
                "evidence_share": 0.9,
                "evidence_cap": 4,
                "weights": {"coverage": 1},
                "provenance": {},
            }
        ),
        encoding="utf-8",
    )
    queries = [query("q", "exports zebra giraffe okapi", scope="s")]
    (item,) = worst(tmp_path, queries, [("q", "a", 1)], system=f"wsmem:{profile}")
    (shown,) = item.shown
    assert (shown.entry.id, shown.place) == ("a", "below-evidence")
    assert shown.match is not None
    assert 0 < shown.match.parts["coverage"].contribution < 0.9


def test_a_label_outside_the_scope_is_no_entry_to_show(tmp_path: Path) -> None:
    (item,) = worst(tmp_path, [query("q", "kestrel", scope="s")], [("q", "elsewhere", 1)])
    assert [shown.entry.id for shown in item.shown] == ["b"]


def test_false_recalls_follow_the_costliest_first(tmp_path: Path) -> None:
    queries = [
        query("q", "exports", scope="s"),
        unanswerable("short", "exports"),
        unanswerable("quiet", "zebra"),
        unanswerable("long", "kestrel"),
    ]
    found = worst(tmp_path, queries, [("q", "a", 1)])
    assert [(item.facts.id, item.failure) for item in found] == [
        ("long", "false-recall"),
        ("short", "false-recall"),
    ]
    assert all(len(item.shown) == 1 for item in found)


def test_without_a_measure_of_ranking_only_false_recalls_are_shown(tmp_path: Path) -> None:
    queries = [query("missed", "zebra", scope="s"), unanswerable("false", "kestrel")]
    measures = ("Judged@10", "FalseRecall")
    found = worst(tmp_path, queries, [("missed", "a", 1)], measures=measures)
    assert [item.facts.id for item in found] == ["false"]


def test_peers_have_no_signals_to_explain(tmp_path: Path) -> None:
    queries = [query("missed", "zebra", scope="s")]
    assert worst(tmp_path, queries, [("missed", "a", 1)], system="bm25") == ()


def test_long_texts_are_cut_for_the_page(tmp_path: Path) -> None:
    text = "zebra " * 200
    (item,) = worst(tmp_path, [query("q", text, scope="s")], [("q", "a", 1)])
    stored = item.to_json()["text"]
    assert len(stored) == 400
    assert stored.endswith("…")
