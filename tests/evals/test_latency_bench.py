"""A measurement from end to end, over tiny stores and with real processes."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.errors import RunFolderError, SystemUnavailableError
from wsmem.evals.latency.bench import Step, Tables, measure
from wsmem.evals.latency.contestants import recall
from wsmem.evals.latency.figures import ALL
from wsmem.evals.latency.place import alone
from wsmem.evals.latency.plan import BARE, RANKING, STATES, WSMEM, LatencyPlan
from wsmem.evals.latency.quality import Cut, quality_rows
from wsmem.evals.latency.run import FIGURES, LatencyRun, RunWriter
from wsmem.evals.latency.stores import CWD, timed_store
from wsmem.evals.latency.writing import writers
from wsmem.evals.run_folder import MANIFEST
from wsmem.scopes import workspace_scope
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from wsmem.evals.latency.stores import TimedStore

SMALL = LatencyPlan(
    sizes=(20,),
    padded=(40,),
    peers=("bm25",),
    each=1,
    cold=1,
    commits=2,
    writers=2,
    pause_ms=1.0,
    cuts=(0.0, 5_000.0),
    asked=3,
)


def entries_of(store: TimedStore) -> int:
    return len(MemoryStore(store.root).read_scope(workspace_scope(CWD)).entries)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LatencyRun:
    """Everything, once, over the smallest store there is."""
    folder = tmp_path_factory.mktemp("latency")
    sets = {"small": write_set(folder / "small")}
    news: list[Step] = []
    writer = RunWriter(folder / "run", SMALL, sets)
    for tables in measure(SMALL, sets, on_step=news.append):
        writer.add(tables)
    assert [step.what for step in news] == [*STATES, "small"]
    return writer.finish()


def test_every_state_is_measured_with_real_processes(run: LatencyRun) -> None:
    assert run.tables.skipped == []
    assert run.complete
    assert (run.sizes, run.padded, run.states) == ((20,), (40,), STATES)
    answered = {
        (row["state"], row["system"]): row["n"] for row in run.rows(language=ALL, length=ALL)
    }
    assert answered.keys() == {
        *((state, WSMEM) for state in STATES),
        ("warm", RANKING),
        ("warm", "bm25"),
        ("process", BARE),
        ("process-unfiled", BARE),
    }
    assert answered["warm", WSMEM] == answered["warm", "bm25"] == 9
    assert answered["process", WSMEM] == answered["process", BARE] == 9
    commits = {row["state"]: row["commits"] for row in run.tables.commits}
    assert commits.keys() == {"committing", "writers", "snapshot"}
    assert commits["snapshot"] == 9
    assert min(commits["committing"], commits["writers"]) >= 2


def test_a_whole_process_takes_longer_than_an_interpreter_alone(run: LatencyRun) -> None:
    (ours,) = run.rows(state="process", system=WSMEM, language=ALL, length=ALL)
    (bare,) = run.rows(state="process", system=BARE, language=ALL, length=ALL)
    assert ours["p50"] > bare["p50"] > 1


def test_answers_without_a_deadline_are_whole_and_lose_nothing(run: LatencyRun) -> None:
    (whole,) = run.quality(state="warm", deadline_ms=None)
    assert (whole["whole"], whole["loss"], whole["kept"]) == (whole["n"], 0.0, 1.0)
    assert whole["n"] == 3
    (patient,) = run.quality(state="warm", deadline_ms=5_000.0)
    assert (patient["ndcg"], patient["over"]) == (whole["ndcg"], 0)


@pytest.mark.parametrize("state", ["warm", "fresh", "fresh-unfiled"])
def test_a_deadline_of_nothing_is_answered_and_scored(run: LatencyRun, state: str) -> None:
    (row,) = run.quality(state=state, deadline_ms=0.0)
    assert row["whole"] + row["partial"] + row["empty"] == row["n"] > 0
    assert row["over"] == row["n"]
    if row["whole"] == 0:
        assert (row["ndcg"], row["kept"]) == (0.0, 0.0)


def cut(query: str, deadline_ms: float, ndcg: float, *, scope: str, ms: float = 1.0) -> Cut:
    return Cut(
        dataset="d",
        query=query,
        scope=scope,
        state="warm",
        deadline_ms=deadline_ms,
        ms=ms,
        outcome="whole" if ndcg else "empty",
        ndcg=ndcg,
    )


def test_what_is_kept_under_a_deadline_is_measured_against_the_same_queries() -> None:
    cuts = [
        cut("a", math.inf, 1.0, scope="x"),
        cut("b", math.inf, 0.5, scope="y"),
        cut("c", math.inf, 0.5, scope="y"),
        cut("a", 5.0, 1.0, scope="x", ms=5.25),
        cut("b", 5.0, 0.0, scope="y", ms=4.0),
    ]
    under, without = quality_rows(cuts, entries=40, seed=1)
    assert (under["deadline_ms"], without["deadline_ms"]) == (5.0, None)
    assert (under["n"], under["ndcg"], under["loss"], under["kept"]) == (2, 0.5, 0.25, 0.666667)
    assert (under["whole"], under["empty"]) == (1, 1)
    assert (under["over"], under["most_over_ms"]) == (1, 0.25)
    assert (without["n"], without["ndcg"], without["loss"]) == (3, 0.666667, 0.0)


def test_a_recall_is_timed_and_its_answer_told_apart() -> None:
    async def asked(store: TimedStore, deadline_ms: float) -> tuple[float, str]:
        async with WorkspaceMemoryEngine(store.settings) as engine:
            sample = await recall(engine, store.queries[0], 0, deadline_ms=deadline_ms)
            return sample.ms, sample.outcome

    with timed_store(SMALL, 20) as store:
        ms, outcome = asyncio.run(asked(store, 5_000))
        assert (0 < ms < 5_000, outcome) == (True, "whole")


def test_another_process_commits_when_it_is_told_to() -> None:
    with timed_store(SMALL, 20) as store, writers(store.root, CWD, count=1, seed=1) as (writer,):
        assert entries_of(store) == 20
        for number in range(1, 4):
            writer.write()
            assert entries_of(store) == 20 + number == 20 + writer.commits


def test_other_processes_commit_on_and_on_until_the_block_ends() -> None:
    with timed_store(SMALL, 20) as store:
        with writers(store.root, CWD, count=2, seed=1, pause_ms=1.0) as started:
            for writer in started:
                writer.start()
            until = time.monotonic() + 30
            while any(writer.commits < 2 for writer in started) and time.monotonic() < until:
                time.sleep(0.01)
        found = entries_of(store)
        assert found == 20 + sum(writer.commits for writer in started)
        assert found >= 24
        time.sleep(0.1)
        assert entries_of(store) == found


def test_a_process_that_cannot_write_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with (
        pytest.raises(SystemUnavailableError, match="process"),
        writers(tmp_path / "file", CWD, count=1, seed=1) as (writer,),
    ):
        writer.write()


def tables(entries: int) -> Tables:
    return Tables(commits=[{"entries": entries, "state": "writers", "commits": 3}])


def test_a_measurement_that_is_interrupted_leaves_what_it_had_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    writer = RunWriter(folder, SMALL, {})
    with pytest.raises(RunFolderError, match="holds no manifest"):
        LatencyRun.load(folder)
    writer.add(tables(100))
    partial = LatencyRun.load(folder)
    assert (partial.complete, partial.tables) == (False, tables(100))
    writer.add(tables(20))
    assert [row["entries"] for row in writer.finish().tables.commits] == [20, 100]


def test_an_earlier_run_stays_until_something_new_is_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = RunWriter(folder, SMALL, {})
    first.add(tables(100))
    first.finish()
    second = RunWriter(folder, SMALL, {})
    assert LatencyRun.load(folder).complete
    second.add(tables(20))
    assert LatencyRun.load(folder).tables == tables(20)


def test_a_folder_with_other_things_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="holds something other than such a run"):
        RunWriter(tmp_path, SMALL, {})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        pytest.param(MANIFEST, "{", "cannot be read", id="damaged"),
        pytest.param(MANIFEST, '{"kind": "distillation"}', "is no run of latency", id="other-kind"),
        pytest.param(MANIFEST, '{"kind": "latency", "format": 9}', "upgrade wsmem", id="newer"),
        pytest.param(FIGURES, "{}", "does not hold what a run holds", id="without-figures"),
    ],
)
def test_a_run_that_cannot_be_read_says_what_to_do(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    writer = RunWriter(tmp_path, SMALL, {})
    writer.add(tables(20))
    (tmp_path / name).write_text(text)
    with pytest.raises(RunFolderError, match=said):
        LatencyRun.load(tmp_path)


def test_the_manifest_says_how_the_figures_came_about(run: LatencyRun) -> None:
    told = run.manifest
    assert told["plan"]["sizes"] == [20]
    assert told["plan"]["deadline_ms"] == 250.0
    assert "plugin" not in told["plan"]
    assert set(told["datasets"]["small"]["checksums"]) >= {"corpus.jsonl", "queries.jsonl"}
    assert {"cpus", "load", "platform"} <= told["machine"].keys()
    text = (run.path / FIGURES).read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text
    assert json.loads(text).keys() == vars(Tables).get("__dataclass_fields__", {}).keys()


_HEARS_THE_KEY = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also below a job in the background
from wsmem.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_the_interrupt_key_leaves_a_readable_run_and_no_process(tmp_path: Path) -> None:
    """Interrupted at the second size, while another process writes to its store."""
    folder = tmp_path / "run"
    states = ("--state", "snapshot", "--peer", "none", "--dataset", "none")
    sizes = ("--entries", "20", "--entries", "9000", "--each", "1", "--cold", "20")
    command = [sys.executable, "-c", _HEARS_THE_KEY, "bench", "latency", *states, *sizes]
    process = subprocess.Popen(
        [*command, "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until((folder / MANIFEST).is_file)
        wait_until(lambda: bool(children_of(process.pid)))
        children = children_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) != 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    found = LatencyRun.load(folder)
    assert (found.complete, found.sizes) == (False, (20,))
    assert children
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not done():
        assert time.monotonic() < until
        time.sleep(0.02)


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


def test_a_cluster_measures_one_size_at_a_time_on_a_machine_and_tells_on_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where a machine says that it is busy
    monkeypatch.setattr(tempfile, "tempdir", None)
    plan = replace(SMALL, sizes=(20, 21), states=("warm",), peers=())
    found: list[Tables] = []
    measuring = threading.Thread(
        target=lambda: found.extend(measure(plan, {}, cluster="local:2")), daemon=True
    )
    with alone():
        measuring.start()
        measuring.join(6)
        assert (found, measuring.is_alive()) == ([], True)
    measuring.join(60)
    assert sorted(tables.rows[0]["entries"] for tables in found) == [20, 21]
    writer = RunWriter(tmp_path / "run", plan, {})
    for tables in found:
        writer.add(tables)
    run = writer.finish()
    places = [(row["entries"], row["what"]) for row in run.tables.machines]
    assert places == [(20, "times"), (21, "times")]
    assert run.hosts == 1
    elsewhere = run.tables.machines[0] | {"host": "another"}
    assert replace(run, tables=Tables(machines=[elsewhere, *run.tables.machines])).hosts == 2
