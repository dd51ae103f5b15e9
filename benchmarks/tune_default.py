"""Tune the weights that ship, keep the study that shows it, run its notebook.

    DATA=DIR[:DIR...] .venv/bin/python benchmarks/tune_default.py [--ship] [OPTION...]

DATA names the public sets beside our own; without them there is no evidence, so they are required.
Further options go to `wsmem tune`. The study is made in runs/tune-default, where an interrupted one
goes on. It begins at benchmarks/tuning_start.json, which was fitted to nothing. What a reader needs
of it is kept in benchmarks/results/tuning. `--ship` makes what was found the profile `default`, and
the same weights with a threshold that recalls less the profile `strict`; run `make docs` and
`make refresh` after that.

The test split of our own sets stays closed unless `--open-test` is given, for final figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.refreshing import rerun, run_command, work_at_root
from wsmem.evals.catalogue import search_folders
from wsmem.evals.run_folder import strict_json
from wsmem.evals.tuning.kept import FOLDER, keep
from wsmem.evals.tuning.run import TuningRun

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = Path("runs/tune-default")
PROFILES = Path("wsmem/retrieval/profiles")
SHOWN = ("weights", "evidence_share", "evidence_cap")
NOTEBOOK = Path("notebooks/04_tuning.ipynb")
START = Path("benchmarks/tuning_start.json")
SIGNALS = ("length_saturation", "pairs", "letters", "title", "tags", "retrieval_terms")
"""What is searched. `coverage`, `word_coverage` and `saturation` say what `length_saturation` says,
and a search does as well without any of them; `recency` was dropped by every search that had it."""
ENTRY = ("importance", "surfaced")
HELD = ("importance=0.03", "surfaced=-1", "evidence_share=0.05", "evidence_cap=1")
"""Policy, not fitted. Who writes memories decides what importance means, so it breaks near-ties
only; what was just shown gives way; one good word is evidence enough, because a higher share loses
more answers than it avoids false ones."""
TRIALS = "1000"
SAMPLER = "ascent"
"""With as many trials it finds most on this many sets: see the samplers of the kept study."""


def tune_default(options: Sequence[str]) -> int:
    """Tune, keep, ship if wanted, and say what is wrong with the notebook."""
    work_at_root()
    if not search_folders():
        print("DATA names no folder of public sets", file=sys.stderr)
        return 2
    given = [option for option in options if option != "--ship"]
    trials = () if "--trials" in given else ("--trials", TRIALS)
    sampler = () if "--sampler" in given else ("--sampler", SAMPLER)
    held = [part for value in HELD for part in ("--hold", value)]
    searched = [part for name in (*SIGNALS, *ENTRY) for part in ("--signal", name)]
    start = ["--datasets-dir", "datasets", "--start", START.as_posix()]
    fixed = [*start, *searched, *held]
    command = ["tune", *fixed, *trials, *sampler, *given]
    if status := run_command(command, unsaid=("--out", RUN.as_posix())):
        return status
    run = keep(TuningRun.load(RUN), FOLDER, command=["wsmem", *command])
    if "--ship" in options:
        ship(run)
    return rerun(NOTEBOOK) if NOTEBOOK.is_file() else 0


def ship(run: TuningRun) -> None:
    """Make what was found the profiles `default` and `strict`."""
    if run.strict is None:
        raise SystemExit("no threshold recalls as little as `strict` has to: nothing is shipped")
    for name, profile in (("default", run.profile), ("strict", run.strict)):
        path = PROFILES / f"{name}.json"
        path.write_text(strict_json({**profile, "name": name}, indent=2) + "\n", encoding="utf-8")
        print(f"{path}: {json.dumps({key: profile[key] for key in SHOWN})}")


if __name__ == "__main__":
    sys.exit(tune_default(sys.argv[1:]))
