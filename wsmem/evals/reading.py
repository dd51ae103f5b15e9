"""Reading a dataset folder in the BEIR layout: every line is checked, every fault has its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from wsmem.errors import DatasetError, UnknownNameError
from wsmem.evals.card import CARD_NAME, Card, checksums
from wsmem.evals.dataset import Dataset, Document, Problem, Query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wsmem.evals.dataset import ProblemKind

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
QRELS_HEADER = ("query-id", "corpus-id", "score")
DEFAULT_SPLIT = "test"

_FIX_LINE = "mend or remove this line"


class _Row(BaseModel):
    """What both kinds of lines share; fields nobody knows are kept as metadata."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    id: str = Field(alias="_id", min_length=1)
    text: StrictStr
    metadata: dict[str, Any] | None = None
    scope: str | None = Field(default=None, validation_alias=AliasPath("metadata", "scope"))

    def everything(self) -> dict[str, Any]:
        """The metadata, and the line's unknown fields beside it."""
        return {**(self.model_extra or {}), **(self.metadata or {})}


class _CorpusRow(_Row):
    title: StrictStr | None = None


class _QueryRow(_Row):
    lang: str | None = Field(default=None, validation_alias=AliasPath("metadata", "lang"))
    kind: str | None = Field(default=None, validation_alias=AliasPath("metadata", "kind"))
    slices: str | list[str] | None = Field(
        default=None, validation_alias=AliasPath("metadata", "slice")
    )
    answerable: StrictBool = Field(
        default=True, validation_alias=AliasPath("metadata", "answerable")
    )


RowT = TypeVar("RowT", bound=_Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What a dataset folder holds, all splits together, before one of them is chosen."""

    path: Path
    documents: dict[str, Document]
    queries: dict[str, Query]
    labels: dict[str, dict[str, dict[str, int]]]
    """Grades by split, query and document."""
    card: Card | None


def is_dataset(path: Path) -> bool:
    """Whether a folder is laid out as a labelled retrieval set."""
    return (path / CORPUS).is_file() and (path / QUERIES).is_file()


def load_dataset(path: Path, *, name: str | None = None, split: str | None = None) -> Dataset:
    """Read one labelled set.

    Args:
        path: The folder with `corpus.jsonl`, `queries.jsonl` and `qrels/`.
        name: What to call it; the folder's name when `None`.
        split: Which file of `qrels/` to use; `test` when `None`, or the only one there is.

    Raises:
        DatasetError: the first fault with which a score would be wrong.
        UnknownNameError: there is no such split.
    """
    folder, problems = read_folder(path)
    for problem in problems:
        if problem.fatal:
            raise problem.error()
    chosen = _choose_split(folder, split)
    return Dataset(
        name=name or path.resolve().name,
        path=path,
        split=chosen,
        documents=tuple(folder.documents.values()),
        queries=queries_of_split(folder, chosen),
        labels=folder.labels[chosen],
        checksums=checksums(path),
        card=folder.card,
    )


def read_folder(path: Path) -> tuple[Folder, list[Problem]]:
    """Read what can be read of a folder, with every fault met on the way.

    Raises:
        DatasetError: `path` is not a folder.
    """
    if not path.is_dir():
        raise DatasetError(str(path), None, "there is no such folder", "give a dataset's folder")
    problems: list[Problem] = []
    card = _read_card(path / CARD_NAME, problems)
    documents = _unique(path / CORPUS, _documents(path / CORPUS, problems), problems)
    queries = _unique(path / QUERIES, _queries(path / QUERIES, problems), problems)
    files = sorted((path / QRELS).glob("*.tsv")) or [path / QRELS / f"{DEFAULT_SPLIT}.tsv"]
    labels = {file.stem: _read_labels(file, documents, queries, problems) for file in files}
    folder = Folder(path=path, documents=documents, queries=queries, labels=labels, card=card)
    return folder, problems


def _choose_split(folder: Folder, split: str | None) -> str:
    known = tuple(folder.labels)
    if split is None and (DEFAULT_SPLIT in known or len(known) == 1):
        return DEFAULT_SPLIT if DEFAULT_SPLIT in known else known[0]
    if split not in known:
        raise UnknownNameError("split", split or DEFAULT_SPLIT, known, f"in {folder.path / QRELS}")
    return split


def queries_of_split(folder: Folder, split: str) -> tuple[Query, ...]:
    """The queries of one split, in file order.

    A query belongs where it is labelled; one without labels belongs to the split that its
    metadata names, or to every split when that word is not the name of a label file.
    """

    def belongs(query: Query) -> bool:
        homes = {name for name, labels in folder.labels.items() if query.id in labels}
        if not homes and query.metadata.get("split") in folder.labels:
            return bool(query.metadata["split"] == split)
        return not homes or split in homes

    return tuple(query for query in folder.queries.values() if belongs(query))


def _documents(path: Path, problems: list[Problem]) -> Iterator[Document]:
    for number, row in _rows(path, _CorpusRow, problems):
        yield Document(
            id=row.id,
            title=row.title or "",
            text=row.text,
            scope=row.scope,
            metadata=row.everything(),
            line=number,
        )


def _queries(path: Path, problems: list[Problem]) -> Iterator[Query]:
    for number, row in _rows(path, _QueryRow, problems):
        slices = [row.slices] if isinstance(row.slices, str) else row.slices or []
        yield Query(
            id=row.id,
            text=row.text,
            scope=row.scope,
            lang=row.lang,
            kind=row.kind,
            slices=tuple(dict.fromkeys(slices)),
            answerable=row.answerable,
            metadata=row.everything(),
            line=number,
        )


def _rows(path: Path, model: type[RowT], problems: list[Problem]) -> Iterator[tuple[int, RowT]]:
    """Parse a file line by line; blank lines are passed over, faulty ones become problems."""
    for number, line in _lines(path, problems):
        try:
            row = model.model_validate_json(line)
        except ValidationError as error:
            problems.append(_problem("malformed", path, number, _explain(error), _FIX_LINE))
        else:
            yield number, row


def _lines(path: Path, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    if not path.is_file():
        remedy = "a dataset has corpus.jsonl, queries.jsonl and qrels/test.tsv"
        problems.append(_problem("missing-file", path, None, "there is no such file", remedy))
        return
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # a byte order mark is no data
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, line.removesuffix(b"\r")


def _explain(error: ValidationError) -> str:
    """The first fault of a line in words; Pydantic's positions inside the line are kept."""
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return f"not JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    if not first["loc"]:
        return "not a JSON object"
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"field {place} is missing"
    return f"field {place}: {first['msg'][0].lower()}{first['msg'][1:]}"


Line = TypeVar("Line", Document, Query)


def _unique(path: Path, lines: Iterator[Line], problems: list[Problem]) -> dict[str, Line]:
    kept: dict[str, Line] = {}
    for line in lines:
        first = kept.setdefault(line.id, line)
        if first is not line:
            text = f"id {line.id!r} was used on line {first.line}"
            problems.append(
                _problem("duplicate-id", path, line.line, text, "give every line its own id")
            )
    return kept


def _read_labels(
    path: Path,
    documents: dict[str, Document],
    queries: dict[str, Query],
    problems: list[Problem],
) -> dict[str, dict[str, int]]:
    labels: dict[str, dict[str, int]] = {}
    for number, line in _label_lines(path, problems):
        label = _parse_label(line)
        if isinstance(label, str):
            problems.append(_problem("malformed", path, number, label, _FIX_LINE))
            continue
        query, document, grade = label
        fault = _label_fault(queries.get(query), documents.get(document), label)
        if fault is None and document in labels.get(query, {}):
            text = f"query {query!r} and document {document!r} were labelled before"
            fault = "repeated-label", text, "keep one of the two"
        if fault is not None:
            problems.append(_problem(fault[0], path, number, *fault[1:]))
        if fault is None or fault[0] == "label-out-of-scope":
            labels.setdefault(query, {})[document] = grade
    return labels


def _label_lines(path: Path, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    """The lines after the header; a file without one is read from its first line."""
    for position, (number, line) in enumerate(_lines(path, problems)):
        if position == 0:
            if tuple(line.decode("utf-8", "replace").split("\t")) == QRELS_HEADER:
                continue
            text = "the first line is not the header"
            remedy = "begin the file with query-id, corpus-id, score and tabs between them"
            problems.append(_problem("malformed", path, number, text, remedy))
        yield number, line


def _label_fault(
    query: Query | None, document: Document | None, label: tuple[str, str, int]
) -> tuple[ProblemKind, str, str] | None:
    """What is wrong with a label that could be read, and the remedy."""
    if query is None:
        return "dangling-label", f"label of an unknown query {label[0]!r}", _FIX_LINE
    if document is None:
        return "dangling-label", f"label of an unknown document {label[1]!r}", _FIX_LINE
    if label[2] > 0 and not query.answerable:
        text = f"query {query.id!r} is marked answerable: false, yet has a relevant document"
        return "labelled-unanswerable", text, "drop the label or the mark"
    if label[2] > 0 and query.scope is not None and query.scope != document.scope:
        text = (
            f"query {query.id!r} searches scope {query.scope!r} only, "
            f"document {document.id!r} is in {document.scope!r}"
        )
        return "label-out-of-scope", text, "correct the scopes or drop the label"
    return None


def _parse_label(line: bytes) -> tuple[str, str, int] | str:
    """A label, or what is wrong with it."""
    try:
        fields = line.decode("utf-8").split("\t")
    except UnicodeDecodeError as error:
        return f"not UTF-8 ({error.reason} at byte {error.start})"
    if len(fields) != len(QRELS_HEADER):
        return f"{len(fields)} fields where 3 are needed (query-id, corpus-id, score, tabs between)"
    query, document, score = fields
    if not score.strip().isascii() or not score.strip().isdigit():
        return f"score {score!r} is not a whole number of 0 or more"
    return query, document, int(score)


def _read_card(path: Path, problems: list[Problem]) -> Card | None:
    if not path.is_file():
        return None
    try:
        return Card.model_validate_json(path.read_bytes())
    except ValidationError as error:
        remedy = "see wsmem.evals.card.Card for the fields of a card"
        problems.append(_problem("card", path, None, _explain(error), remedy))
        return None


def _problem(kind: ProblemKind, path: Path, line: int | None, text: str, remedy: str) -> Problem:
    return Problem(kind=kind, path=path, line=line, text=text, remedy=remedy)
