"""The architecture, checked: imports point up the list of layers, heavy libraries stay out."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "wsmem"

LAYERS = (
    "errors", "records", "settings", "text", "redaction", "scopes", "retrieval", "operations",
    "store", "distill", "engine", "hosts", "migrate", "evals", "cli",
)  # fmt: skip
"""From the bottom up: a layer may import itself and those before it."""

HEAVY = (
    "bm25s", "dask", "distributed", "filelock", "ir_measures", "jinja2", "matplotlib", "mcp",
    "numpy", "openai", "optuna", "pandas", "pydantic", "rich", "scipy", "starlette", "typer",
    "uvicorn",
)  # fmt: skip

# The one path that must start fast is measured apart, in the tests of the command line.
STANDARD_LIBRARY_ONLY = ("errors", "records", "settings", "text", "redaction", "scopes")


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str | None:
    """The layer a module belongs to; the package root has none."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return None if first == "__init__" else first


def imported_layers(source: str) -> set[tuple[str, int]]:
    """Layers of wsmem that a source imports, with line numbers."""
    found: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.level:
            names = ["wsmem.."]  # relative: not how this package imports
        elif node.module == "wsmem":
            names = [f"wsmem.{alias.name}" for alias in node.names]
        else:
            names = [node.module or ""]
        for name in names:
            if name == "wsmem" or name.startswith("wsmem."):
                found.add((name.partition(".")[2].partition(".")[0], node.lineno))
    return found


def upward_imports(layer: str | None, source: str) -> list[str]:
    """What a module of `layer` imports against the order, as readable sentences."""
    allowed = LAYERS[: LAYERS.index(layer) + 1] if layer else ()
    return [
        f"line {line}: {name or 'wsmem'} is not below {layer or 'the package root'}"
        for name, line in sorted(imported_layers(source))
        if name not in allowed
    ]


def test_every_module_belongs_to_a_layer() -> None:
    unknown = {layer for path in modules() if (layer := layer_of(path))} - set(LAYERS)
    assert not unknown


def test_imports_point_one_way() -> None:
    problems = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in modules()
        for problem in upward_imports(layer_of(path), path.read_text(encoding="utf-8"))
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param("from wsmem.engine.memory import Engine", id="from-import"),
        pytest.param("import wsmem.evals.run", id="plain-import"),
        pytest.param("def late():\n    from wsmem.store import locks", id="inside-a-function"),
        pytest.param("from wsmem import cli", id="layer-from-the-root"),
        pytest.param("from ..engine import memory", id="relative"),
    ],
)
def test_a_planted_upward_import_is_seen(planted: str) -> None:
    assert upward_imports("text", planted)


def test_every_module_says_what_lives_there() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_packages_hold_no_logic_of_their_own() -> None:
    """An `__init__` is a sentence and, at most, imports with a sorted `__all__`."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    for path in PACKAGE.rglob("__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert all(isinstance(node, allowed) for node in tree.body), path


def loaded_after(statement: str) -> set[str]:
    """Top-level modules a fresh interpreter holds after one statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(result.stdout.split())


def test_importing_wsmem_loads_no_heavy_library() -> None:
    assert not loaded_after("import wsmem") & set(HEAVY)


def test_lower_layers_and_the_scan_need_only_the_standard_library() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in modules()
        if layer_of(path) in STANDARD_LIBRARY_ONLY
    ]
    names += ["wsmem.retrieval.scan", "wsmem.retrieval.profile"]
    assert not loaded_after("\n".join(f"import {name}" for name in names)) & set(HEAVY)
