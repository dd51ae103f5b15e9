"""What ships is bound to its evidence: other weights, rules and terms are red at any price."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import broken_ranking
import pytest
from broken_ranking import everywhere, forget_terms, halve, ship_edited
from labelled_sets import document, query, write_set

from wsmem.evals.catalogue import Source
from wsmem.evals.gate.evidence import SAMPLE, study_departures
from wsmem.evals.gate.judging import judge_ranking
from wsmem.evals.gate.running import SYSTEMS, fresh_run
from wsmem.evals.gate.trying import candidate_system, judge_candidate
from wsmem.evals.tuning.kept import FOLDER
from wsmem.retrieval.profile import load_profile, profile_names
from wsmem.text import analysis, stemming, stopwords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wsmem.evals.gate.judging import RankingVerdict
    from wsmem.evals.gate.record import RankingRecord

    Edit = Callable[[dict[str, Any]], object]

DEFAULT, REFERENCE, _ = SYSTEMS
WEIGHTS = [(name, signal) for name in profile_names() for signal in load_profile(name).weights]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A set so small that no change of its figures could ever be told from chance."""
    texts = ("部署脚本在 deploy.sh", "the deploys were retried", "max_retry_count is 5", "网关端口")
    folder = write_set(
        tmp_path_factory.mktemp("sets") / "small",
        documents=[document(f"d{n}", text) for n, text in enumerate(texts)],
        queries=[query("q0", "部署脚本", lang="zh"), query("q1", "retry of deploys", lang="en")],
        labels=[("q0", "d0", 2), ("q1", "d1", 2)],
    )
    return Source(name="small", path=folder)


@pytest.fixture(scope="module")
def sound(source: Source) -> RankingRecord:
    return fresh_run([source]).record


@pytest.fixture(autouse=True)
def terms_as_they_were(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    monkeypatch.undo()
    forget_terms()


def judged(sound: RankingRecord, source: Source) -> RankingVerdict:
    return judge_ranking(sound, fresh_run([source]))


def told(found: RankingVerdict) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(item.kind, item.subject, item.changes) for item in found.unproven]


# Profiles


@pytest.mark.parametrize(
    ("name", "signal"), [pytest.param(*pair, id="-".join(pair)) for pair in WEIGHTS]
)
def test_a_halved_weight_is_red_and_a_restored_one_is_green(
    name: str,
    signal: str,
    sound: RankingRecord,
    source: Source,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    weight = load_profile(name).weights[signal]
    with monkeypatch.context() as patch:
        ship_edited(patch, tmp_path, name, halve(signal))
        found = judged(sound, source)
        claims = study_departures()
    assert not found.passed
    assert told(found) == [("weights", name, (f"{signal} {weight:g} -> {weight / 2:g}",))]
    assert bool(claims) == (name == "default")
    restored = judged(sound, source)
    assert restored.passed
    assert not restored.departures


@pytest.mark.parametrize("name", profile_names())
@pytest.mark.parametrize(
    ("edit", "kind", "change"),
    [
        pytest.param(
            lambda raw: raw.update(evidence_share=0.25), "rule", "evidence_share", id="share"
        ),
        pytest.param(lambda raw: raw.update(evidence_cap=0.5), "rule", "evidence_cap", id="cap"),
        pytest.param(
            lambda raw: raw.update(
                matching="terms" if raw["matching"] == "substring" else "substring"
            ),
            "rule",
            "matching",
            id="matching",
        ),
        pytest.param(
            lambda raw: raw["weights"].update(coverage=1e-9), "weights", "coverage", id="added"
        ),
        pytest.param(
            lambda raw: raw["weights"].pop("importance"), "weights", "importance", id="removed"
        ),
        pytest.param(
            lambda raw: raw["weights"].update(importance=raw["weights"]["importance"] + 1e-12),
            "weights",
            "importance",
            id="by-a-hair",
        ),
    ],
)
def test_any_other_edit_of_how_a_profile_ranks_is_red(
    name: str,
    edit: Edit,
    kind: str,
    change: str,
    sound: RankingRecord,
    source: Source,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    ship_edited(monkeypatch, tmp_path, name, edit)
    found = judged(sound, source)
    assert not found.passed
    ((was, subject, changes),) = told(found)
    assert (was, subject) == (kind, name)
    assert [text.partition(" ")[0] for text in changes] == [change]


def test_what_a_profile_is_called_ranks_nothing(
    sound: RankingRecord, source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ship_edited(monkeypatch, tmp_path, "reference", lambda raw: raw.update(name="other"))
    assert judged(sound, source).passed


def test_what_became_of_the_figures_is_told_beside_a_departure(
    sound: RankingRecord, source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ship_edited(monkeypatch, tmp_path, "default", halve("length_saturation"))
    found = judged(sound, source)
    assert not found.losses
    ((about, row),) = found.departed
    assert (about.system, about.measure, about.dataset) == (DEFAULT, "nDCG@10", "small")
    assert (row.difference, row.low, row.high) == (0.0, 0.0, 0.0)
    assert found.to_json()["unproven"] is True


def test_a_candidate_is_judged_by_its_figures_alone(
    sound: RankingRecord, source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        path = ship_edited(patch, tmp_path, "default", halve("length_saturation"))
    found = judge_candidate(sound, fresh_run([source], systems=[candidate_system(str(path))]))
    assert found.passed
    assert [item.kind for item in found.departures] == ["weights"]  # told, but held against nobody
    assert {about.system for about, _ in found.rows} == {DEFAULT}


# Terms


def drop_whole_identifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    run_terms = analysis.run_terms
    everywhere(monkeypatch, run_terms, lambda run: run_terms(run)._replace(whole=None))


def keep_case(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, analysis.lower, str)


def keep_wide_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, analysis.fold, str)


def forget_a_function_word(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, stopwords.ENGLISH, stopwords.ENGLISH - {"were"})


def weigh_function_words_more(monkeypatch: pytest.MonkeyPatch) -> None:
    word = analysis._FUNCTION_WORD
    everywhere(monkeypatch, word, word._replace(weight=word.weight + 0.01))


@pytest.mark.parametrize(
    "break_it",
    [
        broken_ranking.lose_every_other_pair,
        broken_ranking.lose_pairs,
        broken_ranking.lose_stems,
        drop_whole_identifiers,
        keep_case,
        keep_wide_forms,
        forget_a_function_word,
        weigh_function_words_more,
    ],
    ids=lambda found: found.__name__,
)
def test_other_terms_are_red_also_where_no_figure_shows_it(
    break_it: Callable[[pytest.MonkeyPatch], None],
    sound: RankingRecord,
    source: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_it(monkeypatch)
    found = judged(sound, source)
    assert not found.losses
    ((kind, subject, _),) = told(found)
    assert kind == "terms"
    assert SAMPLE in subject


def test_a_word_of_the_sets_that_the_sample_lacks_is_enough(
    sound: RankingRecord, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One stem of one word: the sample does not have it, an entry does."""
    stem = stemming.stemmed
    everywhere(monkeypatch, stem, lambda word: "deploi" if word == "deploys" else stem(word))
    found = judged(sound, source)
    assert told(found) == [("terms", "small", ())]


# What a profile says of itself


def test_the_shipped_default_is_what_the_committed_study_found() -> None:
    assert study_departures() == ()


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        pytest.param(halve("tags"), ("tags",), id="weight"),
        pytest.param(lambda raw: raw.update(evidence_share=0.1), ("evidence_share",), id="share"),
        pytest.param(
            lambda raw: raw["provenance"]["gain"].clear(), ("its provenance",), id="gain-made-up"
        ),
    ],
)
def test_a_default_that_its_study_did_not_find_is_a_departure(
    edit: Edit, changes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ship_edited(monkeypatch, tmp_path, "default", edit)
    (found,) = study_departures()
    assert (found.kind, found.subject) == ("study", "default")
    assert len(found.changes) == len(changes)
    assert all(text.startswith(name) for text, name in zip(found.changes, changes, strict=True))


def test_an_edited_or_missing_study_is_a_departure_as_well(tmp_path: Path) -> None:
    study = tmp_path / "benchmarks" / "results" / "tuning"
    shutil.copytree(FOLDER, study)
    assert study_departures(study) == ()
    raw = json.loads((study / "profile.json").read_text(encoding="utf-8"))
    halve("pairs")(raw)
    (study / "profile.json").write_text(json.dumps(raw), encoding="utf-8")
    (found,) = study_departures(study)
    assert found.changes[0].startswith("pairs ")
    (study / "profile.json").unlink()
    (found,) = study_departures(study)
    assert found.changes == ("there is no profile.json of it",)


def test_without_a_checkout_there_is_no_study_to_look_at(tmp_path: Path) -> None:
    assert study_departures(tmp_path / "benchmarks" / "results" / "tuning") == ()


def test_weights_that_claim_no_study_need_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def by_hand(raw: dict[str, Any]) -> None:
        raw["weights"]["tags"] = 1.0
        raw["provenance"] = {"origin": "set by hand, to try"}

    ship_edited(monkeypatch, tmp_path, "default", by_hand)
    assert study_departures() == ()
