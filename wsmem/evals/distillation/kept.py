"""What the repository keeps of distillers: recordings of a real model, and a run over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.evals.distillation.run import DistillRun
from wsmem.evals.run_folder import KEPT, kept

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = KEPT / "distill"
RUN = "run"
"""The folder of the run in there."""

_MAKER = "benchmarks/refresh_distill.py"


def kept_cassette(name: str) -> Path:
    """A cassette by its name, `smollm2-concise`.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    return kept(FOLDER / f"{name}.jsonl", made_by=_MAKER, what="cassette")


def kept_run() -> DistillRun:
    """The run over the recordings, beside the rules.

    Raises:
        RunFolderError: there is none, or no checkout around this installation.
    """
    return DistillRun.load(kept(FOLDER / RUN, made_by=_MAKER))
