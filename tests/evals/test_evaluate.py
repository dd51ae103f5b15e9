from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import card, document, query, write_set

from wsmem.errors import InvalidInputError, StrangeAnswerError, UnknownNameError
from wsmem.evals import asking
from wsmem.evals import evaluate as module
from wsmem.evals.card import checksums
from wsmem.evals.catalogue import Source, find_datasets
from wsmem.evals.evaluate import evaluate, evaluate_dataset
from wsmem.evals.plan import Plan
from wsmem.evals.results import DatasetResult, Evaluation, Skipped
from wsmem.evals.systems.registry import make_system

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from wsmem.evals.systems.base import System
    from wsmem.evals.systems.pool_store import PoolStore
    from wsmem.records import MemoryEntry

LEXICAL = (
    "wsmem:reference",
    "wsmem:default",
    "wsmem:default@host",
    "bm25",
    "fts5:trigram",
    "fts5:bigram",
)


def plan(*folders: Path, **options: Any) -> Plan:
    return Plan.of(find_datasets(folders).values(), **{"jobs": 1, "systems": LEXICAL, **options})


def value(evaluation: Evaluation, dataset: str, system: str, measure: str) -> float | None:
    (found,) = (
        row.interval.value
        for row in evaluation.rows
        if (row.dataset, row.system, row.measure) == (dataset, system, measure)
    )
    return found


class Fake:
    """A system that gives the same answers to everybody, or fails."""

    name = "bm25"

    def __init__(self, answers: list[str] | Exception) -> None:
        self.answers = answers
        self.settings: dict[str, Any] = {}
        self.surfaced: list[tuple[str, ...]] = []

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> Fake:
        assert entries is not None
        assert now
        return self

    def search(self, query: str, *, limit: int, surfaced: Collection[str] = ()) -> list[str]:
        assert query
        self.surfaced.append(tuple(surfaced))
        if isinstance(self.answers, Exception):
            raise self.answers
        return self.answers[:limit]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(answers: list[str] | Exception) -> None:
        real = make_system

        def make(name: str, store: PoolStore | None = None) -> System:
            return Fake(answers) if name == "bm25" else real(name, store)

        monkeypatch.setattr(asking, "make_system", make)
        monkeypatch.setattr(module, "make_system", make)

    return install


def test_every_system_scores_every_measure_on_every_set(tmp_path: Path) -> None:
    evaluation = evaluate(plan(write_set(tmp_path / "tiny")))

    assert {row.system for row in evaluation.rows} == set(LEXICAL)
    assert len(evaluation.rows) == len(LEXICAL) * 9  # one set has no mean over sets
    assert value(evaluation, "tiny", "wsmem:default", "RR@10") == 1.0
    assert value(evaluation, "tiny", "wsmem:default", "FalseRecall") == 0.0
    assert evaluation.skipped == ()
    assert evaluation.scored


def test_figures_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    for number in range(3):
        write_set(tmp_path / f"set{number}")
    alone, shared = (evaluate(plan(tmp_path, jobs=jobs)) for jobs in (1, 2))
    assert alone.rows == shared.rows
    assert alone.slices == shared.slices
    assert [d.systems[0].queries for d in alone.datasets] == [
        d.systems[0].queries for d in shared.datasets
    ]


def test_a_failing_system_is_a_result_with_its_reason(tmp_path: Path, fake: Any) -> None:
    fake(ZeroDivisionError("mean length"))
    evaluation = evaluate(plan(write_set(tmp_path / "tiny")))
    assert evaluation.skipped == (
        Skipped(system="bm25", dataset="tiny", reason="ZeroDivisionError: mean length"),
    )
    assert {row.system for row in evaluation.rows} == set(LEXICAL) - {"bm25"}


def test_an_answer_from_outside_the_scope_is_a_failure(tmp_path: Path, fake: Any) -> None:
    write_set(
        tmp_path / "tiny",
        documents=[document("a", "x", scope="one"), document("b", "x", scope="two")],
        queries=[query("q", "x", scope="one")],
        labels=[("q", "a", 1)],
    )
    fake(["a", "b"])
    evaluation = evaluate(plan(tmp_path / "tiny", systems=["bm25"]))
    assert [item.reason for item in evaluation.skipped] == [
        str(StrangeAnswerError("q", "b", "one"))
    ]
    assert not evaluation.scored


def test_a_set_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    write_set(tmp_path / "good")
    write_set(tmp_path / "bad", labels=[("q1", "d9", 1)])
    for jobs in (1, 2):
        evaluation = evaluate(plan(tmp_path, jobs=jobs))
        (skipped,) = evaluation.skipped
        assert (skipped.system, skipped.dataset) == ("*", "bad")
        assert "test.tsv:2: label of an unknown document 'd9'" in skipped.reason
        assert {row.dataset for row in evaluation.rows} == {"good"}


def test_a_system_that_cannot_run_here_is_listed_once(tmp_path: Path) -> None:
    for number in range(2):
        write_set(tmp_path / f"set{number}")
    evaluation = evaluate(plan(tmp_path, systems=["dense", "bm25"]))
    (skipped,) = evaluation.skipped
    assert (skipped.system, skipped.dataset) == ("dense", None)
    assert skipped.to_json() == {"system": "dense", "reason": skipped.reason}


def test_queries_without_labels_are_left_out_and_counted(tmp_path: Path) -> None:
    write_set(tmp_path / "tiny", labels=[("q1", "d1", 1), ("q2", "d2", 0)])
    result = evaluate_dataset(Source(name="tiny", path=tmp_path / "tiny"), plan(tmp_path))
    assert isinstance(result, DatasetResult)
    assert [fact.id for fact in result.facts] == ["q1", "q4"]
    assert (result.judged, result.left_out) == (1, 2)


def test_a_query_that_finds_nothing_counts_as_zero(tmp_path: Path, fake: Any) -> None:
    write_set(tmp_path / "tiny")
    fake([])
    evaluation = evaluate(plan(tmp_path, systems=["bm25"]))
    (dataset,) = evaluation.datasets
    assert value(evaluation, "tiny", "bm25", "nDCG@10") == 0.0
    assert value(evaluation, "tiny", "bm25", "Answered") == 0.0
    assert dataset.systems[0].unanswered == 3


def test_a_set_without_any_query_has_rows_without_values(tmp_path: Path) -> None:
    write_set(tmp_path / "tiny", queries=[], labels=[])
    evaluation = evaluate(plan(tmp_path))
    assert {row.interval.value for row in evaluation.rows} == {None}
    assert {row.interval.n for row in evaluation.rows} == {0}
    assert not evaluation.scored


def test_a_limit_takes_the_first_queries_only(tmp_path: Path) -> None:
    write_set(tmp_path / "tiny")
    result = evaluate_dataset(Source(name="tiny", path=tmp_path / "tiny"), plan(tmp_path, limit=2))
    assert isinstance(result, DatasetResult)
    assert [fact.id for fact in result.facts] == ["q1", "q2"]
    assert {row.interval.n for row in result.rows if row.measure == "nDCG@10"} == {2}


def test_per_query_results_hold_ranks_values_and_bytes(tmp_path: Path, fake: Any) -> None:
    write_set(tmp_path / "tiny")
    fake(["d2", "d2", "d1"])
    (dataset,) = evaluate(plan(tmp_path, systems=["bm25"], measures=["RR@10"])).datasets
    first = dataset.systems[0].queries["q1"]
    assert first.ranked == ("d2", "d1")
    assert first.scores == {"RR@10": 0.5}
    d1, d2 = "部署脚本在 deploy.sh，先放 5% 流量", "Kestrel service owns billing exports"
    assert first.bytes == len(d1.encode()) + len(d2)
    assert dataset.systems[0].queries["q4"].scores == {"RR@10": None}


def test_a_card_that_no_longer_fits_is_noticed(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    write_set(folder, card=card(folder, checksums(folder)))
    assert evaluate(plan(folder)).datasets[0].card_agrees is True
    write_set(folder, labels=[("q1", "d1", 1)])
    assert evaluate(plan(folder)).datasets[0].card_agrees is False


def test_progress_reaches_the_end_of_every_set(tmp_path: Path) -> None:
    for number in range(2):
        write_set(tmp_path / f"set{number}")
    done: dict[str, float] = {}

    def on_progress(dataset: str, part: float) -> None:
        done[dataset] = done.get(dataset, 0.0) + part

    evaluate(plan(tmp_path), on_progress=on_progress)
    assert done == {"set0": pytest.approx(1.0), "set1": pytest.approx(1.0)}


DEPTHS: list[Any] = [
    pytest.param(["nDCG@10", "FalseRecall"], 20, id="as-many-as-are-kept"),
    pytest.param(["R@50", "nDCG@10"], 50, id="as-far-as-a-measure-looks"),
    pytest.param(["AP", "nDCG@10"], 100, id="a-measure-of-the-whole-ranking"),
]


@pytest.mark.parametrize(("measures", "depth"), DEPTHS)
def test_no_more_entries_are_asked_for_than_can_change_anything(
    measures: list[str], depth: int
) -> None:
    assert Plan.of([], measures=measures).depth == depth


def test_what_was_shown_lately_is_told_to_every_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Fake(["d1"])
    monkeypatch.setattr(asking, "make_system", lambda *_: told)
    queries = [query("q1", "部署", surfaced=["d1", "d2"]), query("q2", "billing", surfaced="d1")]
    write_set(tmp_path / "tiny", queries=queries, labels=[("q1", "d1", 1), ("q2", "d2", 1)])
    evaluate(plan(tmp_path, systems=["bm25"]))
    assert told.surfaced == [("d1", "d2"), ()]


WRONG: list[Any] = [
    pytest.param({"systems": ["nope"]}, UnknownNameError, id="system"),
    pytest.param({"measures": ["nope"]}, UnknownNameError, id="measure"),
    pytest.param({"limit": 0}, InvalidInputError, id="limit"),
    pytest.param({"jobs": 0}, InvalidInputError, id="jobs"),
    pytest.param({"seed": -1}, InvalidInputError, id="seed"),
]


@pytest.mark.parametrize(("options", "error"), WRONG)
def test_a_plan_that_cannot_be_carried_out_is_refused_at_once(
    options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Plan.of([], **options)


def test_names_that_are_repeated_count_once() -> None:
    found = Plan.of([], systems=["bm25", "bm25"], measures=["MRR@10", "RR@10"])
    assert found.systems == ("bm25",)
    assert [measure.text for measure in found.measures] == ["RR@10"]
