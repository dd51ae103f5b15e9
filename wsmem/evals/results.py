"""What an evaluation found, as values; `wsmem.evals.run` writes them to a folder."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from _typeshed import DataclassInstance

    from wsmem.evals.intervals import Interval
    from wsmem.evals.plan import Plan
    from wsmem.evals.worst import WorstQuery

    class HasInterval(DataclassInstance, Protocol):
        """A row of any board."""

        @property
        def interval(self) -> Interval: ...


EVERY_SYSTEM = "*"
"""Stands for all systems where a whole dataset was skipped."""
MEAN = "mean"
"""Stands for a dataset in rows that average over datasets."""

_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that was asked for and not scored, with the reason."""

    system: str
    dataset: str | None
    """`None`: it was skipped on every dataset."""
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As printed and stored; `dataset` only where there is one."""
        found = {"system": self.system, "dataset": self.dataset, "reason": self.reason}
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of the board."""

    dataset: str
    system: str
    measure: str
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """The figure in seven fields, rounded; `None` is what cannot be scored."""
        return row_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """One figure about some of a dataset's queries."""

    dataset: str
    system: str
    dimension: str
    """What the queries were grouped by: lang, kind, slice, scope size, query length."""
    slice: str
    measure: str
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return row_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFacts:
    """A scored query as the dataset gives it, the same for every system."""

    id: str
    text: str
    scope: str | None
    answerable: bool
    relevant: Mapping[str, int]
    """Grades of the relevant documents."""
    slices: Mapping[str, tuple[str, ...]]
    """The groups it belongs to, by dimension."""

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return {
            "id": self.id,
            "text": self.text,
            "scope": self.scope,
            "answerable": self.answerable,
            "relevant": dict(self.relevant),
            "slices": {dimension: list(names) for dimension, names in self.slices.items()},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> QueryFacts:
        """What `to_json` gave."""
        slices = {dimension: tuple(names) for dimension, names in stored["slices"].items()}
        return cls(**{**stored, "slices": slices})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """What one system gave for one query."""

    ranked: tuple[str, ...]
    scores: Mapping[str, float | None]
    """By measure; `None` where the measure is not about this query."""
    bytes: int
    """UTF-8 bytes of the texts of the first 8; for a `@host` system of all that was injected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
    """One system on one dataset."""

    system: str
    settings: Mapping[str, Any]
    queries: Mapping[str, QueryResult]
    """By query id, in the order of the dataset's facts."""
    unanswered: int
    """Judged queries for which it found nothing; they count as zero."""
    prepare_seconds: float
    search_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetResult:
    """All systems on one dataset."""

    name: str
    path: str
    split: str
    checksums: Mapping[str, str]
    card_agrees: bool | None
    """Whether the files are the ones the card was written for; `None` without a card."""
    documents: int
    facts: tuple[QueryFacts, ...]
    left_out: int
    """Queries without any label that are not marked unanswerable; they count nowhere."""
    systems: tuple[SystemResult, ...]
    rows: tuple[Row, ...]
    slices: tuple[SliceRow, ...]
    worst: tuple[WorstQuery, ...]
    """The worst queries of each profile of ours, if the plan asked for them."""
    skipped: tuple[Skipped, ...]

    @property
    def judged(self) -> int:
        """Queries with a relevant document."""
        return sum(bool(fact.relevant) for fact in self.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything one plan gave."""

    plan: Plan
    datasets: tuple[DatasetResult, ...]
    rows: tuple[Row, ...]
    """The board: every dataset, then the means over datasets."""
    slices: tuple[SliceRow, ...]
    skipped: tuple[Skipped, ...]
    started: datetime
    finished: datetime

    @property
    def scored(self) -> bool:
        """Whether any figure was obtained at all."""
        return any(row.interval.value is not None for row in self.rows)


def row_json(row: HasInterval) -> dict[str, Any]:
    """What a row is about, field by field, then value, bounds and n of its interval, rounded."""
    interval = row.interval
    about = {each.name: getattr(row, each.name) for each in fields(row) if each.name != "interval"}
    return about | {
        "value": _rounded(interval.value),
        "low": _rounded(interval.low),
        "high": _rounded(interval.high),
        "n": interval.n,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
