"""Baselines as files: read back as written, refused where they cannot be trusted, never lowered."""

from __future__ import annotations

import json
import math
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from broken_ranking import halve, ship_edited
from gate_kit import edited, forged
from labelled_sets import document, query, write_set

from wsmem.evals.catalogue import Source
from wsmem.evals.gate import checking, updating
from wsmem.evals.gate.checking import check_extent, check_queries, check_sets
from wsmem.evals.gate.judging import judge_ranking, lowered
from wsmem.evals.gate.record import (
    Answer,
    BaselineError,
    NewerBaselineError,
    RankingRecord,
    SetRecord,
    read_record,
    write_record,
)
from wsmem.evals.gate.running import RunFailedError, fresh_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


SYSTEM = "wsmem:default@grown"
WORDS = ("deploy", "backup", "billing", "export", "kernel", "cursor", "ledger", "socket", "packet",
         "branch", "widget", "thread", "canary", "docker")  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A set in which every query finds its one entry."""
    folder = write_set(
        tmp_path / "sets" / "small",
        documents=[
            document(f"d{n}", f"notes about the {word}", date=f"2026-01-{n + 1:02d}")
            for n, word in enumerate(WORDS)
        ],
        queries=[query(f"q{n}", word, lang="en") for n, word in enumerate(WORDS)],
        labels=[(f"q{n}", f"d{n}", 2) for n in range(len(WORDS))],
    )
    return Source(name="small", path=folder)


@pytest.fixture
def baseline(source: Source, tmp_path: Path) -> Path:
    path = tmp_path / "ranking.json"
    write_record(fresh_run([source]).record, path)
    return path


def with_value(record: RankingRecord, value: float, queries: int) -> RankingRecord:
    """A record in which the first queries got something else."""
    found = record.sets["small"]
    answers: dict[str, Mapping[str, Answer]] = dict(found.answers)
    for name in list(answers)[:queries]:
        answers[name] = {s: Answer(values=(value, None), first=None) for s in record.systems}
    return replace(record, sets={"small": replace(found, answers=answers)})


def test_a_baseline_is_read_as_it_was_written(source: Source, baseline: Path) -> None:
    record = fresh_run([source]).record
    assert read_record(baseline) == record
    before = baseline.read_bytes()
    write_record(record, baseline)
    assert baseline.read_bytes() == before  # the same ranking gives the same file


def test_a_baseline_has_a_line_a_query(baseline: Path) -> None:
    lines = baseline.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith('["q') for line in lines) == len(WORDS)
    assert '["q0", [1.0, null, "d0"], [1.0, null, "d0"], [1.0, null, "d0"]],' in lines


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param(lambda path: path.unlink(), "no such baseline", id="missing"),
        pytest.param(
            lambda path: path.write_text("{", encoding="utf-8"), "cannot be read", id="cut"
        ),
        pytest.param(lambda path: path.write_text("[]", encoding="utf-8"), "is no", id="list"),
        pytest.param(
            lambda path: edited(path, lambda raw: raw["sets"]["small"]["queries"][0].pop()),
            "changed by something other",
            id="by-hand",
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw.pop("measures")), "measures", id="incomplete"
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw.update(new=1)), "new", id="unknown-field"
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw.update(format=3)), "upgrade", id="newer"
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw.update(format=1)),
            "older format 1; .* --accept-lower",
            id="older",
        ),
        pytest.param(lambda path: path.write_text("", encoding="utf-8"), "cannot be", id="empty"),
        pytest.param(
            lambda path: path.write_text("{}", encoding="utf-8"), "no baseline", id="empty-object"
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: raw.update(sets={})), "at sets", id="no-sets"
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: raw["sets"]["small"].update(queries=[])),
            "at sets.small.queries",
            id="no-queries",
        ),
        pytest.param(
            lambda path: edited(path, lambda raw: raw["margins"].update({"nDCG@10": 1})),
            "changed by something other",
            id="margin-by-hand",
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: first_answer(raw).__setitem__(0, "1.0")),
            "answers of other",
            id="text-for-a-figure",
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: first_answer(raw).__setitem__(0, math.nan)),
            "answers of other",
            id="no-number",
        ),
        pytest.param(
            lambda path: forged(path, lambda raw: first_answer(raw).pop()),
            "answers of other",
            id="short-answer",
        ),
    ],
)
def test_a_baseline_that_cannot_be_trusted_is_refused(
    baseline: Path, damage: Callable[[Path], object], told: str
) -> None:
    damage(baseline)
    with pytest.raises(BaselineError, match=told) as caught:
        read_record(baseline)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def first_answer(raw: dict[str, Any]) -> list[Any]:
    answer: list[Any] = raw["sets"]["small"]["queries"][0][1]
    return answer


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(
            lambda record: record.only("wsmem:reference@grown"),
            f"nothing about {SYSTEM}",
            id="without-a-profile",
        ),
        pytest.param(
            lambda record: replace(record, measures=("nDCG@10", "RR@10")),
            "nothing about FalseRecall",
            id="without-a-measure",
        ),
        pytest.param(
            lambda record: replace(record, margins={"nDCG@10": 0.5}),
            "allows a loss of 0.5 nDCG@10, and 0.01 is the most",
            id="wide-margin",
        ),
        pytest.param(
            lambda record: replace(record, margins={"nDCG@10": math.inf}),
            "allows a loss of inf",
            id="margin-without-end",
        ),
    ],
)
def test_a_laxer_baseline_is_refused_though_its_checksum_is_right(
    source: Source, baseline: Path, change: Callable[[RankingRecord], RankingRecord], told: str
) -> None:
    check_extent(read_record(baseline), {}, baseline)
    with pytest.raises(BaselineError, match=re.escape(told)):
        check_extent(change(fresh_run([source]).record), {}, baseline)


def test_a_baseline_without_some_of_the_queries_is_refused(source: Source, baseline: Path) -> None:
    fresh = fresh_run([source])
    check_queries(read_record(baseline), fresh, baseline)
    forged(baseline, lambda raw: raw["sets"]["small"]["queries"].pop())
    with pytest.raises(BaselineError, match="answers 13 queries of small, not just its 14"):
        check_queries(read_record(baseline), fresh, baseline)


def test_a_baseline_without_some_of_the_figures_is_refused(source: Source, baseline: Path) -> None:
    fresh = fresh_run([source])
    forged(baseline, lambda raw: first_answer(raw).__setitem__(0, None))
    with pytest.raises(BaselineError, match="figures for other queries of small"):
        check_queries(read_record(baseline), fresh, baseline)


def test_a_baseline_of_some_of_our_own_sets_is_refused_and_updated_to_all(
    source: Source, baseline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {name: Source(name=name, path=source.path) for name in ("small", "other", "theirs")}
    for module in (checking, updating):
        monkeypatch.setattr(module, "OWN", ("small", "other", "absent"))
    with pytest.raises(BaselineError, match="says nothing about other; make it anew"):
        check_extent(read_record(baseline), known, baseline)
    updating.update_ranking(baseline, known)
    stored = read_record(baseline)
    assert set(stored.sets) == {"small", "other"}
    check_extent(stored, known, baseline)
    monkeypatch.setattr(checking, "OWN", ("others", "entirely"))
    check_extent(stored, known, baseline)  # about sets of somebody else


def test_a_baseline_of_other_files_is_refused_with_what_to_do(
    source: Source, baseline: Path
) -> None:
    stored = read_record(baseline)
    assert check_sets(stored, {"small": source}, baseline) == [source]
    labels = source.path / "qrels" / "test.tsv"
    labels.write_text(labels.read_text(encoding="utf-8") + "q0\td1\t1\n", encoding="utf-8")
    with pytest.raises(BaselineError, match=r"qrels/test.tsv differ; restore .* --accept-lower"):
        check_sets(stored, {"small": source}, baseline)
    with pytest.raises(BaselineError, match="'small' that is not here; there are: none"):
        check_sets(stored, {}, baseline)


def test_a_system_that_fails_is_no_figure(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("wsmem.engine.recalling.search", fail)
    with pytest.raises(RunFailedError, match="out of order"):
        fresh_run([source])


def test_a_loss_needs_to_be_both_sure_and_large(source: Source, baseline: Path) -> None:
    stored, fresh = read_record(baseline), fresh_run([source])
    sure_and_large = replace(fresh, record=with_value(fresh.record, 0.5, 14))
    found = judge_ranking(stored, sure_and_large)
    assert not found.passed
    assert {about.dataset for about, _ in found.losses} == {"small"}
    first = found.worse[0]
    assert (first.query, first.text, first.before, first.after) == ("q0", "deploy", 1.0, 0.5)
    assert first.wanted is not None
    assert first.wanted.text == "notes about the deploy"
    assert first.first_now is None
    sure = replace(fresh, record=with_value(fresh.record, 0.995, 14))
    assert judge_ranking(stored, sure).passed
    large = replace(fresh, record=with_value(fresh.record, 0.0, 2))
    assert judge_ranking(stored, large).passed


# The ratchet


def test_a_first_baseline_is_written_and_the_same_again_lowers_nothing(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (checking, updating):
        monkeypatch.setattr(module, "OWN", ("small",))
    path = tmp_path / "deep" / "ranking.json"
    for _ in range(2):
        found = updating.update_ranking(path, {"small": source})
        assert found == updating.Update(written=True)
    assert read_record(path).sets["small"].splits == ("test",)


def test_a_lower_baseline_is_only_written_on_request(source: Source, baseline: Path) -> None:
    better = with_value(read_record(baseline), 1.1, 1)  # so that what is true now is lower
    write_record(better, baseline)
    before = baseline.read_bytes()
    lower = tuple(f"{system}: nDCG@10 on small 1.0071 -> 1.0000" for system in better.systems)
    refused = updating.update_ranking(baseline, {"small": source})
    assert refused == updating.Update(written=False, lower=lower)
    assert baseline.read_bytes() == before
    taken = updating.update_ranking(baseline, {"small": source}, accept_lower=True)
    assert taken == updating.Update(written=True, lower=lower)
    assert lowered(better, read_record(baseline)) == list(lower)


def test_a_changed_profile_is_accepted_with_the_baseline_where_nothing_is_lower(
    source: Source, baseline: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ship_edited(monkeypatch, tmp_path / "profiles", "default", halve("tags"))
    found = updating.update_ranking(baseline, {"small": source})
    assert (found.written, found.lower) == (True, ())
    assert [item.subject for item in found.departures] == ["default"]
    assert judge_ranking(read_record(baseline), fresh_run([source])).passed


def test_a_changed_set_counts_as_lower_since_nobody_can_tell(
    source: Source, baseline: Path
) -> None:
    with (source.path / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(document("d99", "more")) + "\n")
    found = updating.update_ranking(baseline, {"small": source})
    assert not found.written
    (told,) = found.lower
    assert "other files" in told


def test_a_damaged_baseline_is_replaced_on_request_and_a_newer_one_never(
    source: Source, baseline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (checking, updating):
        monkeypatch.setattr(module, "OWN", ("small",))
    newer = edited(baseline, lambda raw: raw.update(format=3)).read_bytes()
    with pytest.raises(NewerBaselineError):
        updating.update_ranking(baseline, {"small": source}, accept_lower=True)
    assert baseline.read_bytes() == newer
    baseline.write_text("{", encoding="utf-8")
    with pytest.raises(BaselineError):
        updating.update_ranking(baseline, {"small": source})
    updating.update_ranking(baseline, {"small": source}, accept_lower=True)
    assert "small" in read_record(baseline).sets


KILLED = """
import os, pathlib, signal, sys
from wsmem.evals.catalogue import Source
from wsmem.evals.gate import updating

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

when, baseline, folder = sys.argv[1:]
if when == "writing":
    write_text = pathlib.Path.write_text
    pathlib.Path.write_text = lambda path, text, **more: (
        write_text(path, text[: len(text) // 2], **more), kill()
    )
else:
    pathlib.Path.replace = kill
source = Source(name="small", path=pathlib.Path(folder))
updating.update_ranking(pathlib.Path(baseline), {"small": source}, accept_lower=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGKILL")
@pytest.mark.parametrize("when", ["writing", "replacing"])
def test_an_update_that_is_killed_leaves_the_old_baseline_and_the_next_one_writes(
    when: str, source: Source, baseline: Path
) -> None:
    write_record(with_value(read_record(baseline), 0.5, 3), baseline)
    before = baseline.read_bytes()
    command = [sys.executable, "-c", KILLED, when, str(baseline), str(source.path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert baseline.read_bytes() == before
    assert updating.update_ranking(baseline, {"small": source}).written
    assert [path.name for path in baseline.parent.iterdir() if path.name.startswith(".")] == []


def test_a_set_record_is_plain_data(baseline: Path) -> None:
    found = read_record(baseline).sets["small"]
    assert isinstance(found, SetRecord)
    assert found.answers["q3"][SYSTEM].first == "d3"
