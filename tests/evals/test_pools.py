from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labelled_sets import document, query, write_set

from wsmem.evals.entries import UNDATED, injected_bytes, other_pools, pools
from wsmem.evals.reading import load_dataset
from wsmem.records import MemoryEntry

if TYPE_CHECKING:
    from pathlib import Path

    from labelled_sets import Line

    from wsmem.evals.entries import Pool


def pools_of(folder: Path, documents: list[Line], queries: list[Line]) -> list[Pool]:
    dataset = load_dataset(write_set(folder, documents=documents, queries=queries, labels=[]))
    return pools(dataset, dataset.queries)


def test_a_query_searches_its_own_scope_and_one_without_searches_everything(
    tmp_path: Path,
) -> None:
    found = pools_of(
        tmp_path,
        [document("a1", "x", scope="a"), document("b1", "x", scope="b"), document("c1", "x")],
        [query("q1", "x", scope="a"), query("q2", "x"), query("q3", "x", scope="a")],
    )
    assert [
        (pool.scope, [e.id for e in pool.entries], [q.id for q in pool.queries]) for pool in found
    ] == [("a", ["a1"], ["q1", "q3"]), (None, ["a1", "b1", "c1"], ["q2"])]


def test_a_scope_without_documents_is_an_empty_pool(tmp_path: Path) -> None:
    (pool,) = pools_of(tmp_path, [document("a1", "x")], [query("q1", "x", scope="a")])
    assert pool.entries == ()


@pytest.mark.parametrize(
    ("asked", "most", "expected"),
    [
        pytest.param(["a"], 9, [("b", ["b1", "b2"]), ("c", ["c1"])], id="all-but-those-asked"),
        pytest.param(["a"], 1, [("b", ["b1", "b2"])], id="no-more-than-wanted"),
        pytest.param(["a", None], 9, [], id="none-beside-the-whole-corpus"),
    ],
)
def test_scopes_that_nobody_asks_about_can_stand_beside(
    asked: list[str | None],
    most: int,
    expected: list[tuple[str, list[str]]],
    tmp_path: Path,
) -> None:
    names = ["a1", "b1", "c1", "b2", "x"]
    documents = [
        document(name, "x", **({} if name == "x" else {"scope": name[0]})) for name in names
    ]
    queries = [query(f"q{n}", "x", **({"scope": s} if s else {})) for n, s in enumerate(asked)]
    dataset = load_dataset(write_set(tmp_path, documents=documents, queries=queries, labels=[]))
    found = other_pools(dataset, pools(dataset, dataset.queries), most=most)
    assert [(pool.scope, [e.id for e in pool.entries]) for pool in found] == expected
    assert all(pool.queries == () for pool in found)


def test_a_layer_becomes_the_scope_of_an_entry_and_a_conflict_keeps_its_group(
    tmp_path: Path,
) -> None:
    documents = [
        document("g", "x", layer="global", status="conflict", conflictGroupId="c-1"),
        document("w", "x"),
        document("odd", "x", layer="outer space", conflictGroupId=7),
    ]
    (pool,) = pools_of(tmp_path, documents, [query("q", "x")])
    assert [(entry.scope, entry.conflict_group_id) for entry in pool.entries] == [
        ("global", "c-1"),
        ("workspace", None),
        ("workspace", None),
    ]


def test_metadata_becomes_the_fields_of_an_entry(tmp_path: Path) -> None:
    metadata = {
        "type": "rule",
        "description": "d",
        "tags": ["t"],
        "retrievalTerms": ["r"],
        "importance": 2,
        "status": "superseded",
        "createdAt": "2026-01-01T08:00:00+08:00",
        "updatedAt": "2026-02-03",
    }
    (pool,) = pools_of(
        tmp_path, [document("e", "c", **metadata) | {"title": "t"}], [query("q", "x")]
    )
    assert pool.entries == (
        MemoryEntry(
            id="e",
            content="c",
            title="t",
            type="rule",
            description="d",
            tags=("t",),
            retrieval_terms=("r",),
            importance=2.0,
            status="superseded",
            created_at="2026-01-01T00:00:00.000Z",
            updated_at="2026-02-03T00:00:00.000Z",
        ),
    )


def test_words_that_mean_something_else_in_a_set_of_others_are_left_aside(tmp_path: Path) -> None:
    metadata = {"type": "Event Memory", "tags": "a, b", "importance": 80, "status": "ok", "date": 7}
    (pool,) = pools_of(tmp_path, [document("e", "c", **metadata)], [query("q", "x")])
    (entry,) = pool.entries
    assert (entry.type, entry.tags, entry.importance, entry.status) == ("fact", (), 1.0, "active")


CLOCKS = [
    pytest.param([None], [None], None, id="no-date-at-all"),
    pytest.param(["2026-03-01"], [None], "2026-03-01", id="the-latest-document"),
    pytest.param(["2026-03-01"], ["2026-03-05"], "2026-03-05", id="a-query-asked-later"),
    pytest.param(["2026-03-01"], ["2026-02-01"], "2026-03-01", id="no-entry-from-the-future"),
]


@pytest.mark.parametrize(("documents", "queries", "expected"), CLOCKS)
def test_the_clock_of_a_pool_is_its_latest_date(
    tmp_path: Path,
    documents: list[str | None],
    queries: list[str | None],
    expected: str | None,
) -> None:
    (pool,) = pools_of(
        tmp_path,
        [document(f"d{n}", "x", date=date) for n, date in enumerate(documents)],
        [query(f"q{n}", "x", date=date) for n, date in enumerate(queries)],
    )
    day = 86_400_000
    first_of_march = 1_772_323_200_000
    clocks = {None: UNDATED, "2026-03-01": first_of_march, "2026-03-05": first_of_march + 4 * day}
    assert pool.now == clocks[expected]


def test_the_clock_does_not_depend_on_how_many_queries_are_asked(tmp_path: Path) -> None:
    dataset = load_dataset(
        write_set(
            tmp_path,
            documents=[document("d", "x")],
            queries=[query("q1", "x"), query("q2", "x", date="2026-03-05")],
            labels=[],
        )
    )
    (all_asked,) = pools(dataset, dataset.queries)
    (one_asked,) = pools(dataset, dataset.queries[:1])
    assert all_asked.now == one_asked.now


def test_an_undated_document_is_as_old_as_the_oldest_dated_one(tmp_path: Path) -> None:
    documents = [
        document("d1", "x"),
        document("d2", "x", date="2026-03-01"),
        document("d3", "x", date="2025-03-01T10:00"),
    ]
    (pool,) = pools_of(tmp_path, documents, [query("q", "x")])
    assert [entry.updated_at for entry in pool.entries] == [
        "2025-03-01T10:00:00.000Z",
        "2026-03-01T00:00:00.000Z",
        "2025-03-01T10:00:00.000Z",
    ]


def test_injected_bytes_are_utf8_bytes_of_title_and_content() -> None:
    assert injected_bytes(MemoryEntry(id="a", content="端口", title="db")) == 2 + 1 + 6
    assert injected_bytes(MemoryEntry(id="a", content="端口")) == 6
