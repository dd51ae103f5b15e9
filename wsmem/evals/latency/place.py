"""Where a size is measured: by nobody else on that machine meanwhile, and on which kind of it."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other worker of this user measures on this machine, and let none begin.

    A worker that is killed while it measures lets the next begin.
    """
    name = f"wsmem-bench-{getpass.getuser()}.lock"
    with FileLock(Path(tempfile.gettempdir()) / name):
        yield


def machine() -> dict[str, Any]:
    """What a run tells of this machine; its name is told as a digest that only tells it apart."""
    return {
        "host": hashlib.sha256(platform.node().encode()).hexdigest()[:8],
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }
