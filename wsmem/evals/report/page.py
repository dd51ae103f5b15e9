"""The report of a run: one file that needs nothing else, neither a network nor a script."""

from __future__ import annotations

from typing import Any

from wsmem.evals.pages import FILE, Report
from wsmem.evals.report.view import page_view


def _number(value: float | None, digits: int = 3, *, signed: bool = False) -> Any:
    """A number without needless noughts, with a true minus; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"", "-0", "+0", "-"} else text.replace("-", "−")


REPORT = Report(template=FILE, view=page_view, filters={"number": _number})
render, write_report = REPORT.render, REPORT.write
