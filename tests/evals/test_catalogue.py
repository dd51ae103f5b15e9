from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set

from wsmem.errors import DatasetError, UnknownNameError
from wsmem.evals.catalogue import choose, find_datasets, own_folder, search_folders

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_set(tmp_path / "sets" / "b")
    write_set(tmp_path / "sets" / "a")
    write_set(tmp_path / "sets" / ".hidden")
    (tmp_path / "sets" / "distill-x").mkdir()
    (tmp_path / "sets" / "distill-x" / "cases.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "sets" / "README.md").write_text("about", encoding="utf-8")
    return tmp_path / "sets"


def test_a_folder_of_sets_and_a_set_itself_are_both_found(folder: Path, tmp_path: Path) -> None:
    write_set(tmp_path / "lone")
    assert list(find_datasets([folder, tmp_path / "lone"])) == ["a", "b", "lone"]


def test_one_set_reached_in_two_ways_is_one_set(folder: Path) -> None:
    assert list(find_datasets([folder, folder / "a", folder / ".." / "sets"])) == ["a", "b"]


def test_two_sets_of_one_name_are_refused_with_both_places(folder: Path, tmp_path: Path) -> None:
    other = write_set(tmp_path / "else" / "a")
    with pytest.raises(DatasetError) as caught:
        find_datasets([folder, other])
    assert str(folder / "a") in str(caught.value)
    assert str(other) in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_without_sets_is_an_error_not_an_empty_board(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match=re.escape(str(tmp_path / name))):
        find_datasets([tmp_path / name])


def test_sets_are_chosen_by_name_or_path_in_the_order_asked(folder: Path, tmp_path: Path) -> None:
    lone = write_set(tmp_path / "lone")
    chosen = choose(["b", str(lone), str(folder / "a")], find_datasets([folder]))
    assert [source.name for source in chosen] == ["b", "lone", "a"]


def test_without_a_wish_everything_known_is_chosen(folder: Path) -> None:
    assert [source.name for source in choose((), find_datasets([folder]))] == ["a", "b"]


def test_an_unknown_name_says_what_there_is(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="no dataset named 'c'; there are: a, b"):
        choose(["c"], find_datasets([folder]))


def test_the_environment_names_folders(tmp_path: Path) -> None:
    data = os.pathsep.join([str(tmp_path / "x"), "", str(tmp_path / "y")])
    assert search_folders({"DATA": data}) == (tmp_path / "x", tmp_path / "y")
    assert search_folders({}) == ()
    assert own_folder({"WSMEM_DATASETS": str(tmp_path)}) == tmp_path
    assert own_folder({}).name == "datasets"
