"""The figures that the notebook shows are those of the code and the sets beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wsmem.evals.catalogue import find_datasets, own_folder
from wsmem.evals.evaluate import evaluate
from wsmem.evals.notebooks import saved_run
from wsmem.evals.plan import Plan

REMEDY = "run: python benchmarks/refresh_ranking.py, and read what changed with git diff"
OURS = ("wsmem:reference", "wsmem:default", "wsmem:default@host", "wsmem:strict")


def test_the_saved_run_is_small_and_holds_no_path_of_a_machine() -> None:
    run = saved_run("ranking")
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 2_000_000
    assert all(not Path(facts["path"]).is_absolute() for facts in run.manifest["datasets"].values())
    assert not any(Path(word).is_absolute() for word in run.manifest["command"])


def test_the_saved_run_is_of_these_datasets() -> None:
    run = saved_run("ranking")
    own = find_datasets([own_folder()])
    assert set(run.datasets) == set(own), REMEDY


def test_the_ranking_still_gives_the_figures_of_the_saved_run() -> None:
    """Peers are left out: their figures follow the versions of other people's libraries."""
    run = saved_run("ranking")
    sources = find_datasets([own_folder()]).values()
    plan = Plan.of(sources, systems=OURS, measures=run.measures)
    now = {
        (row["dataset"], row["system"], row["measure"]): row["value"]
        for row in (row.to_json() for row in evaluate(plan).rows)
    }
    board = run.board()
    saved = {
        (row.dataset, row.system, row.measure): row.value
        for row in board.itertuples()
        if row.system in OURS
    }
    assert now == pytest.approx(saved, abs=1e-6), REMEDY
