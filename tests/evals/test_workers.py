from __future__ import annotations

import os
import pickle
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from wsmem.errors import ClusterError, InvalidInputError, LostUnitError
from wsmem.evals.workers import ATTEMPTS, open_workers, tell

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    name: str
    folder: Path
    deaths: int = 0
    """How many of the processes that work on it die of it."""


def work(unit: Unit) -> str:
    """Leave a mark of every attempt, then die or answer."""
    attempt = len(list(unit.folder.glob(f"{unit.name}.*")))
    (unit.folder / f"{unit.name}.{attempt}").touch()
    tell(unit.name)
    if attempt < unit.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return unit.name.upper()


def refuse(unit: Unit) -> str:
    if unit.name == "b":
        raise ZeroDivisionError(unit.name)
    return unit.name


def units(folder: Path, **deaths: int) -> list[Unit]:
    return [Unit(name=name, folder=folder, deaths=deaths.get(name, 0)) for name in "abcde"]


def attempts(folder: Path) -> dict[str, int]:
    return {name: len(list(folder.glob(f"{name}.*"))) for name in "abcde"}


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_unit_gives_one_result_with_its_place(tmp_path: Path, jobs: int) -> None:
    with open_workers(jobs=jobs) as workers:
        found = list(workers.unordered(work, units(tmp_path)))
        again = list(workers.unordered(work, []))
    assert sorted(found) == list(enumerate("ABCDE"))
    assert again == []
    assert attempts(tmp_path) == dict.fromkeys("abcde", 1)


def test_a_unit_whose_process_is_killed_is_worked_on_again_and_no_other_is(tmp_path: Path) -> None:
    with open_workers(jobs=2) as workers:
        found = list(workers.unordered(work, units(tmp_path, a=1, d=2)))
    assert sorted(found) == list(enumerate("ABCDE"))
    assert attempts(tmp_path) == {"a": 2, "b": 1, "c": 1, "d": 3, "e": 1}


def test_a_unit_that_always_kills_its_process_is_named_after_the_others_are_done(
    tmp_path: Path,
) -> None:
    found: list[tuple[int, str]] = []
    with open_workers(jobs=2) as workers, pytest.raises(LostUnitError, match=r"^b: its process"):
        found.extend(workers.unordered(work, units(tmp_path, b=99)))
    assert sorted(found) == [(0, "A"), (2, "C"), (3, "D"), (4, "E")]
    assert attempts(tmp_path) == {"a": 1, "b": ATTEMPTS, "c": 1, "d": 1, "e": 1}


def test_a_lost_unit_can_be_given_a_result(tmp_path: Path) -> None:
    with open_workers(jobs=2) as workers:
        results = workers.unordered(
            work, units(tmp_path, c=99), on_lost=lambda place, error: f"{place} {error.attempts}"
        )
        assert dict(results)[2] == f"2 {ATTEMPTS}"


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_function_raises_ends_the_work_and_leaves_the_workers_usable(
    tmp_path: Path, jobs: int
) -> None:
    with open_workers(jobs=jobs) as workers:
        with pytest.raises(ZeroDivisionError, match="b"):
            list(workers.unordered(refuse, units(tmp_path)))
        assert len(list(workers.unordered(work, units(tmp_path)))) == 5


def test_results_can_be_left_before_their_end(tmp_path: Path) -> None:
    with open_workers(jobs=2) as workers:
        results = iter(workers.unordered(work, units(tmp_path)))
        next(results)
        del results
        assert len(list(workers.unordered(work, units(tmp_path)))) == 5


def test_what_a_unit_tells_is_heard_where_it_is_worked_on_here(tmp_path: Path) -> None:
    heard: list[tuple[int, str]] = []
    with open_workers(jobs=1) as workers:
        results = workers.unordered(
            work, units(tmp_path), on_told=lambda place, news: heard.append((place, news))
        )
        assert len(list(results)) == 5
    assert heard == list(enumerate("abcde"))
    tell("nobody listens, and nothing happens")


def test_a_file_is_shared_by_its_path_on_this_machine(tmp_path: Path) -> None:
    with open_workers(jobs=2) as workers:
        assert workers.share(tmp_path).path == tmp_path


def test_no_process_cannot_work() -> None:
    with pytest.raises(InvalidInputError, match="0 processes"), open_workers(jobs=0):
        pass


@pytest.mark.parametrize(
    "error",
    [LostUnitError("b", 3, "gone"), ClusterError("tcp://h:1", "no scheduler", "start one")],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_a_process_boundary(error: Exception) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
