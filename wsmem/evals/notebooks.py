"""What makes a notebook evidence: outputs that are there, current, checked and the same anywhere.

nbval runs notebooks again and compares. It cannot see what is missing: a cell without an output, a
cell told not to be checked, or an unknown magic, after which IPython drops the rest of the cell
without an error. `faults` finds these by reading the file; nothing is run.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import MissingExtraError, WsmemError
from wsmem.evals.run import Run
from wsmem.evals.run_folder import KEPT, kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CHECKED = "NBVAL_CHECK_OUTPUT"
"""The comment by which a cell is compared even when nbval is asked to be lax."""

FaultKind = Literal[
    "stripped", "never-run", "order", "unchecked", "error", "magic", "unstable", "long", "empty",
]  # fmt: skip

_HIDING = ("NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP", "NBVAL_RAISES_EXCEPTION",
           "PYTEST_VALIDATE_IGNORE_OUTPUT")  # fmt: skip
"""Comments, and in lower case with hyphens tags, that make nbval look away."""
_HIDING_TAGS = {*(name.lower().replace("_", "-") for name in _HIDING), "raises-exception"}

_MAGICS = frozenset({"%matplotlib"})
"""All that our notebooks need. Others hide outputs, skip cells or do not exist."""
_SHOWING = frozenset({"print", "display"})
_LONGEST_FUNCTION = 5
_MARK_UP = re.compile(r"<[^>]*>")

_UNSTABLE = (
    ("a path", re.compile(r"(/home/|/Users/|/root/|/tmp/|/var/folders/|[A-Z]:\\Users\\)\S*")),
    ("a path", re.compile(r"\S*(site-packages|ipykernel_\d+|<ipython-input)\S*")),
    ("a timing", re.compile(r"Wall time|CPU times|\bper loop\b|\bit/s\b|\bs/it\b|\belapsed\b")),
    ("a time of day", re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+")),
    ("a warning", re.compile(r"\b\w*Warning\b:")),
    ("an address", re.compile(r"\bat 0x[0-9a-f]{6,}")),
    ("a number type", re.compile(r"\bnp\.(float|int|bool)\w*\(")),
)
"""What differs from machine to machine or from run to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One reason why a notebook proves nothing."""

    notebook: str
    cell: int | None
    """Place among the code cells, from 0 as nbval counts; `None` for the whole notebook."""
    kind: FaultKind
    text: str

    def __str__(self) -> str:
        place = self.notebook if self.cell is None else f"{self.notebook}, cell {self.cell}"
        return f"{place}: {self.text}"


class NotebookError(WsmemError, ValueError):
    """A notebook cannot be read."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)  # args rebuild the error when unpickled
        self.path, self.problem = path, problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; save it again from JupyterLab"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A code cell that is not empty."""

    source: str
    tree: ast.Module | None
    """Of the source as IPython hands it on, magics turned into calls; `None` if it is no Python."""
    count: int | None
    outputs: tuple[Mapping[str, Any], ...]
    tags: frozenset[str]

    @property
    def shows(self) -> bool:
        """Whether the cell is there to show something: it ends in a value, or prints."""
        if CHECKED in self.source:
            return True
        if self.tree is None or not self.tree.body:
            return False
        last = self.tree.body[-1]
        ends_in_value = isinstance(last, ast.Expr) and not self.source.rstrip().endswith(";")
        return ends_in_value or any(name in _SHOWING for name in _called(self.tree))


def saved_run(name: str) -> Run:
    """A run that is kept in the repository, in `benchmarks/results/NAME`.

    Raises:
        RunFolderError: there is no such run, or no checkout around this installation.
    """
    return Run.load(kept(KEPT / name, made_by="make refresh"))


def notebook_paths(folder: Path) -> list[Path]:
    """The notebooks in a folder and below, in order; checkpoints of editors are none."""
    return sorted(
        path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
    )


def readers(folder: Path, name: str) -> list[Path]:
    """The notebooks of a folder that read a kept run, by its name as their code writes it.

    Raises:
        NotebookError: one of the notebooks cannot be read.
    """
    call = f'saved_run("{name}")'
    return [
        path
        for path in notebook_paths(folder)
        if any(call in cell.source for cell in _code_cells(path) if cell is not None)
    ]


def folder_faults(folder: Path) -> list[Fault]:
    """Faults of every notebook of a folder; a folder without notebooks is a fault as well.

    Raises:
        NotebookError: one of them cannot be read.
    """
    paths = notebook_paths(folder)
    if not paths:
        return [Fault(notebook=folder.name, cell=None, kind="empty", text="it holds no notebook")]
    return [fault for path in paths for fault in faults(path)]


def faults(path: Path) -> list[Fault]:
    """Everything that keeps a notebook from being evidence, cell by cell.

    Raises:
        NotebookError: the file is no notebook.
    """
    cells = _code_cells(path)
    found = [
        Fault(notebook=path.name, cell=number, kind=kind, text=text)
        for number, cell in enumerate(cells)
        if cell is not None
        for kind, text in _cell_faults(cell)
    ]
    known = [cell for cell in cells if cell is not None]
    if not any(cell.shows for cell in known):
        text = "no cell shows anything"
        found.append(Fault(notebook=path.name, cell=None, kind="empty", text=text))
    counts = [cell.count for cell in known if cell.count is not None]
    if counts != list(range(1, len(counts) + 1)):
        text = "its cells were not run once each from top to bottom"
        found.append(Fault(notebook=path.name, cell=None, kind="order", text=text))
    return found


def _cell_faults(cell: _Cell) -> Iterator[tuple[FaultKind, str]]:
    if cell.count is None:
        yield "never-run", "it was never run"
    if cell.shows and not cell.outputs:
        yield "stripped", "it should show something, and its output is missing"
    if cell.shows and CHECKED not in _comments(cell.source):
        yield "unchecked", f"it shows something without # {CHECKED}"
    for marker in [*sorted(_comments(cell.source) & set(_HIDING)), *sorted(cell.tags)]:
        if marker in _HIDING or marker in _HIDING_TAGS:
            yield "unchecked", f"{marker} makes nbval look away"
    if cell.tree is None:
        yield "error", "it is not Python"
    else:
        for magic in sorted(_magics(cell.tree) - _MAGICS):
            yield "magic", f"{magic} may hide what the cell does, or not exist at all"
        for function in _long_functions(cell.tree):
            yield "long", f"{function} is longer than {_LONGEST_FUNCTION} lines: import it"
    yield from _output_faults(cell)


def _output_faults(cell: _Cell) -> Iterator[tuple[FaultKind, str]]:
    for output in cell.outputs:
        if output.get("output_type") == "error":
            yield "error", f"it ended in {output.get('ename', 'an error')}"
        elif output.get("name") == "stderr":
            yield "unstable", "it wrote to standard error"
    text = "\n".join(_texts(cell.outputs))
    for what, pattern in _UNSTABLE:
        if match := pattern.search(text):
            yield "unstable", f"its output holds {what}: {match[0]!r}"


def _texts(outputs: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    """What an output says, without pictures and mark-up."""
    for output in outputs:
        yield _joined(output.get("text", ""))
        for mime, value in output.get("data", {}).items():
            if mime == "text/html":
                yield _MARK_UP.sub(" ", _joined(value))
            elif mime.startswith("text/"):
                yield _joined(value)


def _comments(source: str) -> set[str]:
    """Comment lines as nbval reads them, which is without regard to the syntax around."""
    lines = (line.strip() for line in source.splitlines())
    return {line.lstrip("#").strip() for line in lines if line.startswith("#")}


def _called(tree: ast.Module) -> set[str]:
    """Names of the functions that are called anywhere."""
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _magics(tree: ast.Module) -> set[str]:
    """Magics and shell commands, however they are written."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        match node.func.attr, node.args:
            case "run_line_magic" | "run_cell_magic", [ast.Constant(value=str(name)), *_]:
                found.add(f"%{name}")
            case "run_line_magic" | "run_cell_magic" | "magic", _:
                found.add("a magic")
            case "system" | "getoutput", _:
                found.add("a shell command")
    return found


def _long_functions(tree: ast.Module) -> list[str]:
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > _LONGEST_FUNCTION
    ]


def _code_cells(path: Path) -> list[_Cell | None]:
    """The code cells; `None` for an empty one, which counts but says nothing."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        return [_cell(cell) if _joined(cell["source"]).strip() else None for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(str(path), f"it is no notebook ({error!r})") from error


def _cell(cell: Mapping[str, Any]) -> _Cell:
    source = _joined(cell["source"])
    return _Cell(
        source=source,
        tree=_tree(source),
        count=cell.get("execution_count"),
        outputs=tuple(cell.get("outputs", ())),
        tags=frozenset(cell.get("metadata", {}).get("tags", ())),
    )


def _joined(text: str | list[str]) -> str:
    """A text of a notebook file, which may be stored as lines."""
    return text if isinstance(text, str) else "".join(text)


def _tree(source: str) -> ast.Module | None:
    try:
        from IPython.core.inputtransformer2 import TransformerManager  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtraError("IPython", "lab") from error
    untyped: Any = TransformerManager
    try:
        python: str = untyped().transform_cell(source)
        return ast.parse(python)
    except SyntaxError:
        return None


def execute(path: Path) -> None:
    """Run a notebook in its own folder and store its outputs, without times and versions.

    Raises:
        NotebookError: it cannot be read, or a cell of it failed; the file is left as it was.
    """
    try:
        import nbformat  # noqa: PLC0415  an extra
        from nbclient import NotebookClient  # noqa: PLC0415
        from nbclient.exceptions import CellExecutionError  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("nbclient", "lab") from error
    _code_cells(path)
    untyped: Any = nbformat
    notebook = untyped.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise NotebookError(str(path), f"a cell failed: {error.ename}: {error.evalue}") from error
    notebook.metadata.pop("language_info", None)
    untyped.write(notebook, path)
