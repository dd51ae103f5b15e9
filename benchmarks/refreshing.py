"""What the scripts share that make kept runs anew: where they work, commands, notebooks, ranks."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.cli.main import main
from wsmem.evals.notebooks import execute, faults
from wsmem.evals.run_folder import strict_json

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]


def work_at_root() -> None:
    """Work in the repository's folder, so that paths in manifests are those of the repository."""
    os.chdir(ROOT)


def own_sets_alone() -> None:
    """Leave out the public sets that may lie beside our own."""
    os.environ.pop("DATA", None)


def run_command(command: Sequence[str], *, unsaid: Sequence[str] = ()) -> int:
    """Run a command of wsmem; its manifest keeps it, so that anyone can repeat the run.

    Args:
        command: What comes after `wsmem`.
        unsaid: Further words that are of this machine alone.
    """
    sys.argv = ["wsmem", *command]
    return main([*command, *unsaid])


def rerun(notebook: Path) -> int:
    """Run a notebook and print what is wrong with it; 1 if anything is."""
    execute(notebook)
    found = faults(notebook)
    for fault in found:
        print(fault)
    return int(bool(found))


def keep_ranks(results: Path, count: int) -> None:
    """Keep only the first ranks of each query in a file of results."""
    rows = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    short = (row | {"ranked": row["ranked"][:count]} for row in rows)
    text = "".join(strict_json(row) + "\n" for row in short)
    results.write_text(text, encoding="utf-8")
