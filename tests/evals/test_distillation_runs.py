"""Run folders of distillers, comparisons of them, and the page about one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from distillation_cases import USER_SAID, answer, case_line, given, said, wanted, write_cases

from wsmem.engine.testing import FakeDistiller
from wsmem.errors import InvalidInputError, RunFolderError, UnknownNameError
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.comparing import Contestant, contest
from wsmem.evals.distillation.evaluation import DistillPlan, NamedDistiller, evaluate
from wsmem.evals.distillation.frames import (
    cases_frame,
    contest_frame,
    figures_frame,
    matrix_frame,
)
from wsmem.evals.distillation.page import render, write_report
from wsmem.evals.distillation.plots import confusion_chart, slice_chart
from wsmem.evals.distillation.run import KIND, DistillRun, write_run
from wsmem.evals.distillation.side_by_side import SideBySide
from wsmem.evals.run import Run

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.distillation.evaluation import DistillEvaluation

TOKEN = "gh" + "p_Zx81kQ0pLm42vBn76TyUi90AsDfGhJkLqWe"  # in pieces, for scanners of repositories
HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)>"
KEPT = given("add", USER_SAID, scope="global", title=HOSTILE, tags=["git"])
EXPECTED = wanted("add", USER_SAID, required=["英文", ["git", "提交"]], scope="global")


def lines() -> list[dict[str, object]]:
    found = [case_line(f"c{n}", expected=[EXPECTED]) for n in range(8)]
    chat = said(f"{HOSTILE} 今天真冷。")
    found.append(case_line("quiet", slice=["chit-chat"], messages=[chat], note=HOSTILE))
    secret = said(f"令牌是 {TOKEN}，口令是春风十里。")
    found.append(
        case_line("secret", slice=["secret"], messages=[secret], forbidden=[TOKEN, "春风十里"])
    )
    return found


def evaluated(folder: Path, *distillers: NamedDistiller) -> DistillEvaluation:
    cases = load_case_set(write_cases(folder / "small", lines()))
    chosen = distillers or (
        NamedDistiller(name="good@1", ask=FakeDistiller(answer(KEPT)), settings={"kind": "fake"}),
        NamedDistiller(name="sil/ent × m", ask=FakeDistiller("no json")),
        NamedDistiller(name="leaky", ask=FakeDistiller(answer(given("add", f"令牌 {TOKEN}")))),
    )
    return evaluate(DistillPlan(sets=(cases,), distillers=chosen, resamples=50))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> DistillRun:
    folder = tmp_path_factory.mktemp("runs")
    return write_run(evaluated(folder), folder / "run")


# Folders


def test_what_is_written_is_read_again(run: DistillRun) -> None:
    assert run.datasets == ("small",)
    assert run.distillers == ("good@1", "sil/ent × m", "leaky")
    assert KIND.is_in(run.path)
    board = run.board()
    value = board.query("distiller == 'good@1' and slice == 'all' and measure == 'R(add)'")
    assert value["value"].tolist() == [1.0]
    assert set(run.cases("small")) == {*(f"c{n}" for n in range(8)), "quiet", "secret"}
    assert run.units("small", "good@1")["c0"]["F1(add)"] == [1.0, 1.0]
    assert run.confusion("good@1")["add", "add"] == 8
    assert run.confusion("good@1")["none", "add"] == 2
    assert run.results("small", "nobody") == []
    with pytest.raises(UnknownNameError, match="small"):
        run.cases("other")


def test_equal_evaluations_give_equal_files(tmp_path: Path, run: DistillRun) -> None:
    again = write_run(evaluated(tmp_path), tmp_path / "run")
    for path in sorted(run.path.rglob("*.json*")):
        if path.name not in {"manifest.json", "report.html"}:
            assert path.read_bytes() == (again.path / path.relative_to(run.path)).read_bytes()


def test_a_later_run_replaces_an_earlier_one(tmp_path: Path) -> None:
    write_run(evaluated(tmp_path), tmp_path / "run")
    only = NamedDistiller(name="only", ask=FakeDistiller())
    run = write_run(evaluated(tmp_path, only), tmp_path / "run")
    assert run.distillers == ("only",)
    assert [path.name for path in (run.path / "results").iterdir()] == ["small__only.jsonl"]


def test_no_credential_of_a_case_or_an_answer_is_in_a_run(run: DistillRun) -> None:
    texts = [path.read_text(encoding="utf-8") for path in run.path.rglob("*") if path.is_file()]
    assert any("令牌" in text for text in texts)
    assert not any(TOKEN in text or "春风十里" in text for text in texts)
    page = render(run)
    assert TOKEN not in page
    assert "春风十里" not in page


def test_files_are_strict_json(run: DistillRun) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    for path in run.path.rglob("*.json*"):
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
            json.loads(line, parse_constant=refuse)


def test_the_manifest_names_what_the_figures_rest_on(run: DistillRun) -> None:
    facts = run.manifest["datasets"]["small"]
    assert (facts["cases"], facts["nothing_to_keep"], facts["card_agrees"]) == (10, 2, None)
    assert re.fullmatch("[0-9a-f]{64}", facts["checksum"])
    assert run.manifest["distillers"]["good@1"] == {"kind": "fake"}
    assert run.manifest["settings"]["split"] == "default"
    assert facts["splits"] == ["dev"]


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RunFolderError, match="holds something other than such a run"):
        KIND.claim(tmp_path)


def test_folders_without_such_a_run_are_named(tmp_path: Path, run: DistillRun) -> None:
    with pytest.raises(RunFolderError, match=r"holds no manifest\.json"):
        DistillRun.load(tmp_path)
    assert not KIND.is_in(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(RunFolderError, match="is no run of distillers"):
        DistillRun.load(tmp_path)
    (tmp_path / "manifest.json").write_text(
        '{"format": 99, "kind": "distillation"}', encoding="utf-8"
    )
    with pytest.raises(RunFolderError, match="format 99, and this wsmem reads format 1"):
        DistillRun.load(tmp_path)
    with pytest.raises(RunFolderError):
        Run.load(run.path)


def test_a_damaged_run_is_named(tmp_path: Path) -> None:
    run = write_run(evaluated(tmp_path), tmp_path / "run")
    (run.path / "board.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunFolderError, match="cannot be read"):
        DistillRun.load(run.path)


# Comparing


def test_a_clearly_better_distiller_is_said_to_be_better(run: DistillRun) -> None:
    first, second = (Contestant.of_run(run, name) for name in ("sil/ent × m", "good@1"))
    found = contest(first, second, measures=["R(add)", "Restraint"], alpha=0.01)
    assert (found.cases, found.left_out) == (10, 0)
    recall, restraint = found.comparisons
    assert (recall.first, recall.second, recall.n) == (0.0, 1.0, 8)
    assert recall.p_value == pytest.approx(2 / 2**8)
    assert restraint.verdict == "inconclusive"
    # Two cases cannot tell in restraint, whatever they say: that comparison corrects no other.
    assert recall.verdict == "better"
    alone = contest(first, second, measures=["R(add)"], alpha=0.01).comparisons[0]
    assert alone.verdict == "better"


def test_a_contestant_of_a_run_is_that_of_its_evaluation(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path)
    run = write_run(evaluation, tmp_path / "run")
    for name in run.distillers:
        results = [result for result in evaluation.results if result.distiller == name]
        assert Contestant.of_results(results) == Contestant.of_run(run, name)


def test_only_shared_cases_count(run: DistillRun) -> None:
    whole = Contestant.of_run(run, "good@1")
    few = {"small": {case: units for case, units in whole.units["small"].items() if case < "c3"}}
    part = Contestant(name="part", units=few, slices=whole.slices)
    found = contest(whole, part, measures=["R(add)"])
    assert (found.cases, found.left_out) == (3, 7)


def test_comparisons_by_slice_name_the_slice(run: DistillRun) -> None:
    first, second = (Contestant.of_run(run, name) for name in ("sil/ent × m", "good@1"))
    names = [c.name for c in contest(first, second, measures=["Answered"], by="slice").comparisons]
    assert names == ["chit-chat: Answered", "explicit-request: Answered", "secret: Answered"]
    names = [c.name for c in contest(first, second, measures=["F1(all)"], by="dataset").comparisons]
    assert names == ["small: F1(all)"]


def test_what_cannot_be_compared_is_refused(run: DistillRun) -> None:
    with pytest.raises(UnknownNameError, match="good@1"):
        Contestant.of_run(run)
    good = Contestant.of_run(run, "good@1")
    stranger = Contestant(name="x", units={"other": {"c0": {}}}, slices={})
    with pytest.raises(InvalidInputError, match="no case in common"):
        contest(good, stranger)
    with pytest.raises(UnknownNameError):
        contest(good, good, measures=["Nonsense"])


# For people


def test_a_case_side_by_side(run: DistillRun) -> None:
    cases, results = run.cases("small"), run.results("small", "good@1")
    views = {
        row["case"]: SideBySide.of(cases[row["case"]], row, distiller="good@1") for row in results
    }
    right, wrong = views["c0"], views["quiet"]
    assert right.right
    (line,) = right.lines
    assert line.wanted is not None
    assert line.given is not None
    assert line.wanted.required == ("英文", "git | 提交")
    assert (line.given.effect, line.verdict) == ("added", "right")
    assert [line.verdict for line in wrong.lines] == ["not asked for"]
    assert wrong.faults == ("not asked for: add (#1)",)
    assert str(right).splitlines()[0] == "c0, explicit-request: right"
    assert "  became    added: new memory" in str(wrong).splitlines()
    failed = run.results("small", "sil/ent × m")[0]
    view = SideBySide.of(cases["c0"], failed, distiller="x")
    assert [line.verdict for line in view.lines] == ["missed"]
    assert view.failure is not None


def test_the_page_escapes_what_strangers_wrote_and_fetches_nothing(run: DistillRun) -> None:
    page = render(run)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert not re.search(r"https?://", page)
    assert "default-src 'none'" in page


def test_the_page_shows_figures_matrices_and_failures(run: DistillRun) -> None:
    page = render(run)
    assert page.count('role="img"') == 3 + 3  # a matrix each, and three charts by slice
    assert "good@1: 8 of 10 on the diagonal" in page
    assert "2 of 10 cases" in page
    assert "nothing was expected" in page
    assert "nothing was proposed" in page


def test_the_page_is_the_same_each_time(run: DistillRun, tmp_path: Path) -> None:
    assert render(run) == render(DistillRun.load(run.path))
    path = write_report(run, tmp_path / "below" / "page.html")
    assert path.read_text(encoding="utf-8") == render(run)


def test_charts_draw_themselves(run: DistillRun) -> None:
    chart = confusion_chart(run, "good@1", "small")
    assert str(chart) == "good@1 on small: 8 of 10 on the diagonal"
    assert chart.png().startswith(b"\x89PNG")
    assert 'role="img"' in chart.svg()
    lines = slice_chart(run, "small", "F1(all)").lines
    assert lines[0].name == "all"
    assert lines[0].cells["good@1"].value == pytest.approx(16 / 18)


def test_frames_count_cases(tmp_path: Path) -> None:
    cases = load_case_set(write_cases(tmp_path / "small", lines()))
    assert cases_frame([cases]).loc["small"].to_dict() == {"dev": "10 (2 nothing)"}


def test_frames_show_figures_as_texts(run: DistillRun) -> None:
    frame = figures_frame(run.rows, ["R(add)", "Latency"])
    assert frame.index.tolist() == ["R(add)", "Latency"]
    assert frame["small", "good@1"].tolist() == ["1.000 [0.676–1.000] n 8", "–"]
    matrix = matrix_frame(run.confusion("good@1"))
    assert matrix.loc["none", "add"] == 2
    first, second = (Contestant.of_run(run, name) for name in ("sil/ent × m", "good@1"))
    found = contest_frame(contest(first, second, measures=["R(add)", "Overlap"]))
    assert found.loc["R(add)", "difference"] == "+1.000"
    assert found.index.tolist() == ["R(add)"]
