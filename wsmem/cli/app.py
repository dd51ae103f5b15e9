"""The Typer application: every command except those that must start fast."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli import (
    archiving,
    benching,
    checkpointing,
    datasets,
    distilling,
    evaluation,
    gating,
    indexing,
    labelling,
    memory,
    reporting,
    showing,
    transfer,
    tuning,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND_MODULES = (
    memory,
    checkpointing,
    showing,
    archiving,
    indexing,
    transfer,
    evaluation,
    gating,
    datasets,
    labelling,
    reporting,
    tuning,
    distilling,
    benching,
)
"""Modules with commands; each has `register(app)`."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status.

    Raises:
        WsmemError: it could not be carried out; `wsmem.cli.main` says so in one line.
    """
    try:
        application()(args=list(arguments), prog_name="wsmem")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def application() -> typer.Typer:
    """The application with all commands."""
    app = typer.Typer(
        help="Durable memory for coding agents, and the harness that measures it.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for module in COMMAND_MODULES:
        module.register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(metadata.version("wsmem"))
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Nothing to do before a command."""
