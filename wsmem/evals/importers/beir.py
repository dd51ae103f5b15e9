"""Any set in the layout of BEIR or MTEB: corpus, queries, and labels by split.

`corpus.jsonl` and `queries.jsonl` (or `.jsonl.gz`) with `_id` or `id`, and `qrels/SPLIT.tsv`, or
`.jsonl` as MTEB has it; a folder or its files are given.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from wsmem.errors import InputFileError, InvalidInputError
from wsmem.evals.importers.items import Option, Passage, PublicSource, Question, one_file
from wsmem.evals.importers.json_files import read_lines, text_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wsmem.evals.importers.items import Item, Request
    from wsmem.evals.importers.json_files import Node

_IDS = ("_id", "id")
_QUERY, _PASSAGE, _SCORE = "query-id", "corpus-id", "score"
_TABLES = (".tsv", ".tsv.gz", ".txt")
_LINES = (".jsonl", ".jsonl.gz")
_OWN = frozenset({*_IDS, "text", "title", "metadata"})

Labels = dict[str, dict[str, dict[str, int]]]
"""Grades by split, query and passage."""


def read(request: Request) -> Iterator[Item]:
    """The corpus, then the queries that have labels."""
    folder = one_file(request)
    if not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder; give the one with corpus.jsonl in it")
    wanted = request.options["split"]
    labels = {
        split: _labels(path)
        for split, path in _label_files(folder).items()
        if not wanted or split == wanted
    }
    if not labels:
        there = f"no labels of split {wanted!r}" if wanted else "no labels"
        raise InputFileError(str(folder), None, f"there are {there} in qrels/ (.tsv or .jsonl)")
    for row in read_lines(_data_file(folder, "corpus")):
        title = row.maybe("title")
        yield Passage(
            id=_identifier(row),
            text=_words(row, "text"),
            title="" if title is None else title.word(),
            scope=_scope(row),
            metadata=_metadata(row),
        )
    for row in read_lines(_data_file(folder, "queries")):
        yield from _questions(row, labels, request)


def _questions(row: Node, labels: Labels, request: Request) -> Iterator[Question]:
    """A query of two splits becomes a query of each."""
    name, metadata = _identifier(row), _metadata(row)
    homes = [split for split, judged in labels.items() if name in judged]
    unanswerable = metadata.get("answerable") is False
    if not homes and not unanswerable:
        request.left_out["queries without labels"] += 1
        return
    for split in homes or [_home(metadata, labels)]:
        grades = labels[split].get(name, {})
        if not unanswerable and not any(grade > 0 for grade in grades.values()):
            request.left_out["queries without a relevant passage"] += 1
            continue
        yield Question(
            id=name if len(homes) < 2 else f"{name}~{split}",
            text=_words(row, "text"),
            labels={} if unanswerable else grades,
            scope=_scope(row),
            kind=metadata.get("kind"),
            split=split,
            metadata=metadata,
        )


def _home(metadata: dict[str, Any], labels: Labels) -> str:
    named = metadata.get("split")
    return named if named in labels else next(iter(labels))


def _data_file(folder: Path, stem: str) -> Path:
    for suffix in _LINES:
        path = folder / f"{stem}{suffix}"
        if path.is_file():
            return path
    parquet = " (export .parquet files as .jsonl first)" if any(folder.rglob("*.parquet")) else ""
    problem = f"there is neither {stem}.jsonl nor {stem}.jsonl.gz{parquet}"
    raise InputFileError(str(folder), None, problem)


def _label_files(folder: Path) -> dict[str, Path]:
    """Label files by split; those beside the corpus count where there is no folder for them."""
    inside = folder / "qrels"
    found: dict[str, Path] = {}
    for path in sorted(inside.iterdir()) if inside.is_dir() else sorted(folder.glob("qrels*.*")):
        for suffix in (*_TABLES, *_LINES):
            if path.name.endswith(suffix):
                found.setdefault(path.name.removesuffix(suffix), path)
    return found


def _labels(path: Path) -> dict[str, dict[str, int]]:
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    rows = _json_labels(path) if path.name.endswith(_LINES) else _table_labels(path)
    for number, query, passage, score in rows:
        if passage in labels[query]:
            problem = f"query {query!r} and passage {passage!r} were labelled before"
            raise InputFileError(str(path), number, problem)
        labels[query][passage] = _grade(path, number, score)
    return dict(labels)


def _json_labels(path: Path) -> Iterator[tuple[int | None, str, str, str]]:
    for row in read_lines(path):
        query, passage = row.member(_QUERY).word(), row.member(_PASSAGE).word()
        yield row.line, query, passage, row.member(_SCORE).word()


def _table_labels(path: Path) -> Iterator[tuple[int | None, str, str, str]]:
    """Three columns, or the four of TREC, with or without a header."""
    for place, (number, line) in enumerate(text_lines(path)):
        fields = line.split("\t") if "\t" in line else line.split()
        if place == 0 and len(fields) in {3, 4} and not _is_number(fields[-1]):
            continue  # a header
        if len(fields) == 4:
            fields = [fields[0], *fields[2:]]
        if len(fields) != 3:
            problem = f"{len(fields)} fields where query, passage and score are needed"
            raise InputFileError(str(path), number, problem)
        yield number, fields[0], fields[1], fields[2]


def _grade(path: Path, number: int | None, score: str) -> int:
    """A grade; judgements below zero (spam, in some sets) are judged and not relevant."""
    if not _is_number(score) or not float(score).is_integer():
        raise InputFileError(str(path), number, f"score {score!r} is not a whole number")
    return max(0, int(float(score)))


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _identifier(row: Node) -> str:
    for key in _IDS:
        if (found := row.maybe(key)) is not None:
            return found.word()
    raise row.fault("'_id' is missing")


def _words(row: Node, key: str) -> str:
    found = row.member(key)
    return "" if found.value is None else found.text()


def _scope(row: Node) -> str | None:
    scope = _metadata(row).get("scope")
    return None if scope is None else str(scope)


def _metadata(row: Node) -> dict[str, Any]:
    """What else a line says; names that mean something in an entry are kept out of the way."""
    inner = row.maybe("metadata")
    nested = inner.value if inner is not None and isinstance(inner.value, dict) else {}
    beside = {key: value for key, value in row.value.items() if key not in _OWN}
    return beside | nested


SOURCE = PublicSource(
    name="beir",
    title="A set in the layout of BEIR",
    files="a folder with corpus.jsonl, queries.jsonl (or .jsonl.gz) and qrels/",
    licence="as stated by its source",
    source="a folder in the layout of BEIR or MTEB",
    authors=("the authors of the set",),
    description="Passages, queries and labels taken over as they are.",
    intended_use="As its source says.",
    limits="What its source says; queries without a relevant passage were left out.",
    read=read,
    options={"split": Option(help="only this file of qrels/")},
    measures="nDCG@10",
)
