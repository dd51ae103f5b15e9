"""Score our own sets again, keep the run that notebooks read, and run these notebooks.

    .venv/bin/python benchmarks/refresh_ranking.py

To be done after a change of the sets, of the ranking or of a profile; look at what changed with
git diff, and let the sentences in the notebooks follow the figures.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.cli.main import main
from wsmem.evals.notebooks import execute, folder_faults, readers
from wsmem.evals.run import RESULTS, SLICES
from wsmem.evals.run_folder import MANIFEST, strict_json
from wsmem.evals.systems.wsmem import HOST, PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).resolve().parents[1]
NAME = "ranking"
RUN = f"benchmarks/results/{NAME}"
NOTEBOOKS = Path("notebooks")
MEASURES = ("nDCG@10", "Success@1", "R@5", "FalseRecall", "Bytes@8", "Judged@10")
BOARD_ONLY = ("Judged@10",)
"""Measures of the labels, not of systems, which no slice needs."""
RANKS = 5
"""Kept of each query."""


def refresh() -> int:
    """Evaluate into the run's folder, run its notebooks, say what is wrong with any notebook."""
    os.chdir(ROOT)  # paths in the run's manifest are then those of the repository
    os.environ.pop("DATA", None)
    chosen = [word for measure in MEASURES for word in ("--measure", measure)]
    # The manifest keeps this command, with which anyone can repeat the run.
    sys.argv = ["wsmem", "eval", "--datasets-dir", "datasets", *chosen, "--out", RUN]
    if status := main(sys.argv[1:]):
        return status
    shorten(Path(RUN))
    for path in readers(NOTEBOOKS, NAME):
        execute(path)
    found = folder_faults(NOTEBOOKS)
    for fault in found:
        print(fault)
    return bool(found)


def shorten(run: Path) -> None:
    """Keep what the notebooks read: of single queries, the first ranks of our profiles alone.

    The board stays whole, so the figures of all systems do, and slices but for some measures.
    What a host is given follows the ranks of its profile, so its queries are not kept again.
    """
    _drop_from_slices(run / SLICES, BOARD_ONLY)
    path = run / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for files in manifest["files"].values():
        for system, name in list(files["results"].items()):
            results = run / RESULTS / name
            if system.startswith(PREFIX) and not system.endswith(HOST):
                rows = map(json.loads, results.read_text(encoding="utf-8").splitlines())
                short = (row | {"ranked": row["ranked"][:RANKS]} for row in rows)
                text = "".join(strict_json(row) + "\n" for row in short)
                results.write_text(text, encoding="utf-8")
            else:
                del files["results"][system]
                results.unlink()
    path.write_text(strict_json(manifest, indent=1) + "\n", encoding="utf-8")


def _drop_from_slices(path: Path, measures: Collection[str]) -> None:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    kept = [strict_json(row) for row in rows if row["measure"] not in measures]
    text = ",\n".join(kept)
    path.write_text(f'{{"rows": [\n{text}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(refresh())
