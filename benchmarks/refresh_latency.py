"""Time recalls again, keep the run that the notebook of latency reads, and run the notebook.

    .venv/bin/python benchmarks/refresh_latency.py [--entries N ...] [--plugin DIR] [--notebook]

Takes about five minutes on a quiet machine with two cores, and wants it for itself; 100 000 entries
are measured when they are asked for by name, which takes as long again. Where npm is found, the
public plugin is installed into a temporary folder and takes part, unless `--plugin` names one that
is there. Look at what changed with git diff, and let the sentences in the notebook follow the
figures. `--notebook` runs only the notebook, over the run that is there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.interop.plugin import InteropError, install
from wsmem.cli.main import main
from wsmem.evals.latency.plan import SIZES
from wsmem.evals.notebooks import execute, faults

ROOT = Path(__file__).resolve().parents[1]
RUN = "benchmarks/results/latency"
NOTEBOOK = Path("notebooks/05_latency.ipynb")


def refresh(arguments: list[str] | None = None) -> int:
    """Measure into the run's folder, run the notebook, say what is wrong with it."""
    parser = argparse.ArgumentParser(description="Time recalls, and run the notebook about it.")
    parser.add_argument("--entries", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--plugin", type=Path, help="a folder the public plugin is installed in")
    parser.add_argument("--notebook", action="store_true", help="only run the notebook")
    given = parser.parse_args(arguments)
    os.chdir(ROOT)  # paths in the run's manifest are then those of the repository
    os.environ.pop("DATA", None)
    if not given.notebook and (status := measure(given.entries, given.plugin)):
        return status
    execute(NOTEBOOK)
    found = faults(NOTEBOOK)
    for fault in found:
        print(fault)
    return bool(found)


def measure(entries: list[int], plugin: Path | None) -> int:
    """Time recalls beside every peer that there is."""
    folder = Path(tempfile.mkdtemp(prefix="wsmem-latency-plugin-"))
    try:
        named = ["--plugin", str(plugin or folder)] if plugin or installed(folder) else []
        sizes = [word for size in entries for word in ("--entries", str(size))]
        command = ["bench", "latency", "--datasets-dir", "datasets", *sizes, "--out", RUN]
        # The manifest keeps this command, with which anyone can repeat the run.
        sys.argv = ["wsmem", *command]
        return main([*command, *named])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def installed(folder: Path) -> bool:
    """Install the plugin, or say why it will not take part."""
    try:
        install(folder)
    except InteropError as error:
        print(f"without the public plugin: {error}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(refresh())
