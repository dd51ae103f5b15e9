"""nbval over the notebooks, as `make test` runs it: in another process, in several surroundings.

Compared strictly: every output of every cell, not only of marked ones, so that no forgotten marker
leaves a figure unchecked. Pictures are drawn and not compared, since fonts differ; the text beside
them is. The cells are marked nevertheless, so that `--nbval-lax` compares them as well.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.evals.notebooks import notebook_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"


def nbval(
    folder: Path, *options: str, cwd: Path, home: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the notebooks of a folder again and compare, under this repository's settings."""
    home.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [
        *(sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")),
        *("--rootdir", str(folder), "-p", "no:cacheprovider", "-q", "-rA", "--color=no"),
        *("--nbval-current-env", *options, str(folder)),
    ]
    environment = kept | {"HOME": str(home)} | variables
    for name in ("DSH_HOME", "MPLCONFIGDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "WSMEM_DATASETS"):
        environment.pop(name, None)
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def code_cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_every_output_comes_out_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = nbval(NOTEBOOKS, "--nbval", cwd=ROOT, home=home, PYTHONHASHSEED="1", TZ="UTC")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = sum(
        len(code_cells(json.loads(path.read_text(encoding="utf-8"))))
        for path in notebook_paths(NOTEBOOKS)
    )
    assert f"{cells} passed" in done.stdout
    assert not (home / ".dsh").exists()


def test_outputs_do_not_depend_on_surroundings(tmp_path: Path) -> None:
    """Another folder, home, time zone, language and order of hashes; and the lax way."""
    copies = tmp_path / "elsewhere"
    shutil.copytree(NOTEBOOKS, copies)
    home = tmp_path / "家"
    surroundings = {
        "PYTHONHASHSEED": "4242",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "COLUMNS": "40",
    }
    done = nbval(copies, "--nbval-lax", cwd=tmp_path, home=home, **surroundings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (home / ".dsh").exists()


def test_a_changed_number_in_any_scored_cell_is_red(tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    folder.mkdir()
    scored = []
    for path in notebook_paths(NOTEBOOKS):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for number, cell in enumerate(code_cells(notebook)):
            if cell["outputs"]:
                changed = [change_a_number(output) for output in cell["outputs"]]
                assert any(changed), f"{path.name}, cell {number} shows no figure"
                scored.append(f"{path.name}::Cell {number}")
        (folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")
    done = nbval(folder, "--nbval-lax", cwd=tmp_path, home=tmp_path / "home")
    failed = re.findall(r"^FAILED (?:.*/)?([^/]+::Cell \d+)", done.stdout, flags=re.MULTILINE)
    assert failed == scored, done.stdout + done.stderr


def change_a_number(output: dict[str, Any]) -> bool:
    """Make the last figure of an output another one; false where there is none."""
    data = output.get("data", output)
    key = "text/plain" if "data" in output else "text"
    text = data[key] if isinstance(data[key], str) else "".join(data[key])
    place = max(text.rfind(digit) for digit in "0123456789")
    if place < 0:
        return False
    data[key] = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    return True
