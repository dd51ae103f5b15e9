from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from cluster_kit import Cluster
from labelled_sets import document, query, write_set

from wsmem.cli.main import main
from wsmem.errors import RunFolderError
from wsmem.evals import evaluate as module
from wsmem.evals.asking import Work, ask
from wsmem.evals.catalogue import find_datasets
from wsmem.evals.evaluate import evaluate
from wsmem.evals.ledger import LEDGER, Ledger
from wsmem.evals.plan import Plan
from wsmem.evals.run import Run, open_ledger, write_run
from wsmem.evals.run_folder import MANIFEST
from wsmem.evals.workers import Shared, hold, release
from wsmem.evals.worst import WORST
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.asking import Asked
    from wsmem.evals.results import Evaluation, Skipped

SYSTEMS = ("wsmem:reference", "wsmem:default@host", "bm25", "fts5:bigram")


def write_sets(folder: Path, *, small: int) -> Path:
    """Some small sets, one that cannot be read, and one that is worth taking apart."""
    for number in range(small):
        write_set(folder / f"small{number}")
    write_set(folder / "damaged", labels=[("q1", "d9", 1)])
    texts = [
        f"Runbook {n}: 服务 s{n % 7} 的端口是 {5000 + n}，owner is team {n % 5}" for n in range(60)
    ]
    write_set(
        folder / "large",
        documents=[document(f"d{n}", text, scope=f"w{n % 3}") for n, text in enumerate(texts)],
        queries=[query(f"q{n}", f"端口 {5000 + n} owner", scope=f"w{n % 3}") for n in range(60)],
        labels=[(f"q{n}", f"d{n}", 1) for n in range(60)],
    )
    return folder


def plan(folder: Path, **options: Any) -> Plan:
    sources = find_datasets([folder]).values()
    return Plan.of(sources, **{"systems": SYSTEMS, "jobs": 1, "worst": WORST, **options})


def files(evaluation: Evaluation | None, folder: Path) -> dict[str, bytes]:
    """Every file of a run but the one that says when and where it was made."""
    if evaluation is not None:
        write_run(evaluation, folder)
    paths = [path for path in folder.rglob("*.*") if path.is_file() and path.name != MANIFEST]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sets, a large one and a damaged one."""
    return write_sets(tmp_path_factory.mktemp("sets"), small=2)


@pytest.fixture(scope="module")
def alone(sets: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process gives on its own."""
    return files(evaluate(plan(sets)), tmp_path_factory.mktemp("alone"))


def test_a_cluster_gives_the_same_bytes_as_one_process(
    tmp_path: Path, sets: Path, alone: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WSMEM_DATASETS", str(sets))
    monkeypatch.delenv("DATA", raising=False)
    systems = [part for name in SYSTEMS for part in ("--system", name)]
    out = tmp_path / "far"
    assert main(["eval", "--cluster", "local:2", "--out", str(out), *systems]) == 0
    assert files(None, out) == alone
    assert Run.load(out).manifest["settings"]["cluster"] == "local:2"
    assert not (out / LEDGER).exists()


def test_a_worker_killed_by_its_id_loses_no_answer_and_repeats_no_recorded_one(
    tmp_path: Path, sets: Path, alone: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "far"
    out.mkdir()
    place = tmp_path / "cluster"
    place.mkdir()
    with Cluster.start(place) as cluster:
        first, second = cluster.worker(), cluster.worker()
        recorded: list[str] = []
        record = Ledger.record

        def kill_after_the_first(ledger: Ledger, key: str, result: Any, *, unit: str = "") -> None:
            record(ledger, key, result, unit=unit)
            recorded.append(unit)
            if len(recorded) == 1:
                os.kill(first.pid, signal.SIGKILL)

        monkeypatch.setattr(Ledger, "record", kill_after_the_first)
        with Ledger(out / LEDGER) as ledger:
            evaluation = evaluate(plan(sets, cluster=cluster.address), ledger=ledger)
        lines = [json.loads(line) for line in (out / LEDGER).read_text().splitlines()]
        assert first.wait() == -signal.SIGKILL
        assert second.poll() is None
    names = ("large", "small0", "small1")
    wanted = sorted(f"{system} on {name}" for system in SYSTEMS for name in names)
    assert sorted(recorded) == sorted(line["unit"] for line in lines) == wanted
    assert len({line["key"] for line in lines}) == len(lines)
    assert files(evaluation, out) == alone


def test_a_profile_of_ones_own_is_read_from_the_copy_where_there_is_one(tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps(load_profile("reference").to_json()))
    gone = tmp_path / "gone.json"
    name = f"wsmem:{gone}@host"
    work = Work(
        name="set",
        folder=Shared(origin=tmp_path),
        systems=(name,),
        profiles={name: Shared(origin=gone, key="key")},
        plan=Plan.of([], systems=[name]),
    )
    hold("key", copy)
    try:
        assert work.make(name).settings["profile"] == load_profile("reference").to_json()
    finally:
        release("key")


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = write_sets(tmp_path / "many", small=8)
    systems = ("wsmem:default", "bm25")
    whole = files(evaluate(plan(sets, systems=systems)), tmp_path / "whole")
    out = tmp_path / "out"
    command = ["eval", "--datasets-dir", str(sets), "--jobs", "1", "--out", str(out)]
    command += [part for name in systems for part in ("--system", name)]
    monkeypatch.delenv("DATA", raising=False)
    running = subprocess.Popen(
        [sys.executable, "-m", "wsmem.cli.main", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not ((out / LEDGER).exists() and (out / LEDGER).read_bytes().count(b"\n") > 4):
        assert running.poll() is None
        time.sleep(0.005)
    running.kill()
    running.wait()
    kept = (out / LEDGER).read_bytes().count(b"\n")
    asked: list[str] = []

    def count(work: Work) -> Asked | Skipped:
        asked.extend(f"{system} on {work.name}" for system in work.systems)
        return ask(work)

    monkeypatch.setattr(module, "ask", count)
    assert main([*command, "--resume"]) == 0
    assert len(asked) == len(systems) * 10 - kept  # 8 small, one large, one damaged
    assert files(None, out) == whole


def test_what_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = write_set(tmp_path / "sets" / "one").parent
    with Ledger(tmp_path / LEDGER) as ledger:
        evaluate(plan(sets, systems=["bm25"]), ledger=ledger)
        evaluation = evaluate(plan(sets), ledger=ledger)
        assert len(ledger) == len(SYSTEMS)
        monkeypatch.setattr(module, "ask", None)  # whoever is asked now fails
        assert evaluate(plan(sets), ledger=ledger).rows == evaluation.rows


CHANGES: list[Any] = [
    pytest.param({"limit": 2}, id="another-limit"),
    pytest.param({"measures": ["R@50"]}, id="a-deeper-ranking"),
    pytest.param({"split": "dev"}, id="another-split"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_answers_to_something_else_are_not_taken_from_the_ledger(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    sets = write_set(tmp_path / "sets" / "one").parent
    write_set(sets / "one", split="dev")
    with Ledger(tmp_path / LEDGER) as ledger:
        evaluate(plan(sets, systems=["bm25"]), ledger=ledger)
        evaluate(plan(sets, systems=["bm25"], **change), ledger=ledger)
        assert len(ledger) == 2
        write_set(sets / "one", labels=[("q1", "d1", 1)])
        evaluate(plan(sets, systems=["bm25"]), ledger=ledger)
        assert len(ledger) == 3  # the files changed


def test_seeds_and_shallower_measures_need_no_new_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = write_set(tmp_path / "sets" / "one").parent
    with Ledger(tmp_path / LEDGER) as ledger:
        evaluate(plan(sets), ledger=ledger)
        monkeypatch.setattr(module, "ask", None)
        assert evaluate(plan(sets, seed=9, measures=["RR@10"]), ledger=ledger).scored


def test_a_finished_run_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = write_set(tmp_path / "sets" / "one").parent
    write_run(evaluate(plan(sets)), tmp_path / "out")
    with pytest.raises(RunFolderError, match="finished run"):
        open_ledger(tmp_path / "out", resume=True)
    assert main(["eval", "--datasets-dir", str(sets), "--resume"]) != 0
    assert "--out DIR" in capsys.readouterr().err
