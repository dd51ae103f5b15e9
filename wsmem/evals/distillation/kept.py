"""What the repository keeps of distillers: recordings of a real model, and a run over them."""

from __future__ import annotations

from pathlib import Path

from wsmem.errors import RunFolderError
from wsmem.evals.distillation.run import DistillRun

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "distill"
RUN = "run"
"""The folder of the run in there."""

_REMEDY = "use a checkout of wsmem; benchmarks/refresh_distill.py makes it"


def kept_cassette(name: str) -> Path:
    """A cassette by its name, `smollm2-concise`.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    path = FOLDER / f"{name}.jsonl"
    if not path.is_file():
        raise RunFolderError(str(path), "there is no such cassette", _REMEDY)
    return path


def kept_run() -> DistillRun:
    """The run over the recordings, beside the rules.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    if not (FOLDER / RUN).is_dir():
        raise RunFolderError(str(FOLDER / RUN), "there is no such run", _REMEDY)
    return DistillRun.load(FOLDER / RUN)
