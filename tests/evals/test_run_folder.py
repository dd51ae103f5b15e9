from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from labelled_sets import write_set

from wsmem.errors import RunFolderError, UnknownNameError
from wsmem.evals.catalogue import find_datasets
from wsmem.evals.evaluate import evaluate
from wsmem.evals.manifest import commit
from wsmem.evals.plan import Plan
from wsmem.evals.run import Run, claim, write_run
from wsmem.evals.run_folder import strict_json

if TYPE_CHECKING:
    from pathlib import Path

SYSTEMS = ("wsmem:default", "bm25", "dense")


def run_of(tmp_path: Path, *, names: tuple[str, ...] = ("a", "b"), out: str = "run") -> Run:
    for name in names:
        write_set(tmp_path / "sets" / name)
    sources = find_datasets([tmp_path / "sets" / name for name in names]).values()
    return write_run(evaluate(Plan.of(sources, systems=SYSTEMS, jobs=1)), tmp_path / out)


def strict(path: Path) -> list[Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = path.read_text(encoding="utf-8")
    parts = text.splitlines() if path.suffix == ".jsonl" else [text]
    return [json.loads(part, parse_constant=refuse) for part in parts]


def test_a_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert run == Run.load(tmp_path / "run")
    assert run.datasets == ("a", "b")
    assert run.systems == ("wsmem:default", "bm25")
    assert [item["system"] for item in run.skipped] == ["dense"]


def test_every_file_is_strict_json(tmp_path: Path) -> None:
    run_of(tmp_path)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "run").as_posix() for path in files} == {
        "manifest.json",
        "board.json",
        "slices.json",
        "worst.jsonl",
        "queries/a.jsonl",
        "queries/b.jsonl",
        "results/a__wsmem-default.jsonl",
        "results/a__bm25.jsonl",
        "results/b__wsmem-default.jsonl",
        "results/b__bm25.jsonl",
    }
    for path in files:
        assert strict(path) or path.name == "worst.jsonl"  # nothing was answered badly


def test_the_board_is_a_frame_with_means(tmp_path: Path) -> None:
    board = run_of(tmp_path).board()
    assert list(board.columns) == [
        "dataset",
        "system",
        "measure",
        "value",
        "low",
        "high",
        "n",
        "interval",
        "groups",
    ]
    mean = board.query("dataset == 'mean' and system == 'bm25' and measure == 'RR@10'")
    parts = board.query("dataset != 'mean' and system == 'bm25' and measure == 'RR@10'")
    assert mean["value"].item() == pytest.approx(parts["value"].mean())


def test_queries_are_a_frame_with_a_column_a_measure(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    frame = run.queries("a", "bm25")
    assert list(frame["query"]) == ["q1", "q2", "q3", "q4"]
    assert frame.loc[0, "text"] == "部署脚本"
    assert frame.loc[0, "relevant"] == {"d1": 2}
    assert frame["RR@10"].isna().tolist() == [False, False, False, True]
    assert frame["FalseRecall"].isna().tolist() == [True, True, True, False]
    assert len(run.queries()) == 2 * 2 * 4
    board = run.board().query("dataset == 'a' and system == 'bm25' and measure == 'RR@10'")
    assert frame["RR@10"].mean() == pytest.approx(board["value"].item(), abs=1e-6)


def test_slices_are_a_frame(tmp_path: Path) -> None:
    slices = run_of(tmp_path).slices()
    one = slices.query(
        "dataset == 'a' and system == 'bm25' and measure == 'RR@10' and dimension == 'lang'"
    )
    # Two Chinese queries, one of which nothing answers; sorted by name.
    assert dict(zip(one["slice"], one["n"], strict=True)) == {"en": 1, "mixed": 1, "zh": 1}
    assert set(slices["dimension"]) == {"lang", "kind", "scope size", "query length"}
    assert "mean" in set(slices["dataset"])


def test_the_manifest_says_how_to_repeat_the_run(tmp_path: Path) -> None:
    manifest = run_of(tmp_path).manifest
    assert manifest["settings"]["measures"][0] == "nDCG@10"
    assert manifest["seeds"] == {"bootstrap": 0}
    assert manifest["packages"]["bm25s"]
    assert manifest["machine"]["cpus"] >= 1
    assert manifest["systems"]["bm25"]["k1"] == 1.2
    dataset = manifest["datasets"]["a"]
    assert set(dataset["checksums"]) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert (dataset["judged"], dataset["queries"]) == (3, 4)
    assert dataset["unanswered"].keys() == {"wsmem:default", "bm25"}


def test_an_unknown_dataset_or_system_says_what_the_run_has(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    with pytest.raises(UnknownNameError, match="no dataset named 'c'; there are: a, b"):
        run.queries("c")
    with pytest.raises(UnknownNameError, match="no system named 'dense'"):
        run.queries(system="dense")


def test_a_new_run_replaces_the_old_one_entirely(tmp_path: Path) -> None:
    run_of(tmp_path)
    (tmp_path / "run" / "report.html").write_text("kept", encoding="utf-8")
    run = run_of(tmp_path, names=("c",))
    assert run.datasets == ("c",)
    assert {path.name for path in (tmp_path / "run" / "queries").iterdir()} == {"c.jsonl"}
    assert (tmp_path / "run" / "report.html").read_text(encoding="utf-8") == "kept"


def test_names_that_look_alike_as_files_keep_their_own(tmp_path: Path) -> None:
    run = run_of(tmp_path, names=("a b", "a-b"))
    assert len(set(map(str, run.manifest["files"].values()))) == 2
    assert set(run.queries()["dataset"]) == {"a b", "a-b"}


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x", encoding="utf-8")
    with pytest.raises(RunFolderError, match="is not empty and holds no run"):
        claim(tmp_path)
    with pytest.raises(RunFolderError, match="cannot be made"):
        claim(tmp_path / "precious.txt" / "run")


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"holds no manifest\.json"):
        Run.load(tmp_path)


def test_a_damaged_run_is_named_with_the_file(tmp_path: Path) -> None:
    run_of(tmp_path)
    (tmp_path / "run" / "board.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"board\.json: cannot be read"):
        Run.load(tmp_path / "run")


def test_not_a_number_never_reaches_a_file() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json({"value": float("nan")})


def test_the_commit_is_that_of_the_checkout_and_says_when_files_differ(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *identity, *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert commit(tmp_path) is None
    git("init", "-q")
    (tmp_path / "file").write_text("1", encoding="utf-8")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    assert commit(tmp_path) == git("rev-parse", "HEAD")
    (tmp_path / "file").write_text("2", encoding="utf-8")
    assert commit(tmp_path) == git("rev-parse", "HEAD") + "+changes"
