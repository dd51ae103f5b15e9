"""What every test runs under: no test sees the user's own memory or settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home: Path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DSH_HOME", str(home / ".dsh"))
    for name in ("DATA", "WSMEM_DATASETS", "WSMEM_CONFIG", "WSMEM_MEMORY_DIR"):
        monkeypatch.delenv(name, raising=False)
