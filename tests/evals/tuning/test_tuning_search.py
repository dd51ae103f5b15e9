from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tuning_kit import drawn_duels

from wsmem.errors import InvalidInputError, UnknownNameError
from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.search import SAMPLERS, Sampler, Search, Storage, sampler_named, trial_value
from wsmem.evals.tuning.space import CAP, LEAST, SHARE, Space
from wsmem.retrieval.profile import Profile, load_profile

if TYPE_CHECKING:
    from pathlib import Path

START = Profile(
    name="start", weights={"coverage": 2.0, "pairs": 0.5, "surfaced": -1}, evidence_share=0.1
)
SPACE = Space.of(START, signals=["coverage", "pairs", "recency", "surfaced"])
OBJECTIVE = Objective()


def search(sampler: Sampler, trials: int = 48, seed: int = 3) -> Search:
    return Search(trials=trials, sampler=sampler, seed=seed)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_search_begins_at_the_start_improves_on_it_and_is_repeatable(sampler: Sampler) -> None:
    duels = drawn_duels()
    found = search(sampler).run(duels, SPACE, OBJECTIVE)
    start = trial_value(duels, SPACE, OBJECTIVE, SPACE.beginning())
    assert found.history[0] == pytest.approx(start)
    assert len(found.history) == 48
    assert found.value == max(found.history) > start
    assert found.best_so_far[-1] == found.value
    assert trial_value(duels, SPACE, OBJECTIVE, found.parameters) == found.value
    assert search(sampler).run(duels, SPACE, OBJECTIVE) == found
    assert search(sampler, seed=4).run(duels, SPACE, OBJECTIVE).history != found.history


@pytest.mark.parametrize("sampler", ["cma-es", "tpe"])
@pytest.mark.parametrize("place", ["journal", "sqlite:///{}.db"])
def test_a_search_broken_off_goes_on_as_if_it_had_not_been(
    sampler: Sampler, place: str, tmp_path: Path
) -> None:
    duels = drawn_duels()
    at = str(tmp_path / place) if "{" not in place else place.format(tmp_path / "trials")
    storage = Storage(place=at, study="one")
    search(sampler, trials=16).run(duels, SPACE, OBJECTIVE, storage=storage)
    counted: list[int] = []
    resumed = search(sampler, trials=48).run(
        duels, SPACE, OBJECTIVE, storage=storage, on_trials=counted.append
    )
    assert counted == [16, 16, 16]
    assert resumed.history == search(sampler, trials=48).run(duels, SPACE, OBJECTIVE).history


def test_searches_that_share_a_storage_learn_from_each_other(tmp_path: Path) -> None:
    duels = drawn_duels()
    storage = Storage(place=str(tmp_path / "journal"), study="one")
    ours = search("tpe", trials=32).run(duels, SPACE, OBJECTIVE, storage=storage)
    theirs = search("tpe", trials=32, seed=9).run(duels, SPACE, OBJECTIVE, storage=storage)
    assert theirs.history == ours.history
    more = search("tpe", trials=48, seed=9).run(duels, SPACE, OBJECTIVE, storage=storage)
    assert more.history[:32] == ours.history


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"trials": 0}, id="no-trials"),
        pytest.param({"seed": -1}, id="negative-seed"),
    ],
)
def test_an_impossible_search_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Search(**given)


def test_an_unknown_sampler_is_named() -> None:
    assert sampler_named("tpe") == "tpe"
    with pytest.raises(UnknownNameError, match="cma-es"):
        sampler_named("grid")


def test_a_space_searches_multiples_of_the_anchor_and_the_threshold() -> None:
    assert SPACE.anchor == "coverage"
    assert set(SPACE.free) == {"pairs", "recency", "surfaced", SHARE, CAP}
    assert SPACE.free["pairs"].low == pytest.approx(LEAST * 2)
    assert SPACE.beginning() == {
        "pairs": 0.5,
        "recency": LEAST * 2,
        "surfaced": 1.0,
        SHARE: 0.1,
        CAP: 1.0,
    }
    whole = SPACE.all_of({"pairs": 0.3, "surfaced": 0.2, SHARE: 0.1, CAP: 2.0})
    assert whole == {"coverage": 2.0, "pairs": 0.3, "surfaced": -0.2, SHARE: 0.1, CAP: 2.0}
    profile = SPACE.as_profile(whole, name="found")
    assert dict(profile.weights) == {"coverage": 2.0, "pairs": 0.3, "surfaced": -0.2}
    assert (profile.evidence_share, profile.evidence_cap) == (0.1, 2.0)


def test_families_name_all_their_signals() -> None:
    space = Space.of(load_profile("default"))
    assert "length_saturation" in space.signals
    assert "recency" in space.signals
    assert "phrase" not in space.signals
    assert "phrase" in Space.of(load_profile("default"), signals=["substring", "terms"]).signals


def test_what_is_held_is_not_searched() -> None:
    space = Space.of(START, signals=["coverage", "pairs"], held={"pairs": 0.7, CAP: 3.0})
    assert set(space.free) == {SHARE}
    assert space.all_of({SHARE: 0.2}) == {"coverage": 2.0, "pairs": 0.7, CAP: 3.0, SHARE: 0.2}


def test_another_anchor_takes_over_where_it_is_removed() -> None:
    assert SPACE.without("recency").anchor == "coverage"
    rest = SPACE.without("coverage")
    assert (rest.anchor, rest.scale) == ("surfaced", 1.0)
    assert "coverage" not in rest.signals


@pytest.mark.parametrize(
    ("given", "error"),
    [
        pytest.param({"signals": ["magic"]}, UnknownNameError, id="no-such-signal"),
        pytest.param({"signals": ["recency"]}, InvalidInputError, id="nothing-to-measure-by"),
        pytest.param({"anchor": "recency"}, InvalidInputError, id="an-anchor-without-weight"),
        pytest.param({"held": {"magic": 1.0}}, UnknownNameError, id="no-such-parameter"),
        pytest.param({"held": {"coverage": 1.0}}, UnknownNameError, id="the-anchor-is-held-anyway"),
    ],
)
def test_a_space_that_cannot_be_is_refused(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Space.of(START, **given)


def test_only_terms_matching_can_be_tuned() -> None:
    with pytest.raises(InvalidInputError, match="terms"):
        Space.of(load_profile("reference"))
