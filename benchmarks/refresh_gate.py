"""Make the gate's baselines and the runs and notebook about a regression anew, in one go.

    .venv/bin/python benchmarks/refresh_gate.py [--accept-lower]

To be done after a change of the sets, of the ranking or of a profile. A baseline that would become
lower is left as it is and named; --accept-lower writes it nevertheless. Look at what changed with
git diff, and let the sentences in the notebook follow the figures.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.refreshing import (
    keep_ranks,
    own_sets_alone,
    rerun,
    run_command,
    work_at_root,
)
from wsmem.cli.main import main
from wsmem.evals.catalogue import find_datasets
from wsmem.evals.contestants import Contestant
from wsmem.evals.gate.story import EXPLAINED, Earned, earned, keep_story, story_item
from wsmem.evals.reading import load_dataset
from wsmem.evals.run import RESULTS, Run
from wsmem.evals.systems import wsmem as systems
from wsmem.retrieval import stream
from wsmem.retrieval.profile import load_profile
from wsmem.text import analysis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.evals.dataset import Dataset

BEFORE, AFTER, HALVED = (
    Path(f"benchmarks/results/regression/{name}") for name in ("before", "after", "halved")
)
NOTEBOOK = Path("notebooks/06_regression.ipynb")
SYSTEM, MEASURE = "wsmem:default", "nDCG@10"
RANKS = 5
"""Kept of each query."""
TOLD = 6
"""Queries that are explained."""
WEIGHT, ON = "tags", "workspace-en"
"""What is halved besides, and the set that is asked then."""


def refresh(arguments: list[str]) -> int:
    """Baselines, then the three runs, then the notebook; 1 if anything is not as it should be."""
    work_at_root()
    own_sets_alone()
    status = main(["gate", "--datasets-dir", "datasets", "--update", *arguments])
    _evaluate(BEFORE)
    with every_other_pair():
        _evaluate(AFTER)
    with half_a_weight():
        _evaluate(HALVED, "--dataset", ON)
    _explain()
    return rerun(NOTEBOOK) or int(bool(status))


@contextmanager
def every_other_pair() -> Iterator[None]:
    """The regression: a step of two, so that 部署脚本 gives 部署 and 脚本, but not 署脚."""

    def pairs(run: str) -> list[str]:
        return [run[at : at + 2] for at in range(0, len(run), 2)]

    sound = analysis.unspaced_terms
    with ExitStack() as stack:
        for module in list(sys.modules.values()):
            if getattr(module, "unspaced_terms", None) is sound:
                stack.enter_context(patch.object(module, "unspaced_terms", pairs))
        # Very many runs are paired elsewhere, all at once; here each goes through the loop.
        stack.enter_context(patch.object(stream, "_FEW", sys.maxsize))
        yield


@contextmanager
def half_a_weight() -> Iterator[None]:
    """The other regression: one weight of the profile that ships is halved."""
    sound = load_profile("default")
    halved = sound.with_weights(**{WEIGHT: sound.weights[WEIGHT] / 2})
    with patch.object(systems, "load_profile", return_value=halved):
        yield


def _evaluate(folder: Path, *more: str) -> None:
    (folder / EXPLAINED).unlink(missing_ok=True)
    chosen = ("--system", SYSTEM, "--measure", MEASURE, "--measure", "FalseRecall")
    # In one process: all but the first run add a regression to it, which is of this one alone.
    alone = ("--jobs", "1", "--out", folder.as_posix())
    if run_command(["eval", "--datasets-dir", "datasets", *chosen, *more, *alone]):
        raise SystemExit(f"{folder}: nothing was scored")
    for path in (folder / RESULTS).glob("*.jsonl"):
        keep_ranks(path, RANKS)


def _explain() -> None:
    """Explain the queries that lost most, once sound and once broken."""
    lost = _lost()
    sets = {
        name: load_dataset(source.path, name=name)
        for name, source in find_datasets([Path("datasets")]).items()
    }
    before = [_earned(sets, item) for item in lost]
    with every_other_pair():
        after = [_earned(sets, item) for item in lost]
    keep_story(
        AFTER,
        [
            story_item(query=item["query"], shown=_shown(sets, item), before=sound, after=broken)
            for item, sound, broken in zip(lost, before, after, strict=True)
        ],
    )


def _earned(sets: dict[str, Dataset], item: dict[str, Any]) -> dict[str, Earned]:
    query = item["query"]
    return earned(sets[query["dataset"]], query["query"], load_profile("default"))


def _lost() -> list[dict[str, Any]]:
    """The queries that lost most, at most one about each entry: each tells something new."""
    runs = [Run.load(folder) for folder in (BEFORE, AFTER)]
    sound, broken = (Contestant.of_run(run, SYSTEM) for run in runs)
    firsts = [_firsts(run) for run in runs]
    found: list[dict[str, Any]] = []
    for name, queries in sound.scores.items():
        for query, scores in queries.items():
            old, new = scores[MEASURE], broken.scores[name][query][MEASURE]
            if old is None or new is None or new >= old:
                continue
            fact = sound.facts[name][query]
            best = max(sorted(fact.relevant), key=fact.relevant.__getitem__)
            about = {"dataset": name, "query": query, "text": fact.text, "measure": MEASURE}
            entries = [best, *(entry for first in firsts for entry in first[name, query])]
            values = {"before": old, "after": new}
            found.append({"query": about | values, "entries": entries, "loss": old - new})
    # Where something else is recalled now there is more to tell than where nothing is.
    found.sort(key=lambda item: (len(item["entries"]) < 3, -item["loss"]))
    told: dict[str, dict[str, Any]] = {}
    for item in found:
        told.setdefault(item["entries"][0], item)
    return list(told.values())[:TOLD]


def _firsts(run: Run) -> dict[tuple[str, str], list[str]]:
    """What came first, by set and query; an empty list where nothing was recalled."""
    rows: list[dict[Any, Any]] = run.queries(system=SYSTEM).to_dict("records")
    return {(row["dataset"], row["query"]): row["ranked"][:1] for row in rows}


def _shown(sets: dict[str, Dataset], item: dict[str, Any]) -> dict[str, str]:
    texts = {
        document.id: f"{document.title} {document.text}"
        for document in sets[item["query"]["dataset"]].documents
    }
    return {entry: texts[entry] for entry in dict.fromkeys(item["entries"])}


if __name__ == "__main__":
    sys.exit(refresh(sys.argv[1:]))
