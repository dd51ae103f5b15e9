"""How the results about distillers are printed for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.cli.output import count, note, say
from wsmem.cli.tables import number, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.evals.distillation.comparing import Contest
    from wsmem.evals.distillation.evaluation import DistillEvaluation
    from wsmem.evals.distillation.side_by_side import SideBySide

_SHOWN_WIDTH = 120
"""Columns of a case side by side, where the terminal does not say."""


def print_board(evaluation: DistillEvaluation) -> None:
    """The headline measures, a line a set and distiller."""
    from wsmem.evals.distillation.board import WHOLE  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.measures import HEADLINE  # noqa: PLC0415

    rows = []
    for result in evaluation.results:
        found = {row.measure: row.interval for row in result.rows if row.slice == WHOLE}
        cells = (_figure(found[name].value, found[name].n) for name in HEADLINE)
        rows.append((result.dataset, result.distiller, str(len(result.judgements)), *cells))
    print_table(("dataset", "distiller", "cases", *HEADLINE), rows, left=range(2))
    note("in brackets: what a figure is a share of; --json or a report has all, with intervals")


def _figure(value: float | None, n: int) -> str:
    return "–" if value is None else f"{value:.3f} ({n})"


def print_contest(found: Contest, alpha: float) -> None:
    """What got better, what got worse, and what cannot be said."""
    say(
        f"A  {found.first}",
        f"B  {found.second}",
        f"{count(found.cases, 'shared case')}, {found.left_out} left out",
        "",
    )
    columns = (
        "measure", "A", "B", "B - A", "95 %", "p (Holm)", "would see", "better", "worse", "B is",
    )  # fmt: skip
    rows = (
        (
            row.name,
            number(row.first),
            number(row.second),
            number(row.difference, signed=True),
            "–" if row.low is None or row.high is None else f"{row.low:+.3f} {row.high:+.3f}",
            number(row.adjusted, digits=4),
            number(row.detectable),
            str(row.better),
            str(row.worse),
            row.verdict,
        )
        for row in found.comparisons
    )
    print_table(columns, rows, left=(0, len(columns) - 1))
    note(
        f"verdicts: paired randomisation over cases, at most {alpha:g} chance of any false one; "
        "'would see' is the smallest difference that 80 % of such comparisons would find"
    )


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
