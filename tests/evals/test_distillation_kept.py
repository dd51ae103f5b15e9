"""The recordings and the run in the repository are whole, harmless and of this code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.distillers import distillers_named
from wsmem.evals.distillation.evaluation import DistillPlan, evaluate
from wsmem.evals.distillation.kept import FOLDER, kept_cassette, kept_run
from wsmem.redaction.redact import contains_secret

ROOT = Path(__file__).resolve().parents[2]
REMEDY = "run: python benchmarks/refresh_distill.py, and read what changed with git diff"
RERECORD = "a prompt or the cases changed: run benchmarks/record_smollm2.py, then refresh"
CASSETTES = tuple(path.stem for path in sorted(FOLDER.glob("*.jsonl")))


def test_a_real_model_was_recorded_under_two_prompts() -> None:
    assert len(CASSETTES) >= 2


@pytest.mark.parametrize("name", CASSETTES)
def test_cassettes_are_small_and_hold_no_credential(name: str) -> None:
    path = kept_cassette(name)
    assert path.stat().st_size < 1_000_000
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 40
    assert not any(contains_secret(json.loads(line)["completion"]["text"]) for line in lines)


def test_the_run_holds_no_path_of_a_machine() -> None:
    manifest = kept_run().manifest
    assert not any(Path(facts["path"]).is_absolute() for facts in manifest["datasets"].values())
    words = [word.removeprefix("cassette:") for word in manifest["command"]]
    assert not any(Path(word).is_absolute() for word in words)
    files = [path for path in kept_run().path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_rules_and_recordings_still_give_the_figures_of_the_run() -> None:
    run = kept_run()
    named = [
        spec for name in CASSETTES for spec in distillers_named(f"cassette:{kept_cassette(name)}")
    ]
    sets = tuple(load_case_set(ROOT / "datasets" / name) for name in run.datasets)
    plan = DistillPlan(sets=sets, distillers=(*distillers_named("rules"), *named), split="test")
    found = evaluate(plan)
    scored = {(r.dataset, r.distiller): len(r.judgements) for r in found.results}
    recorded = {key: n for key, n in scored.items() if "rules" not in key[1]}
    assert len(recorded) == len(named) * len(sets), RERECORD
    assert set(recorded.values()) == {24}, RERECORD
    now = {
        (row["dataset"], row["distiller"], row["slice"], row["measure"]): row["value"]
        for row in (row.to_json() for row in found.rows)
    }
    saved = {
        (row["dataset"], row["distiller"], row["slice"], row["measure"]): row["value"]
        for row in run.rows
    }
    assert now == pytest.approx(saved, abs=1e-6), REMEDY
