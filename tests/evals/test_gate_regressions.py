"""The gate: red for every way of breaking the ranking that costs something, green for noise."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import broken_ranking
import pytest
from broken_ranking import forget_terms

from wsmem.cli.gating import LOST, UNPROVEN
from wsmem.evals.catalogue import Source, find_datasets, own_folder
from wsmem.evals.gate.checking import check_extent
from wsmem.evals.gate.judging import judge_ranking
from wsmem.evals.gate.record import RankingRecord, read_record
from wsmem.evals.gate.running import MARGINS, OWN, SYSTEMS, fresh_run, splits_of
from wsmem.retrieval.profile import load_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wsmem.evals.gate.judging import RankingVerdict
    from wsmem.evals.gate.record import Answer, SetRecord
    from wsmem.evals.gate.running import FreshRun

DEFAULT, REFERENCE, _ = SYSTEMS
REMEDY = "run: wsmem gate; where the change is wanted, wsmem gate --update, and commit the file"


@pytest.fixture(autouse=True)
def own_sets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("WSMEM_DATASETS", raising=False)
    yield
    monkeypatch.undo()
    forget_terms()


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    return list(find_datasets([own_folder({})]).values())


@pytest.fixture(scope="module")
def sound(sources: list[Source]) -> RankingRecord:
    """What the ranking gives unbroken; the committed figures may be older."""
    return fresh_run(sources).record


def of_system(record: RankingRecord, system: str, *languages: str) -> RankingRecord:
    """One system of a record, on all sets or those of some languages."""
    sets = {
        name: found
        for name, found in record.sets.items()
        if not languages or name.endswith(languages)
    }
    return replace(record, sets=sets).only(system)


def judged(
    sound: RankingRecord, sources: list[Source], system: str, *languages: str
) -> RankingVerdict:
    """A fresh run of one system beside the sound one."""
    baseline = of_system(sound, system, *languages)
    chosen = [source for source in sources if source.name in baseline.sets]
    return judge_ranking(baseline, fresh_run(chosen, systems=[system]))


# The committed baselines: what `make test` gates


def test_neither_ranking_nor_work_is_worse_than_the_committed_baselines(tmp_path: Path) -> None:
    """As CI runs it: in another process, with other hashes, from another folder."""
    arguments = ("gate", "--show", "3", "--language", "en")
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu"}
    done = subprocess.run(
        [sys.executable, "-m", "wsmem.cli.main", *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{REMEDY}"
    assert done.stdout.splitlines()[-1] == "gate: green"


def test_the_committed_baseline_holds_all_that_is_gated(sources: list[Source]) -> None:
    path = own_folder({}).parent / "benchmarks" / "baselines" / "ranking.json"
    stored = read_record(path)
    check_extent(stored, find_datasets([own_folder({})]), path)
    assert (set(stored.sets), dict(stored.margins)) == (set(OWN), MARGINS)
    assert {name: found.splits for name, found in stored.sets.items()} == {
        source.name: splits_of(source.path) for source in sources
    }


def test_halving_one_weight_in_the_file_that_ships_is_red(tmp_path: Path) -> None:
    """As an attacker does it, in a checkout, where it costs so little that no figure can tell."""
    root = own_folder({}).parent
    for part in ("wsmem", "datasets", "benchmarks/baselines", "benchmarks/results/tuning"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / part, tmp_path / part, ignore=ignored)
    path = tmp_path / "wsmem" / "retrieval" / "profiles" / "default.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    weight = raw["weights"]["tags"]
    broken_ranking.halve("tags")(raw)
    path.write_text(json.dumps(raw), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "wsmem.cli.main", "gate", "--language", "en"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {LOST, UNPROVEN}, f"{done.stdout}{done.stderr}"
    assert f"  the weights of default changed: tags {weight:g} -> {weight / 2:g}\n" in done.stdout
    assert "default says that a study found it, and the committed study did not" in done.stdout
    assert f"{DEFAULT}" in done.stdout
    assert "wsmem gate --update" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("gate: red")


def test_a_store_that_grew_answers_as_one_written_at_once(
    sources: list[Source], sound: RankingRecord
) -> None:
    """The gate asks grown stores, in which an index had to follow changes."""
    for system in SYSTEMS:
        plain = system.removesuffix("@grown")
        at_once = fresh_run(sources[:1], systems=[plain]).record
        for name, found in at_once.sets.items():
            grown = sound.sets[name].answers
            assert all(a[plain] == grown[q][system] for q, a in found.answers.items())


# Broken on purpose


@pytest.mark.parametrize(
    ("break_it", "measure", "language"),
    [
        pytest.param(broken_ranking.lose_every_other_pair, "nDCG@10", "zh", id="pairs-skipped"),
        pytest.param(broken_ranking.lose_pairs, "FalseRecall", "zh", id="letters-alone"),
        pytest.param(broken_ranking.lose_stems, "nDCG@10", "en", id="english-stems"),
    ],
)
def test_a_broken_tokeniser_is_red(
    break_it: Callable[[pytest.MonkeyPatch], None],
    measure: str,
    language: str,
    sound: RankingRecord,
    sources: list[Source],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_it(monkeypatch)
    found = judged(sound, sources, DEFAULT, language)
    assert not found.passed
    assert any(about.measure == measure for about, _ in found.losses)
    assert any(item.kind == "terms" for item in found.unproven)
    # What got worse is shown: the question, what should come first, and what does.
    first = found.worse[0]
    assert first.text
    assert first.before != first.after
    assert first.wanted is not None or first.measure == "FalseRecall"


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(broken_ranking.never_update, id="no-update-at-all"),
        pytest.param(lambda patch: broken_ranking.miss_last(patch, 5), id="last-five-missing"),
        pytest.param(broken_ranking.serve_superseded, id="superseded-still-served"),
    ],
)
def test_a_stale_index_is_red(
    break_it: Callable[[pytest.MonkeyPatch], None],
    sound: RankingRecord,
    sources: list[Source],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_it(monkeypatch)
    found = judged(sound, sources, DEFAULT, "zh", "mixed")
    assert not found.passed
    assert any(about.measure == "nDCG@10" and about.dataset == "mean" for about, _ in found.losses)


def test_halving_the_weight_that_carries_the_reference_is_red(
    sound: RankingRecord, sources: list[Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matched words of four letters and more: English and mixed questions lose."""
    broken_ranking.change_weight(monkeypatch, "long_tokens", 0.5)
    found = judged(sound, sources, REFERENCE, "en", "mixed")
    assert found.losses
    assert [item.changes for item in found.unproven] == [("long_tokens 5 -> 2.5",)]


def mean_loss(sound: RankingRecord, fresh: FreshRun, system: str, measure: str) -> float:
    """By how much the mean over the sets is worse, worked out anew."""
    losses = []
    for name, queries in sound.scores(system).items():
        after = fresh.record.scores(system)[name]
        pairs = [(queries[q][measure], after[q][measure]) for q in queries]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        losses.append(sum(a - b for a, b in known) / len(known))
    mean = sum(losses) / len(losses)
    return -mean if measure == "FalseRecall" else mean


def test_a_halved_weight_of_the_default_has_lost_where_it_costs_and_not_where_it_does_not(
    sound: RankingRecord, sources: list[Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good profile lies on a plateau: halving one of its weights may cost nothing at all. What
    is said to have lost has cost, and what costs much is said; red for want of evidence are all."""
    baseline = of_system(sound, DEFAULT, "zh", "en")
    chosen = [source for source in sources if source.name in baseline.sets]
    for signal in main_signals():
        with monkeypatch.context() as patch:
            broken_ranking.change_weight(patch, signal, 0.5)
            fresh = fresh_run(chosen, systems=[DEFAULT])
        found = judge_ranking(baseline, fresh)
        losses = [mean_loss(baseline, fresh, DEFAULT, m) / MARGINS[m] for m in sound.measures]
        assert found.losses or max(losses) < 3, f"{signal}: {losses} margins and no alarm"
        assert not found.losses or max(losses) > -1, f"{signal}: an alarm, and the mean is better"
        assert not found.passed


def test_a_default_without_its_main_weights_is_red(
    sound: RankingRecord, sources: list[Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    for signal in load_profile("default").weights:
        if signal not in {"importance", "recency"}:
            broken_ranking.change_weight(monkeypatch, signal, 0.0)
    assert judged(sound, sources, DEFAULT, "zh").losses


def main_signals() -> list[str]:
    """The heaviest weights of the default profile; the one of entries shown lately is apart."""
    weights = dict(load_profile("default").weights)
    weights.pop("surfaced", None)
    return sorted(weights, key=lambda name: -abs(weights[name]))[:3]


# Noise


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "disturb",
    [
        pytest.param(broken_ranking.jitter_scores, id="last-bits-of-scores"),
        pytest.param(broken_ranking.draw_ties, id="ties-drawn"),
    ],
)
def test_noise_is_green(
    disturb: Callable[[pytest.MonkeyPatch, int], None],
    system: str,
    sound: RankingRecord,
    sources: list[Source],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disturb(monkeypatch, 20261130)
    found = judged(sound, sources, system, "zh")
    assert found.passed, [about.text for about, _ in found.losses]


def test_another_order_of_queries_and_documents_is_green(
    sound: RankingRecord, sources: list[Source], tmp_path: Path
) -> None:
    shuffled = []
    for source in sources:
        folder = tmp_path / source.name
        (folder / "qrels").mkdir(parents=True)
        for file in ("corpus.jsonl", "queries.jsonl"):
            lines = (source.path / file).read_text(encoding="utf-8").splitlines(keepends=True)
            random.Random(7).shuffle(lines)
            (folder / file).write_text("".join(lines), encoding="utf-8")
        for labels in (source.path / "qrels").iterdir():
            text = labels.read_text(encoding="utf-8")
            (folder / "qrels" / labels.name).write_text(text, encoding="utf-8")
        shuffled.append(Source(name=source.name, path=folder))
    found = judge_ranking(of_system(sound, DEFAULT), fresh_run(shuffled, systems=[DEFAULT]))
    assert found.passed
    assert not found.worse


def test_answers_drawn_from_two_systems_by_chance_are_green(
    sound: RankingRecord, sources: list[Source]
) -> None:
    """A/A in the large: before and after are a mixture of the same two real systems."""
    facts = fresh_run(sources, systems=[DEFAULT])
    alarms = 0
    for seed in range(4):
        coin = random.Random(seed)
        before, after = mixtures(sound, coin)
        mixed = replace(facts, record=after)
        alarms += not judge_ranking(before, mixed).passed
    assert alarms == 0


def mixtures(record: RankingRecord, coin: random.Random) -> tuple[RankingRecord, RankingRecord]:
    """Two records that have each answer of one system or of the other, by the toss of a coin."""
    sides: tuple[dict[str, SetRecord], dict[str, SetRecord]] = ({}, {})
    for name, found in record.sets.items():
        answers: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        tosses: dict[str, bool] = {}
        for query, by_system in found.answers.items():
            # Queries about one entry share their fate, as they do in the test.
            best = by_system[REFERENCE].first or query
            pair: list[Answer] = [by_system[DEFAULT], by_system[REFERENCE]]
            if tosses.setdefault(best, coin.random() < 0.5):
                pair.reverse()
            for side, answer in zip(answers, pair, strict=True):
                side[query] = {DEFAULT: answer}
        for side, chosen in zip(sides, answers, strict=True):
            side[name] = replace(found, answers=chosen)
    before, after = (replace(of_system(record, DEFAULT), sets=side) for side in sides)
    return before, after
