"""Tables that are printed whole, whatever the width of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rich.console import Console

_WIDEST = 1000
"""Columns that no table reaches."""


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[int]
) -> None:
    """Print texts in columns, those in the places `left` aligned left, the others right.

    A terminal may wrap its lines, but no cell is cut short.
    """
    from rich.console import Console  # noqa: PLC0415  slow to import
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # Without colours: `say` shows what would steer a terminal instead of obeying it.
    console = Console(width=_WIDEST, color_system=None, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(table)
    say(*(line.rstrip() for line in captured.get().splitlines()))


def whole_console() -> Console:
    """What prints tables whole: a terminal may wrap their lines, but no cell is cut short."""
    from rich.console import Console  # noqa: PLC0415  slow to import

    return Console(highlight=False, width=_WIDEST)


def number(value: float | None, *, digits: int = 3, signed: bool = False) -> str:
    """A number for a cell; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def chance(value: float | None) -> str:
    """A p-value for a cell: small ones by their size."""
    if value is None:
        return "–"
    return f"{value:.4f}" if value >= 5e-5 else f"{value:.0e}"
