"""Run `wsmem` in the test's own process and keep what it said."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def entry_id(self) -> str:
        """The first memory id in what was printed."""
        found = re.search(r"mem-[0-9a-f]{12}", self.out)
        assert found, self.out
        return found[0]


class CommandLine:
    """`wsmem` over one store."""

    def __init__(
        self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.root = root
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> Said:
        if stdin is not None:
            data = stdin.encode() if isinstance(stdin, str) else stdin
            self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self._capsys.readouterr()
        status = main([*arguments, "--memory-dir", str(self.root)])
        said = self._capsys.readouterr()
        return Said(status, said.out, said.err)

    def works(self, *arguments: str, stdin: str | bytes | None = None) -> Said:
        """Run a command that must succeed."""
        said = self(*arguments, stdin=stdin)
        assert said.status == 0, said
        return said

    def fails(self, *arguments: str, stdin: str | bytes | None = None) -> Said:
        """Run a command that must fail, and say so in one line on standard error alone."""
        said = self(*arguments, stdin=stdin)
        assert (said.status, said.out) == (2, ""), said
        assert said.err.splitlines()[-1].startswith("wsmem: "), said
        return said

    def files(self) -> dict[str, bytes]:
        """Everything in the store but locks."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }
