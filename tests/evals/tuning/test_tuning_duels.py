from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tuning_kit import SIGNS, drawn_set

from wsmem.evals.tuning.cached import score_set
from wsmem.evals.tuning.duels import Duels, make_duels, stacked
from wsmem.evals.tuning.files import load_duels, save_duels
from wsmem.retrieval.profile import Profile

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = st.fixed_dictionaries(
    {
        "coverage": st.floats(0.01, 4),
        "pairs": st.floats(0.01, 4),
        "recency": st.floats(-2, 2).filter(lambda weight: abs(weight) > 0.01),
        "surfaced": st.floats(-3, -0.01),
    }
)


@given(
    seed=st.integers(0, 10_000),
    weights=WEIGHTS,
    share=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]),
    cap=st.sampled_from([0.3, 1.0, 5.0]),
    k=st.sampled_from([1, 3, 10]),
)
def test_duels_are_decided_as_ranking_decides(
    seed: int, weights: dict[str, float], share: float, cap: float, k: int
) -> None:
    cached = drawn_set(seed)
    profile = Profile(name="drawn", weights=weights, evidence_share=share, evidence_cap=cap)
    exact = score_set(cached, profile, k=k)
    found = make_duels(cached, SIGNS, k=k).play(weights, share=share, cap=cap)
    if cached.judged.any():
        assert found.ndcg[0] == pytest.approx(exact.mean, abs=1e-9)
    else:
        assert found.ndcg[0] == 0
    if exact.false_recall is None:
        assert np.isnan(found.false_recall[0])
    else:
        assert found.false_recall[0] == pytest.approx(exact.false_recall)


def test_a_rival_behind_in_every_signal_needs_no_duel() -> None:
    cached = drawn_set(3, queries=60)
    candidates = sum(
        int((cached.grades[start:end] > 0).sum()) * (end - start - 1)
        for start, end in zip(cached.starts[:-1].tolist(), cached.starts[1:].tolist(), strict=True)
    )
    known = make_duels(cached, {"coverage": 1, "pairs": 1})
    assert 0 < len(known) < candidates / 2
    assert len(make_duels(cached, {"coverage": 0, "pairs": 0})) > len(known)


def outcome(duels: Duels) -> tuple[list[float], list[float]]:
    weights = {"coverage": 1.0, "pairs": 0.5, "recency": -0.2, "surfaced": -1.0}
    found = duels.play(weights, share=0.2, cap=2.0)
    return found.ndcg.tolist(), np.nan_to_num(found.false_recall, nan=-1).tolist()


def test_stacked_sets_give_what_each_gives_alone() -> None:
    parts = [make_duels(drawn_set(seed, name=f"s{seed}"), SIGNS) for seed in range(5)]
    whole = stacked(parts)
    alone = [outcome(part) for part in parts]
    assert outcome(whole) == (
        [ndcg for (ndcg,), _ in alone],
        [share for _, (share,) in alone],
    )
    some = whole.of(["s3", "s1"])
    assert some.sets == ("s3", "s1")
    assert outcome(some) == (alone[3][0] + alone[1][0], alone[3][1] + alone[1][1])


def test_a_set_without_candidates_scores_nothing() -> None:
    empty = make_duels(drawn_set(0, queries=2, most=1), SIGNS)
    assert len(empty) == 0
    assert outcome(empty)[0] == [0.0]


def test_duels_survive_their_file(tmp_path: Path) -> None:
    duels = stacked([make_duels(drawn_set(seed, name=f"s{seed}"), SIGNS) for seed in range(3)])
    save_duels(duels, tmp_path / "duels.npz")
    again = load_duels(tmp_path / "duels.npz")
    assert again is not None
    assert (again.sets, again.signals, again.k) == (duels.sets, duels.signals, duels.k)
    assert outcome(again) == outcome(duels)
    assert load_duels(tmp_path / "none.npz") is None
