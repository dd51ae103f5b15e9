"""A search that works on a study together with others, as a process that can be killed.

    python shared_search.py PLACE FOLDER NAME OTHER ROUNDS

After each round it leaves a file `NAME.<round>` in FOLDER. It goes on after the first when the
other one has played a round, too, and stops for good after ROUNDS of them; 0 is to the end, when it
prints what it found.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

from tuning_kit import drawn_duels

from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.search import Search, Storage
from wsmem.evals.tuning.space import Space
from wsmem.retrieval.profile import Profile

TRIALS = 96
STUDY = "shared"
SPACE = Space.of(
    Profile(name="start", weights={"coverage": 2.0, "pairs": 0.5}, evidence_share=0.1),
    signals=["coverage", "pairs", "recency"],
)


def main(place: str, folder: Path, name: str, other: str, rounds: int) -> None:
    """Search, and tell how far it is by files."""
    numbers = count()

    def on_trials(_further: int) -> None:
        number = next(numbers)  # the first call is about what was there before
        (folder / f"{name}.{number}").touch()
        if number == 1:
            _await(folder / f"{other}.1")
        if rounds and number == rounds:
            _await(folder / "never")

    found = Search(trials=TRIALS, sampler="tpe", seed=len(name)).run(
        drawn_duels(),
        SPACE,
        Objective(),
        storage=Storage(place=place, study=STUDY),
        on_trials=on_trials,
    )
    sys.stdout.write(json.dumps({"value": found.value, "history": found.history}))


def _await(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
