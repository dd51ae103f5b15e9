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
    intervals = iter(resampler.intervals(table.reshape(len(facts), -1), shares=shares))
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


def board_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The board for a terminal: datasets down, measures across, the best value of each in bold.

    Args:
        rows: As `Row.to_json` gives them and `board.json` holds them.
    """
    from rich.table import Table  # noqa: PLC0415  slow to import, needed for people only

    measures = list(dict.fromkeys(row["measure"] for row in rows))
    cells = {(row["dataset"], row["system"], row["measure"]): row for row in rows}
    lines = dict.fromkeys((row["dataset"], row["system"]) for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold", row_styles=None)
    table.add_column("dataset", no_wrap=True)
    table.add_column("system", no_wrap=True)
    table.add_column("n", justify="right")
    for measure in measures:
        table.add_column(measure, justify="right", no_wrap=True)
    previous = None
    for dataset, system in lines:
        if previous not in {None, dataset}:
            table.add_section()
        found = [cells.get((dataset, system, measure)) for measure in measures]
        texts = [_cell(cell, rows) for cell in found]
        n = max((cell["n"] for cell in found if cell), default=0)
        table.add_row("" if previous == dataset else dataset, system, str(n), *texts)
        previous = dataset
    return table


def _cell(cell: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]]) -> str:
    if cell is None or cell["value"] is None:
        return "-"
    measure = Measure.parse(cell["measure"])
    digits = 3 if measure.bounded else 0
    text = f"{cell['value']:.{digits}f}"
    if cell["low"] is not None:
        # Half of the interval's width: enough to see at a glance what the noise may be.
        text += f" ±{(cell['high'] - cell['low']) / 2:.{digits}f}"
    rivals = [
        row["value"]
        for row in rows
        if (row["dataset"], row["measure"]) == (cell["dataset"], cell["measure"])
        and row["value"] is not None
    ]
    best = max(rivals) if measure.higher_is_better else min(rivals)
    is_best = cell["value"] == best and len(set(rivals)) > 1 and measure.name != "Judged"
    return f"[bold]{text}[/bold]" if is_best else text
