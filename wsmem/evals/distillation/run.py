"""Run folders of evaluated distillers: written once, read by comparisons, pages and notebooks.

    manifest.json                     circumstances: versions, commit, settings, checksums
    board.json                        {"rows": [...], "skipped": [...]}
    cases/DATASET.jsonl               the cases: conversation, entries, what was expected
    results/DATASET__DISTILLER.jsonl  per case: proposed, audit, what is wrong, units by measure

All JSON is strict, and credentials of the cases are not in it. But for the manifest's times and
versions, equal evaluations give equal bytes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import UnknownNameError
from wsmem.evals.distillation.evaluation import chosen_cases
from wsmem.evals.distillation.judging import KINDS
from wsmem.evals.distillation.measures import MEASURES
from wsmem.evals.distillation.stored import stored_case, stored_judgement
from wsmem.evals.extras import optional
from wsmem.evals.intervals import CONFIDENCE
from wsmem.evals.manifest import circumstances
from wsmem.evals.pages import FILE
from wsmem.evals.run_folder import (
    MANIFEST,
    RunKind,
    drop_earlier,
    free_stem,
    write_json,
    write_lines,
    write_tables,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from wsmem.evals.distillation.board import Cell
    from wsmem.evals.distillation.cases import CaseSet
    from wsmem.evals.distillation.evaluation import DistillEvaluation

BOARD, CASES, RESULTS = "board.json", "cases", "results"

KIND = RunKind(
    name="distillation",
    called="run of distillers",
    format=1,
    written=frozenset({MANIFEST, BOARD, CASES, RESULTS, FILE}),
    command="wsmem distill eval --out",
    again="evaluate again",
)
_PACKAGES = ("numpy", "scipy", "pydantic", "openai")

Units = dict[str, dict[str, list[float]]]
"""By case and measure, what the case adds to the measure."""


def write_run(evaluation: DistillEvaluation, folder: Path) -> DistillRun:
    """Write a run; an earlier one in the same folder is replaced.

    Raises:
        RunFolderError: the folder cannot be used.
    """
    KIND.claim(folder)
    drop_earlier(folder, CASES, RESULTS)
    measures = tuple(MEASURES.values())
    files: dict[str, dict[str, Any]] = {}
    for cases in evaluation.plan.sets:
        results = [result for result in evaluation.results if result.dataset == cases.name]
        told = {item.case.id: stored_case(item) for found in results for item in found.judgements}
        if not told:
            continue
        stem = free_stem(folder / CASES, cases.name)
        in_order = (told[case.id] for case in cases.cases if case.id in told)
        write_lines(folder / CASES / f"{stem}.jsonl", in_order)
        names: dict[str, str] = {}
        for result in results:
            name = free_stem(folder / RESULTS, f"{stem}__{result.distiller}") + ".jsonl"
            names[result.distiller] = name
            lines = (stored_judgement(item, measures) for item in result.judgements)
            write_lines(folder / RESULTS / name, lines)
        files[cases.name] = {"cases": f"{stem}.jsonl", "results": names}
    rows = (row.to_json() | {"interval": row.interval.method} for row in evaluation.rows)
    skipped = (item.to_json() for item in evaluation.skipped)
    write_tables(folder / BOARD, {"rows": rows, "skipped": skipped})
    write_json(folder / MANIFEST, _manifest(evaluation) | {"files": files})
    return DistillRun.load(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillRun:
    """A finished run, read from its folder."""

    path: Path
    manifest: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    """The board, as `DistillRow.to_json` gives it, with the `interval`'s method beside it."""
    skipped: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, path: Path) -> DistillRun:
        """Read a run folder.

        Raises:
            RunFolderError: there is no such run in it, it is damaged, or a newer wsmem wrote it.
        """
        found, board = KIND.manifest(path), KIND.read(path / BOARD, ("rows", "skipped"))
        rows, skipped = tuple(board["rows"]), tuple(board["skipped"])
        return cls(path=path, manifest=found, rows=rows, skipped=skipped)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the scored sets, in order."""
        return tuple(self.manifest["files"])

    @property
    def distillers(self) -> tuple[str, ...]:
        """Names of the distillers that were scored on any set, in the order of the plan."""
        scored = {name for files in self.manifest["files"].values() for name in files["results"]}
        return tuple(name for name in self.manifest["distillers"] if name in scored)

    def board(self) -> pd.DataFrame:
        """One row a set, distiller, slice and measure: value, low, high, n, interval."""
        frame: pd.DataFrame = optional("pandas").DataFrame([dict(row) for row in self.rows])
        return frame.astype(dict.fromkeys(("value", "low", "high"), "float64"))

    def cases(self, dataset: str) -> dict[str, dict[str, Any]]:
        """The cases of a set by id, as `stored_case` tells them."""
        rows = KIND.read_lines(self.path / CASES / self._files(dataset)["cases"])
        return {row["id"]: row for row in rows}

    def results(self, dataset: str, distiller: str) -> list[dict[str, Any]]:
        """What a distiller made of a set's cases, as `stored_judgement` tells it; empty if not."""
        name = self._files(dataset)["results"].get(distiller)
        return [] if name is None else KIND.read_lines(self.path / RESULTS / name)

    def units(self, dataset: str, distiller: str) -> Units:
        """By case, what it adds to each measure."""
        return {row["case"]: row["units"] for row in self.results(dataset, distiller)}

    def confusion(self, distiller: str, dataset: str | None = None) -> dict[Cell, int]:
        """How often each kind was proposed where each was expected, in a set or in all."""
        wanted = self.datasets if dataset is None else (dataset,)
        counted = Counter(
            (str(cell[0]), str(cell[1]))
            for name in wanted
            for row in self.results(name, distiller)
            for cell in row["confusion"]
        )
        return {
            (expected, given): counted[expected, given] for expected in KINDS for given in KINDS
        }

    def _files(self, dataset: str) -> Mapping[str, Any]:
        if dataset not in self.manifest["files"]:
            raise UnknownNameError("dataset", dataset, self.datasets, "in this run")
        found: Mapping[str, Any] = self.manifest["files"][dataset]
        return found


def _manifest(evaluation: DistillEvaluation) -> dict[str, Any]:
    plan = evaluation.plan
    return {
        "format": KIND.format,
        "kind": KIND.name,
        **circumstances(_PACKAGES, started=evaluation.started, finished=evaluation.finished),
        "settings": {
            "split": plan.split,
            "measures": list(MEASURES),
            "confidence": CONFIDENCE,
            "resamples": plan.resamples,
        },
        "seeds": {"bootstrap": plan.seed},
        "distillers": {distiller.name: dict(distiller.settings) for distiller in plan.distillers},
        "datasets": {cases.name: _dataset(cases, evaluation) for cases in plan.sets},
    }


def _dataset(cases: CaseSet, evaluation: DistillEvaluation) -> dict[str, Any]:
    card = cases.card
    chosen = chosen_cases(cases, evaluation.plan.split)
    return {
        "path": cases.path.as_posix(),
        "checksum": cases.checksum,
        "card_agrees": None if card is None else cases.checksum in card.checksums.values(),
        "cases": len(chosen),
        "splits": sorted({case.split for case in chosen}),
        "nothing_to_keep": sum(not case.expected for case in chosen),
        "scored": {
            result.distiller: len(result.judgements)
            for result in evaluation.results
            if result.dataset == cases.name
        },
    }
