"""Score our own sets again, keep the run that notebooks read, and run these notebooks.

    .venv/bin/python benchmarks/refresh_ranking.py

To be done after a change of the sets, of the ranking or of a profile; look at what changed with
git diff, and let the sentences in the notebooks follow the figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.refreshing import keep_ranks, own_sets_alone, run_command, work_at_root
from wsmem.evals.notebooks import execute, folder_faults, readers
from wsmem.evals.run import RESULTS, SLICES
from wsmem.evals.run_folder import MANIFEST, strict_json

if TYPE_CHECKING:
    from collections.abc import Collection

NAME = "ranking"
RUN = f"benchmarks/results/{NAME}"
NOTEBOOKS = Path("notebooks")
MEASURES = ("nDCG@10", "Success@1", "R@5", "FalseRecall", "Bytes@8", "Judged@10")
BOARD_ONLY = ("Judged@10",)
"""Measures of the labels, not of systems, which no slice needs."""
QUERY_BY_QUERY = ("wsmem:reference", "wsmem:default")
"""Systems of which single queries are kept. What a host is given, and what `strict` leaves, follows
the ranks of `default`."""
RANKS = 5
"""Kept of each query."""


def refresh() -> int:
    """Evaluate into the run's folder, run its notebooks, say what is wrong with any notebook."""
    work_at_root()
    own_sets_alone()
    chosen = [word for measure in MEASURES for word in ("--measure", measure)]
    if status := run_command(["eval", "--datasets-dir", "datasets", *chosen, "--out", RUN]):
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
            if system in QUERY_BY_QUERY:
                keep_ranks(results, RANKS)
            else:
                del files["results"][system]
                results.unlink()
    path.write_text(strict_json(manifest, indent=1) + "\n", encoding="utf-8")


def _drop_from_slices(path: Path, measures: Collection[str]) -> None:
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    kept = [row for row in rows if row["measure"] not in measures]
    text = ",\n".join(json.dumps(row, allow_nan=False, separators=(",", ":")) for row in kept)
    path.write_text(f'{{"rows": [\n{text}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(refresh())
