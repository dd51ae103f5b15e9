"""Run folders of latency: written size by size, read by pages and notebooks.

    manifest.json    circumstances: versions, commit, machine, plan, checksums, and `complete`
    tables.json      {"rows": [...], "histograms": [...], …}, see `wsmem.evals.latency.bench.Tables`

Single times are not kept: figures and histograms are. A measurement that was interrupted leaves the
sizes it had finished, and a manifest that says it is not complete; before the first size is
finished there is no manifest, hence no run. All JSON is strict.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from wsmem.evals.card import checksums
from wsmem.evals.extras import optional
from wsmem.evals.intervals import CONFIDENCE, RESAMPLES
from wsmem.evals.latency.bench import ORDER, TABLES, Tables
from wsmem.evals.latency.plan import STATES
from wsmem.evals.manifest import circumstances
from wsmem.evals.pages import FILE
from wsmem.evals.run_folder import KEPT, MANIFEST, RunKind, kept, write_json, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd

    from wsmem.evals.latency.plan import LatencyPlan

FIGURES = "tables.json"

KIND = RunKind(
    name="latency",
    called="run of latency",
    format=1,
    written=frozenset({MANIFEST, FIGURES, FILE}),
    command="wsmem bench latency --out",
    again="measure again",
)
_PACKAGES = ("numpy", "scipy", "bm25s", "tantivy", "rank-bm25")
_ALWAYS = tuple(name for name in TABLES if name != "machines")  # which earlier runs do not have


class RunWriter:
    """A run that grows.

    Args:
        folder: Where it is kept; an earlier run in it is replaced when a size is finished.
        plan: What is being done.
        datasets: Folders of the labelled sets by name.

    Raises:
        RunFolderError: the folder cannot be made, or holds something other than such a run.
    """

    def __init__(self, folder: Path, plan: LatencyPlan, datasets: Mapping[str, Path]) -> None:
        self._folder = folder
        KIND.claim(folder)
        self._tables = Tables()
        self._manifest = _manifest(plan, datasets)

    def add(self, tables: Tables) -> None:
        """Take in one more size, and write what there is."""
        if self._tables == Tables():
            for name in (MANIFEST, FIGURES, FILE):
                (self._folder / name).unlink(missing_ok=True)
        self._tables.extend(tables)
        for name, keys in _SORTED.items():
            getattr(self._tables, name).sort(key=partial(_places, keys=keys))
        self._write(complete=False)

    def finish(self) -> LatencyRun:
        """Say that nothing is missing."""
        self._write(complete=True)
        return LatencyRun.load(self._folder)

    def _write(self, *, complete: bool) -> None:
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = {**self._manifest, "finished": finished, "complete": complete}
        # The figures first: a manifest is never without what it tells of.
        write_tables(self._folder / FIGURES, asdict(self._tables))
        write_json(self._folder / MANIFEST, manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRun:
    """A measurement, read from its folder."""

    path: Path
    manifest: Mapping[str, Any]
    tables: Tables

    @classmethod
    def load(cls, path: Path) -> LatencyRun:
        """Read a run folder; one that is not complete says so in its manifest.

        Raises:
            RunFolderError: there is no such run in it, it is damaged, or a newer wsmem wrote it.
        """
        manifest, found = KIND.manifest(path), KIND.read(path / FIGURES, _ALWAYS)
        tables = Tables(**{name: list(found.get(name, ())) for name in TABLES})
        return cls(path=path, manifest=manifest, tables=tables)

    @property
    def complete(self) -> bool:
        """Whether everything that was planned has been measured."""
        return bool(self.manifest["complete"])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Entries of the stores that were timed, smallest first."""
        return tuple(dict.fromkeys(row["entries"] for row in self.tables.rows))

    @property
    def padded(self) -> tuple[int, ...]:
        """Entries of the stores that were asked labelled queries, smallest first."""
        return tuple(dict.fromkeys(row["entries"] for row in self.tables.quality))

    @property
    def states(self) -> tuple[str, ...]:
        """States that were measured, in the order of the plan."""
        measured = {row["state"] for row in self.tables.rows}
        return tuple(name for name in self.manifest["plan"]["states"] if name in measured)

    @property
    def hosts(self) -> int:
        """On how many machines it was measured; between two of them no figures can be compared."""
        return len({row["host"] for row in self.tables.machines}) or 1

    @property
    def deadline_ms(self) -> float:
        """What a host waits for."""
        return float(self.manifest["plan"]["deadline_ms"])

    def rows(self, **wanted: Any) -> list[dict[str, Any]]:
        """The rows of times that have these values, as in `rows(state="warm", language="all")`."""
        return _chosen(self.tables.rows, wanted)

    def quality(self, **wanted: Any) -> list[dict[str, Any]]:
        """The rows of quality that have these values."""
        return _chosen(self.tables.quality, wanted)

    def frame(self) -> pd.DataFrame:
        """All rows of times as a frame."""
        frame: pd.DataFrame = optional("pandas").DataFrame(self.tables.rows)
        return frame


def kept_run() -> LatencyRun:
    """The run that the repository keeps, and the notebook reads.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    folder = kept(KEPT / "latency", made_by="benchmarks/refresh_latency.py")
    return LatencyRun.load(folder)


def _chosen(rows: Iterable[dict[str, Any]], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


_SORTED = {
    "rows": ("entries", "state", "system"),
    "histograms": ("entries", "state", "system"),
    "ratios": ("entries", "state", "system"),
    "built": ("entries", "system"),
    "commits": ("entries", "state"),
    "quality": ("entries",),
    "skipped": ("entries",),
    "machines": ("entries", "what"),
}
"""By what each table is sorted, so that it does not depend on who finished first."""


def _places(row: Mapping[str, Any], *, keys: Iterable[str]) -> list[int]:
    return [_place(row, key) for key in keys]


def _place(row: Mapping[str, Any], key: str) -> int:
    if key == "system":
        return ORDER.index(row[key])
    if key == "what":
        return ("times", "quality").index(row[key])
    return STATES.index(row[key]) if key == "state" else int(row[key])


def _manifest(plan: LatencyPlan, datasets: Mapping[str, Path]) -> dict[str, Any]:
    facts = circumstances(_PACKAGES, started=datetime.now(UTC))
    facts["machine"]["load"] = [round(load, 2) for load in os.getloadavg()]
    return {
        "format": KIND.format,
        "kind": KIND.name,
        **facts,
        "settings": {"confidence": CONFIDENCE, "resamples": RESAMPLES},
        "plan": plan.to_json(),
        "datasets": {
            name: {"path": folder.as_posix(), "checksums": dict(checksums(folder))}
            for name, folder in datasets.items()
        },
    }
