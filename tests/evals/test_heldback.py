"""The rules on conversations of another hand, kept apart from all that they were made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from wsmem.evals.distillation.board import ASKED, WHOLE
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.distillers import distillers_named
from wsmem.evals.distillation.evaluation import evaluate_distiller

HELDBACK = Path(__file__).resolve().parents[2] / "benchmarks" / "heldback"


@pytest.mark.parametrize("name", ["distill-zh", "distill-en"])
def test_the_rules_do_no_harm_to_words_they_have_not_seen(name: str) -> None:
    (rules,) = distillers_named("rules")
    cases = load_case_set(HELDBACK / name)
    result = evaluate_distiller(cases, rules, split="test", resamples=20)
    value = {(row.slice, row.measure): row.interval.value for row in result.rows}
    assert value[WHOLE, "FalseSupersede"] == 0
    assert value[WHOLE, "SecretLeak"] == 0
    assert (value[WHOLE, "Restraint"] or 0) >= 0.9
    assert (value[ASKED, "F1(add)"] or 0) >= 0.6
