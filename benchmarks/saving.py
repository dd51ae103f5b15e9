"""How the benchmarks keep figures: as dated JSON that tells the command and the machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def circumstances(command: str | None = None) -> dict[str, Any]:
    """When, how and on what figures were measured.

    Args:
        command: What makes them again; the command that was given where nothing else is said.
    """
    script = Path(sys.argv[0]).resolve().relative_to(ROOT).as_posix()
    return {
        "measured": today(),
        "command": command or " ".join(["python", script, *sys.argv[1:]]),
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.system(),
            "load": round(os.getloadavg()[0], 1),
        },
    }


def save(path: Path, report: dict[str, Any]) -> None:
    """Write figures, indented for people."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def dated(name: str) -> Path:
    """The file of today's figures among those that are kept."""
    return RESULTS / f"{name}-{today()}.json"


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()
