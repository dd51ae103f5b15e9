from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tuning_kit import drawn_duels

from wsmem.evals.ledger import Ledger
from wsmem.evals.tuning import study
from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.planning import STEPS, groups, units
from wsmem.evals.tuning.search import SAMPLERS, Found, Search, trial_value
from wsmem.evals.tuning.space import CAP, SHARE, Space
from wsmem.evals.tuning.study import (
    Result,
    Unit,
    carry_out,
    parameters_value,
    simplified,
    thinned,
    work,
    write_duels,
)
from wsmem.evals.workers import Shared, open_workers
from wsmem.retrieval.profile import Profile

if TYPE_CHECKING:
    from pathlib import Path

START = Profile(name="start", weights={"coverage": 2.0, "pairs": 0.5}, evidence_share=0.1)
SPACE = Space.of(START, signals=["coverage", "pairs", "recency"])


def base(folder: Path, *, trials: int = 20) -> Unit:
    duels = drawn_duels()
    return Unit(
        name="fit",
        sets=duels.sets,
        space=SPACE,
        search=Search(trials=trials),
        objective=Objective(),
        worth=0.001,
        duels=Shared(origin=write_duels(duels, folder, data="d")),
    )


def test_sets_that_share_their_texts_are_one_group() -> None:
    found = groups(["madial-zh", "cacm-en", "madial-en", "locomo"])
    assert found == {
        "madial": ("madial-zh", "madial-en"),
        "cacm": ("cacm-en",),
        "locomo": ("locomo",),
    }


def test_where_there_is_one_group_only_each_set_is_its_own() -> None:
    assert groups(["madial-zh", "madial-en"]) == {
        "madial-zh": ("madial-zh",),
        "madial-en": ("madial-en",),
    }


def test_a_fold_leaves_its_whole_group_out_and_an_ablation_one_signal(tmp_path: Path) -> None:
    fit = base(tmp_path)
    todo = {unit.name: unit for unit in units(fit, steps=STEPS)}
    assert todo["fold:a"].sets == ("b", "c")
    assert todo["fold:b"].sets == ("a-zh", "a-en", "c")
    assert todo["without:pairs"].space.signals == ("coverage", "recency")
    assert todo["without:coverage"].space.anchor == "pairs"
    assert len(todo["curve:1:0"].sets) in {1, 2}
    tried = {name.split(":")[1] for name in todo if name.startswith("sampler:")}
    assert tried == set(SAMPLERS)
    assert [unit.name for unit in units(fit, steps=[])] == ["fit"]


def test_every_search_has_a_study_of_its_own_in_a_storage(tmp_path: Path) -> None:
    todo = units(base(tmp_path), steps=STEPS, storage="sqlite:///trials.db")
    studies = [unit.storage.study for unit in todo if unit.storage is not None]
    assert len(set(studies)) == len(todo)


def test_trials_of_other_data_or_objectives_are_not_taken_for_ours(tmp_path: Path) -> None:
    unit = base(tmp_path)
    more = replace(unit, search=Search(trials=500))
    reseeded = replace(unit, search=Search(trials=20, seed=7))
    assert more.study("d", shared=False) == unit.study("d", shared=False)
    assert reseeded.study("d", shared=False) != unit.study("d", shared=False)
    assert reseeded.study("d", shared=True) == unit.study("d", shared=True)
    for other in (replace(unit, objective=Objective(k=5)), replace(unit, worth=0.1)):
        assert other.study("d", shared=True) != unit.study("d", shared=True)
    assert unit.study("e", shared=True) != unit.study("d", shared=True)


def test_what_is_finished_is_not_searched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = units(base(tmp_path), steps=["folds"])
    with Ledger(tmp_path / "ledger.jsonl") as ledger, open_workers(jobs=1) as workers:
        first = carry_out(todo[:2], workers, ledger=ledger, data="d")
    asked: list[str] = []

    def watched(unit: Unit) -> Result:
        asked.append(unit.name)
        return work(unit)

    monkeypatch.setattr(study, "work", watched)
    done: dict[str, int] = {}

    def on_trials(name: str, count: int) -> None:
        done[name] = done.get(name, 0) + count

    with Ledger(tmp_path / "ledger.jsonl") as ledger, open_workers(jobs=1) as workers:
        again = carry_out(todo, workers, ledger=ledger, data="d", on_trials=on_trials)
    assert asked == [unit.name for unit in todo[2:]]
    assert {name: again[name] for name in first} == first
    assert done == {unit.name: 20 for unit in todo}


def test_other_data_or_settings_are_other_searches(tmp_path: Path) -> None:
    unit = base(tmp_path)
    others = [
        replace(unit, sets=unit.sets[1:]),
        replace(unit, search=Search(trials=20, seed=1)),
        replace(unit, objective=Objective(k=5)),
        replace(unit, space=SPACE.without("pairs")),
        replace(unit, worth=0.1),
    ]
    keys = {each.key("d") for each in (unit, *others)} | {unit.key("e")}
    assert len(keys) == len(others) + 2
    assert replace(unit, name="another name").key("d") == unit.key("d")


def test_a_search_in_another_process_finds_the_same(tmp_path: Path) -> None:
    todo = units(base(tmp_path), steps=["folds"])[:2]
    with Ledger(tmp_path / "here.jsonl") as ledger, open_workers(jobs=1) as workers:
        here = carry_out(todo, workers, ledger=ledger, data="d")
    with Ledger(tmp_path / "there.jsonl") as ledger, open_workers(jobs=2) as workers:
        assert carry_out(todo, workers, ledger=ledger, data="d") == here


def test_weights_that_add_nothing_are_taken_out_and_the_rest_is_rounded() -> None:
    duels, objective = drawn_duels(), Objective()
    found = Search(trials=40).run(duels, SPACE, objective)
    kept = simplified(duels, SPACE, objective, found, worth=0.002)
    assert set(kept) >= {"coverage", SHARE, CAP}
    assert all(value == float(f"{value:.8g}") for value in kept.values())
    assert parameters_value(duels, objective, kept) > found.value - 0.002 * len(SPACE.signals)
    everything = simplified(duels, SPACE, objective, found, worth=1.0)
    assert set(everything) == {"coverage", SHARE, CAP}
    assert trial_value(duels, SPACE, objective, found.parameters) == found.value


def test_a_result_is_stored_and_read_back(tmp_path: Path) -> None:
    result = work(base(tmp_path))
    assert Result.from_json(result.to_json()) == result
    assert result.start_value <= result.raw_value


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [
        pytest.param(3, 5, [0, 1, 2], id="few-stay"),
        pytest.param(10, 5, [1, 3, 5, 7, 9], id="even-steps-to-the-last"),
    ],
)
def test_long_histories_are_thinned(count: int, most: int, expected: list[float]) -> None:
    assert list(thinned([float(at) for at in range(count)], most=most)) == expected


def test_no_more_digits_are_kept_than_the_objective_needs() -> None:
    duels, objective = drawn_duels(), Objective()
    space = Space.of(START, signals=["coverage", "pairs"], held={"pairs": 0.7123456})
    found = Found(parameters={SHARE: 0.1234567, CAP: 2.345678}, value=0.0, history=(0.0,))
    short = simplified(duels, space, objective, found, worth=0.0)
    assert short == {"coverage": 2.0, "pairs": 0.7123456, SHARE: 0.123, CAP: 2.35}
    unreachable = replace(found, value=2.0)
    exact = simplified(duels, space, objective, unreachable, worth=0.0)
    assert exact[SHARE] == 0.1234567


def test_a_weight_that_the_sets_do_not_show_stays_as_it_was(tmp_path: Path) -> None:
    duels = drawn_duels()
    unsaid = np.array(duels.differences)
    unsaid[duels.signals.index("pairs")] = 0.0
    silent = replace(duels, differences=unsaid)
    assert silent.silent == ("pairs",)
    shared = Shared(origin=write_duels(silent, tmp_path, data="silent"))
    found = work(replace(base(tmp_path), duels=shared)).parameters
    assert found["pairs"] == START.weights["pairs"]
