"""Counted work: the same again, more is red, and counts that cannot be trusted are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from gate_kit import edited, forged

from wsmem.engine import recalling
from wsmem.evals.gate import work
from wsmem.evals.gate.record import BaselineError
from wsmem.evals.gate.work_baseline import judge_work, read_work, write_work
from wsmem.retrieval.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wsmem.evals.gate.work import WorkRecord


@pytest.fixture(scope="module")
def counted() -> WorkRecord:
    return work.count_work(entries=60)


@pytest.fixture
def work_file(counted: WorkRecord, tmp_path: Path) -> Path:
    path = tmp_path / "work.json"
    write_work(counted, path)
    return path


def test_counts_come_out_again_and_are_read_as_written(
    counted: WorkRecord, work_file: Path
) -> None:
    assert work.count_work(entries=60) == counted
    assert read_work(work_file).record == counted
    assert judge_work(read_work(work_file), counted, work_file).passed


def test_a_warm_recall_reads_and_analyses_nothing_and_a_change_analyses_what_changed(
    counted: WorkRecord,
) -> None:
    warm, changed, first = (counted.counts[state] for state in ("warm", "changed", "first"))
    assert (warm["bytes"], warm["files"], warm["analysed"]) == (0, 0, 0)
    assert warm["candidates"] > 0
    assert warm["postings"] >= warm["candidates"]
    # Each change but the first turns the one before back, which is a change as well.
    assert changed["analysed"] == 2 * work.RECALLS["changed"] - 1
    assert first["files"] >= work.RECALLS["first"]


def loop_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody filters entries on every recall, where a look-up would do."""
    plain = recalling.Recaller._rank

    def slow(self: Any, request: Any, corpus: Any, shown: Any) -> Any:
        recallable = [entry for entry in corpus.entries if entry.recallable]
        assert recallable
        return plain(self, request, corpus, shown)

    monkeypatch.setattr(recalling.Recaller, "_rank", slow)


def build_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is made anew after every change."""
    updated = Index.updated

    def anew(self: Index, entries: Any, *args: Any, **kwargs: Any) -> Index:
        if not len(self):  # as building one may begin
            return updated(self, entries, *args, **kwargs)
        return type(self).build(entries)

    monkeypatch.setattr(Index, "updated", anew)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param(
            lambda path: edited(path, lambda raw: raw["counts"]["warm"].update(steps=10**9)),
            "changed by something other",
            id="counts-by-hand",
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw["margins"].update(steps=9.0)),
            "changed by something other",
            id="margins-by-hand",
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: raw["margins"].update(steps=9.0)),
            "more growth than this wsmem",
            id="wide-margins",
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: raw["counts"].pop("warm")),
            "something other than",
            id="without-a-state",
        ),
    ],
)
def test_counts_that_cannot_be_trusted_are_refused(
    work_file: Path, damage: Callable[[Path], object], told: str
) -> None:
    damage(work_file)
    with pytest.raises(BaselineError, match=told):
        read_work(work_file)


def test_a_store_of_other_entries_is_refused(counted: WorkRecord, work_file: Path) -> None:
    other = replace(counted, store="0")
    with pytest.raises(BaselineError, match="another store"):
        judge_work(read_work(work_file), other, work_file)


def test_another_python_counts_other_lines_but_the_same_everything_else(
    counted: WorkRecord, work_file: Path
) -> None:
    counts = {
        state: {kind: number * 3 if kind == "steps" else number for kind, number in each.items()}
        for state, each in counted.counts.items()
    }
    other = replace(counted, python="3.99", counts=counts)
    found = judge_work(read_work(work_file), other, work_file)
    assert found.passed
    assert "steps are not compared" in found.changes[0]
    assert not judge_work(
        read_work(work_file), replace(other, python=counted.python), work_file
    ).passed


@pytest.mark.parametrize(
    ("waste", "state", "kind"),
    [
        pytest.param(loop_over_all, "warm", "steps", id="loop-over-all-entries"),
        pytest.param(build_anew, "changed", "analysed", id="index-built-anew"),
    ],
)
def test_accidental_work_is_red(
    waste: Callable[[pytest.MonkeyPatch], None],
    state: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "work.json"
    write_work(work.count_work(entries=300), path)
    waste(monkeypatch)
    found = judge_work(read_work(path), work.count_work(entries=300), path)
    assert not found.passed
    assert (state, kind) in {(row.state, row.counted) for row in found.grown}


def test_what_is_counted_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = (("postings", "wsmem.retrieval.ranking", "no_such_function", "hits"),)
    monkeypatch.setattr(work, "_ENTERED", gone)
    with pytest.raises(work.CountingError, match="no_such_function does not exist; say in"):
        work.count_work(entries=5)
