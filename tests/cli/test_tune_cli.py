from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set

from wsmem.cli.main import main
from wsmem.evals.tuning.run import TuningRun

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sets of different sources, and no others in sight."""
    for name in ("one", "two"):
        write_set(tmp_path / "own" / name)
    monkeypatch.setenv("WSMEM_DATASETS", str(tmp_path / "own"))
    monkeypatch.delenv("DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def test_tuning_prints_gains_and_weights_and_leaves_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--trials", "12", "--jobs", "1", "--out", "run", "--name", "mine", "--step", "folds")
    assert main(["tune", *given, "--hold", "evidence_cap=3", "--signal", "terms"]) == 0
    said = capsys.readouterr()
    assert "held-out" in said.out
    assert "length_saturation" in said.out
    assert "trials a second on 2 sets, one core" in said.out
    assert "wsmem eval --profile run/profile.json" in said.err
    run = TuningRun.load(tmp_path / "run")
    assert run.profile["name"] == "mine"
    assert run.profile["evidence_cap"] == 3
    assert "importance" not in run.manifest["settings"]["signals"]
    assert main(["eval", "--profile", "run/profile.json", "--system", "bm25", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["system"] for row in rows} == {"bm25", "wsmem:run/profile.json"}


def test_a_formula_chooses_what_is_maximised(tmp_path: Path) -> None:
    given = ("--trials", "5", "--jobs", "1", "--out", "run", "--step", "none")
    assert main(["tune", *given, "--objective", "nDCG@5 - 0.5 * FalseRecall"]) == 0
    run = TuningRun.load(tmp_path / "run")
    assert run.manifest["settings"]["objective"] == "nDCG@5 - 0.5 * FalseRecall"
    assert set(run.searches) == {"fit"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--objective", "MAP"], "is no objective", id="objective"),
        pytest.param(["--sampler", "grid"], "no sampler named 'grid'", id="sampler"),
        pytest.param(["--signal", "magic"], "no signal named 'magic'", id="signal"),
        pytest.param(["--hold", "pairs"], "write NAME=VALUE", id="held-without-value"),
        pytest.param(["--hold", "pairs=x"], "is no number", id="held-with-a-word"),
        pytest.param(["--step", "magic"], "no step named 'magic'", id="step"),
        pytest.param(["--trials", "0"], "find nothing", id="no-trials"),
        pytest.param(["--dataset", "three"], "no dataset named 'three'", id="set"),
        pytest.param(["--start", "reference"], "only terms matching", id="start"),
        pytest.param(
            ["--storage", "sqlite:///x.db", "--sampler", "ascent"], "keeps no trials", id="storage"
        ),
        pytest.param(
            ["--storage", "nosuch://x", "--jobs", "1", "--step", "none"],
            "the storage nosuch://x cannot be used",
            id="storage-of-no-kind",
        ),
        pytest.param(
            ["--storage", "mysql://u:Tr0ub4dor-3@127.0.0.1/x", "--jobs", "1", "--step", "none"],
            "the storage mysql://u:[REDACTED]@127.0.0.1/x cannot be used",
            id="storage-without-its-driver",
        ),
        pytest.param(
            ["--storage", "sqlite:///x.db", "--cluster", "tcp://127.0.0.1:8786"],
            "another one on every machine",
            id="storage-in-a-file-of-one-machine",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "place", "said"),
    [
        pytest.param(
            "tune", "wsmem.evals.tuning.tuner.tune", "the same command goes on in", id="tune"
        ),
        pytest.param(
            "eval", "wsmem.evals.evaluate.evaluate", "the same command with --resume", id="eval"
        ),
    ],
)
def test_who_interrupts_a_long_command_is_told_how_it_goes_on(
    command: str,
    place: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    assert main([command, "--out", str(tmp_path / "out")]) != 0
    assert said in capsys.readouterr().err
