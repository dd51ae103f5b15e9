from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from labelled_sets import document as line
from labelled_sets import write_lines, write_set
from shared_data import SHARED

from wsmem.errors import InvalidInputError
from wsmem.evals.catalogue import Source
from wsmem.evals.evaluate import evaluate_dataset
from wsmem.evals.plan import Plan
from wsmem.evals.results import DatasetResult
from wsmem.evals.tuning.cached import CachedSet, score_set
from wsmem.evals.tuning.candidates import final_split, read_set, tuning_split
from wsmem.evals.tuning.files import cached_set, load_arrays, save_arrays
from wsmem.retrieval.profile import Profile, load_profile
from wsmem.retrieval.signals import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = Path(__file__).resolve().parents[3] / "datasets"
EVERYTHING = Profile(
    name="everything",
    weights={name: -1.0 if name == "surfaced" else 0.3 + 0.1 * at for at, name in enumerate(NAMES)},
    evidence_share=0.2,
    evidence_cap=1.5,
)


def recalled(
    source: Source, profile: str, split: str | None
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """nDCG@10 and FalseRecall by query, asked of the engine's public recall."""
    plan = Plan.of(
        [source], systems=[profile], measures=["nDCG@10", "FalseRecall"], split=split, jobs=1
    )
    found = evaluate_dataset(source, plan)
    assert isinstance(found, DatasetResult)
    (system,) = found.systems
    queries = system.queries.items()
    return (
        {name: result.scores["nDCG@10"] for name, result in queries},
        {name: result.scores["FalseRecall"] for name, result in queries},
    )


def agree(source: Source, profile: Profile, system: str) -> None:
    cached = read_set(source, split=tuning_split(source.path), signals=NAMES)
    scores = score_set(cached, profile)
    ndcg, false_recall = recalled(source, system, tuning_split(source.path))
    assert list(ndcg) == list(cached.queries)
    ours = [None if np.isnan(value) else value for value in scores.ndcg.tolist()]
    assert [value is None for value in ours] == [value is None for value in ndcg.values()]
    assert [value or 0.0 for value in ours] == pytest.approx(
        [value or 0.0 for value in ndcg.values()], abs=1e-9
    )
    told = {name: share for name, share in false_recall.items() if share is not None}
    assert told == {
        name: float(found)
        for name, found, nothing in zip(
            cached.queries, scores.recalled.tolist(), cached.nothing.tolist(), strict=True
        )
        if nothing
    }


@pytest.mark.parametrize("name", ["workspace-zh", "workspace-en", "workspace-mixed"])
def test_a_cached_set_scores_as_the_public_recall_does_on_our_own_sets(name: str) -> None:
    agree(Source(name=name, path=OWN / name), load_profile("default"), "wsmem:default")


@pytest.mark.parametrize("name", ["memorybank-zh", "madial-en"])
def test_a_cached_set_scores_as_the_public_recall_does_on_public_sets(name: str) -> None:
    folder = SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip(f"the public sets are not beside this checkout: no {name}")
    agree(Source(name=name, path=folder), load_profile("default"), "wsmem:default")


def test_weights_on_every_signal_score_alike_too(tmp_path: Path) -> None:
    path = tmp_path / "everything.json"
    path.write_text(json.dumps(EVERYTHING.to_json()), encoding="utf-8")
    agree(Source(name="workspace-mixed", path=OWN / "workspace-mixed"), EVERYTHING, f"wsmem:{path}")


def small(
    *,
    columns: Mapping[str, list[float]],
    ties: list[int],
    grades: list[int],
    labels: list[int],
    evidence: list[float] | None = None,
) -> CachedSet:
    """One query with a few candidates."""
    count = len(ties)
    return CachedSet(
        name="small",
        split="dev",
        checksums={},
        signals=tuple(columns),
        queries=("q",),
        scopes=(None,),
        nothing=np.array([not labels]),
        totals=np.array([2.0]),
        greatest=np.array([1.0]),
        starts=np.array([0, count]),
        evidence=np.array(evidence or [1.0] * count),
        ties=np.array(ties),
        grades=np.array(grades),
        columns={name: np.array(column) for name, column in columns.items()},
        label_starts=np.array([0, len(labels)]),
        labels=np.array(labels, dtype=np.int64),
    )


COVERAGE = Profile(name="coverage", weights={"coverage": 2.0})


def test_gains_are_graded_and_measured_by_the_best_order_of_all_labels() -> None:
    # Ranked: grade 1 first, nothing second, grade 2 third; one more of grade 1 was never found.
    cached = small(
        columns={"coverage": [0.9, 0.5, 0.1]}, ties=[0, 1, 2], grades=[1, 0, 2], labels=[2, 1, 1]
    )
    gained = 1 / np.log2(2) + 2 / np.log2(4)
    ideal = 2 / np.log2(2) + 1 / np.log2(3) + 1 / np.log2(4)
    assert score_set(cached, COVERAGE).ndcg.tolist() == pytest.approx([gained / ideal])


@pytest.mark.parametrize(
    ("scores", "rank"),
    [
        pytest.param([0.5, 0.5], 1, id="equal-scores-go-by-the-tie-order"),
        pytest.param([0.5, 0.5 + 4e-11], 1, id="scores-equal-to-nine-digits-do-too"),
        pytest.param([0.5, 0.5 + 4e-9], 2, id="a-larger-difference-decides"),
    ],
)
def test_ties_are_broken_as_ranking_breaks_them(scores: list[float], rank: int) -> None:
    cached = small(columns={"coverage": scores}, ties=[0, 1], grades=[1, 0], labels=[1])
    assert score_set(cached, COVERAGE).mean == pytest.approx(1 / np.log2(1 + rank))


def test_what_has_too_little_evidence_is_not_recalled() -> None:
    cached = small(
        columns={"coverage": [0.9, 0.1]}, ties=[0, 1], grades=[0, 1], labels=[1], evidence=[0.1, 2]
    )
    strict = Profile(name="strict", weights={"coverage": 1.0}, evidence_share=0.5)
    assert score_set(cached, COVERAGE).mean == pytest.approx(1 / np.log2(3))
    assert score_set(cached, strict).mean == pytest.approx(1.0)


def test_a_query_that_should_recall_nothing_counts_only_for_false_recall() -> None:
    cached = small(columns={"coverage": [0.9]}, ties=[0], grades=[0], labels=[])
    scores = score_set(cached, COVERAGE)
    assert np.isnan(scores.ndcg).all()
    assert np.isnan(scores.mean)
    assert scores.false_recall == 1.0


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(load_profile("reference"), id="substring-matching"),
        pytest.param(Profile(name="p", weights={"title": 1.0}), id="a-signal-not-cached"),
    ],
)
def test_a_profile_that_the_cache_cannot_score_is_refused(profile: Profile) -> None:
    cached = small(columns={"coverage": [0.9]}, ties=[0], grades=[1], labels=[1])
    with pytest.raises(InvalidInputError):
        score_set(cached, profile)


def test_a_cache_gives_back_what_was_computed_and_notices_changed_data(tmp_path: Path) -> None:
    source = Source(name="one", path=write_set(tmp_path / "one"))
    cache = tmp_path / "cache"
    first = cached_set(source, split=None, signals=NAMES, cache=cache)
    again = cached_set(source, split=None, signals=NAMES, cache=cache)
    assert len(list(cache.iterdir())) == 1
    assert (again.queries, again.scopes, again.signals) == (
        first.queries,
        first.scopes,
        first.signals,
    )
    for name, column in first.columns.items():
        assert np.array_equal(again.columns[name], column)
    assert np.array_equal(again.evidence, first.evidence)
    documents = [line("d1", "部署脚本 deploy"), line("d2", "billing exports owner")]
    write_lines(source.path / "corpus.jsonl", [*documents, line("d3", "数据库"), line("d4", "x")])
    changed = cached_set(source, split=None, signals=NAMES, cache=cache)
    assert len(list(cache.iterdir())) == 2
    assert changed.checksums != first.checksums


def test_a_damaged_cache_file_is_made_anew(tmp_path: Path) -> None:
    source = Source(name="one", path=write_set(tmp_path / "one"))
    cache = tmp_path / "cache"
    first = cached_set(source, split=None, signals=NAMES, cache=cache)
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    again = cached_set(source, split=None, signals=NAMES, cache=cache)
    assert np.array_equal(again.evidence, first.evidence)
    assert load_arrays(path) is not None


def test_arrays_are_stored_with_their_plain_values(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", {"name": "存储"}, {"x": np.arange(3)})
    stored = load_arrays(tmp_path / "a.npz")
    assert stored is not None
    assert stored[0] == {"name": "存储"}
    assert stored[1]["x"].tolist() == [0, 1, 2]
    assert load_arrays(tmp_path / "absent.npz") is None


def test_a_set_with_a_split_for_tuning_is_tuned_on_that_and_tested_on_the_other(
    tmp_path: Path,
) -> None:
    both = write_set(tmp_path / "both")
    (both / "qrels" / "dev.tsv").write_bytes((both / "qrels" / "test.tsv").read_bytes())
    alone = write_set(tmp_path / "alone")
    assert (tuning_split(both), final_split(both)) == ("dev", "test")
    assert (tuning_split(alone), final_split(alone)) == (None, None)
