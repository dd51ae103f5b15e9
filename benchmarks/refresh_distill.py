"""Score the rules and the recorded model on the test split, keep the run, run the notebook.

    .venv/bin/python benchmarks/refresh_distill.py

To be done after a change of the cases, the rules, the measures or the recordings; look at what
changed with git diff, and let the sentences in the notebook follow the figures. A changed prompt
needs new recordings first (benchmarks/record_smollm2.py).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wsmem.cli.main import main
from wsmem.evals.distillation.kept import FOLDER, RUN
from wsmem.evals.notebooks import execute, faults

ROOT = Path(__file__).resolve().parents[1]
SETS = ("datasets/distill-zh", "datasets/distill-en")
NOTEBOOK = "notebooks/02_distiller.ipynb"


def refresh() -> int:
    """Evaluate into the run's folder, run the notebook, say what is wrong with it."""
    os.chdir(ROOT)  # paths in the run's manifest are then those of the repository
    folder = FOLDER.relative_to(ROOT)
    names = ["rules", *(f"cassette:{path.as_posix()}" for path in sorted(folder.glob("*.jsonl")))]
    distillers = [word for name in names for word in ("--distiller", name)]
    datasets = [word for name in SETS for word in ("--dataset", name)]
    out = ["--split", "test", "--out", (folder / RUN).as_posix()]
    # The manifest keeps this command, with which anyone can repeat the run.
    sys.argv = ["wsmem", "distill", "eval", *distillers, *datasets, *out]
    if status := main(sys.argv[1:]):
        return status
    execute(Path(NOTEBOOK))
    found = faults(Path(NOTEBOOK))
    for fault in found:
        print(fault)
    return bool(found)


if __name__ == "__main__":
    sys.exit(refresh())
