"""`wsmem report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wsmem.cli.sets import ReportFile  # noqa: TC001  read when the command is made

RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder that eval --out or tune wrote.")
]


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("report", help="Write the report of a run: one HTML file.")(report)


def report(
    run: RunFolder,
    *,
    out: ReportFile = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write a report and print its path."""
    from wsmem.evals.report.page import write_report  # noqa: PLC0415  slow to import
    from wsmem.evals.run import Run  # noqa: PLC0415
    from wsmem.evals.tuning.page import write_report as write_tuning  # noqa: PLC0415
    from wsmem.evals.tuning.run import KIND, TuningRun  # noqa: PLC0415

    if KIND.is_in(run):
        path = write_tuning(TuningRun.load(run), out)
    else:
        path = write_report(Run.load(run), out)
    print(path)
    if open_it:
        import webbrowser  # noqa: PLC0415  needed here only

        webbrowser.open(path.resolve().as_uri())
