"""The report of a run: one file that needs nothing else, neither a network nor a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.errors import MissingExtraError, RunFolderError
from wsmem.evals.report.view import page_view

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.run import Run

FILE = "report.html"
"""The name a report has in the folder of its run."""


def render(run: Run) -> str:
    """The page as HTML. Every text from the run is escaped, charts are drawn into it.

    Raises:
        RunFolderError: the run lacks something that a run has.
    """
    try:
        import jinja2  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtraError("jinja2", "eval") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("wsmem.evals"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    try:
        return environment.get_template(FILE).render(page=page_view(run))
    except (KeyError, jinja2.UndefinedError) as error:
        problem = f"does not hold what a run holds ({error})"
        raise RunFolderError(str(run.path), problem, "evaluate again into this folder") from error


def write_report(run: Run, out: Path | None = None) -> Path:
    """Write the page, into the run's folder unless told otherwise; say where.

    Raises:
        RunFolderError: the file cannot be written.
    """
    path = out or run.path / FILE
    page = render(run)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise RunFolderError(str(path), problem, "name another file by --out") from error
    return path


def _number(value: float | None, digits: int = 3, *, signed: bool = False) -> Any:
    """A number without needless noughts, with a true minus; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"", "-0", "+0", "-"} else text.replace("-", "−")
