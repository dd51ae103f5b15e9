"""Baselines edited by hand, for tests of the gate: in haste, or with the checksum made right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wsmem.evals.gate.record import checksum

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A baseline after somebody edited it."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    change(raw)
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def forged(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Edited by somebody who also works out the checksum anew."""

    def signed(raw: dict[str, Any]) -> None:
        change(raw)
        del raw["checksum"]
        raw["checksum"] = checksum(raw)

    return edited(path, signed)
