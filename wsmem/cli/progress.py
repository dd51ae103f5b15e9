"""Bars that show how far long work has come."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress


@contextmanager
def progress_bars(*, percent: bool = False) -> Iterator[Progress | None]:
    """Bars on standard error while people watch; `None` where nobody does.

    Args:
        percent: Say how far a bar is as a share, not as steps done of all.
    """
    from rich.console import Console  # noqa: PLC0415  slow to import
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn() if percent else MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        yield bars
