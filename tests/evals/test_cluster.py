from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cluster_kit import Cluster, Unit, attempts, read, refuse, units, work
from distributed import Client

import wsmem
from wsmem.errors import ClusterError, InvalidInputError, LostUnitError
from wsmem.evals.cluster import open_cluster
from wsmem.evals.workers import open_workers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.workers import Workers


@pytest.fixture(scope="module")
def own() -> Iterator[Workers]:
    """Two workers of `local:2`, for all tests that leave them usable."""
    with open_workers(jobs=1, cluster="local:2") as workers:
        yield workers


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler started by hand, at first without workers."""
    with Cluster.start(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def test_every_unit_gives_one_result_with_its_place(own: Workers, tmp_path: Path) -> None:
    assert own.size == 2
    assert sorted(own.unordered(work, units(tmp_path))) == list(enumerate("ABCDE"))
    assert attempts(tmp_path) == dict.fromkeys("abcde", 1)
    assert list(own.unordered(work, [])) == []


def test_a_unit_that_always_kills_its_worker_is_named_after_the_others_are_done(
    own: Workers, tmp_path: Path
) -> None:
    lost: list[LostUnitError] = []

    def on_lost(place: int, error: LostUnitError) -> str:
        assert place == 1
        lost.append(error)
        return "lost"

    found = list(own.unordered(work, units(tmp_path, b=99, d=1), on_lost=on_lost))
    assert sorted(found) == [(0, "A"), (1, "lost"), (2, "C"), (3, "D"), (4, "E")]
    assert found[-1] == (1, "lost")
    assert [str(error).partition(" (")[0] for error in lost] == [
        "b: its process ended without a result, 4 times"
    ]
    assert 2 <= attempts(tmp_path)["b"] <= 4


def test_what_the_function_raises_ends_the_work_and_leaves_the_workers_usable(
    own: Workers, tmp_path: Path
) -> None:
    with pytest.raises(ZeroDivisionError, match="b"):
        list(own.unordered(refuse, units(tmp_path)))
    assert len(list(own.unordered(work, units(tmp_path)))) == 5


@pytest.mark.parametrize("name", ["local:", "local:0", "local:two", "elsewhere", "host:8786"])
def test_what_names_no_cluster_is_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidInputError, match="local:"), open_cluster(name):
        pass


ADDRESSES = ["tcp://127.0.0.1:1", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "nonsense://somewhere"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_scheduler_that_does_not_answer_is_reported_soon(address: str) -> None:
    begun = time.monotonic()
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers .* dask scheduler"),
        open_cluster(address, patience=0.5),
    ):
        pass
    gc.collect()  # a client that was half made would wait for its connection once more
    assert time.monotonic() - begun < 10


def test_a_scheduler_with_certificates_wants_one_of_us() -> None:
    with (
        pytest.raises(ClusterError, match=r"no certificate .*TLS__CA_FILE"),
        open_cluster("tls://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_needs_no_wsmem(tmp_path: Path, no_wsmem: Path) -> None:
    with Cluster.start(tmp_path / "cluster", code=no_wsmem) as cluster:
        cluster.worker()
        with open_cluster(cluster.address) as workers:
            workers.share(Path(__file__))
            assert sorted(workers.unordered(work, units(tmp_path))) == list(enumerate("ABCDE"))


def test_a_scheduler_that_is_killed_ends_the_work_with_what_to_do(tmp_path: Path) -> None:
    results: list[tuple[int, str]] = []

    def run(workers: Workers) -> None:
        for result in workers.unordered(work, [*units(tmp_path, "a"), unending]):
            results.append(result)
            os.kill(cluster.scheduler.pid, signal.SIGKILL)

    unending = Unit(name="b", folder=tmp_path, waits_for="never")
    with Cluster.start(tmp_path / "cluster") as cluster:
        cluster.worker()
        with (
            # A client tries to find its scheduler again for as long as it may wait for one.
            pytest.raises(ClusterError, match=r"scheduler has gone away; start it .*--resume"),
            open_cluster(cluster.address) as workers,
        ):
            run(workers)
    assert results == [(0, "A")]


SHARING = """
import sys, time
from pathlib import Path
from wsmem.evals.cluster import open_cluster
with open_cluster(sys.argv[1]) as workers:
    workers.share(Path(sys.argv[2]))
    print("shared", flush=True)
    time.sleep(600)
"""


def test_copies_of_a_run_that_was_killed_are_thrown_away_by_the_next(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_text("甲", encoding="utf-8")
    with Cluster.start(tmp_path / "cluster") as cluster:
        cluster.worker()
        command = [sys.executable, "-c", SHARING, cluster.address, str(data)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
            assert killed.stdout is not None
            said, kept = killed.stdout.readline(), len(_copies(cluster))
            killed.kill()
        assert (said, kept) == ("shared\n", 1)
        while not _opened(cluster):
            time.sleep(0.05)
        assert _copies(cluster) == []


def _copies(cluster: Cluster) -> list[Path]:
    return list(cluster.folder.rglob("wsmem-*/tree/a.txt"))


def _opened(cluster: Cluster) -> bool:
    """Open the cluster; whether the scheduler knows by then that nobody else is there."""
    with open_cluster(cluster.address):
        return not _copies(cluster)


def test_a_worker_whose_copy_is_gone_is_named_and_gives_no_result(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").touch()
    with Cluster.start(tmp_path / "cluster") as cluster:
        cluster.worker()
        with open_cluster(cluster.address) as workers:
            shared = workers.share(data)
            (copy,) = _copies(cluster)
            shutil.rmtree(copy.parent)
            with pytest.raises(ClusterError, match=r"worker tcp://.* has lost its copies"):
                list(workers.unordered(read, [shared]))


def test_workers_started_by_hand(cluster: Cluster, tmp_path: Path) -> None:
    """One story, because processes take a second to start: none, two, one more, one killed."""
    with (
        pytest.raises(ClusterError, match=r"no worker for 0.2 seconds; .*dask worker tcp://"),
        open_cluster(cluster.address, patience=0.2),
    ):
        pass
    first, _second = cluster.worker(), cluster.worker()
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("甲", encoding="utf-8")
    (folder / "sub" / "b.txt").write_text("b", encoding="utf-8")
    with open_cluster(cluster.address) as workers:
        while workers.size < 2:
            time.sleep(0.05)
        _shared_files_travel(workers, folder, copies=2)
        cluster.worker()  # after the files were shared
        while workers.size < 3:
            time.sleep(0.05)
        places = _shared_files_travel(workers, folder, copies=3)
        _a_killed_worker_loses_nothing(workers, tmp_path, first.pid)
    # Those of the killed worker stay until its machine is cleaned.
    assert sum(Path(place).exists() for place in places) <= 1


def _shared_files_travel(workers: Workers, folder: Path, *, copies: int) -> set[str]:
    shared = workers.share(folder)
    single = workers.share(folder / "a.txt")
    results = [result for _, result in workers.unordered(read, [shared] * 12)]
    places = {place for place, _ in results}
    assert {len(places), *(str(shared.path) in places for _ in "x")} == {copies, False}
    assert all(texts == {"a.txt": "甲", "b.txt": "b"} for _, texts in results)
    ((_, (place, texts)),) = workers.unordered(read, [single])
    assert (Path(place).name, texts) == ("a.txt", {"a.txt": "甲"})
    return places


def _a_killed_worker_loses_nothing(workers: Workers, tmp_path: Path, pid: int) -> None:
    """The worker is killed while it is at a unit and after it has given results."""
    work_units = [
        Unit(name=name, folder=tmp_path, waits_for="dead" if name == "c" else None)
        for name in "cabdefgh"
    ]
    results: list[tuple[int, str]] = []
    for result in workers.unordered(work, work_units):
        results.append(result)
        if len(results) == 1:
            os.kill(pid, signal.SIGKILL)
            (tmp_path / "dead").touch()
    assert sorted(results) == list(enumerate("CABDEFGH"))
    assert workers.size == 2


@pytest.fixture
def other_code(tmp_path: Path) -> Path:
    """A copy of wsmem in which one comment is different."""
    package = Path(wsmem.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(package, tmp_path / "other" / "wsmem", ignore=ignored)
    with (copy / "errors.py").open("a", encoding="utf-8") as file:
        file.write("# another day\n")
    return copy.parent


@pytest.fixture
def no_wsmem(tmp_path: Path) -> Path:
    """Where `import wsmem` finds nothing of ours."""
    empty = tmp_path / "none"
    empty.mkdir()
    (empty / "wsmem.py").touch()  # no package, so there is nothing in it
    return empty


def test_a_worker_with_other_code_is_refused_by_name_early_and_late(
    tmp_path: Path, other_code: Path, no_wsmem: Path
) -> None:
    """It comes while others work, then it is there first, then there is one without wsmem."""
    with Cluster.start(tmp_path / "cluster") as cluster:
        cluster.worker()
        late = _work_until_another_comes(cluster, tmp_path, other_code, "has other code of wsmem")
        with (
            pytest.raises(ClusterError, match=r"worker tcp://.* has other code of wsmem .*install"),
            open_cluster(cluster.address),
        ):
            pass
        late.terminate()  # so it takes its leave of the scheduler
        late.wait()
        late = _work_until_another_comes(
            cluster, tmp_path, no_wsmem, r"worker tcp://.* has no wsmem"
        )
        with (
            pytest.raises(ClusterError, match=r"tcp://.* has no wsmem, .*install wsmem"),
            _opened_with(cluster, count=2),
        ):
            pass


def _work_until_another_comes(
    cluster: Cluster, folder: Path, code: Path, problem: str
) -> subprocess.Popen[bytes]:
    """Data is shared before, so the other worker is given it as it comes."""
    slow = [Unit(name=name, folder=folder, waits_for=f"{code.name}.here") for name in "ab"]
    results: list[tuple[int, str]] = []
    started = []

    def run(workers: Workers) -> None:
        workers.share(Path(__file__))
        for result in workers.unordered(work, [*units(folder, "x"), *slow]):
            results.append(result)
            started.append(cluster.worker(code=code))
            while workers.size < 2:
                time.sleep(0.05)

    with (
        open_cluster(cluster.address) as workers,
        pytest.raises(ClusterError, match=problem),
    ):
        run(workers)
    (folder / f"{code.name}.here").touch()
    assert results == [(0, "X")]
    return started[0]


@contextmanager
def _opened_with(cluster: Cluster, *, count: int) -> Iterator[Workers]:
    """The cluster once it has this many workers; it is vetted then, and may refuse."""
    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=30)
    with open_cluster(cluster.address) as workers:
        yield workers
