"""The report of a run: one file that needs nothing else, neither a network nor a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.pages import FILE, render_page, write_page
from wsmem.evals.report.view import page_view

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.run import Run


def render(run: Run) -> str:
    """The page as HTML. Every text from the run is escaped, charts are drawn into it.

    Raises:
        RunFolderError: the run lacks something that a run has.
    """
    return render_page(FILE, lambda: page_view(run), run=run.path, filters={"number": _number})


def write_report(run: Run, out: Path | None = None) -> Path:
    """Write the page, into the run's folder unless told otherwise; say where.

    Raises:
        RunFolderError: the file cannot be written.
    """
    return write_page(render(run), out or run.path / FILE)


def _number(value: float | None, digits: int = 3, *, signed: bool = False) -> Any:
    """A number without needless noughts, with a true minus; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"", "-0", "+0", "-"} else text.replace("-", "−")
