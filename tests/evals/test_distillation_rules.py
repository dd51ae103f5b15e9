"""The bars the built-in rules keep on the cases one may tune on; the test split stays shut here."""

from __future__ import annotations

from pathlib import Path

import pytest

from wsmem.evals.distillation.board import ASKED, WHOLE
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.distillers import distillers_named
from wsmem.evals.distillation.evaluation import evaluate_distiller

DATASETS = Path(__file__).resolve().parents[2] / "datasets"


@pytest.mark.parametrize("split", ["train", "dev"])
@pytest.mark.parametrize("name", ["distill-zh", "distill-en", "distill-mixed"])
def test_the_rules_keep_their_bars(name: str, split: str) -> None:
    (rules,) = distillers_named("rules")
    cases = load_case_set(DATASETS / name)
    result = evaluate_distiller(
        cases, rules, split="train" if split == "train" else "dev", resamples=20
    )
    value = {(row.slice, row.measure): row.interval.value for row in result.rows}
    assert value[WHOLE, "FalseSupersede"] == 0
    assert value[WHOLE, "SecretLeak"] == 0
    assert (value[WHOLE, "Restraint"] or 0) >= 0.95
    assert (value[WHOLE, "Target(supersede)"] or 0) >= 0.95
    for part in (ASKED, "explicit-request", "preference", "decision-with-reason"):
        assert (value[part, "F1(add)"] or 0) >= 0.6, part
    assert value[WHOLE, "Answered"] == 1
