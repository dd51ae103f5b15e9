"""Run folders of latency: written size by size, read by pages and notebooks.

    manifest.json    circumstances: versions, commit, machine, plan, checksums, and `complete`
    tables.json      {"rows": [...], "histograms": [...], …}, see `wsmem.evals.latency.bench.Tables`

Single times are not kept: figures and histograms are. A measurement that was interrupted leaves the
sizes it had finished, and a manifest that says it is not complete; before the first size is
finished there is no manifest, hence no run. All JSON is strict.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.errors import MissingExtraError, RunFolderError
from wsmem.evals.card import checksums
from wsmem.evals.intervals import CONFIDENCE, RESAMPLES
from wsmem.evals.latency.bench import ORDER, TABLES, Tables
from wsmem.evals.latency.plan import STATES
from wsmem.evals.manifest import commit, version
from wsmem.evals.pages import FILE
from wsmem.evals.run import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from wsmem.evals.latency.plan import LatencyPlan

FORMAT = 1
KIND = "latency"
"""What the manifest calls such a run, to tell it from others."""
MANIFEST, FIGURES = "manifest.json", "tables.json"

_PACKAGES = ("numpy", "scipy", "bm25s", "tantivy", "rank-bm25")
_REMEDY = "give a folder that wsmem bench latency --out wrote"


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
        _claim(folder)
        self._tables = Tables()
        self._manifest = _circumstances(plan, datasets)

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
        texts = (
            f"{strict_json(name)}: [\n" + ",\n".join(map(strict_json, rows)) + "\n]"
            for name, rows in asdict(self._tables).items()
        )
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = {**self._manifest, "finished": finished, "complete": complete}
        # The figures first: a manifest is never without what it tells of.
        _replace(self._folder / FIGURES, "{" + ",\n".join(texts) + "}\n")
        _replace(self._folder / MANIFEST, strict_json(manifest, indent=1) + "\n")


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
        if not (path / MANIFEST).is_file():
            raise RunFolderError(str(path), f"holds no {MANIFEST}", _REMEDY)
        manifest = _read(path / MANIFEST)
        if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
            raise RunFolderError(str(path), "is no run of latency", _REMEDY)
        if manifest.get("format") != FORMAT:
            problem = f"is of format {manifest.get('format')}, and this wsmem reads {FORMAT}"
            raise RunFolderError(str(path), problem, "upgrade wsmem, or measure again")
        found = _read(path / FIGURES)
        try:
            tables = Tables(**{name: list(found[name]) for name in TABLES})
        except (KeyError, TypeError) as error:
            problem = "does not hold what a run holds there"
            raise RunFolderError(str(path / FIGURES), problem, "measure again") from error
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
        frame: pd.DataFrame = _pandas().DataFrame(self.tables.rows)
        return frame


def kept_run() -> LatencyRun:
    """The run that the repository keeps, and the notebook reads.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    folder = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "latency"
    if not folder.is_dir():
        remedy = "use a checkout of wsmem; benchmarks/refresh_latency.py makes it"
        raise RunFolderError(str(folder), "there is no such run", remedy)
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
}
"""By what each table is sorted, so that it does not depend on who finished first."""


def _places(row: Mapping[str, Any], *, keys: Iterable[str]) -> list[int]:
    return [_place(row, key) for key in keys]


def _place(row: Mapping[str, Any], key: str) -> int:
    if key == "system":
        return ORDER.index(row[key])
    return STATES.index(row[key]) if key == "state" else int(row[key])


def _claim(folder: Path) -> None:
    """Make the folder before the work begins, so that a bad name fails at once."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir()}
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise RunFolderError(str(folder), problem, "choose another folder") from error
    if not found <= {MANIFEST, FIGURES, FILE}:
        problem = "holds something other than such a run"
        raise RunFolderError(str(folder), problem, "choose another folder, or empty it")


def _circumstances(plan: LatencyPlan, datasets: Mapping[str, Path]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": KIND,
        "wsmem": version(),
        "commit": commit(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cpus": os.cpu_count(),
            "load": [round(load, 2) for load in os.getloadavg()],
        },
        "settings": {"confidence": CONFIDENCE, "resamples": RESAMPLES},
        "plan": plan.to_json(),
        "datasets": {
            name: {"path": folder.as_posix(), "checksums": dict(checksums(folder))}
            for name, folder in datasets.items()
        },
    }


def _versions() -> Iterable[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, so that no reader and no interruption meets half of it."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise RunFolderError(str(path), problem, "choose another folder") from error
    finally:
        new.unlink(missing_ok=True)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({error})"
        raise RunFolderError(str(path), problem, "measure again into this folder") from error


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415  heavy, and an extra
    except ImportError as error:
        raise MissingExtraError("pandas", "eval") from error
    return pd
