"""Where recorded behaviour lives beside this checkout, for the tests that compare with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Beside the repository, where the recorded data is laid out in CI; a user's checkout has none."""


def golden(name: str) -> dict[str, Any]:
    """Return one file of recorded behaviour, or skip the calling test where there is none."""
    path = SHARED / "golden" / name
    if not path.is_file():
        pytest.skip(f"no recorded behaviour here: {path.name} is not beside this checkout")
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return recorded
