"""Run folders: everything one evaluation found, written once and read by reports and notebooks.

    manifest.json                     circumstances: versions, commit, settings, checksums, seconds
    board.json                        {"rows": [...], "skipped": [...]}, means included
    slices.json                       {"rows": [...]}, the board taken apart
    worst.jsonl                       the worst queries of each profile of ours, explained
    queries/DATASET.jsonl             the scored queries: text, scope, relevant documents, groups
    results/DATASET__SYSTEM.jsonl     per query: the first 20 ranks, every measure's value, bytes
    ledger.jsonl                      only until the run is whole: answers so far, to resume from

All JSON is strict: what cannot be scored is `null`, never NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import RunFolderError, UnknownNameError
from wsmem.evals.extras import optional
from wsmem.evals.ledger import LEDGER, Ledger
from wsmem.evals.manifest import manifest
from wsmem.evals.results import QueryFacts
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
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd

    from wsmem.evals.results import DatasetResult, Evaluation, SystemResult

BOARD, SLICES, WORST = "board.json", "slices.json", "worst.jsonl"
QUERIES, RESULTS = "queries", "results"

KIND = RunKind(
    name=None,
    called="run of recall",
    format=1,
    written=frozenset({MANIFEST, BOARD, SLICES, WORST, QUERIES, RESULTS, LEDGER}),
    command="wsmem eval --out",
    again="evaluate again",
)


def claim(folder: Path) -> None:
    """Make a run folder before the work begins, so that a bad name fails at once.

    Raises:
        RunFolderError: it cannot be made, or holds something other than an earlier run.
    """
    # Reports and whatever people keep beside a run are no reason to refuse its folder.
    if KIND.strange(folder) and not KIND.is_in(folder):
        problem = "is not empty and holds no run"
        raise RunFolderError(str(folder), problem, "choose another folder, or empty it")


def write_run(evaluation: Evaluation, folder: Path) -> Run:
    """Write a run; the files of an earlier run in the same folder are replaced.

    Raises:
        RunFolderError: the folder cannot be used.
    """
    claim(folder)
    drop_earlier(folder, QUERIES, RESULTS)
    files: dict[str, Any] = {}
    for dataset in evaluation.datasets:
        stem = free_stem(folder / QUERIES, dataset.name)
        facts = (fact.to_json() for fact in dataset.facts)
        write_lines(folder / QUERIES / f"{stem}.jsonl", facts)
        results: dict[str, str] = {}
        for system in dataset.systems:
            name = free_stem(folder / RESULTS, f"{stem}__{system.system}") + ".jsonl"
            results[system.system] = name
            write_lines(folder / RESULTS / name, _result_lines(dataset, system))
        files[dataset.name] = {"queries": f"{stem}.jsonl", "results": results}
    write_tables(folder / SLICES, {"rows": [row.to_json() for row in evaluation.slices]})
    write_tables(
        folder / BOARD,
        {
            "rows": [
                row.to_json() | {"interval": row.interval.method, "groups": row.interval.groups}
                for row in evaluation.rows
            ],
            "skipped": [item.to_json() for item in evaluation.skipped],
        },
    )
    worst = (
        {"dataset": dataset.name} | query.to_json()
        for dataset in evaluation.datasets
        for query in dataset.worst
    )
    write_lines(folder / WORST, worst)
    write_json(folder / MANIFEST, {"format": KIND.format} | manifest(evaluation) | {"files": files})
    (folder / LEDGER).unlink(missing_ok=True)
    return Run.load(folder)


def open_ledger(folder: Path, *, resume: bool) -> Ledger:
    """The ledger of a run that is about to begin or to go on in a folder.

    Args:
        folder: As `claim` left it.
        resume: Keep what an interrupted run recorded there; else it is dropped.

    Raises:
        RunFolderError: a finished run is to be resumed, another command is at work in the folder,
            or the ledger cannot be used.
    """
    path = folder / LEDGER
    if resume and not path.exists() and (folder / MANIFEST).exists():
        problem = "holds a finished run, so there is nothing to resume"
        raise RunFolderError(str(folder), problem, "evaluate anew without --resume")
    return Ledger(path, anew=not resume)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run, read from its folder. Frames are new at every call and may be changed."""

    path: Path
    manifest: Mapping[str, Any]
    """As in `manifest.json`; `wsmem.evals.manifest` says what is in it."""
    skipped: tuple[Mapping[str, str], ...]
    """What was asked for and not scored: `system`, `reason`, and `dataset` unless it was all."""

    @classmethod
    def load(cls, path: Path) -> Run:
        """Read a run folder.

        Raises:
            RunFolderError: there is no run in it, it is damaged, or a newer wsmem wrote it.
        """
        KIND.manifest(path)
        found = KIND.read(path / MANIFEST, ("settings", "systems", "datasets", "files"))
        board = KIND.read(path / BOARD, ("rows", "skipped"))
        return cls(path=path, manifest=found, skipped=tuple(board["skipped"]))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the scored datasets, in the order of the board."""
        return tuple(self.manifest["datasets"])

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems that were scored on any dataset, in the order of the board."""
        asked, scored = self.manifest["settings"]["systems"], self.manifest["systems"]
        return tuple(name for name in asked if name in scored)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order of the board."""
        return tuple(self.manifest["settings"]["measures"])

    def facts(self, dataset: str) -> dict[str, QueryFacts]:
        """The scored queries of a dataset by id, in its order.

        Raises:
            UnknownNameError: the run has no such dataset.
        """
        (name,) = _chosen("dataset", dataset, self.datasets)
        lines = KIND.read_lines(self.path / QUERIES / self.manifest["files"][name]["queries"])
        return {line["id"]: QueryFacts.from_json(line) for line in lines}

    def scores(self, dataset: str, system: str) -> dict[str, Mapping[str, float | None]]:
        """Every measure's value by query; `None` where the measure is not about the query.

        Raises:
            UnknownNameError: the run has no such dataset, or keeps no queries of the system.
        """
        (name,) = _chosen("dataset", dataset, self.datasets)
        files = self.manifest["files"][name]["results"]
        (asked,) = _chosen("system", system, tuple(files))
        return {
            line["query"]: line["scores"]
            for line in KIND.read_lines(self.path / RESULTS / files[asked])
        }

    def board(self) -> pd.DataFrame:
        """One row a dataset, system and measure.

        Columns: dataset (`mean` is the mean over datasets), system, measure, value, low, high, n,
        interval (how the bounds were found), groups (independent draws among the n).
        """
        return _frame(KIND.read(self.path / BOARD)["rows"], numbers=("value", "low", "high"))

    def slices(self) -> pd.DataFrame:
        """One row a dataset, system, group of queries and measure.

        Columns: dataset, system, dimension (lang, kind, slice, scope size, query length), slice,
        measure, value, low, high, n. Dimensions and ranges are in their natural order.
        """
        return _frame(KIND.read(self.path / SLICES)["rows"], numbers=("value", "low", "high"))

    def worst(self) -> list[dict[str, Any]]:
        """The worst queries of each profile of ours, as `WorstQuery.to_json` gives them.

        Each has the `dataset` besides. The order is that of the datasets, then of the systems,
        then the worst first.
        """
        return KIND.read_lines(self.path / WORST)

    def queries(self, dataset: str | None = None, system: str | None = None) -> pd.DataFrame:
        """One row a query and system, of one dataset or system or of all.

        Columns: dataset, system, query, text, scope, answerable, lang, kind, relevant (grades by
        document), ranked (list of ids), bytes, and one column a measure (NaN where the measure is
        not about the query).

        Raises:
            UnknownNameError: the run has no such dataset or system.
        """
        rows: list[dict[str, Any]] = []
        for name in _chosen("dataset", dataset, self.datasets):
            files = self.manifest["files"][name]
            lines = KIND.read_lines(self.path / QUERIES / files["queries"])
            facts = {fact["id"]: fact for fact in lines}
            for asked in _chosen("system", system, self.systems):
                if asked in files["results"]:
                    results = KIND.read_lines(self.path / RESULTS / files["results"][asked])
                    rows += [_query_row(name, asked, facts[r["query"]], r) for r in results]
        return _frame(rows, numbers=self.measures)


def _query_row(
    dataset: str, system: str, fact: Mapping[str, Any], result: Mapping[str, Any]
) -> dict[str, Any]:
    groups = fact["slices"]
    return {
        "dataset": dataset,
        "system": system,
        "query": fact["id"],
        "text": fact["text"],
        "scope": fact["scope"],
        "answerable": fact["answerable"],
        "lang": next(iter(groups.get("lang", [])), None),
        "kind": next(iter(groups.get("kind", [])), None),
        "relevant": fact["relevant"],
        "ranked": result["ranked"],
        "bytes": result["bytes"],
        **result["scores"],
    }


def _result_lines(dataset: DatasetResult, system: SystemResult) -> Iterable[dict[str, Any]]:
    for fact in dataset.facts:
        result = system.queries[fact.id]
        yield {
            "query": fact.id,
            "scope": fact.scope,
            "ranked": list(result.ranked),
            "scores": {
                measure: None if value is None else round(value, 6)
                for measure, value in result.scores.items()
            },
            "bytes": result.bytes,
        }


def _chosen(kind: str, name: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if name is None:
        return known
    if name not in known:
        raise UnknownNameError(kind, name, known, "in this run")
    return (name,)


def _frame(rows: list[dict[str, Any]], *, numbers: Iterable[str]) -> pd.DataFrame:
    frame: pd.DataFrame = optional("pandas").DataFrame(rows)
    present = [name for name in numbers if name in frame]
    # A column that is null throughout would be one of objects.
    return frame.astype(dict.fromkeys(present, "float64"))
