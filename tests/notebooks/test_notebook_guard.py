from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wsmem.errors import RunFolderError
from wsmem.evals.notebooks import (
    NotebookError,
    execute,
    faults,
    folder_faults,
    notebook_paths,
    readers,
    saved_run,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"

Cell = dict[str, Any]


def value(text: str, *, mime: str = "text/plain") -> Cell:
    return {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {mime: text},
    }


def printed(text: str, *, name: str = "stdout") -> Cell:
    return {"output_type": "stream", "name": name, "text": text}


def code(source: str, *outputs: Cell, count: int | None = 1, tags: tuple[str, ...] = ()) -> Cell:
    return {
        "cell_type": "code",
        "id": f"cell-{count}",
        "source": source,
        "outputs": list(outputs),
        "execution_count": count,
        "metadata": {"tags": list(tags)} if tags else {},
    }


def write(folder: Path, *cells: Cell, name: str = "planted.ipynb") -> Path:
    path = folder / name
    notebook = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def kinds(path: Path) -> list[str]:
    return [fault.kind for fault in faults(path)]


GOOD = "# NBVAL_CHECK_OUTPUT\n1 + 1"


def test_the_notebooks_are_without_faults() -> None:
    assert [str(fault) for fault in folder_faults(NOTEBOOKS)] == []


def test_a_cell_that_shows_its_checked_output_is_fine(tmp_path: Path) -> None:
    assert kinds(write(tmp_path, code(GOOD, value("2")))) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("1 + 1", id="a-value"),
        pytest.param("x = 1\nprint(x)", id="printed"),
        pytest.param("for x in range(2):\n    print(x)", id="printed-in-a-loop"),
        pytest.param("from IPython.display import display\nx = display(1)", id="displayed"),
        pytest.param("# NBVAL_CHECK_OUTPUT\nx = 1", id="marked-as-checked"),
    ],
)
def test_a_cell_that_should_show_something_has_an_output(tmp_path: Path, source: str) -> None:
    marked = source if "NBVAL" in source else f"# NBVAL_CHECK_OUTPUT\n{source}"
    assert kinds(write(tmp_path, code(marked))) == ["stripped"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import json\nx = 1", id="assignments"),
        pytest.param("# only a remark", id="a-comment"),
        pytest.param("x = [1]\nx.append(2);", id="a-value-that-is-silenced"),
    ],
)
def test_a_cell_that_only_prepares_needs_no_output(tmp_path: Path, source: str) -> None:
    path = write(tmp_path, code(source), code(GOOD, value("2"), count=2))
    assert kinds(path) == []


def test_a_shown_cell_is_marked_so_that_even_a_lax_run_checks_it(tmp_path: Path) -> None:
    (fault,) = faults(write(tmp_path, code("1 + 1", value("2"))))
    assert fault.kind == "unchecked"
    assert str(fault) == "planted.ipynb, cell 0: it shows something without # NBVAL_CHECK_OUTPUT"


def test_a_cell_that_was_never_run_is_found(tmp_path: Path) -> None:
    assert kinds(write(tmp_path, code(GOOD, value("2"), count=None))) == ["never-run"]
    assert "never-run" in kinds(write(tmp_path, code("x = 1", count=None), code(GOOD, value("2"))))


@pytest.mark.parametrize(
    "marker",
    [
        "NBVAL_IGNORE_OUTPUT",
        "NBVAL_SKIP",
        "NBVAL_RAISES_EXCEPTION",
        "PYTEST_VALIDATE_IGNORE_OUTPUT",
    ],
)
def test_nothing_makes_nbval_look_away(tmp_path: Path, marker: str) -> None:
    by_comment = write(tmp_path, code(f"{GOOD}\n   ##  {marker}", value("2")))
    assert "unchecked" in kinds(by_comment)
    tag = marker.lower().replace("_", "-")
    by_tag = write(tmp_path, code(GOOD, value("2"), tags=(tag,)))
    assert kinds(by_tag) == ["unchecked"]


def test_a_tag_that_allows_exceptions_is_found(tmp_path: Path) -> None:
    assert kinds(write(tmp_path, code(GOOD, value("2"), tags=("raises-exception",)))) == [
        "unchecked"
    ]


def test_a_stored_error_is_found(tmp_path: Path) -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
    assert kinds(write(tmp_path, code(GOOD, error))) == ["error"]


@pytest.mark.parametrize(
    ("source", "named"),
    [
        pytest.param("%not_a_magic\nraise ValueError", "%not_a_magic", id="line"),
        pytest.param("%%not_a_magic\nraise ValueError", "%not_a_magic", id="cell"),
        pytest.param("x = %not_a_magic", "%not_a_magic", id="assigned"),
        pytest.param("if True:\n    %not_a_magic", "%not_a_magic", id="indented"),
        pytest.param("%%capture\nprint(1)", "%capture", id="hides-output"),
        pytest.param("%%script false\nprint(1)", "%script", id="skips-the-cell"),
        pytest.param("get_ipython().run_line_magic('nope', '')", "%nope", id="called"),
        pytest.param("get_ipython().run_line_magic(name, '')", "a magic", id="computed"),
        pytest.param("!ls", "a shell command", id="shell"),
        pytest.param("files = !ls", "a shell command", id="shell-assigned"),
        pytest.param("len?", "%pinfo", id="help"),
    ],
)
def test_magics_are_found_however_they_are_written(tmp_path: Path, source: str, named: str) -> None:
    path = write(tmp_path, code(f"# NBVAL_CHECK_OUTPUT\n{source}", printed("1")))
    if source.startswith("%%"):  # a cell magic stands in the first line
        path = write(tmp_path, code(source, printed("1")))
    found = [fault for fault in faults(path) if fault.kind == "magic"]
    assert [fault.text.startswith(named) for fault in found] == [True]


def test_the_magic_that_sets_up_plots_may_be_used(tmp_path: Path) -> None:
    path = write(tmp_path, code("%matplotlib inline\nx = 1"), code(GOOD, value("2"), count=2))
    assert kinds(path) == []


def test_cells_that_are_no_python_are_found(tmp_path: Path) -> None:
    assert "error" in kinds(write(tmp_path, code("for for"), code(GOOD, value("2"))))


@pytest.mark.parametrize("counts", [(2, 1), (1, 3), (2, 3), (1, 1)])
def test_cells_were_run_once_each_from_top_to_bottom(
    tmp_path: Path, counts: tuple[int, int]
) -> None:
    cells = [code(GOOD, value("2"), count=count) for count in counts]
    assert kinds(write(tmp_path, *cells)) == ["order"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/home/someone/wsmem/datasets", id="home"),
        pytest.param("read /tmp/x1/run", id="temporary"),
        pytest.param(r"C:\Users\someone", id="windows"),
        pytest.param("lib/site-packages/x.py:3", id="installed-package"),
        pytest.param("/private/ipykernel_123/4.py", id="cell-file"),
        pytest.param("CPU times: user 3 ms", id="cpu-times"),
        pytest.param("Wall time: 3 ms", id="wall-time"),
        pytest.param("1.2 ms ± 3 µs per loop", id="timeit"),
        pytest.param("100%|###| 3/3 [00:01, 2.5 it/s]", id="progress-bar"),
        pytest.param("2026-01-02 03:04:05.678901", id="clock"),
        pytest.param("DeprecationWarning: old", id="warning"),
        pytest.param("<object at 0x7f3a2b1c9d>", id="address"),
        pytest.param("{'a': np.float64(0.5)}", id="numpy-scalar"),
    ],
)
def test_what_differs_from_run_to_run_is_found(tmp_path: Path, text: str) -> None:
    assert kinds(write(tmp_path, code(GOOD, value(text)))) == ["unstable"]
    html = f"<table><tr><td>{text.replace('<', '&lt;')}</td></tr></table>"
    assert kinds(write(tmp_path, code(GOOD, value(html, mime="text/html")))) == ["unstable"]


def test_standard_error_is_no_result(tmp_path: Path) -> None:
    assert kinds(write(tmp_path, code(GOOD, printed("hm", name="stderr")))) == ["unstable"]


@pytest.mark.parametrize(
    "text",
    [
        "deploy.sh, 30 s, 250 ms, /api/v1/orders",
        "更新于 2026-01-02",
        "a warning light, home/garden",
    ],
)
def test_ordinary_text_is_no_fault(tmp_path: Path, text: str) -> None:
    assert kinds(write(tmp_path, code(GOOD, value(text)))) == []


def test_long_functions_belong_into_the_package(tmp_path: Path) -> None:
    function = "def f():\n" + "    x = 1\n" * 5
    path = write(tmp_path, code(function), code(GOOD, value("2"), count=2))
    assert kinds(path) == ["long"]


def test_a_notebook_without_results_and_a_folder_without_notebooks_prove_nothing(
    tmp_path: Path,
) -> None:
    assert kinds(write(tmp_path, code("x = 1"))) == ["empty"]
    (tmp_path / "none").mkdir()
    assert [fault.kind for fault in folder_faults(tmp_path / "none")] == ["empty"]


@pytest.mark.parametrize("text", ["{", "{}", '{"cells": [{"cell_type": "code"}]}', "[]"])
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NotebookError, match=r"broken\.ipynb: it is no notebook"):
        folder_faults(tmp_path)


def strip(cell: Cell) -> None:
    cell["outputs"] = []


def strip_as_tools_do(cell: Cell) -> None:
    cell["outputs"], cell["execution_count"] = [], None


def ignore(cell: Cell) -> None:
    cell["source"] = ["# NBVAL_IGNORE_OUTPUT\n", *cell["source"]]


def redden(cell: Cell) -> None:
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
    cell["outputs"] = [error]


def unknown_magic(cell: Cell) -> None:
    cell["source"] = ["# NBVAL_CHECK_OUTPUT\n", "%not_a_magic\n", "raise ValueError"]


@pytest.mark.parametrize("original", notebook_paths(NOTEBOOKS), ids=lambda path: path.stem)
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        pytest.param(strip, "stripped", id="stripped"),
        pytest.param(strip_as_tools_do, "never-run", id="stripped-with-its-count"),
        pytest.param(ignore, "unchecked", id="ignored"),
        pytest.param(redden, "error", id="reddened"),
        pytest.param(unknown_magic, "magic", id="unknown-magic"),
    ],
)
def test_a_fault_planted_in_any_scored_cell_of_a_real_notebook_is_found(
    tmp_path: Path, plant: Callable[[Cell], None], kind: str, original: Path
) -> None:
    notebook = json.loads(original.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    scored = [number for number, cell in enumerate(cells) if cell["outputs"]]
    assert len(scored) >= 8
    for number in scored:
        copied = json.loads(original.read_text(encoding="utf-8"))
        plant([cell for cell in copied["cells"] if cell["cell_type"] == "code"][number])
        path = tmp_path / "copy.ipynb"
        path.write_text(json.dumps(copied), encoding="utf-8")
        assert (number, kind) in {(fault.cell, fault.kind) for fault in faults(path)}


def test_notebooks_that_read_a_kept_run_are_known_by_its_name(tmp_path: Path) -> None:
    reading = write(tmp_path, code('run = saved_run("ranking")'), name="b.ipynb")
    write(tmp_path, code('run = saved_run("ranking_of_old")'), name="a.ipynb")
    remark = code("x = 1") | {"cell_type": "markdown", "source": 'saved_run("ranking")'}
    write(tmp_path, remark, name="c.ipynb")
    assert readers(tmp_path, "ranking") == [reading]


def test_running_a_notebook_stores_outputs_without_times_and_versions(tmp_path: Path) -> None:
    path = write(tmp_path, code("import os", count=None), code("# NBVAL_CHECK_OUTPUT\n1 + 1"))
    execute(path)
    assert kinds(path) == []
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert "language_info" not in stored["metadata"]
    assert all("execution" not in cell["metadata"] for cell in stored["cells"])


def test_a_notebook_with_a_failing_cell_is_left_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path, code("raise ValueError('no')"))
    before = path.read_bytes()
    with pytest.raises(NotebookError, match="a cell failed: ValueError: no"):
        execute(path)
    assert path.read_bytes() == before


def test_a_saved_run_is_read_by_its_name() -> None:
    run = saved_run("ranking")
    assert set(run.systems) >= {"wsmem:reference", "wsmem:default", "bm25"}
    assert {item["query"] for item in run.worst()} <= set(run.queries()["query"])
    with pytest.raises(RunFolderError, match="there is no such run"):
        saved_run("nothing")
