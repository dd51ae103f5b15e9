from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from shared_search import STUDY, TRIALS

from wsmem.evals.tuning.search import ROUND, Storage, _optuna, _shared_study

if TYPE_CHECKING:
    from collections.abc import Iterator

SEARCH = Path(__file__).resolve().parents[2] / "shared_search.py"
PLACES = [
    pytest.param("{}/trials.journal", id="a-journal-file"),
    pytest.param("sqlite:///{}/trials.db", id="a-database"),
]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are ended, by their own ids, whatever happens."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("place", PLACES)
def test_two_processes_share_a_study_and_the_death_of_one_loses_no_trial(
    tmp_path: Path, place: str, started: list[subprocess.Popen[str]]
) -> None:
    place = place.format(tmp_path)
    for names in (("dies", "lives", "2"), ("lives", "dies", "0")):
        command = [sys.executable, str(SEARCH), place, str(tmp_path), *names]
        started.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    dies, lives = started
    while not (tmp_path / "dies.2").exists():
        assert dies.poll() is None, dies.communicate()[1]
        time.sleep(0.01)
    dies.send_signal(signal.SIGKILL)
    out, err = lives.communicate(timeout=60)
    assert lives.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    trials = _shared_study(_optuna(), Storage(place=place, study=STUDY)).get_trials()
    played = Counter(trial.user_attrs["author"] for trial in trials)
    assert len(played) == 2
    # Those of the one that died; a third round may be cut short by what the other has played.
    assert 2 * ROUND in played.values()
    assert [trial.number for trial in trials] == list(range(len(trials)))
    assert len(trials) >= TRIALS
    assert {trial.state.name for trial in trials} == {"COMPLETE"}
    assert sorted(found["history"]) == sorted(trial.value for trial in trials)
    assert found["value"] == max(trial.value for trial in trials)
