"""Looking for everything wrong with a dataset folder, also what does not stop an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.evals.card import CARD_NAME, checksums
from wsmem.evals.dataset import Problem
from wsmem.evals.entries import field_problems
from wsmem.evals.hygiene import hygiene_problems
from wsmem.evals.reading import CORPUS, QUERIES, read_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wsmem.evals.dataset import Document, Query
    from wsmem.evals.reading import Folder


def check_dataset(path: Path) -> list[Problem]:
    """Every problem of a dataset folder over all its splits; empty when it is sound.

    Raises:
        DatasetError: `path` is not a folder.
    """
    folder, problems = read_folder(path)
    return [
        *problems,
        *_empty_texts(folder),
        *_unlabelled_queries(folder),
        *_card_problems(folder),
        *hygiene_problems(folder),
    ]


def _empty_texts(folder: Folder) -> Iterator[Problem]:
    lines: list[tuple[str, Document | Query, str]] = [
        *((CORPUS, item, item.title + item.text) for item in folder.documents.values()),
        *((QUERIES, item, item.text) for item in folder.queries.values()),
    ]
    for file, item, text in lines:
        if not text.strip():
            yield Problem(
                kind="empty-text",
                path=folder.path / file,
                line=item.line,
                text=f"{item.id!r} has no text",
                remedy="write one or remove the line",
            )


def _unlabelled_queries(folder: Folder) -> Iterator[Problem]:
    labelled = {
        query
        for labels in folder.labels.values()
        for query, grades in labels.items()
        if any(grade > 0 for grade in grades.values())
    }
    for query in folder.queries.values():
        if query.answerable and query.id not in labelled:
            yield Problem(
                kind="unlabelled-query",
                path=folder.path / QUERIES,
                line=query.line,
                text=f"query {query.id!r} has no relevant document and is left out of every score",
                remedy="label it, or mark it answerable: false if nothing is relevant",
            )


def _card_problems(folder: Folder) -> Iterator[Problem]:
    """Where a set with a card departs from it; sets of others have none and are not held to one."""
    card = folder.card
    if card is None:
        return
    path = folder.path / CARD_NAME
    for document in folder.documents.values():
        for field, why in field_problems(document):
            yield Problem(
                kind="card",
                path=folder.path / CORPUS,
                line=document.line,
                text=f"metadata.{field} of {document.id!r}: {why[0].lower()}{why[1:]}",
                remedy="a set with a card holds memory entries: correct the field",
            )
    name = folder.path.resolve().name
    if card.name != name:
        text = f"the card is named {card.name!r}, the folder {name!r}"
        yield Problem(kind="card", path=path, line=None, text=text, remedy="use one name")
    for missing in sorted(set(folder.labels) ^ set(card.splits)) if card.splits else ():
        text = f"split {missing!r} is only in one of the card and qrels/"
        yield Problem(kind="card", path=path, line=None, text=text, remedy="describe every split")
    found = checksums(folder.path)
    for file in sorted(set(found) | set(card.checksums)):
        said, is_ = card.checksums.get(file, "nothing"), found.get(file, "no such file")
        if said != is_:
            yield Problem(
                kind="checksum",
                path=folder.path / file,
                line=None,
                text=f"SHA-256 is {is_}, the card says {said}",
                remedy=f"restore the file, or correct {CARD_NAME} if the change was meant",
            )
