"""Counted work beside its committed baseline: what recalls may touch, and what is too much."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wsmem.evals.gate.record import (
    BY_HAND,
    BaselineError,
    checksum,
    damaged,
    read_file,
    write_file,
)
from wsmem.evals.gate.work import COUNTED, RECALLS, STATES, Counted, State, WorkRecord
from wsmem.evals.manifest import version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT = 2

MARGINS: Mapping[Counted, float] = {
    "postings": 0.1,
    "candidates": 0.1,
    "analysed": 0.1,
    "steps": 0.15,
    "bytes": 0.1,
    "files": 0.0,
    "looks": 0.25,
}
"""By how much of the baseline a count may grow. A loop over all entries of the fixed store adds a
quarter to the steps of a warm recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRow:
    """One count beside its baseline; sums over the recalls of a state."""

    state: State
    counted: Counted
    recalls: int
    before: int
    after: int
    margin: float
    compared: bool
    """False where other interpreters are to be expected to count otherwise."""

    @property
    def grown(self) -> bool:
        """Whether it is more than is allowed."""
        return self.compared and self.after > self.before * (1 + self.margin)

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {name: getattr(self, name) for name in self.__slots__} | {"grown": self.grown}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkVerdict:
    """What fresh counts say beside their baseline."""

    rows: tuple[WorkRow, ...]
    changes: tuple[str, ...]

    @property
    def grown(self) -> tuple[WorkRow, ...]:
        """What fails the gate."""
        return tuple(row for row in self.rows if row.grown)

    @property
    def passed(self) -> bool:
        """Whether nothing has grown by more than is allowed."""
        return not self.grown

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "passed": self.passed,
            "changes": list(self.changes),
            "rows": [row.to_json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkBaseline:
    """What was counted when the baseline was made, and what is allowed beyond."""

    record: WorkRecord
    margins: Mapping[Counted, float]


def judge_work(baseline: WorkBaseline, fresh: WorkRecord, path: Path) -> WorkVerdict:
    """Compare fresh counts with the baseline of the same store.

    Lines of code are compared under the same version of Python only: another one executes others.

    Raises:
        BaselineError: the baseline is about another store.
    """
    old = baseline.record
    if old.store != fresh.store:
        problem = "was counted on another store than this wsmem makes for it"
        remedy = "make it anew with wsmem gate --update --accept-lower"
        raise BaselineError(str(path), problem, remedy)
    same = old.python == fresh.python
    changes = () if same else (f"Python {old.python} -> {fresh.python}: steps are not compared",)
    rows = tuple(
        WorkRow(
            state=state,
            counted=counted,
            recalls=RECALLS[state],
            before=old.counts[state][counted],
            after=fresh.counts[state][counted],
            margin=baseline.margins.get(counted, 0.0),
            compared=same or counted != "steps",
        )
        for state in STATES
        for counted in COUNTED
    )
    return WorkVerdict(rows=rows, changes=changes)


def write_work(record: WorkRecord, path: Path) -> None:
    """Write the file anew.

    Raises:
        BaselineError: it cannot be written.
    """
    stored = {
        "format": FORMAT,
        "made": {"by": "wsmem gate --update", "wsmem": version()},
        "store": record.store,
        "python": record.python,
        "margins": MARGINS,
        "recalls": RECALLS,
        "counts": record.counts,
    }
    stored["checksum"] = checksum(stored)
    write_file(path, json.dumps(stored, indent=1) + "\n")


def read_work(path: Path) -> WorkBaseline:
    """Read a baseline of counted work.

    Raises:
        BaselineError: there is none, it is damaged, or a newer wsmem wrote it.
    """
    raw = read_file(path, FORMAT)
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        problem = f"does not hold what a baseline holds at {where or 'its root'}"
        raise damaged(path, problem) from None
    if any(set(counts) != set(COUNTED) for counts in file.counts.values()) or (
        file.recalls != RECALLS or set(file.counts) != set(STATES)
    ):
        raise damaged(path, "counts something other than this wsmem does")
    if raw.pop("checksum") != checksum(raw):
        raise damaged(path, BY_HAND)
    if any(margin > MARGINS[counted] for counted, margin in file.margins.items()):
        raise damaged(path, "allows more growth than this wsmem does")
    record = WorkRecord(store=file.store, python=file.python, counts=file.counts)
    return WorkBaseline(record=record, margins=file.margins)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    made: dict[str, str]
    store: str
    python: str
    margins: dict[Counted, Annotated[float, Field(ge=0)]]
    recalls: dict[State, int]
    counts: dict[State, dict[Counted, Annotated[int, Field(ge=0)]]]
    checksum: str
