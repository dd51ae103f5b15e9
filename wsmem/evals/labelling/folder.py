"""The private folder a set is labelled in: the set itself, its pool, and who judged what.

    corpus.jsonl  queries.jsonl  qrels/SPLIT.tsv  card.json    a labelled set from the first minute
    pool.jsonl                   what to judge: one query a line, documents in blind order
    judgements/NAME.jsonl        what one labeller says, append-only
    labelling.json               how the pool was made; the store's scopes; stand-ins for names
    .gitignore                   keeps all of it out of version control

It is readable by its owner alone. Only `wsmem.evals.labelling.export` makes something to be given
away.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wsmem.errors import DatasetError, InputFileError
from wsmem.evals.card import CARD_NAME, checksums
from wsmem.evals.labelling.judgements import Ledger, judges, ledger_path
from wsmem.evals.reading import CORPUS, QRELS, QRELS_HEADER, QUERIES, load_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.card import Card
    from wsmem.evals.dataset import Dataset, Query

POOL, SETTINGS = "pool.jsonl", "labelling.json"
PUBLISHED = "published"
"""The labeller that stands for the labels a set had before it was labelled again."""
SETTLED = "settled"
"""The labeller whose word counts where others disagree."""


class LabellingSettings(BaseModel):
    """How a labelling folder was made, `labelling.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = 1
    seed: int
    depth: int
    systems: tuple[str, ...]
    split: str
    scopes: dict[str, str] = Field(default_factory=dict)
    """Directories of the store's scopes by key."""
    unanswerable: tuple[str, ...] = ()
    """Queries that were marked as having no answer before anybody judged."""
    stand_ins: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Names that an export replaced, by kind, so that the next one replaces them alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabellingFolder:
    """A labelling folder as read from disk."""

    path: Path
    dataset: Dataset
    pool: Mapping[str, tuple[str, ...]]
    """Documents to judge by query, in the order in which they are shown."""
    settings: LabellingSettings
    queries: Mapping[str, Query] = field(repr=False, default_factory=dict)

    def ledger(self, judge: str) -> Ledger:
        """The judgements of one labeller, none if he is new.

        Raises:
            InvalidInputError: the name cannot be used.
            InputFileError: his file cannot be understood.
        """
        return Ledger(ledger_path(self.path, judge))

    def ledgers(self) -> dict[str, Ledger]:
        """The judgements of everybody who has judged here."""
        return {name: self.ledger(name) for name in judges(self.path)}

    def save_settings(self, settings: LabellingSettings) -> LabellingFolder:
        """Write other settings; this folder with them."""
        write_file(self.path / SETTINGS, settings.model_dump_json(indent=2) + "\n")
        return replace(self, settings=settings)


def is_labelling_folder(path: Path) -> bool:
    """Whether a folder is one that can be labelled in."""
    return (path / POOL).is_file() and (path / SETTINGS).is_file()


def open_folder(path: Path) -> LabellingFolder:
    """Read a labelling folder.

    Raises:
        DatasetError: it is none, or its set is faulty.
        InputFileError: its pool or settings cannot be understood.
    """
    if not is_labelling_folder(path):
        problem = f"it cannot be labelled in: there is no {POOL} or {SETTINGS}"
        remedy = "make such a folder by: wsmem datasets from-store, or wsmem datasets pool"
        raise DatasetError(str(path), None, problem, remedy)
    settings = _read_settings(path / SETTINGS)
    dataset = load_dataset(path, split=settings.split)
    queries = {query.id: query for query in dataset.queries}
    pool = _read_pool(path / POOL, queries, {document.id for document in dataset.documents})
    return LabellingFolder(
        path=path, dataset=dataset, pool=pool, settings=settings, queries=queries
    )


def write_folder(
    folder: Path,
    *,
    documents: Iterable[Mapping[str, Any]],
    queries: Iterable[Mapping[str, Any]],
    split: str,
) -> None:
    """Write a set without labels into an empty folder."""
    (folder / QRELS).mkdir(mode=0o700, exist_ok=True)
    write_file(folder / CORPUS, _lines(documents))
    write_file(folder / QUERIES, _lines(queries))
    write_labels(folder, split, ())
    write_file(folder / ".gitignore", "*\n")


def write_pool(folder: Path, pool: Mapping[str, Sequence[str]]) -> None:
    """Write what is to be judged."""
    rows = ({"query": query, "documents": list(found)} for query, found in pool.items())
    write_file(folder / POOL, _lines(rows))


def write_labels(folder: Path, split: str, labels: Iterable[tuple[str, str, int]]) -> None:
    """Write a label file; the one there was is replaced at once."""
    rows = ["\t".join(QRELS_HEADER), *(f"{q}\t{d}\t{grade}" for q, d, grade in labels)]
    write_file(folder / QRELS / f"{split}.tsv", "\n".join(rows) + "\n")


def write_queries(folder: Path, queries: Iterable[Mapping[str, Any]]) -> None:
    """Write queries; those there were are replaced at once."""
    write_file(folder / QUERIES, _lines(queries))


def write_card_of(folder: Path, card: Card) -> None:
    """Write a card that fits the files as they are now."""
    fitting = card.model_copy(update={"checksums": checksums(folder)})
    said = fitting.model_dump(exclude_defaults=True)
    write_file(folder / CARD_NAME, json.dumps(said, ensure_ascii=False, indent=2) + "\n")


def query_row(query: Query, *, answerable: bool) -> dict[str, Any]:
    """A line of queries, marked when nothing answers it."""
    metadata = {key: value for key, value in query.metadata.items() if key != "answerable"}
    marked = metadata if answerable else metadata | {"answerable": False}
    return {"_id": query.id, "text": query.text, "metadata": marked}


def write_file(path: Path, text: str) -> None:
    """Replace a file at once, readable by its owner alone: the old or the new one, never a part."""
    fd, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _read_settings(path: Path) -> LabellingSettings:
    try:
        return LabellingSettings.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputFileError(str(path), None, f"{place}: {first['msg']}") from error


def _read_pool(
    path: Path, queries: Mapping[str, Query], documents: set[str]
) -> dict[str, tuple[str, ...]]:
    pool: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            query, found = row["query"], tuple(row["documents"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputFileError(str(path), number, f"not a line of a pool ({error})") from error
        strangers = [name for name in found if name not in documents]
        if query not in queries or strangers:
            name = query if query not in queries else strangers[0]
            raise InputFileError(str(path), number, f"{name!r} is not in the set")
        pool[query] = found
    return pool
