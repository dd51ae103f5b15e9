"""Score our own sets again, keep the run that the notebook reads, and run the notebook.

    .venv/bin/python benchmarks/refresh_ranking.py

To be done after a change of the sets, of the ranking or of a profile; look at what changed with
git diff, and let the sentences in the notebook follow the figures.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from wsmem.cli.main import main
from wsmem.evals.notebooks import execute, folder_faults
from wsmem.evals.run import MANIFEST, RESULTS, strict_json
from wsmem.evals.systems.wsmem import PREFIX

ROOT = Path(__file__).resolve().parents[1]
RUN = "benchmarks/results/ranking"
NOTEBOOK = "notebooks/01_ranking.ipynb"
MEASURES = ("nDCG@10", "Success@1", "R@5", "FalseRecall", "Bytes@8")
RANKS = 5
"""Kept of each query."""


def refresh() -> int:
    """Evaluate into the run's folder, run the notebook, say what is wrong with it."""
    os.chdir(ROOT)  # paths in the run's manifest are then those of the repository
    os.environ.pop("DATA", None)
    chosen = [word for measure in MEASURES for word in ("--measure", measure)]
    # The manifest keeps this command, with which anyone can repeat the run.
    sys.argv = ["wsmem", "eval", "--datasets-dir", "datasets", *chosen, "--out", RUN]
    if status := main(sys.argv[1:]):
        return status
    shorten(Path(RUN))
    execute(Path(NOTEBOOK))
    found = folder_faults(Path(NOTEBOOK).parent)
    for fault in found:
        print(fault)
    return bool(found)


def shorten(run: Path) -> None:
    """Keep what the notebook reads: of single queries, the first ranks, and those of wsmem alone.

    Board and slices stay whole, so the figures of all systems do.
    """
    path = run / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for files in manifest["files"].values():
        for system, name in list(files["results"].items()):
            results = run / RESULTS / name
            if system.startswith(PREFIX):
                rows = map(json.loads, results.read_text(encoding="utf-8").splitlines())
                short = (row | {"ranked": row["ranked"][:RANKS]} for row in rows)
                text = "".join(strict_json(row) + "\n" for row in short)
                results.write_text(text, encoding="utf-8")
            else:
                del files["results"][system]
                results.unlink()
    path.write_text(strict_json(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(refresh())
