"""The board: every system on every dataset, and the mean over datasets; as rows and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from wsmem.evals.intervals import Interval, Resampler, mean_of_means
from wsmem.evals.measures import Measure
from wsmem.evals.results import MEAN, Row
from wsmem.evals.slices import value_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from rich.table import Table

    from wsmem.evals.results import QueryFacts, SystemResult


def dataset_rows(
    dataset: str,
    facts: Sequence[QueryFacts],
    systems: Sequence[SystemResult],
    measures: Sequence[Measure],
    *,
    seed: int,
    resamples: int,
) -> list[Row]:
    """A figure for every system and measure on one dataset.

    A measure that is about none of the queries keeps its row, with no value and n = 0.
    """
    if not systems:
        return []
    table = value_table(systems, measures)
    resampler = Resampler(
        [fact.scope for fact in facts],
        seed=(seed, crc32(dataset.encode())),
        resamples=resamples,
    )
    shares = [measure.is_share for _ in systems for measure in measures]
    intervals = iter(resampler.intervals(table, shares=shares))
    return [
        Row(
            dataset=dataset,
            system=system.system,
            measure=measure.text,
            interval=next(intervals),
        )
        for system in systems
        for measure in measures
    ]


def mean_rows(rows: Iterable[Row], measures: Sequence[Measure]) -> list[Row]:
    """The mean over datasets of each system and measure; each dataset counts the same.

    Means are only comparable over the same datasets, so a system that lacks a dataset on which
    another one was scored has no mean; its `n` says on how many it was scored.
    """
    known: dict[tuple[str, str], dict[str, Interval]] = {}
    datasets: dict[str, set[str]] = {measure.text: set() for measure in measures}
    for row in rows:
        group = known.setdefault((row.system, row.measure), {})
        if row.interval.value is not None:
            group[row.dataset] = row.interval
            datasets[row.measure].add(row.dataset)
    bounded = {measure.text: measure.bounded for measure in measures}
    found = []
    for (system, measure), by_dataset in known.items():
        interval = mean_of_means(list(by_dataset.values()), bounded=bounded[measure])
        if set(by_dataset) != datasets[measure]:
            interval = Interval(
                value=None,
                low=None,
                high=None,
                n=len(by_dataset),
                groups=len(by_dataset),
                error=None,
                method="none",
            )
        found.append(Row(dataset=MEAN, system=system, measure=measure, interval=interval))
    return found


def board_table(rows: Sequence[Mapping[str, Any]], *, margins: bool = True) -> Table:
    """The board for a terminal: datasets down, measures across, the best value of each in bold.

    The n shown is the first measure's; others may be about other queries.

    Args:
        rows: As `Row.to_json` gives them and `board.json` holds them.
        margins: Whether to show half the width of each interval: how large the noise may be.
    """
    from rich.table import Table  # noqa: PLC0415  slow to import, needed for people only

    measures = list(dict.fromkeys(row["measure"] for row in rows))
    cells = {(row["dataset"], row["system"], row["measure"]): row for row in rows}
    best = _best(rows)
    table = Table(box=None, pad_edge=False)
    table.add_column("dataset", no_wrap=True)
    table.add_column("system", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for measure in measures:
        table.add_column(measure, justify="right", no_wrap=True)
    previous = None
    for dataset, system in dict.fromkeys((row["dataset"], row["system"]) for row in rows):
        if previous not in {None, dataset}:
            table.add_row()
        found = [cells[dataset, system, measure] for measure in measures]
        texts = [_cell(cell, best, margins=margins) for cell in found]
        shown = "" if previous == dataset else dataset
        table.add_row(shown, system, str(found[0]["n"]), *texts)
        previous = dataset
    return table


def _best(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float | None]:
    """The best value by dataset and measure; `None` where all systems are alike."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["value"] is not None:
            values.setdefault((row["dataset"], row["measure"]), []).append(row["value"])
    found: dict[tuple[str, str], float | None] = {}
    for key, known in values.items():
        measure = Measure.parse(key[1])
        # How many documents happen to be judged makes no system better.
        alike = len(set(known)) == 1 or measure.name == "Judged"
        found[key] = None if alike else (max if measure.higher_is_better else min)(known)
    return found


def _cell(
    cell: Mapping[str, Any], best: Mapping[tuple[str, str], float | None], *, margins: bool
) -> str:
    if cell["value"] is None:
        return "-"
    digits = 3 if Measure.parse(cell["measure"]).bounded else 0
    text = f"{cell['value']:.{digits}f}"
    if margins and cell["low"] is not None:
        text += f" ±{(cell['high'] - cell['low']) / 2:.{digits}f}"
    is_best = cell["value"] == best[cell["dataset"], cell["measure"]]
    return f"[bold]{text}[/bold]" if is_best else text
