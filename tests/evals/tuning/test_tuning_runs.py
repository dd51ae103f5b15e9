from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from labelled_sets import LABELS, write_set
from tuning_kit import drawn_duels

from wsmem.errors import InvalidInputError, RunFolderError
from wsmem.evals.catalogue import Source
from wsmem.evals.tuning.assess import SetFigures, best_variant, gains
from wsmem.evals.tuning.findings import learning_curve
from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.run import KIND, TuningRun
from wsmem.evals.tuning.search import Search
from wsmem.evals.tuning.space import Space
from wsmem.evals.tuning.study import Result
from wsmem.evals.tuning.tuner import Tuning, tune
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from pathlib import Path

VARIANTS = ("bm25:lucene,k1=1.2,b=0.75", "bm25:bm25+,k1=1.2,b=0.75")


def small_study(folder: Path) -> Tuning:
    """A study of three small sets in two groups, one of them with a split for tuning."""
    sources = []
    for name in ("a-zh", "a-en", "b"):
        path = write_set(folder / "sets" / name, split="test")
        sources.append(Source(name=name, path=path))
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, label)) for label in LABELS[:1])]
    (sources[0].path / "qrels" / "dev.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    rest = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, label)) for label in LABELS[1:])]
    (sources[0].path / "qrels" / "test.tsv").write_text("\n".join(rest) + "\n", encoding="utf-8")
    return Tuning(
        sources=tuple(sources),
        space=Space.of(load_profile("default")),
        out=folder / "run",
        objective=Objective(),
        search=Search(trials=20),
        variants=VARIANTS,
        jobs=1,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TuningRun:
    return tune(small_study(tmp_path_factory.mktemp("study")))


def test_the_folder_holds_all_that_was_found_and_how(run: TuningRun) -> None:
    loaded = TuningRun.load(run.path)
    assert loaded == run
    manifest = run.manifest
    assert manifest["kind"] == "tuning"
    assert manifest["settings"]["objective"] == str(Objective())
    assert manifest["settings"]["open_test"] is False
    assert manifest["datasets"]["a-zh"]["split"] == "dev"
    assert manifest["datasets"]["b"]["split"] == "test"
    assert manifest["datasets"]["a-zh"]["group"] == manifest["datasets"]["a-en"]["group"] == "a"
    assert set(manifest["datasets"]["b"]["checksums"]) == {
        "corpus.jsonl",
        "queries.jsonl",
        "qrels/test.tsv",
    }
    assert manifest["speed"]["trials_per_second"] > 0
    names = set(run.searches)
    assert {"fit", "fold:a", "fold:b", "without:pairs", "curve:1:0", "sampler:tpe:0"} <= names


def test_the_profile_can_be_loaded_and_says_where_it_comes_from(run: TuningRun) -> None:
    profile = load_profile(run.path / "profile.json")
    assert profile.name == "tuned"
    assert profile.to_json() == run.profile
    provenance = profile.provenance
    assert provenance["objective"] == str(Objective())
    assert provenance["search"] == "cma-es+ascent, 20 trials, seed 0"
    assert set(provenance["tuned_on"]) == {"a-zh", "a-en", "b"}
    assert provenance["tuned_on"]["a-zh"].startswith("dev ")
    assert {"default", "wsmem:reference"} < set(provenance["gain"])


def test_every_set_is_scored_by_weights_that_did_not_see_its_group(run: TuningRun) -> None:
    figures = {(row["dataset"], row["part"]): row for row in run.results["figures"]}
    assert set(figures) == {("a-zh", "validation"), ("a-en", "validation"), ("b", "validation")}
    for row in figures.values():
        assert {"held-out", "tuned", "default", "wsmem:reference", *VARIANTS} <= set(row["ndcg"])
    found = {(row["dataset"], row["over"]) for row in run.results["gains"]}
    assert {("mean", "default"), ("b", "wsmem:reference")} <= found
    assert all(
        row["verdict"] in {"better", "worse", "inconclusive"} for row in run.results["gains"]
    )


def test_queries_are_kept_with_what_every_system_got(run: TuningRun) -> None:
    text = (run.path / "queries" / "b-test.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    means = {row["dataset"]: row["ndcg"] for row in run.results["figures"]}["b"]
    assert [row["query"] for row in rows] == ["q1", "q2", "q3"]
    for system in ("held-out", "wsmem:reference"):
        mean = np.mean([row["ndcg"][system] for row in rows])
        assert mean == pytest.approx(means[system], abs=1e-5)


def test_the_test_split_is_scored_only_when_it_is_opened_by_name(tmp_path: Path) -> None:
    study = replace(small_study(tmp_path), open_test=True, steps=("folds", "peers"))
    run = tune(study)
    assert run.manifest["settings"]["open_test"] is True
    final = [row for row in run.results["figures"] if row["part"] == "final"]
    assert [(row["dataset"], row["split"], row["queries"]) for row in final] == [
        ("a-zh", "test", 2)
    ]
    assert {row["system"] for row in run.results["gains"] if row["part"] == "final"} == {"tuned"}


def test_a_study_repeated_in_another_folder_finds_the_same(run: TuningRun, tmp_path: Path) -> None:
    again = tune(small_study(tmp_path))
    assert again.results == run.results
    assert again.profile["weights"] == run.profile["weights"]


def test_a_fit_alone_needs_neither_peers_nor_folds(tmp_path: Path) -> None:
    run = tune(replace(small_study(tmp_path), steps=()))
    assert set(run.searches) == {"fit"}
    assert run.results["gains"] == []
    assert all(row["searched"] is None for row in run.results["ablation"])


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunFolderError, match="something other"):
        KIND.claim(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text('{"kind": "distillation"}', encoding="utf-8")
    with pytest.raises(RunFolderError, match="something other"):
        KIND.claim(other)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="damaged"),
        pytest.param("[]", id="not-an-object"),
        pytest.param('{"kind": "distillation"}', id="another-kind"),
        pytest.param('{"kind": "tuning", "format": 99}', id="newer"),
    ],
)
def test_what_is_no_run_of_this_kind_is_not_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RunFolderError):
        TuningRun.load(tmp_path)


def test_an_impossible_study_is_refused(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    with pytest.raises(InvalidInputError, match="no labelled set"):
        replace(study, sources=())
    with pytest.raises(InvalidInputError, match="limit"):
        replace(study, limit=0)
    with pytest.raises(InvalidInputError, match="storage"):
        replace(study, search=Search(sampler="ascent"), storage="sqlite:///x.db")


def figures(dataset: str, **ndcg: list[float]) -> SetFigures:
    count = len(next(iter(ndcg.values())))
    return SetFigures(
        dataset=dataset,
        split="test",
        part="validation",
        queries=tuple(f"q{at}" for at in range(count)),
        scopes=(None,) * count,
        ndcg={name.replace("_", ":"): tuple(values) for name, values in ndcg.items()},
        false_recall={},
        nothing=0,
    )


def test_the_mean_over_sets_counts_each_set_the_same() -> None:
    found = gains(
        [
            figures("small", ours=[1.0], theirs=[0.5]),
            figures("large", ours=[0.1] * 9, theirs=[0.1] * 9),
        ],
        system="ours",
        over=["theirs"],
        part="validation",
        seed=0,
    )
    mean = next(gain for gain in found if gain.dataset == "mean")
    assert mean.found.difference == pytest.approx(0.25)
    assert mean.found.second == pytest.approx(0.55)


def test_a_gain_on_many_queries_is_a_verdict_and_on_few_is_not() -> None:
    clear = figures("clear", ours=[0.6, 0.7] * 40, theirs=[0.5, 0.6] * 40)
    few = figures("few", ours=[0.6, 0.7], theirs=[0.5, 0.6])
    found = gains([clear, few], system="ours", over=["theirs"], part="validation", seed=0)
    verdicts = {gain.dataset: gain.found.verdict for gain in found}
    assert verdicts["clear"] == "better"
    assert verdicts["few"] == "inconclusive"


def test_the_best_variant_has_the_greatest_mean_over_sets() -> None:
    sets = [
        figures("one", bm25_lucene=[0.5, 0.5], bm25_atire=[0.6, 0.6], ours=[0.9, 0.9]),
        figures("two", bm25_lucene=[0.9], bm25_atire=[0.7], ours=[0.9]),
    ]
    assert best_variant(sets) == "bm25:lucene"
    assert best_variant([]) is None


def test_held_out_weights_are_compared_with_where_the_search_began(tmp_path: Path) -> None:
    began = replace(load_profile("default").with_weights(title=3.0), name="mine")
    study = replace(small_study(tmp_path), steps=("folds", "curve"))
    study = replace(study, space=Space.of(began))
    run = tune(study)
    assert {row["over"] for row in run.results["gains"]} == {"default", "start"}
    assert run.results["curve"]
    # Where it began with what ships, there is nothing more to compare with.
    again = tune(replace(small_study(tmp_path / "again"), steps=("folds",)))
    assert {row["over"] for row in again.results["gains"]} == {"default"}


def test_a_curve_is_flat_at_zero_for_searches_that_found_what_they_began_with() -> None:
    duels = drawn_duels("a", "b")
    start = load_profile("default")
    known = {name: weight for name, weight in start.weights.items() if name in duels.signals}
    held = {"evidence_share": start.evidence_share, "evidence_cap": start.evidence_cap}
    fold = Result(
        name="fold:b",
        sets=("a",),
        parameters=known | held,
        value=0.5,
        raw_value=0.5,
        start_value=0.5,
        trials=1,
        best_so_far=(0.5,),
    )
    (row,) = learning_curve(duels, Objective(), {"fold:b": fold}, start)
    assert row["gain"] == 0
    other = replace(fold, parameters={"recency": 5.0} | held)
    (changed,) = learning_curve(duels, Objective(), {"fold:b": other}, start)
    assert changed["gain"] != 0
