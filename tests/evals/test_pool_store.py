"""What the harness measures is the engine's public recall on a real store, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import document, query, write_set

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.recalling import Recaller
from wsmem.errors import DegradedAnswerError, StrangeAnswerError
from wsmem.evals.catalogue import find_datasets, own_folder
from wsmem.evals.entries import other_pools, pools, surfaced_ids
from wsmem.evals.evaluate import evaluate
from wsmem.evals.plan import Plan
from wsmem.evals.reading import load_dataset
from wsmem.evals.results import DatasetResult, Skipped
from wsmem.evals.systems import pool_store
from wsmem.evals.systems.base import Serving
from wsmem.evals.systems.pool_store import UNBOUNDED, PoolStore
from wsmem.evals.systems.registry import make_system
from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.scopes import GLOBAL

if TYPE_CHECKING:
    from wsmem.evals.dataset import Dataset
    from wsmem.evals.entries import Pool
    from wsmem.records import MemoryContext, RecallInput

RANKING, HOST = "wsmem:default", "wsmem:default@host"
PROFILES = ("default", "reference")
NOW = 1_767_225_600_000


def own(name: str) -> Dataset:
    """A set of ours."""
    return load_dataset(find_datasets([own_folder()])[name].path, name=name, split="dev")


def thinned(found: list[Pool], every: int) -> list[Pool]:
    """Pools with some of their queries: those that say what was shown, and one in so many."""
    return [
        replace(
            pool,
            queries=tuple(
                query
                for number, query in enumerate(pool.queries)
                if number % every == 0 or surfaced_ids(query)
            ),
        )
        for pool in found
    ]


def ask(pool: Pool, store: PoolStore, profile: str) -> list[list[str]]:
    opened = store.open(pool.entries, profile=load_profile(profile), now=pool.now)
    return [
        [
            match.id
            for match in opened.recall(
                query.text, limit=100, max_bytes=UNBOUNDED, surfaced=surfaced_ids(query)
            ).matches
        ]
        for query in pool.queries
    ]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which stores are made, empty."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(pool_store, "_MEMORY", str(folder))
    return folder


# The ranking


@pytest.mark.parametrize("name", ["workspace-zh", "workspace-mixed"])
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("way", ["index", "scan"])
def test_a_recall_ranks_as_the_ranking_itself_does(name: str, profile: str, way: str) -> None:
    dataset = own(name)
    found = thinned(pools(dataset, dataset.queries), every=7)
    known = found if way == "index" else []  # of others nobody knows how often they are asked
    with PoolStore(known) as store:
        for pool in found:
            direct = [
                [
                    match.entry.id
                    for match in rank(
                        Index.build(pool.entries),
                        query.text,
                        load_profile(profile),
                        now=pool.now,
                        limit=100,
                        surfaced=surfaced_ids(query),
                    )
                ]
                for query in pool.queries
            ]
            assert ask(pool, store, profile) == direct
            assert any(direct)


def test_entries_stand_in_the_store_as_they_are_in_the_pool() -> None:
    dataset = own("workspace-zh")
    found = pools(dataset, dataset.queries)
    with PoolStore(found) as store:
        for pool in found:
            opened = store.open(pool.entries, profile=load_profile("default"), now=pool.now)
            read = opened._room._store.read_scope
            kept = (*read(opened._workspace.scope).entries, *read(GLOBAL).entries)
            assert sorted(kept, key=lambda e: e.id) == sorted(pool.entries, key=lambda e: e.id)


def test_what_is_redacted_is_found_all_the_same() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    entry = MemoryEntry(id="a", content=f"kestrel token={secret}")
    with PoolStore() as store:
        opened = store.open((entry,), profile=load_profile("default"), now=NOW)
        (match,) = opened.recall("kestrel").matches
    assert match.id == "a"
    assert secret not in match.content


def test_what_was_shown_lately_ranks_lower(tmp_path: Path) -> None:
    entries = [document("a", "kestrel exports"), document("b", "kestrel exports daily")]
    asked = [query("plain", "kestrel exports"), query("again", "kestrel exports", surfaced=["a"])]
    write_set(tmp_path / "s", documents=entries, queries=asked, labels=[("plain", "a", 1)])
    dataset = load_dataset(tmp_path / "s")
    (pool,) = pools(dataset, dataset.queries)
    with PoolStore([pool]) as store:
        assert ask(pool, store, "default") == [["a", "b"], ["b", "a"]]


# One store, many scopes


def test_no_answer_holds_an_entry_of_another_workspace() -> None:
    """Decoys stand in the same store and match: in their own workspace most of them are found."""
    dataset = own("workspace-mixed")
    found = pools(dataset, dataset.queries)
    beside = other_pools(dataset, found, most=8)
    at = {entry.id: pool for pool in (*found, *beside) for entry in pool.entries}
    decoyed = [query for query in dataset.queries if query.metadata.get("decoys")]
    hits = []
    with PoolStore([*found, *beside]) as store:
        for query_ in decoyed:
            (home,) = [pool for pool in found if query_ in pool.queries]
            (ranked,) = ask(replace(home, queries=(query_,)), store, "default")
            assert {entry.id for entry in home.entries}.issuperset(ranked)
            for decoy in query_.metadata["decoys"]:
                (ranked,) = ask(replace(at[decoy], queries=(query_,)), store, "default")
                hits.append(decoy in ranked)
    assert sum(hits) > len(hits) / 2


def test_global_entries_are_found_by_the_user_they_belong_to(tmp_path: Path) -> None:
    write_set(
        tmp_path / "s",
        documents=[
            document("mine", "kestrel rule", scope="one", layer="global"),
            document("own", "kestrel fact", scope="one"),
            document("other", "kestrel fact", scope="two"),
            document("theirs", "kestrel rule", scope="three", layer="global"),
        ],
        queries=[query(name, "kestrel", scope=name) for name in ("one", "two", "three")],
        labels=[("one", "own", 1)],
    )
    dataset = load_dataset(tmp_path / "s")
    one, two, three = pools(dataset, dataset.queries)
    with PoolStore([one, two, three]) as store:
        for pool in (one, two, three, one):  # and back again
            (ranked,) = ask(pool, store, "default")
            assert sorted(ranked) == sorted(entry.id for entry in pool.entries)


def test_a_leak_between_workspaces_is_a_failure_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = WorkspaceMemoryEngine.recall

    async def leaking(engine: WorkspaceMemoryEngine, request: RecallInput) -> MemoryContext:
        return await real(engine, replace(request, cwd="/evaluation/1"))

    monkeypatch.setattr(WorkspaceMemoryEngine, "recall", leaking)
    write_set(
        tmp_path / "s",
        documents=[document("a", "kestrel", scope="one"), document("b", "kestrel", scope="two")],
        queries=[query("q1", "kestrel", scope="one"), query("q2", "kestrel", scope="two")],
        labels=[("q1", "a", 1), ("q2", "b", 1)],
    )
    (skipped,) = evaluate(plan(tmp_path / "s", RANKING)).skipped
    assert skipped == Skipped(
        system=RANKING, dataset="s", reason=str(StrangeAnswerError("q1", "b", "one"))
    )


# Trouble


def plan(folder: Path, *systems: str, **options: Any) -> Plan:
    return Plan.of(find_datasets([folder]).values(), systems=systems, **{"jobs": 1, **options})


@pytest.mark.parametrize("system", [RANKING, HOST])
def test_a_partial_answer_is_a_failure_with_its_reason(
    system: str, tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Recaller._read

    def reading(recaller: Recaller, *asked: Any) -> Any:
        return real(recaller, *asked)._replace(problems=("memory_entries.json: damaged",))

    monkeypatch.setattr(Recaller, "_read", reading)
    evaluation = evaluate(plan(write_set(tmp_path / "tiny"), system, "bm25"))
    assert evaluation.skipped == (
        Skipped(
            system=system,
            dataset="tiny",
            reason=str(DegradedAnswerError("部署脚本", "memory_entries.json: damaged")),
        ),
    )
    assert {row.system for row in evaluation.rows} == {"bm25"}
    assert not list(memory.iterdir())


def test_a_damaged_store_gives_no_figure() -> None:
    with PoolStore() as store:
        opened = store.open(
            (MemoryEntry(id="a", content="kestrel"),), profile=load_profile("default"), now=NOW
        )
        assert opened.recall("kestrel").matches
        (file,) = Path(opened._room._folder).glob("scopes/*/memory_entries.json")
        file.write_bytes(b'[{"id": "a", "content": "kes')
        with pytest.raises(DegradedAnswerError, match="partial"):
            opened.recall("kestrel")


def test_there_is_no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Recaller._rank

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.4)  # beyond the 250 ms that hosts wait
        return real(*arguments)

    monkeypatch.setattr(Recaller, "_rank", slowly)
    with PoolStore() as store:
        opened = store.open(
            (MemoryEntry(id="a", content="kestrel"),), profile=load_profile("default"), now=NOW
        )
        assert [match.id for match in opened.recall("kestrel").matches] == ["a"]


def test_a_store_that_cannot_be_written_is_a_failure_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_store, "_place", lambda _: str(tmp_path / "absent"))
    evaluation = evaluate(plan(write_set(tmp_path / "tiny"), RANKING, "bm25"))
    (skipped,) = evaluation.skipped
    assert skipped.system == RANKING
    assert skipped.reason.startswith("FileNotFoundError")
    assert {row.system for row in evaluation.rows} == {"bm25"}


# What a host is given


def test_a_host_is_given_what_fits_its_defaults() -> None:
    dataset = own("workspace-zh")
    found = thinned(pools(dataset, dataset.queries), every=12)
    several = 0
    with PoolStore(found) as store:
        for pool in found:
            deep = make_system(RANKING, store).prepare(pool.entries, now=pool.now)
            host = make_system(HOST, store).prepare(pool.entries, now=pool.now)
            assert isinstance(host, Serving)
            for query in pool.queries:
                ids, size = host.serve(query.text)
                assert len(ids) <= 8
                assert 0 < size <= 5_000
                assert set(ids) <= set(deep.search(query.text, limit=100))
                assert ids[:1] == deep.search(query.text, limit=1)
                several += len(ids) > 1
    assert several


def test_long_entries_leave_room_for_fewer(tmp_path: Path) -> None:
    long = "kestrel " + "exports " * 250  # about 2 000 bytes
    write_set(
        tmp_path / "s",
        documents=[document(name, f"{long} {name}") for name in "abcd"],
        queries=[query("q", "kestrel exports")],
        labels=[("q", name, 1) for name in "abcd"],
    )
    evaluation = evaluate(plan(tmp_path / "s", RANKING, HOST, measures=["R@8", "Bytes@8"]))
    deep, host = evaluation.datasets[0].systems
    assert (deep.queries["q"].scores["R@8"], host.queries["q"].scores["R@8"]) == (1.0, 0.5)
    assert deep.queries["q"].bytes > 4 * 2_000
    assert 2 * 2_000 < host.queries["q"].bytes <= 5_000
    for system in (deep, host):
        assert system.queries["q"].scores["Bytes@8"] == system.queries["q"].bytes


def test_the_summary_takes_its_room_only_where_a_host_is_asked_about(memory: Path) -> None:
    entries = (MemoryEntry(id="a", content="kestrel", title="Kestrel", description="Exports"),)
    sizes = {}
    for summaries in (True, False):
        with PoolStore(summaries=summaries) as store:
            host = make_system(HOST, store).prepare(entries, now=NOW)
            assert isinstance(host, Serving)
            ids, sizes[summaries] = host.serve("kestrel")
            assert ids == ["a"]
            assert bool(list(memory.glob("*/scopes/*/memory_summary.md"))) is summaries
    assert sizes[True] > sizes[False]


# Nothing is left, nothing else is touched


def test_the_store_is_there_while_it_is_asked_and_then_gone(tmp_path: Path, memory: Path) -> None:
    seen: list[int] = []

    def on_progress(_dataset: str, _part: float) -> None:
        seen.append(len(list(memory.glob("*/scopes/*/memory_entries.json"))))

    dataset = write_set(
        tmp_path / "s",
        documents=[document("a", "x", scope="one"), document("b", "x", scope="two")],
        queries=[query("q1", "x", scope="one"), query("q2", "x", scope="two")],
        labels=[("q1", "a", 1), ("q2", "b", 1)],
    )
    evaluate(plan(dataset, RANKING, HOST), on_progress=on_progress)
    # All workspaces before the first question; nothing is left when the answers are scored.
    assert seen == [2, 2, 0, 0]
    assert not list(memory.iterdir())


def test_a_forgotten_store_is_removed(memory: Path) -> None:
    opened = make_system(RANKING).prepare((MemoryEntry(id="a", content="kestrel"),), now=NOW)
    gc.collect()
    assert opened.search("kestrel", limit=1) == ["a"]
    assert list(memory.iterdir())
    del opened
    gc.collect()
    assert not list(memory.iterdir())


def test_peers_need_no_store(tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_store, "_Room", None)
    assert evaluate(plan(write_set(tmp_path / "tiny"), "bm25")).scored
    assert not list(memory.iterdir())


def test_the_users_own_memory_is_never_looked_at(tmp_path: Path) -> None:
    home = Path(os.environ["DSH_HOME"])
    poisoned = home / "workspace-memory" / "global"
    poisoned.mkdir(parents=True)
    (poisoned / "memory_entries.json").write_text('[{"id": "own", "content": "部署脚本"}]')
    before = sorted(path.stat().st_mtime_ns for path in home.rglob("*"))
    evaluation = evaluate(plan(write_set(tmp_path / "tiny"), RANKING, HOST))
    assert not evaluation.skipped
    assert sorted(path.stat().st_mtime_ns for path in home.rglob("*")) == before


@pytest.mark.parametrize(
    ("free", "chosen"),
    [
        pytest.param(1 << 40, True, id="room"),
        pytest.param(1 << 20, False, id="nearly-full"),
    ],
)
def test_memory_is_used_where_it_has_room(
    free: int, chosen: bool, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert pool_store._place(1_000) == (str(memory) if chosen else None)


def test_without_a_memory_file_system_temporary_files_go_where_they_always_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool_store, "_MEMORY", "/there/is/no/such/folder")
    assert pool_store._place(1_000) is None


# Everywhere alike


def test_it_works_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    wanted = evaluate(plan(write_set(tmp_path / "tiny"), RANKING, HOST))

    async def notebook() -> Any:
        return evaluate(plan(tmp_path / "tiny", RANKING, HOST))

    assert asyncio.run(notebook()).rows == wanted.rows


def test_figures_do_not_depend_on_the_number_of_processes_or_on_the_company(
    tmp_path: Path,
) -> None:
    for number in range(2):
        write_set(tmp_path / f"set{number}")
    alone = evaluate(plan(tmp_path, RANKING, HOST))
    shared = evaluate(plan(tmp_path, RANKING, HOST, jobs=2))
    assert alone.rows == shared.rows
    assert [set_.systems[1].queries for set_ in alone.datasets] == [
        set_.systems[1].queries for set_ in shared.datasets
    ]
    without_host = evaluate(plan(tmp_path, "wsmem:reference", RANKING))
    assert _queries(without_host.datasets[0]) == _queries(alone.datasets[0])


def _queries(dataset: DatasetResult) -> Any:
    (found,) = [system.queries for system in dataset.systems if system.system == RANKING]
    return found
