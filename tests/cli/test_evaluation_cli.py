from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import card, query, write_lines, write_set

from wsmem.cli import main as entry
from wsmem.evals.card import checksums
from wsmem.evals.run import Run

if TYPE_CHECKING:
    from pathlib import Path

FIGURE = ("dataset", "system", "measure", "value", "low", "high", "n")


@pytest.fixture(autouse=True)
def own_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sets of our own, one of them with a card, and no others in sight."""
    folder = tmp_path / "own"
    write_set(folder / "one")
    write_set(folder / "two")
    write_set(folder / "two", card=card(folder / "two", checksums(folder / "two")))
    monkeypatch.setenv("WSMEM_DATASETS", str(folder))
    monkeypatch.delenv("DATA", raising=False)
    return folder


class Said:
    """What a command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.status, self.out, self.err = 0, "", ""

    def __call__(self, *arguments: str) -> Said:
        self.status = entry.main(arguments)
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def wsmem(capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


def test_json_is_one_object_of_rows_and_skipped_and_nothing_else(wsmem: Said) -> None:
    said = wsmem("eval", "--dataset", "one", "--system", "bm25", "--system", "dense", "--json")
    assert said.status == 0
    assert set(said.json) == {"rows", "skipped"}
    assert {tuple(row) for row in said.json["rows"]} == {FIGURE}
    assert {row["dataset"] for row in said.json["rows"]} == {"one"}
    (skipped,) = said.json["skipped"]
    assert skipped["system"] == "dense"
    assert "pip install" in skipped["reason"]
    assert said.out.count("\n") == 1


def test_by_default_every_set_and_system_is_scored_and_averaged(wsmem: Said) -> None:
    said = wsmem("eval", "--json", "--jobs", "1")
    rows = said.json["rows"]
    assert list(dict.fromkeys(row["dataset"] for row in rows)) == ["one", "two", "mean"]
    assert list(dict.fromkeys(row["system"] for row in rows)) == [
        "wsmem:reference",
        "wsmem:default",
        "wsmem:default@host",
        "wsmem:strict",
        "bm25",
        "fts5:trigram",
        "fts5:bigram",
    ]


def test_a_set_given_by_path_goes_by_the_name_of_its_folder(wsmem: Said, tmp_path: Path) -> None:
    write_set(tmp_path / "mine")
    path = str(tmp_path / "own" / ".." / "mine")
    said = wsmem("eval", "--dataset", path, "--system", "bm25", "--measure", "RR@10", "--json")
    (row,) = said.json["rows"]
    assert (row["dataset"], row["measure"], row["n"]) == ("mine", "RR@10", 3)
    assert row["low"] <= row["value"] <= row["high"]


@pytest.mark.parametrize("way", ["option", "environment"])
def test_further_folders_add_their_sets(
    wsmem: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    folders = [str(write_set(tmp_path / "lone")), str(tmp_path / "more")]
    write_set(tmp_path / "more" / "third")
    if way == "environment":
        monkeypatch.setenv("DATA", os.pathsep.join(folders))
    options = [f"--data={folder}" for folder in folders if way == "option"]
    said = wsmem("datasets", "list", "--json", *options)
    assert [row["name"] for row in said.json["datasets"]] == ["one", "two", "lone", "third"]


def test_people_get_a_table_and_notes_apart_from_it(wsmem: Said, own_sets: Path) -> None:
    queries = [query("q1", "数据库"), query("q2", "端口"), query("q3", "unlabelled")]
    write_set(own_sets / "notes", queries=queries, labels=[("q1", "d3", 1), ("q2", "d3", 1)])
    said = wsmem("eval", "--dataset", "notes", "--system", "bm25", "--system", "fts5:trigram")
    assert said.out.split()[:4] == ["dataset", "system", "n", "nDCG@10"]
    assert [line.split()[:2] for line in said.out.splitlines()[1:]] == [
        ["notes", "bm25"],
        ["fts5:trigram", "2"],
    ]
    assert said.err.splitlines() == [
        "notes: 1 queries without labels were left out",
        "fts5:trigram: 1 of 2 unanswered, counted as zero",
        "run not kept; --out DIR keeps it",
    ]


def test_a_run_is_kept_where_it_was_asked_for(wsmem: Said, tmp_path: Path) -> None:
    said = wsmem(
        "eval", "--dataset", "one", "--system", "bm25", "--limit", "2", "--out", str(tmp_path / "r")
    )
    run = Run.load(tmp_path / "r")
    assert said.status == 0
    assert run.manifest["settings"]["limit"] == 2
    assert len(run.queries()) == 2


def test_nothing_scored_is_a_failure(wsmem: Said, own_sets: Path) -> None:
    assert wsmem("eval", "--dataset", "one", "--system", "dense", "--json").status == 1
    assert wsmem.json["rows"] == []
    write_set(own_sets / "empty", queries=[], labels=[])
    said = wsmem("eval", "--dataset", "empty", "--system", "bm25", "--json")
    assert said.status == 1
    assert {row["value"] for row in said.json["rows"]} == {None}
    assert {row["n"] for row in said.json["rows"]} == {0}
    assert "nothing was scored" in said.err


def test_a_malformed_line_is_named_and_the_other_sets_go_on(wsmem: Said, own_sets: Path) -> None:
    with (own_sets / "one" / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"_id": "d9"}\n')
    said = wsmem("eval", "--system", "bm25", "--jobs", "1", "--json")
    assert said.status == 0
    (skipped,) = said.json["skipped"]
    assert (skipped["system"], skipped["dataset"]) == ("*", "one")
    assert "corpus.jsonl:5: field text is missing" in skipped["reason"]
    assert wsmem("eval", "--dataset", "one", "--system", "bm25", "--json").status == 1
    assert "corpus.jsonl:5: field text is missing" in wsmem.err


ERRORS = [
    pytest.param(["eval", "--dataset", "nope"], "named 'nope'; there are: one, two", id="dataset"),
    pytest.param(["eval", "--system", "nope"], "there are: wsmem:default", id="system"),
    pytest.param(["eval", "--measure", "nope"], "there are: nDCG, RR", id="measure"),
    pytest.param(["eval", "--limit", "0"], "a limit of 0 queries", id="limit"),
    pytest.param(["eval", "--data", "nowhere"], "nowhere: there is no such folder", id="data"),
    pytest.param(["eval", "--datasets-dir", "nowhere"], "nowhere: there is no", id="datasets-dir"),
    pytest.param(["datasets", "check", "nope"], "there are: one, two", id="check"),
    pytest.param(
        ["explain", "--dataset", "one", "--query", "zz"], "there are: q1, q2, q3", id="query"
    ),
    pytest.param(
        ["explain", "--dataset", "one", "--query", "q1", "--profile", "zz"], "zz", id="profile"
    ),
]


@pytest.mark.parametrize(("arguments", "told"), ERRORS)
def test_what_cannot_be_done_is_said_in_one_line_with_what_exists(
    wsmem: Said, arguments: list[str], told: str
) -> None:
    said = wsmem(*arguments)
    (line,) = said.err.splitlines()
    assert line.startswith("wsmem: ")
    assert told in line
    assert (said.status, said.out) == (2, "")


def test_a_set_without_the_split_is_skipped_with_the_splits_it_has(wsmem: Said) -> None:
    said = wsmem("eval", "--split", "dev", "--dataset", "one", "--system", "bm25", "--json")
    assert said.status == 1
    assert "no split named 'dev'; there are: test" in said.json["skipped"][0]["reason"]


def test_a_usage_error_ends_with_two(wsmem: Said) -> None:
    assert wsmem("eval", "--bogus").status == 2
    assert "--bogus" in wsmem.err


def test_a_folder_that_cannot_take_the_run_is_refused_before_the_work(
    wsmem: Said, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    said = wsmem("eval", "--dataset", "one", "--out", str(tmp_path / "file"))
    assert (said.status, said.out) == (2, "")
    assert "file: cannot be made" in said.err


def test_sets_are_listed_with_what_is_in_them(wsmem: Said) -> None:
    said = wsmem("datasets", "list", "--json")
    one, two = said.json["datasets"]
    assert (one["documents"], one["queries"], one["unanswerable"]) == (4, 4, 1)
    assert (one["licence"], two["licence"]) == ("see SOURCE.md", "MIT")
    assert "MIT" in wsmem("datasets", "list").out


def test_sound_sets_pass_the_check(wsmem: Said) -> None:
    said = wsmem("datasets", "check")
    assert (said.status, said.out) == (0, "one: no problems\ntwo: no problems\n")


def test_the_check_prints_every_fault_and_fails(wsmem: Said, own_sets: Path) -> None:
    write_lines(own_sets / "two" / "corpus.jsonl", [{"_id": "d1"}, {"_id": "d1", "text": ""}])
    said = wsmem("datasets", "check", "two")
    assert said.status == 1
    assert "corpus.jsonl:1: field text is missing" in said.out
    assert "test.tsv:3: label of an unknown document 'd2'" in said.out
    assert "corpus.jsonl: SHA-256 is " in said.out
    assert said.out.splitlines()[-1].startswith("two: ")


def test_a_query_is_explained_for_people_and_for_programs(wsmem: Said) -> None:
    arguments = ("explain", "--dataset", "one", "--query", "q1", "--profile", "reference")
    text = wsmem(*arguments).out
    assert "部署脚本" in text
    assert "title_phrase" in text or "phrase" in text
    found = wsmem(*arguments, "--json", "--top", "1").json
    assert (found["dataset"], found["query"], found["profile"]) == ("one", "q1", "reference")
    (row,) = found["rows"]
    assert (row["entry"], row["grade"]) == ("d1", 2)
    total = sum(signal["contribution"] for signal in row["signals"])
    assert total == pytest.approx(row["score"])


def test_a_query_that_recalls_nothing_is_explained_as_such(wsmem: Said) -> None:
    said = wsmem("explain", "--dataset", "one", "--query", "q4")
    assert (said.status, said.out.splitlines()[-1]) == (0, "nothing was recalled")


def test_version_and_help_are_short(wsmem: Said) -> None:
    assert wsmem("--version").out.count(".") >= 1
    assert {"eval", "datasets", "explain"} <= set(wsmem("--help").out.split())
    assert wsmem("eval", "--help").status == 0


def test_lean_commands_reach_their_module_without_the_application() -> None:
    code = (
        "import sys, types; lean = types.ModuleType('wsmem.cli.recall');"
        "lean.main = lambda arguments: len(arguments);"
        "sys.modules['wsmem.cli.recall'] = lean;"
        "from wsmem.cli.main import main; status = main(['recall', 'x', 'y']);"
        "slow = {'typer', 'pydantic', 'numpy', 'rich'} & set(sys.modules);"
        "print(status, sorted(slow))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3 []"


def test_a_lean_command_that_is_not_there_says_so(
    wsmem: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "LEAN_COMMANDS", {"recall": "wsmem.cli.no_such_module"})
    said = wsmem("recall", "x")
    assert (said.status, said.err) == (2, "wsmem: this installation has no 'recall' command\n")


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m wsmem.cli.main datasets list --json | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
