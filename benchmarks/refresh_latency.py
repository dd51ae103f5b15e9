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
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.interop.plugin import InteropError, install
from benchmarks.refreshing import own_sets_alone, rerun, run_command, work_at_root
from wsmem.evals.latency.plan import SIZES

RUN = "benchmarks/results/latency"
NOTEBOOK = Path("notebooks/05_latency.ipynb")


def refresh(arguments: list[str] | None = None) -> int:
    """Measure into the run's folder, run the notebook, say what is wrong with it."""
    parser = argparse.ArgumentParser(description="Time recalls, and run the notebook about it.")
    parser.add_argument("--entries", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--plugin", type=Path, help="a folder the public plugin is installed in")
    parser.add_argument("--notebook", action="store_true", help="only run the notebook")
    given = parser.parse_args(arguments)
    work_at_root()
    own_sets_alone()
    if not given.notebook and (status := measure(given.entries, given.plugin)):
        return status
    return rerun(NOTEBOOK)


def measure(entries: list[int], plugin: Path | None) -> int:
    """Time recalls beside every peer that there is."""
    folder = Path(tempfile.mkdtemp(prefix="wsmem-latency-plugin-"))
    try:
        named = ["--plugin", str(plugin or folder)] if plugin or installed(folder) else []
        sizes = [word for size in entries for word in ("--entries", str(size))]
        command = ["bench", "latency", "--datasets-dir", "datasets", *sizes, "--out", RUN]
        return run_command(command, unsaid=named)
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
