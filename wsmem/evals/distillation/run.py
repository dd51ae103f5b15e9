"""Run folders of evaluated distillers: written once, read by comparisons, pages and notebooks.

    manifest.json                     circumstances: versions, commit, settings, checksums
    board.json                        {"rows": [...], "skipped": [...]}
    cases/DATASET.jsonl               the cases: conversation, entries, what was expected
    results/DATASET__DISTILLER.jsonl  per case: proposed, audit, what is wrong, units by measure

All JSON is strict, and credentials of the cases are not in it. But for the manifest's times and
versions, equal evaluations give equal bytes.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections import Counter
from dataclasses import dataclass
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.errors import MissingExtraError, RunFolderError, UnknownNameError
from wsmem.evals.distillation.evaluation import chosen_cases
from wsmem.evals.distillation.judging import KINDS
from wsmem.evals.distillation.measures import MEASURES
from wsmem.evals.distillation.stored import stored_case, stored_judgement
from wsmem.evals.intervals import CONFIDENCE
from wsmem.evals.manifest import commit, version
from wsmem.evals.run import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from wsmem.evals.distillation.board import Cell
    from wsmem.evals.distillation.cases import CaseSet
    from wsmem.evals.distillation.evaluation import DistillEvaluation

FORMAT = 1
KIND = "distillation"
"""What the manifest calls such a run, to tell it from a run of recall."""
MANIFEST, BOARD, CASES, RESULTS = "manifest.json", "board.json", "cases", "results"

_WRITTEN = frozenset({MANIFEST, BOARD, CASES, RESULTS, "report.html"})
_UNSAFE = re.compile(r"[^\w.+-]+")
_PACKAGES = ("numpy", "scipy", "pydantic", "openai")
_REMEDY = "give a folder that wsmem distill eval --out wrote"

Units = dict[str, dict[str, list[float]]]
"""By case and measure, what the case adds to the measure."""


def claim(folder: Path) -> None:
    """Make a run folder before the work begins, so that a bad name fails at once.

    Raises:
        RunFolderError: it cannot be made, or holds something other than an earlier run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir()}
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise RunFolderError(str(folder), problem, "choose another folder") from error
    if not found <= _WRITTEN:
        problem = "holds something other than such a run"
        raise RunFolderError(str(folder), problem, "choose another folder, or empty it")


def write_run(evaluation: DistillEvaluation, folder: Path) -> DistillRun:
    """Write a run; an earlier one in the same folder is replaced.

    Raises:
        RunFolderError: the folder cannot be used.
    """
    claim(folder)
    (folder / MANIFEST).unlink(missing_ok=True)  # a folder with a manifest is a whole run
    for stale in (*folder.glob(f"{CASES}/*.jsonl"), *folder.glob(f"{RESULTS}/*.jsonl")):
        stale.unlink()
    measures = tuple(MEASURES.values())
    files: dict[str, dict[str, Any]] = {}
    for cases in evaluation.plan.sets:
        results = [result for result in evaluation.results if result.dataset == cases.name]
        told = {item.case.id: stored_case(item) for found in results for item in found.judgements}
        if not told:
            continue
        stem = _free_stem(folder / CASES, cases.name)
        in_order = (told[case.id] for case in cases.cases if case.id in told)
        _write_lines(folder / CASES / f"{stem}.jsonl", in_order)
        names: dict[str, str] = {}
        for result in results:
            name = _free_stem(folder / RESULTS, f"{stem}__{result.distiller}") + ".jsonl"
            names[result.distiller] = name
            lines = (stored_judgement(item, measures) for item in result.judgements)
            _write_lines(folder / RESULTS / name, lines)
        files[cases.name] = {"cases": f"{stem}.jsonl", "results": names}
    _write_board(evaluation, folder / BOARD)
    text = strict_json(_manifest(evaluation) | {"files": files}, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return DistillRun.load(folder)


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run of distillers."""
    try:
        return bool(_read(folder / MANIFEST).get("kind") == KIND)
    except (RunFolderError, AttributeError):
        return False


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
        if not (path / MANIFEST).is_file():
            raise RunFolderError(str(path), f"holds no {MANIFEST}", _REMEDY)
        found = _read(path / MANIFEST)
        if not isinstance(found, dict) or found.get("kind") != KIND:
            raise RunFolderError(str(path), "is no run of distillers", _REMEDY)
        if found.get("format") != FORMAT:
            problem = f"is of format {found.get('format')}, and this wsmem reads {FORMAT}"
            raise RunFolderError(str(path), problem, "upgrade wsmem, or evaluate again")
        board = _read(path / BOARD)
        try:
            rows, skipped = tuple(board["rows"]), tuple(board["skipped"])
        except (KeyError, TypeError) as error:
            problem = "does not hold what a run holds there"
            raise RunFolderError(str(path / BOARD), problem, "evaluate again") from error
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
        frame: pd.DataFrame = _pandas().DataFrame([dict(row) for row in self.rows])
        return frame.astype(dict.fromkeys(("value", "low", "high"), "float64"))

    def cases(self, dataset: str) -> dict[str, dict[str, Any]]:
        """The cases of a set by id, as `stored_case` tells them."""
        rows = _read_lines(self.path / CASES / self._files(dataset)["cases"])
        return {row["id"]: row for row in rows}

    def results(self, dataset: str, distiller: str) -> list[dict[str, Any]]:
        """What a distiller made of a set's cases, as `stored_judgement` tells it; empty if not."""
        name = self._files(dataset)["results"].get(distiller)
        return [] if name is None else list(_read_lines(self.path / RESULTS / name))

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


def _write_board(evaluation: DistillEvaluation, path: Path) -> None:
    """One JSON object of lists with a row a line, which is small and shows what has changed."""
    rows = (row.to_json() | {"interval": row.interval.method} for row in evaluation.rows)
    tables = {"rows": rows, "skipped": (item.to_json() for item in evaluation.skipped)}
    texts = (
        f"{strict_json(name)}: [\n" + ",\n".join(map(strict_json, lines)) + "\n]"
        for name, lines in tables.items()
    )
    path.write_text("{" + ",\n".join(texts) + "}\n", encoding="utf-8")


def _manifest(evaluation: DistillEvaluation) -> dict[str, Any]:
    plan = evaluation.plan
    return {
        "format": FORMAT,
        "kind": KIND,
        "wsmem": version(),
        "commit": commit(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "started": evaluation.started.isoformat(timespec="seconds"),
        "finished": evaluation.finished.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cpus": os.cpu_count(),
        },
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


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue


def _free_stem(folder: Path, name: str) -> str:
    """A file name for a name: `careful@1 × small` becomes `careful-1-small`."""
    folder.mkdir(exist_ok=True)
    stem = wanted = _UNSAFE.sub("-", name).strip("-.") or "set"
    for number in count(2):
        if not (folder / f"{stem}.jsonl").exists():
            break
        stem = f"{wanted}-{number}"
    return stem


def _write_lines(path: Path, values: Iterable[Any]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(strict_json(value) + "\n" for value in values)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({error})"
        raise RunFolderError(str(path), problem, "evaluate again into this folder") from error


def _read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({error})"
        raise RunFolderError(str(path), problem, "evaluate again into this folder") from error


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415  heavy, and an extra
    except ImportError as error:
        raise MissingExtraError("pandas", "eval") from error
    return pd
