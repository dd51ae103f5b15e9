from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_sets import write_set
from tuning_kit import drawn_set

from wsmem.evals.catalogue import Source
from wsmem.evals.intervals import wilson
from wsmem.evals.tuning.abstention import (
    ALLOWED,
    Point,
    abstention,
    choose,
    front,
    play,
    strict_profile,
)
from wsmem.evals.tuning.cached import score_set
from wsmem.evals.tuning.frames import abstention_frame
from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.page import render
from wsmem.evals.tuning.plots import abstention_chart
from wsmem.evals.tuning.search import Search
from wsmem.evals.tuning.space import Space
from wsmem.evals.tuning.tuner import Tuning, tune
from wsmem.retrieval.profile import Profile, load_profile

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(name="tried", weights={"coverage": 1.0, "pairs": 0.5}, evidence_share=0.1)


def point(ndcg: float, false_recall: float, **others: object) -> Point:
    values = {
        "where": "chosen on",
        "evidence_share": 0.5,
        "evidence_cap": 1.0,
        "sets": 1,
        "kept": 1,
        "judged": 2,
        "recalled": 1,
        "nothing": 2,
    }
    return Point(ndcg=ndcg, false_recall=false_recall, **{**values, **others})  # type: ignore[arg-type]  # by name


def test_the_front_leaves_out_what_another_betters_in_both_figures() -> None:
    best, cheap, worse, equal = point(0.9, 0.4), point(0.5, 0.1), point(0.4, 0.2), point(0.5, 0.3)
    assert front([worse, best, equal, cheap]) == [cheap, best]


def test_of_points_with_the_same_false_recall_the_better_ranking_stays() -> None:
    assert front([point(0.5, 0.1), point(0.6, 0.1)]) == [point(0.6, 0.1)]


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([0.1, 0.2, 0.3]))))
def test_every_point_is_matched_or_bettered_by_one_of_the_front(
    drawn: list[tuple[float, float]],
) -> None:
    points = [point(*each) for each in drawn]
    found = front(points)
    for each in points:
        assert any(
            kept.ndcg >= each.ndcg and kept.false_recall <= each.false_recall for kept in found
        )
    for first, second in pairwise(found):
        assert first.ndcg < second.ndcg
        assert first.false_recall < second.false_recall


def test_chosen_is_the_best_ranking_whose_interval_lies_within_what_is_allowed() -> None:
    # Wilson's 95 % intervals of 7, 2 and 0 of 147 end at 0.095, 0.048 and 0.025.
    counts = ((0.7, 7), (0.6, 2), (0.5, 0))
    points = [point(ndcg, n / 147, recalled=n, nothing=147) for ndcg, n in counts]
    assert choose(points, allowed=0.1) == points[0]
    assert choose(points, allowed=0.05) == points[1]
    assert choose(points, allowed=0.03) == points[2]
    assert choose(points, allowed=0.02) is None


def test_a_point_is_what_the_profile_scores_set_by_set() -> None:
    sets = [drawn_set(seed, name=f"s{seed}", queries=40) for seed in (1, 2)]
    found = play(sets, PROFILE, k=10, where="chosen on")
    scores = [score_set(cached, PROFILE) for cached in sets]
    assert found.ndcg == pytest.approx(sum(each.mean for each in scores) / 2)
    assert found.false_recall == pytest.approx(sum(each.false_recall or 0 for each in scores) / 2)
    assert found.recalled == sum(int(each.recalled[each.nothing].sum()) for each in scores)
    assert found.nothing == sum(int(cached.nothing.sum()) for cached in sets)


def test_thresholds_are_chosen_without_a_look_at_the_other_sets() -> None:
    choosing = [drawn_set(1, queries=40)]
    one, other = drawn_set(2, queries=40), drawn_set(3, queries=40)
    first = abstention(PROFILE, {"chosen on": choosing, "test": [one]}, k=10)
    second = abstention(PROFILE, {"chosen on": choosing, "test": [other]}, k=10)
    count = len(first) // 2
    assert first[:count] == second[:count]
    assert [each.threshold for each in first[:count]] == [each.threshold for each in first[count:]]
    choices = [strict_profile(PROFILE, each, allowed=1.0) for each in (first, second)]
    assert choices[0] is not None
    assert choices[1] is not None
    assert choices[0].evidence_share == choices[1].evidence_share
    assert choices[0].evidence_cap == choices[1].evidence_cap


def test_the_threshold_that_ships_is_always_among_them() -> None:
    found = abstention(PROFILE, {"chosen on": [drawn_set(1, queries=40)]}, k=10)
    assert found[-1].threshold == (0.1, 1.0)


def test_sets_without_queries_that_nothing_answers_are_passed_over() -> None:
    bare = drawn_set(4, queries=0)
    assert abstention(PROFILE, {"chosen on": [bare]}, k=10) == []


def test_strict_has_the_weights_that_were_found_and_keeps_to_what_is_allowed() -> None:
    cached = drawn_set(1, queries=200)
    points = abstention(PROFILE, {"chosen on": [cached]}, k=10)
    allowed = points[len(points) // 2].most_recalled
    strict = strict_profile(PROFILE, points, allowed=allowed)
    assert strict is not None
    assert strict.name == "strict"
    assert strict.weights == PROFILE.weights
    again = score_set(cached, strict)
    assert again.false_recall is not None
    assert again.false_recall <= allowed
    figures = strict.provenance["figures"]["chosen on"]
    assert figures["FalseRecall"] == round(again.false_recall, 4)
    assert strict_profile(PROFILE, [], allowed=1.0) is None


def test_the_shipped_strict_profile_is_default_with_another_threshold() -> None:
    strict, default = load_profile("strict"), load_profile("default")
    assert strict.weights == default.weights
    assert strict.matching == default.matching
    assert strict.evidence_share * strict.evidence_cap > (
        default.evidence_share * default.evidence_cap
    )
    recalled, nothing = strict.provenance["figures"]["chosen on"]["recalled"].split(" of ")
    assert (wilson(int(recalled), int(nothing)).high or 1.0) <= ALLOWED


def test_a_study_says_what_recalling_nothing_costs(tmp_path: Path) -> None:
    sources = [Source(name=name, path=write_set(tmp_path / name)) for name in ("one", "two")]
    run = tune(
        Tuning(
            sources=tuple(sources),
            space=Space.of(load_profile("default"), signals=("length_saturation", "title")),
            out=tmp_path / "run",
            objective=Objective(allowed=0.8),  # two such queries leave much room
            search=Search(trials=5),
            steps=("abstention",),
            jobs=1,
        )
    )
    rows = run.results["abstention"]
    assert {row["where"] for row in rows} == {"chosen on"}
    assert run.strict is not None
    assert load_profile(run.path / "strict.json").to_json() == run.strict
    frame = abstention_frame(run)
    assert "strict" in " ".join(frame["profile"])
    assert 'id="abstention"' in render(run)
    assert abstention_chart(run).lines["chosen on"]
    assert 'id="abstention"' not in render(replace(run, results={**run.results, "abstention": []}))
