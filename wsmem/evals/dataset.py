"""Labelled sets as values: documents, queries, labels, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from wsmem.evals.card import Card

ProblemKind = Literal[
    "missing-file",
    "malformed",
    "duplicate-id",
    "dangling-label",
    "repeated-label",
    "labelled-unanswerable",
    "card",
    "unlabelled-query",
    "label-out-of-scope",
    "empty-text",
    "checksum",
    "secret",
    "split-leak",
    "superseded-label",
    "near-duplicate",
    "duplicate-text",
    "wrong-language",
]

Severity = Literal["error", "warning"]

FATAL: frozenset[ProblemKind] = frozenset(
    {
        "missing-file",
        "malformed",
        "duplicate-id",
        "dangling-label",
        "repeated-label",
        "labelled-unanswerable",
        "card",
    }
)
"""Problems with which a score would be wrong; the others are reported by a check only."""

WARNINGS: frozenset[ProblemKind] = frozenset(
    {"unlabelled-query", "near-duplicate", "duplicate-text", "wrong-language"}
)
"""Problems that may be meant, and that a reader should look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a dataset, and what to do about it."""

    kind: ProblemKind
    path: Path
    line: int | None
    """One-based; `None` when the whole file is meant."""
    text: str
    remedy: str

    def __str__(self) -> str:
        return str(self.error())

    @property
    def fatal(self) -> bool:
        """Whether the dataset cannot be scored before this is mended."""
        return self.kind in FATAL

    @property
    def severity(self) -> Severity:
        """Whether it has to be mended or may be meant."""
        return "warning" if self.kind in WARNINGS else "error"

    def error(self) -> DatasetError:
        """The same, to be raised."""
        return DatasetError(str(self.path), self.line, self.text, self.remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One line of `corpus.jsonl`."""

    id: str
    title: str
    text: str
    scope: str | None
    """Whose memory it belongs to; `None` where a set has one shared corpus."""
    metadata: Mapping[str, Any]
    """Everything else the line said, unknown fields included."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One line of `queries.jsonl`."""

    id: str
    text: str
    scope: str | None
    """Only documents of this scope are searched; all of them when `None`."""
    lang: str | None
    kind: str | None
    slices: tuple[str, ...]
    """Further groups the query belongs to, from `metadata.slice`."""
    answerable: bool
    """False: nothing is relevant, and a system should recall nothing."""
    metadata: Mapping[str, Any]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A labelled set as read from its folder."""

    name: str
    path: Path
    split: str
    """Which file of `qrels/` the labels come from."""
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    """In file order; queries of another split are left out."""
    labels: Mapping[str, Mapping[str, int]]
    """Grades by query and document; 1 or more is relevant, 0 was judged and found irrelevant."""
    checksums: Mapping[str, str]
    """SHA-256 of each data file as found."""
    card: Card | None = field(default=None, repr=False)

    def relevant(self, query_id: str) -> dict[str, int]:
        """Documents labelled relevant to a query, with their grades; empty when there are none."""
        return {doc: grade for doc, grade in self.labels.get(query_id, {}).items() if grade > 0}

    def query(self, query_id: str) -> Query | None:
        """The query of this id, if the set has one."""
        return next((query for query in self.queries if query.id == query_id), None)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value of metadata, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
