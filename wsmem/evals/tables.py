"""A run's figures arranged for reading: which are best and how sure that is, by set and by group.

Nothing here knows how a table looks; the report and the notebooks draw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import UnknownNameError
from wsmem.evals.extras import optional
from wsmem.evals.measures import Measure
from wsmem.evals.results import MEAN
from wsmem.evals.slices import DIMENSIONS, SLICE, bucket_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from wsmem.evals.run import Run

Standing = Literal["best", "level", ""]
"""`best`: the interval lies beyond that of every other system. `level`: the best value, or one
whose interval overlaps that of the best value, so that the two cannot be told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure with its interval; everything is `None` where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    bounded: bool
    standing: Standing = ""

    @property
    def text(self) -> str:
        """The value: three decimals where values lie between 0 and 1, else a whole number."""
        return "–" if self.value is None else self._print(self.value)

    @property
    def interval(self) -> str:
        """The bounds, or nothing."""
        if self.low is None or self.high is None:
            return ""
        return f"{self._print(self.low)}–{self._print(self.high)}"

    @property
    def with_interval(self) -> str:
        """Value and bounds, as in `0.953 [0.944–0.962]`."""
        return f"{self.text} [{self.interval}]" if self.interval else self.text

    def _print(self, number: float) -> str:
        return f"{number:.3f}" if self.bounded else f"{number:,.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The systems side by side on one set, or on one group of queries."""

    name: str
    queries: int
    """How many queries the figures are about, of all sets together."""
    sets: int
    cells: Mapping[str, Cell]
    """By system, in the run's order; a system without a figure is left out."""

    @property
    def is_mean(self) -> bool:
        """Whether the figures are means over several sets, each counting the same."""
        return self.sets > 1


def board_lines(run: Run, measure: str) -> list[Line]:
    """One line a dataset, then the mean where there are several; lines without a value left out.

    Raises:
        UnknownNameError: the run does not have the measure.
    """
    _check("measure", measure, run.measures)
    rows = _records(run.board(), measure)
    names = [*run.datasets, *([MEAN] if len(run.datasets) > 1 else [])]
    by_name = {name: [row for row in rows if row["dataset"] == name] for name in names}
    queries = {name: max((row["n"] for row in found), default=0) for name, found in by_name.items()}
    total = sum(count for name, count in queries.items() if name != MEAN)
    scored = sum(count > 0 for name, count in queries.items() if name != MEAN)
    lines = [
        Line(
            name=name,
            queries=total if name == MEAN else queries[name],
            sets=scored if name == MEAN else 1,
            cells=_cells(found, Measure.parse(measure), run.systems),
        )
        for name, found in by_name.items()
    ]
    return [line for line in lines if _has_value(line)]


def slice_lines(run: Run, dimension: str, measure: str) -> list[Line]:
    """One line a group of queries: the mean over the sets that have it, or the figure of the one.

    A system that lacks one of the sets has no figure. Groups without a value are left out; ranges
    are in their natural order, other groups by name.

    Raises:
        UnknownNameError: there is no such dimension, or the run does not have the measure.
    """
    _check("dimension", dimension, DIMENSIONS)
    _check("measure", measure, run.measures)
    slices = run.slices()
    if slices.empty:
        return []
    rows = _records(slices[slices["dimension"] == dimension], measure)
    lines = []
    for name in sorted({row["slice"] for row in rows}, key=bucket_order):
        here = [row for row in rows if row["slice"] == name]
        queries = {row["dataset"]: row["n"] for row in here if row["dataset"] != MEAN and row["n"]}
        means = [row for row in here if row["dataset"] == MEAN]
        single = [row for row in here if row["dataset"] in queries]
        lines.append(
            Line(
                name=name,
                queries=sum(queries.values()),
                sets=len(queries),
                cells=_cells(
                    means if len(queries) > 1 else single, Measure.parse(measure), run.systems
                ),
            )
        )
    return [line for line in lines if _has_value(line)]


def overall_line(run: Run, measure: str) -> Line | None:
    """The mean over the sets, or the figures of the only one; `None` where nothing was scored."""
    lines = board_lines(run, measure)
    return lines[-1] if lines else None


def lines_frame(lines: Sequence[Line], *, systems: Sequence[str], name: str) -> pd.DataFrame:
    """Lines as a frame of texts, one column a system; `name` heads the first column."""
    rows = [
        {
            name: line.name,
            "queries": line.queries,
            **{
                system: line.cells[system].with_interval if system in line.cells else "–"
                for system in systems
            },
        }
        for line in lines
    ]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows, columns=[name, "queries", *systems])
    return frame.set_index(name)


def overall_frame(run: Run, measures: Iterable[str] | None = None) -> pd.DataFrame:
    """One row a system and one column a measure, as texts: the means over the sets."""
    columns = tuple(run.measures if measures is None else measures)
    overall = {measure: overall_line(run, measure) for measure in columns}
    rows = {
        system: [
            line.cells[system].with_interval if line and system in line.cells else "–"
            for line in overall.values()
        ]
        for system in run.systems
    }
    frame: pd.DataFrame = optional("pandas").DataFrame.from_dict(
        rows, orient="index", columns=list(columns)
    )
    frame.index.name = "system"
    return frame


def datasets_frame(run: Run) -> pd.DataFrame:
    """One row a dataset: documents, queries, and how many of them have an answer."""
    columns = {"documents": "documents", "queries": "queries", "judged": "with an answer"}
    rows = {
        name: {title: facts[key] for key, title in columns.items()}
        for name, facts in run.manifest["datasets"].items()
    }
    frame: pd.DataFrame = optional("pandas").DataFrame.from_dict(rows, orient="index")
    frame.index.name = "dataset"
    return frame


def worst_frame(run: Run, system: str) -> pd.DataFrame:
    """The worst answered queries of a profile: dataset, query, text, slices, value of the measure.

    False recalls are left out. The column of the value is named `value`; it is of the run's first
    measure of ranking.
    """
    rows = [
        {
            "dataset": item["dataset"],
            "query": item["query"],
            "text": item["text"],
            "slices": ", ".join(item["slices"].get(SLICE, [])),
            "value": round(item["value"], 3),
        }
        for item in run.worst()
        if item["system"] == system and item["failure"] == "missed"
    ]
    columns = ["dataset", "query", "text", "slices", "value"]
    frame: pd.DataFrame = optional("pandas").DataFrame(rows, columns=columns)
    return frame.set_index(["dataset", "query"])


def wins_frame(run: Run, first: str, second: str, measure: str) -> pd.DataFrame:
    """How often one system answered a query better than another did, dataset by dataset.

    Columns: better, equal, worse (queries, as seen from the first system). Whoever has no value
    for a query is left out.

    Raises:
        UnknownNameError: the run has no such system or measure.
    """
    _check("measure", measure, run.measures)
    one, other = run.queries(system=first), run.queries(system=second)
    both = one.merge(other, on=["dataset", "query"], suffixes=("", "_other"))
    difference = both[measure] - both[f"{measure}_other"]
    counts = {
        "better": difference.gt(0).groupby(both["dataset"]).sum(),
        "equal": difference.eq(0).groupby(both["dataset"]).sum(),
        "worse": difference.lt(0).groupby(both["dataset"]).sum(),
    }
    frame: pd.DataFrame = optional("pandas").DataFrame(counts)
    return frame.reindex(list(run.datasets)).fillna(0).astype(int)


def _cells(
    rows: Iterable[Mapping[str, Any]], measure: Measure, systems: Sequence[str]
) -> dict[str, Cell]:
    by_system = {row["system"]: row for row in rows}
    cells = {
        system: Cell(
            value=_known(by_system[system]["value"]),
            low=_known(by_system[system]["low"]),
            high=_known(by_system[system]["high"]),
            n=by_system[system]["n"],
            bounded=measure.bounded,
        )
        for system in systems
        if system in by_system
    }
    # How many documents happen to be judged makes no system better; and a host line's bytes hold
    # frame and summary, the others' the bare entries.
    if measure.name in {"Judged", "Bytes"}:
        return cells
    standings = _standings(cells, higher=measure.higher_is_better)
    return {
        system: Cell(
            value=cell.value,
            low=cell.low,
            high=cell.high,
            n=cell.n,
            bounded=cell.bounded,
            standing=standings[system],
        )
        for system, cell in cells.items()
    }


def _standings(cells: Mapping[str, Cell], *, higher: bool) -> dict[str, Standing]:
    """Who is best, said only where intervals allow it; nothing where all values are alike."""
    known = {system: cell.value for system, cell in cells.items() if cell.value is not None}
    found: dict[str, Standing] = dict.fromkeys(cells, "")
    if len(set(known.values())) < 2:
        return found
    top = (max if higher else min)(known.values())
    leaders = [system for system, value in known.items() if value == top]
    level = [
        system
        for system in known
        if system in leaders or any(_overlap(cells[system], cells[leader]) for leader in leaders)
    ]
    sure = len(level) == 1 and cells[level[0]].low is not None
    return found | dict.fromkeys(level, "best" if sure else "level")


def _overlap(one: Cell, other: Cell) -> bool:
    """Whether two figures cannot be told apart; without an interval, nothing can be."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return True
    return one.low <= other.high and other.low <= one.high


def _records(frame: pd.DataFrame, measure: str) -> list[dict[str, Any]]:
    if frame.empty:
        return []
    rows = frame[frame["measure"] == measure].to_dict("records")
    return [{str(column): value for column, value in row.items()} for row in rows]


def _known(number: float) -> float | None:
    """A number of a frame, where what is unknown is not a number."""
    return None if number != number else float(number)  # noqa: PLR0124  true for NaN only


def _has_value(line: Line) -> bool:
    return any(cell.value is not None for cell in line.cells.values())


def _check(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownNameError(kind, name, tuple(known), "in this run")
