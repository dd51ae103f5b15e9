"""The run of latency that the repository keeps is whole, small and of no particular machine."""

from __future__ import annotations

from pathlib import Path

from wsmem.evals.catalogue import find_datasets, own_folder
from wsmem.evals.latency.figures import ALL
from wsmem.evals.latency.page import render
from wsmem.evals.latency.plan import STATES, WSMEM, LatencyPlan
from wsmem.evals.latency.run import kept_run

REMEDY = "run: python benchmarks/refresh_latency.py, and read what changed with git diff"


def test_the_kept_run_is_complete_and_of_the_present_plan() -> None:
    run = kept_run()
    plan = LatencyPlan()
    assert run.complete, REMEDY
    assert (run.states, run.padded) == (STATES, plan.padded), REMEDY
    assert run.manifest["plan"]["cuts"] == list(plan.cuts), REMEDY
    measured = {
        (row["entries"], row["state"]) for row in run.rows(system=WSMEM, language=ALL, length=ALL)
    }
    assert measured == {(size, state) for size in run.sizes for state in STATES}, REMEDY


def test_the_kept_run_is_small_and_holds_no_path_of_a_machine() -> None:
    run = kept_run()
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert not any(Path(word).is_absolute() for word in run.manifest["command"])
    assert not any(Path(facts["path"]).is_absolute() for facts in run.manifest["datasets"].values())


def test_the_quality_in_the_kept_run_is_of_these_sets() -> None:
    own = find_datasets([own_folder()])
    told = kept_run().manifest["datasets"]
    assert told.keys() == {name for name in own if name.startswith("workspace-")}, REMEDY


def test_the_kept_run_makes_a_page() -> None:
    run = kept_run()
    page = render(run)
    for size in run.sizes:
        assert f'id="size-{size}"' in page
