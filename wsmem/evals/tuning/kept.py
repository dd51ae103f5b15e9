"""The study that the repository keeps: the evidence for the weights that ship."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.evals.run_folder import KEPT, MANIFEST, kept, write_json
from wsmem.evals.tuning.run import PROFILE, RESULTS, STRICT_PROFILE, TuningRun

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = KEPT / "tuning"


def kept_study() -> TuningRun:
    """The study in the repository.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    return TuningRun.load(kept(FOLDER, made_by="benchmarks/tune_default.py"))


def keep(run: TuningRun, folder: Path, *, command: Sequence[str]) -> TuningRun:
    """Copy what a reader needs of a study: no values of single queries, no path of a machine.

    Args:
        run: The study.
        folder: Where to; what is there is replaced.
        command: What to say was run instead of the command with its paths.
    """
    manifest: dict[str, Any] = json.loads(json.dumps(dict(run.manifest)))
    manifest["command"] = list(command)
    for name, facts in manifest["datasets"].items():
        path = Path(facts["path"])
        facts["path"] = name if path.is_absolute() else path.as_posix()
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_json(folder / MANIFEST, manifest)
    for name in (PROFILE, STRICT_PROFILE, RESULTS):
        if (run.path / name).is_file():
            shutil.copyfile(run.path / name, folder / name)
    return TuningRun.load(folder)
