"""Score the rules and the recorded model on the test split, keep the run, run the notebook.

    .venv/bin/python benchmarks/refresh_distill.py

To be done after a change of the cases, the rules, the measures or the recordings; look at what
changed with git diff, and let the sentences in the notebook follow the figures. A changed prompt
needs new recordings first (benchmarks/record_smollm2.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.refreshing import ROOT, rerun, run_command, work_at_root
from wsmem.evals.distillation.kept import FOLDER, RUN

SETS = ("datasets/distill-zh", "datasets/distill-en")
NOTEBOOK = Path("notebooks/02_distiller.ipynb")


def refresh() -> int:
    """Evaluate into the run's folder, run the notebook, say what is wrong with it."""
    work_at_root()
    folder = FOLDER.relative_to(ROOT)
    names = ["rules", *(f"cassette:{path.as_posix()}" for path in sorted(folder.glob("*.jsonl")))]
    distillers = [word for name in names for word in ("--distiller", name)]
    datasets = [word for name in SETS for word in ("--dataset", name)]
    out = ["--split", "test", "--out", (folder / RUN).as_posix()]
    return run_command(["distill", "eval", *distillers, *datasets, *out]) or rerun(NOTEBOOK)


if __name__ == "__main__":
    sys.exit(refresh())
