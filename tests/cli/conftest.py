"""The command line over a store of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import CommandLine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wsmem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    return CommandLine(tmp_path / "memory", capsys, monkeypatch)
