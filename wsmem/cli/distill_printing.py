"""How the results about distillers are printed for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from wsmem.cli.output import count, note, say
from wsmem.cli.tables import whole_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from wsmem.evals.distillation.comparing import Contest
    from wsmem.evals.distillation.evaluation import DistillEvaluation
    from wsmem.evals.distillation.side_by_side import SideBySide

_SHOWN_WIDTH = 120
"""Columns of a case side by side, where the terminal does not say."""


def print_board(evaluation: DistillEvaluation) -> None:
    """The headline measures, a line a set and distiller."""
    from rich.table import Table  # noqa: PLC0415  slow to import

    from wsmem.evals.distillation.board import WHOLE  # noqa: PLC0415
    from wsmem.evals.distillation.measures import HEADLINE  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    for column in ("dataset", "distiller", "cases"):
        table.add_column(column, justify="right" if column == "cases" else "left", no_wrap=True)
    for name in HEADLINE:
        table.add_column(name, justify="right", no_wrap=True)
    for result in evaluation.results:
        found = {row.measure: row.interval for row in result.rows if row.slice == WHOLE}
        cells = (_figure(found[name].value, found[name].n) for name in HEADLINE)
        table.add_row(result.dataset, result.distiller, str(len(result.judgements)), *cells)
    _print_table(table)
    note("in brackets: what a figure is a share of; --json or a report has all, with intervals")


def _figure(value: float | None, n: int) -> str:
    return "–" if value is None else f"{value:.3f} ({n})"


def print_contest(found: Contest, alpha: float) -> None:
    """What got better, what got worse, and what cannot be said."""
    from rich.table import Table  # noqa: PLC0415  slow to import

    say(
        f"A  {found.first}",
        f"B  {found.second}",
        f"{count(found.cases, 'shared case')}, {found.left_out} left out",
        "",
    )
    columns = (
        "measure", "A", "B", "B - A", "95 %", "p (Holm)", "would see", "better", "worse", "B is",
    )  # fmt: skip
    table = Table(box=None, pad_edge=False)
    for column in columns:
        left = column in {"measure", "B is"}
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in found.comparisons:
        bounds = "–" if row.low is None or row.high is None else f"{row.low:+.3f} {row.high:+.3f}"
        table.add_row(
            row.name,
            _number(row.first),
            _number(row.second),
            _number(row.difference, signed=True),
            bounds,
            _number(row.adjusted, digits=4),
            _number(row.detectable),
            str(row.better),
            str(row.worse),
            row.verdict,
        )
    _print_table(table)
    note(
        f"verdicts: paired randomisation over cases, at most {alpha:g} chance of any false one; "
        "'would see' is the smallest difference that 80 % of such comparisons would find"
    )


def _number(value: float | None, *, digits: int = 3, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def print_case(view: SideBySide) -> None:
    """A case: what was said and held, then expectation and proposal beside each other."""
    from rich.console import Console  # noqa: PLC0415  slow to import
    from rich.table import Table  # noqa: PLC0415

    terminal = Console()
    console = Console(
        highlight=False,
        markup=False,
        width=terminal.width if terminal.is_terminal else _SHOWN_WIDTH,
    )
    say(f"══ {view.case} · {view.distiller} · {', '.join(view.slices)} · {view.scope}")
    for identifier, role, text in view.messages:
        say(f"  {identifier} {role}: {text}")
    for identifier, kind, text in view.existing:
        say(f"  held {identifier} ({kind}): {text}")
    if view.note:
        say(f"  note: {view.note}")
    if view.failure:
        say(f"  no answer: {view.failure}")
    table = Table(show_lines=True, expand=True)
    for column in ("expected", "proposed", "what became of it"):
        table.add_column(column, ratio=1, overflow="fold")
    for line in view.lines:
        wanted, given = line.wanted, line.given
        table.add_row(
            "–" if wanted is None else _column(wanted.heading, wanted.text, wanted.required),
            "–" if given is None else _column(f"#{given.number} {given.heading}", given.text,
                                              given.quotes),
            line.verdict if given is None else _column(line.verdict, f"{given.effect}: "
                                                       f"{given.reason}", ()),
        )  # fmt: skip
    if view.lines:
        with console.capture() as captured:
            console.print(table)
        say(captured.get().rstrip("\n"))
    else:
        say("  nothing expected, nothing proposed")
    for query, wanted_first, said in view.answers:
        say(f"  asked {query!r} (wanted: {wanted_first}): {said}")
    say(*(f"  ✗ {fault}" for fault in view.faults) if view.faults else ("  ✓ right",), "")


def _column(heading: str, text: str, further: Sequence[str]) -> str:
    return "\n".join([heading, text, *(f"· {item}" for item in further)])


def _print_table(table: Table) -> None:
    """Print a table whole: a terminal may wrap its lines, but no cell is cut short."""
    console = whole_console()
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().splitlines())
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
