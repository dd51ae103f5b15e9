"""Folders of all kinds of runs: which are taken, which are refused, and how files are replaced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from wsmem.errors import RunFolderError
from wsmem.evals import run as recall
from wsmem.evals.distillation.run import KIND as DISTILLATION
from wsmem.evals.latency.run import KIND as LATENCY
from wsmem.evals.run_folder import MANIFEST, free_stem, write_json, write_tables
from wsmem.evals.tuning.run import JOURNAL
from wsmem.evals.tuning.run import KIND as TUNING

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.run_folder import RunKind

KINDS = (recall.KIND, DISTILLATION, LATENCY, TUNING)
kinds = pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.called) for kind in KINDS])


def holding(kind: RunKind, folder: Path, **more: object) -> Path:
    named = {} if kind.name is None else {"kind": kind.name}
    folder.mkdir()
    write_json(folder / MANIFEST, {"format": kind.format, **named, **more})
    return folder


@kinds
def test_a_folder_with_a_run_of_its_kind_is_taken_again(kind: RunKind, tmp_path: Path) -> None:
    folder = holding(kind, tmp_path / "run")
    kind.claim(folder)
    assert kind.is_in(folder)
    assert kind.manifest(folder)["format"] == kind.format


@kinds
def test_a_folder_with_a_run_of_another_kind_is_left_as_it_is(
    kind: RunKind, tmp_path: Path
) -> None:
    for number, other in enumerate(KINDS):
        if other is not kind:
            folder = holding(other, tmp_path / str(number))
            assert kind.strange(folder) == (MANIFEST,)
            assert not kind.is_in(folder)
            with pytest.raises(RunFolderError, match=f"is no {kind.called}; give a folder that"):
                kind.manifest(folder)


def test_an_evaluation_does_not_take_the_folder_of_a_measurement(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="holds no run"):
        recall.claim(holding(LATENCY, tmp_path / "run"))


def test_an_evaluation_may_be_repeated_where_people_keep_notes_beside_it(tmp_path: Path) -> None:
    folder = holding(recall.KIND, tmp_path / "run")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    recall.claim(folder)


@kinds
def test_a_damaged_manifest_says_to_do_the_work_again_and_does_not_forbid_it(
    kind: RunKind, tmp_path: Path
) -> None:
    (tmp_path / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(RunFolderError, match=rf"cannot be read \(.*\); {kind.again} into this"):
        kind.manifest(tmp_path)
    assert not kind.is_in(tmp_path)
    kind.claim(tmp_path)


@kinds
def test_a_run_of_a_newer_format_is_not_misread(kind: RunKind, tmp_path: Path) -> None:
    folder = holding(kind, tmp_path / "run", format=99)
    with pytest.raises(RunFolderError, match=r"format 99, and this wsmem reads format 1; upgrade"):
        kind.manifest(folder)


def test_files_that_come_and_go_during_a_study_are_not_strange(tmp_path: Path) -> None:
    (tmp_path / f"{JOURNAL}.lock").touch()
    assert TUNING.strange(tmp_path) == ()
    assert LATENCY.strange(tmp_path) == (f"{JOURNAL}.lock",)


def test_a_table_has_a_row_a_line(tmp_path: Path) -> None:
    path = tmp_path / "tables.json"
    write_tables(path, {"rows": [{"a": 1}, {"a": "部署"}], "skipped": []})
    text = path.read_text(encoding="utf-8")
    assert text == '{"rows": [\n{"a": 1},\n{"a": "部署"}\n],\n"skipped": [\n\n]}\n'
    assert json.loads(text) == {"rows": [{"a": 1}, {"a": "部署"}], "skipped": []}


def test_a_file_that_cannot_be_replaced_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.mkdir()
    with pytest.raises(RunFolderError, match=r"results\.json: cannot be written"):
        write_json(path, {})
    assert [found.name for found in tmp_path.iterdir()] == ["results.json"]


def test_what_is_no_number_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_json(path, {"value": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"value": float("nan")})
    assert json.loads(path.read_text(encoding="utf-8")) == {"value": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("wsmem:default", "wsmem-default", id="unsafe"),
        pytest.param("部署", "部署", id="chinese"),
        pytest.param("a", "a-2", id="taken"),
        pytest.param("/", "set", id="nothing-left"),
    ],
)
def test_names_become_names_of_files(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "a.jsonl").touch()
    assert free_stem(tmp_path, name) == expected
