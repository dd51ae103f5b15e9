"""What every importer gives: passages to search, questions with their labels, and what it left out.

Nothing here knows a format or writes a file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One line of `corpus.jsonl` to be."""

    id: str
    text: str
    title: str = ""
    scope: str | None = None
    date: str | None = None
    """ISO 8601, of the day or moment it was said."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One line of `queries.jsonl` to be, and its labels."""

    id: str
    text: str
    labels: Mapping[str, int]
    """Grades by passage; empty: nothing is relevant, and nothing should be recalled."""
    scope: str | None = None
    date: str | None = None
    kind: str | None = None
    split: str = "test"
    metadata: Mapping[str, Any] = field(default_factory=dict)


Item: TypeAlias = "Passage | Question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice a user has when importing."""

    help: str
    choices: tuple[str, ...] = ()
    """What may be chosen; any text when empty."""
    default: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be imported, as an importer sees it."""

    files: tuple[Path, ...]
    """At least one; each exists."""
    options: Mapping[str, str]
    """A value for every option of the source."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What an importer could not use, by reason; it adds to this while it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicSource:
    """A public benchmark: what its card says, and how its files are read."""

    name: str
    title: str
    files: str
    """Which files to download, in words."""
    licence: str
    source: str
    authors: tuple[str, ...]
    description: str
    intended_use: str
    limits: str
    read: Callable[[Request], Iterator[Item]]
    """Passages and questions in any order, except that a passage comes before its labels."""
    options: Mapping[str, Option] = field(default_factory=dict)
    measures: str = "nDCG@10, R@5 (evidence recall), RecallAny@5, RecallAll@5"
    """What to report: the field's measures, and the benchmark's own where they differ."""

    def with_defaults(self, given: Mapping[str, str]) -> dict[str, str]:
        """A value for every option.

        Raises:
            UnknownNameError: there is no such option, or it has no such choice.
        """
        for name, value in given.items():
            option = self.options.get(name)
            if option is None:
                raise UnknownNameError("option", name, tuple(self.options), f"of {self.name}")
            if option.choices and value not in option.choices:
                raise UnknownNameError(name, value, option.choices, f"of {self.name}")
        return {name: option.default for name, option in self.options.items()} | dict(given)


def one_file(request: Request) -> Path:
    """The file of a source that has one.

    Raises:
        InvalidInputError: more than one was given.
    """
    if len(request.files) > 1:
        names = ", ".join(path.name for path in request.files)
        raise InvalidInputError(f"one file is needed here, not {names}; nothing was imported")
    return request.files[0]
