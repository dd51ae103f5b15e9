"""Run folders of tuning: written once a study is whole, read by the page and by notebooks.

    manifest.json           circumstances: versions, commit, settings, checksums, trials a second
    profile.json            what was found: a weight profile, ready for `wsmem eval --profile`
    results.json            searches, figures by set, gains with their verdicts, ablation, curve
    queries/DATASET.jsonl   nDCG of every query by system
    report.html             all of it for people
    ledger.jsonl            finished searches; a study that was broken off goes on from there
    studies.journal         trials, as Optuna keeps them
    cache/                  signals and duels; may be removed, and is made again

Equal studies over equal files give equal results and weights.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.errors import RunFolderError
from wsmem.evals.ledger import LEDGER
from wsmem.evals.manifest import commit, package_versions, version
from wsmem.evals.run import strict_json
from wsmem.evals.tuning.study import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from wsmem.evals.tuning.assess import Gain, SetFigures
    from wsmem.retrieval.profile import Profile

FORMAT = 1
KIND = "tuning"
"""What the manifest calls such a run."""
MANIFEST, PROFILE, RESULTS, QUERIES = "manifest.json", "profile.json", "results.json", "queries"
JOURNAL, CACHE = "studies.journal", "cache"

_WRITTEN = frozenset({MANIFEST, PROFILE, RESULTS, QUERIES, LEDGER, JOURNAL, CACHE, "report.html"})
_REMEDY = "give a folder that wsmem tune wrote"


def claim(folder: Path) -> None:
    """Make a run folder before the work begins, so that a bad name fails at once.

    Raises:
        RunFolderError: it cannot be made, or holds something other than such a run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir()}
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise RunFolderError(str(folder), problem, "choose another folder") from error
    strange = {name for name in found - _WRITTEN if not name.startswith(JOURNAL)}
    if strange or (MANIFEST in found and _kind(folder / MANIFEST) != KIND):
        problem = "holds something other than a run of wsmem tune"
        raise RunFolderError(str(folder), problem, "choose another folder, or empty it")


def is_tuning(folder: Path) -> bool:
    """Whether a folder holds a run of wsmem tune."""
    return _kind(folder / MANIFEST) == KIND


def _kind(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("kind")
    except (OSError, ValueError, AttributeError):
        return None


def circumstances(
    *,
    started: datetime,
    finished: datetime,
    settings: Mapping[str, Any],
    datasets: Mapping[str, Mapping[str, Any]],
    speed: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest of a study."""
    return {
        "format": FORMAT,
        "kind": KIND,
        "wsmem": version(),
        "commit": commit(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": package_versions(),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cpus": os.cpu_count(),
        },
        "settings": dict(settings),
        "datasets": {name: dict(facts) for name, facts in datasets.items()},
        "speed": dict(speed),
    }


def write_run(
    folder: Path,
    *,
    manifest: Mapping[str, Any],
    profile: Profile,
    searches: Iterable[Result],
    figures: Sequence[SetFigures],
    gains: Iterable[Gain],
    ablation: Sequence[Mapping[str, Any]],
    curve: Sequence[Mapping[str, Any]],
) -> TuningRun:
    """Write a finished study; the files of an earlier one in the folder are replaced."""
    (folder / MANIFEST).unlink(missing_ok=True)  # a folder with a manifest is a whole run
    (folder / QUERIES).mkdir(exist_ok=True)
    for stale in (folder / QUERIES).glob("*.jsonl"):
        stale.unlink()
    for item in figures:
        path = folder / QUERIES / f"{item.dataset}-{item.split}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(strict_json(row) + "\n" for row in _query_rows(item))
    results = {
        "searches": [result.to_json() for result in searches],
        "figures": [figures_json(item) for item in figures],
        "gains": [gain.to_json() for gain in gains],
        "ablation": [dict(row) for row in ablation],
        "curve": [dict(row) for row in curve],
    }
    text = ",\n".join(
        f"{strict_json(name)}: [\n" + ",\n".join(strict_json(row) for row in rows) + "\n]"
        for name, rows in results.items()
    )
    (folder / RESULTS).write_text("{" + text + "}\n", encoding="utf-8")
    _write(folder / PROFILE, profile.to_json())
    _write(folder / MANIFEST, manifest)
    return TuningRun.load(folder)


def figures_json(item: SetFigures) -> dict[str, Any]:
    """Means by system, as stored."""
    means = {system: item.mean(system) for system in item.ndcg}
    return {
        "dataset": item.dataset,
        "split": item.split,
        "part": item.part,
        "queries": len(item.queries),
        "nothing": item.nothing,
        "ndcg": {name: None if mean is None else round(mean, 6) for name, mean in means.items()},
        "false_recall": {
            name: None if share is None else round(share, 6)
            for name, share in item.false_recall.items()
        },
    }


def _query_rows(item: SetFigures) -> Iterable[dict[str, Any]]:
    for at, (query, scope) in enumerate(zip(item.queries, item.scopes, strict=True)):
        yield {
            "query": query,
            "scope": scope,
            "ndcg": {system: round(values[at], 6) for system, values in item.ndcg.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningRun:
    """A finished study, read from its folder."""

    path: Path
    manifest: Mapping[str, Any]
    profile: Mapping[str, Any]
    results: Mapping[str, list[dict[str, Any]]]

    @classmethod
    def load(cls, path: Path) -> TuningRun:
        """Read a run folder.

        Raises:
            RunFolderError: there is no such run in it, it is damaged, or a newer wsmem wrote it.
        """
        manifest = _read(path / MANIFEST)
        if manifest.get("kind") != KIND:
            raise RunFolderError(str(path), "holds no run of wsmem tune", _REMEDY)
        if manifest.get("format") != FORMAT:
            problem = f"is a run of format {manifest.get('format')}, not {FORMAT}"
            raise RunFolderError(str(path), problem, "upgrade wsmem, or tune again")
        return cls(
            path=path,
            manifest=manifest,
            profile=_read(path / PROFILE),
            results=_read(path / RESULTS),
        )

    @property
    def searches(self) -> dict[str, Result]:
        """What every search found, by its name."""
        return {raw["name"]: Result.from_json(raw) for raw in self.results["searches"]}


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(strict_json(value, indent=1) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunFolderError(str(path), f"cannot be read ({error})", _REMEDY) from error
    if not isinstance(found, dict):
        raise RunFolderError(str(path), "does not hold what a run holds there", _REMEDY)
    return found
