"""`wsmem distill eval`, `compare`, `show` and `report`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from distillation_cases import USER_SAID, answer, case_line, given, said, wanted, write_cases

from wsmem.cli.main import main
from wsmem.distill.cassettes import Cassette, recording_of
from wsmem.distill.completion import Completion, Usage
from wsmem.distill.prompting import load_prompt
from wsmem.distill.recording import plan
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.execution import request_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXPECTED = wanted("add", USER_SAID, required=["英文"])
KEPT = json.dumps(answer(given("add", USER_SAID)), ensure_ascii=False)
NOTHING = json.dumps(answer())


def greeting(number: int) -> list[dict[str, Any]]:
    """Makes one conversation another than the next, so that each has its own recording."""
    return [said(f"好的，第 {number} 次提交就这样写。", "m2", "assistant")]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    lines = [
        case_line(f"keep-{n}", expected=[EXPECTED], messages=[said(USER_SAID), *greeting(n)])
        for n in range(9)
    ]
    lines.append(case_line("quiet", slice=["chit-chat"], messages=[said("今天真冷。")]))
    lines.append(case_line("later", split="test", expected=[EXPECTED]))
    return write_cases(tmp_path / "small", lines)


def tape(
    path: Path, cases: Path, prompt: str, reply: str, *, only: Sequence[str] = (), **changes: Any
) -> str:
    """A cassette on which a model gave one reply to every case; its name for the command line."""
    requests = [(case.id, request_of(case)) for case in load_case_set(cases).cases]
    cassette = Cassette(path)
    for item in plan(requests, load_prompt(prompt), model="small", **changes):
        if not only or item.case in only:
            completion = Completion(
                text=reply, finish_reason="stop", model="small",
                usage=Usage(input_tokens=100, output_tokens=9), latency_ms=250,
            )  # fmt: skip
            cassette.append(recording_of(item, completion, at="2026-11-30T00:00:00Z"))
    return f"cassette:{path}"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["distill", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def values(found: Any, slice_: str = "all") -> dict[tuple[str, str], Any]:
    return {
        (row["distiller"], row["measure"]): row["value"]
        for row in found["rows"]
        if row["slice"] == slice_
    }


# eval


def test_eval_prints_one_json_object_the_same_each_time(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["distill", "eval", "--distiller", "rules", "--dataset", str(cases), "--json"]
    outputs = []
    for _ in range(2):
        assert main(arguments) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    found = json.loads(outputs[0])
    assert list(found) == ["rows", "skipped"]
    assert {row["dataset"] for row in found["rows"]} == {"small"}
    assert {row["distiller"] for row in found["rows"]} == {"rules@3"}
    fields = {"dataset", "distiller", "slice", "measure", "value", "low", "high", "n"}
    assert all(row.keys() == fields for row in found["rows"])
    assert values(found)["rules@3", "R(add)"] == 1.0


def test_eval_opens_the_test_split_only_when_it_is_named(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split, n in (("", 10), ("dev", 10), ("test", 1), ("all", 11)):
        options = ["--split", split] if split else []
        found = printed(capsys, "eval", "--dataset", str(cases), "--json", *options)
        rows = [row for row in found["rows"] if row["measure"] == "Answered"]
        assert rows[0]["n"] == n


def test_eval_replays_a_cassette_by_prompt_and_model(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape(tmp_path / "t.jsonl", cases, "concise@1", NOTHING)
    spec = tape(tmp_path / "t.jsonl", cases, "careful@1", KEPT)
    arguments = ["eval", "--distiller", spec, "--dataset", str(cases), "--json"]
    found = printed(capsys, *arguments)
    assert {name for name, _ in values(found)} == {"concise@1 × small", "careful@1 × small"}
    assert values(found)["careful@1 × small", "R(add)"] == 1.0
    assert values(found)["concise@1 × small", "R(add)"] == 0.0
    assert values(found)["concise@1 × small", "InputTokens"] == 100.0
    assert values(found)["concise@1 × small", "Latency"] == 250.0
    assert printed(capsys, *arguments) == found
    one = printed(capsys, *arguments, "--prompt", "careful@1", "--model", "small")
    assert {name for name, _ in values(one)} == {"careful@1 × small"}
    assert main(["distill", *arguments, "--prompt", "few-shot@1"]) == 2
    assert "no prompt named 'few-shot@1'" in capsys.readouterr().err
    assert main(["distill", *arguments, "--model", "large"]) == 2
    assert "large" in capsys.readouterr().err


def test_recordings_with_other_parameters_are_distillers_of_their_own(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape(tmp_path / "t.jsonl", cases, "concise@1", NOTHING, parameters={"temperature": None})
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", KEPT, parameters={"temperature": 1})
    found = printed(capsys, "eval", "--distiller", spec, "--dataset", str(cases), "--json")
    recalls = {name: value for (name, key), value in values(found).items() if key == "R(add)"}
    assert sorted(recalls.values()) == [0.0, 1.0]
    assert found["skipped"] == []


def test_eval_names_the_cases_that_need_recording(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", KEPT, only=["keep-0", "keep-1"])
    found = printed(capsys, "eval", "--distiller", spec, "--dataset", str(cases), "--json")
    (skipped,) = found["skipped"]
    assert skipped["reason"] == "8 of 10 cases have no recorded answer"
    assert skipped["cases"] == [*(f"keep-{n}" for n in range(2, 9)), "quiet"]
    answered = [row for row in found["rows"] if row["measure"] == "Answered"]
    assert answered[0]["n"] == 2


def test_a_changed_prompt_replays_nothing(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", KEPT)
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    other = [json.loads(line) | {"key": f"{n:064x}"} for n, line in enumerate(lines)]
    text = "".join(json.dumps(line) + "\n" for line in other)
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8")
    assert main(["distill", "eval", "--distiller", spec, "--dataset", str(cases), "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["rows"] == []
    assert "10 of 10 cases have no recorded answer: keep-0, keep-1" in output.err
    assert "nothing was scored" in output.err


def test_eval_prints_a_board_for_people(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distill", "eval", "--dataset", str(cases)]) == 0
    output = capsys.readouterr()
    head, row = output.out.splitlines()
    assert head.split()[:4] == ["dataset", "distiller", "cases", "F1(all)"]
    assert row.split()[:3] == ["small", "rules@3", "10"]
    assert "--out DIR keeps it" in output.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param(["--dataset", "nowhere"], "no set of cases named 'nowhere'", id="dataset"),
        pytest.param(["--distiller", "magic"], "no distiller named 'magic'", id="distiller"),
        pytest.param(["--distiller", "cassette:no.jsonl"], "no such cassette", id="cassette"),
        pytest.param(["--split", "final"], "no split named 'final'", id="split"),
        pytest.param(["--seed", "-1"], "a seed is 0 or more", id="seed"),
    ],
)
def test_what_does_not_exist_is_named_in_one_line(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["distill", "eval", *options]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_our_own_sets_go_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "eval", "--dataset", "distill-mixed", "--split", "train", "--json")
    assert {row["dataset"] for row in found["rows"]} == {"distill-mixed"}


# Runs: eval --out, report, compare


def test_a_kept_run_is_reported_and_compared(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", NOTHING)
    out = tmp_path / "run"
    arguments = ["eval", "--distiller", "rules", "--distiller", spec, "--dataset", str(cases)]
    assert main(["distill", *arguments, "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["distill", "report", str(out)]) == 0
    assert capsys.readouterr().out == f"{out / 'report.html'}\n"
    sides = [f"{out}::concise@1 × small", f"{out}::rules@3"]
    found = printed(capsys, "compare", *sides, "--measure", "R(add)", "--json")
    (row,) = found["rows"]
    assert (row["first"], row["second"], row["verdict"]) == (0.0, 1.0, "better")
    assert main(["distill", "compare", str(out), f"{out}::rules@3"]) == 2
    assert "::NAME" in capsys.readouterr().err


def test_distillers_are_compared_without_a_run(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", NOTHING, only=["keep-0", "quiet"])
    assert main(["distill", "compare", spec, "rules", "--dataset", str(cases)]) == 0
    output = capsys.readouterr().out
    assert "2 shared cases, 8 left out" in output
    assert "inconclusive" in output


def test_comparing_needs_a_known_grouping(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--by", "mood", "--dataset", str(cases)]
    assert main(["distill", "compare", "rules", "rules", *options]) == 2
    assert "no grouping named 'mood'" in capsys.readouterr().err


# show


def test_show_puts_expected_and_proposed_side_by_side(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["distill", "show", "later", "--dataset", str(cases)]) == 0
    output = capsys.readouterr().out
    assert "══ later · rules@3 · explicit-request · workspace" in output
    assert f"m1 user: {USER_SAID}" in output
    for heading in ("expected", "proposed", "what became of it"):
        assert heading in output
    assert "✓ right" in output


def test_show_failures_leaves_out_what_is_right(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tape(tmp_path / "t.jsonl", cases, "concise@1", KEPT)
    arguments = ["show", "--failures", "--distiller", spec, "--dataset", str(cases)]
    assert main(["distill", *arguments]) == 0
    output = capsys.readouterr()
    assert "══ quiet" in output.out
    assert "══ keep-0" not in output.out
    assert "✗ not asked for: add (#1)" in output.out
    assert "1 case with a fault" in output.err
    found = printed(capsys, *arguments, "--json")
    assert [case["case"] for case in found["cases"]] == ["quiet"]


def test_show_shows_control_characters_instead_of_obeying_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = case_line("c", messages=[said("[red]\x1b[31m以后提交信息一律用英文写。")])
    folder = write_cases(tmp_path / "hostile", [hostile])
    assert main(["distill", "show", "c", "--dataset", str(folder)]) == 0
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "[red]" in output


def test_show_needs_to_be_told_what(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distill", "show", "--dataset", str(cases)]) == 2
    assert "name a case, or ask for --failures" in capsys.readouterr().err
    assert main(["distill", "show", "keep", "--dataset", str(cases)]) == 2
    assert "keep-0" in capsys.readouterr().err
