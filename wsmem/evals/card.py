"""A dataset's card: what is said about the data, and the checksums that tie it to the files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from pathlib import Path

CARD_NAME = "card.json"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Card(BaseModel):
    """A dataset's card, `card.json`; an unknown field is an error, so that typos are seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    """The folder's name."""
    title: Text
    language: Annotated[tuple[Text, ...], Field(min_length=1)]
    """What the queries or conversations are written in: zh, en, mixed."""
    licence: Text
    """An SPDX identifier where there is one."""
    source: Text
    """Where the texts come from."""
    description: Text
    authors: Annotated[tuple[Text, ...], Field(min_length=1)]
    checksums: dict[Text, Sha256]
    """SHA-256 of every data file, by its path inside the folder."""
    slices: dict[Text, Text] = Field(default_factory=dict)
    """What each kind of query or case tests."""
    splits: dict[Text, Text] = Field(default_factory=dict)
    """What each split is for: a file of qrels/, or the cases that name it."""
    intended_use: Text
    limits: Text
    origins: dict[Text, Sha256] = Field(default_factory=dict)
    """SHA-256 of the files it was converted from, by their names; empty for an original set."""
    labelling: Text | None = None
    """How it was labelled, and by how many."""
    agreement: Text | None = None
    """How far two labellers agree, with the number of pairs both judged."""


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """Checksums of every data file of a dataset folder, by its path inside the folder, sorted."""
    names = ("corpus.jsonl", "queries.jsonl", "cases.jsonl")
    files = [*(folder / name for name in names), *folder.glob("qrels/*.tsv")]
    present = sorted(path for path in files if path.is_file())
    return {path.relative_to(folder).as_posix(): checksum(path) for path in present}
