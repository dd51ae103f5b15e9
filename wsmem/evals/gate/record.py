"""What ranking gave for each query at one time: as a value, and as the file that is committed.

The file has a line a query, so that a change of a few queries is a small change of the file, and a
checksum over everything in it, so that it is made by the gate alone and never by hand.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wsmem.errors import WsmemError
from wsmem.evals.manifest import version
from wsmem.evals.run_folder import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.contestants import Scores

FORMAT = 2
"""Of the file; a newer one is not read, because its figures might be misunderstood."""

BY_HAND = "was changed by something other than the gate"
"""What is said of a file whose checksum is not that of what it holds."""

_DIGITS = 6


class BaselineError(WsmemError, ValueError):
    """A baseline cannot be compared with; nothing was judged and nothing was written."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(path, problem, remedy)  # args rebuild the error when unpickled
        self.path, self.problem, self.remedy = path, problem, remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


class NewerBaselineError(BaselineError):
    """A newer wsmem wrote it; it is neither read nor written over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One system's answer to one query."""

    values: tuple[float | None, ...]
    """In the order of the record's measures; `None` where a measure is not about the query."""
    first: str | None
    """The entry that came first; `None` where nothing was recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRecord:
    """All systems on one labelled set."""

    splits: tuple[str, ...]
    """Whose queries were asked: nothing is chosen by a gate, so those of every split may be."""
    checksums: Mapping[str, str]
    terms: str
    """Names the terms of all its texts: it differs where any of them gives others."""
    answers: Mapping[str, Mapping[str, Answer]]
    """By query, in the set's order, and system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRecord:
    """All systems on all sets."""

    measures: tuple[str, ...]
    margins: Mapping[str, float]
    """By measure: a loss up to this, however sure, is allowed."""
    profiles: Mapping[str, Mapping[str, Any]]
    """Of each system the weight profile that ranked, provenance left out."""
    analysis: str
    """Names the terms of a sample in more scripts than the sets have."""
    sets: Mapping[str, SetRecord]

    @property
    def systems(self) -> tuple[str, ...]:
        """In the order of the board."""
        return tuple(self.profiles)

    @property
    def scored(self) -> int:
        """How many figures it holds."""
        return sum(
            value is not None
            for found in self.sets.values()
            for answers in found.answers.values()
            for answer in answers.values()
            for value in answer.values
        )

    def only(self, system: str, *, called: str | None = None) -> RankingRecord:
        """One system of these, under another name if one is given."""
        name = called or system
        return replace(
            self,
            profiles={name: self.profiles[system]},
            sets={
                each: replace(
                    found, answers={query: {name: a[system]} for query, a in found.answers.items()}
                )
                for each, found in self.sets.items()
            },
        )

    def scores(self, system: str) -> dict[str, dict[str, Scores]]:
        """One system's values by set, query and measure."""
        return {
            name: {
                query: dict(zip(self.measures, answers[system].values, strict=True))
                for query, answers in found.answers.items()
            }
            for name, found in self.sets.items()
        }


def rounded(value: float | None) -> float | None:
    """A value as it is stored, so that a fresh one can be compared with it exactly."""
    return None if value is None else round(value, _DIGITS)


def write_record(record: RankingRecord, path: Path) -> None:
    """Write the file anew.

    Raises:
        BaselineError: it cannot be written; an earlier one is left as it was.
    """
    stored = _stored(record)
    head = {key: value for key, value in stored.items() if key != "sets"}
    lines = [f"{strict_json(key)}: {strict_json(value)}" for key, value in head.items()]
    lines.append(f'"checksum": "{checksum(stored)}"')
    sets = ",\n".join(_set_text(name, found) for name, found in stored["sets"].items())
    write_file(path, "{" + ",\n".join(lines) + f',\n"sets": {{\n{sets}\n}}}}\n')


def read_record(path: Path) -> RankingRecord:
    """Read a baseline.

    Raises:
        BaselineError: there is none, it is damaged or was changed by hand, or a newer wsmem
            wrote it.
    """
    raw = read_file(path, FORMAT)
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        raise damaged(
            path, f"does not hold what a baseline holds at {where or 'its root'}"
        ) from None
    if raw.pop("checksum") != checksum(raw):
        raise damaged(path, BY_HAND)
    rows = [row for each in file.sets.values() for row in each.queries]
    if not all(_is_row(row, len(file.profiles), len(file.measures)) for row in rows):
        raise damaged(path, "has answers of other systems or measures than it names")
    return RankingRecord(
        measures=file.measures,
        margins=file.margins,
        profiles=file.profiles,
        analysis=file.analysis,
        sets={name: _set_record(found, tuple(file.profiles)) for name, found in file.sets.items()},
    )


def damaged(path: Path, problem: str) -> BaselineError:
    """The error of a file that is there and cannot be used."""
    remedy = (
        "restore it from the repository, or make it anew with wsmem gate --update --accept-lower"
    )
    return BaselineError(str(path), problem, remedy)


def read_file(path: Path, supported: int) -> dict[str, Any]:
    """The JSON object of a baseline that is not of a newer format.

    Raises:
        BaselineError: there is none, it is damaged, or a newer wsmem wrote it.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        remedy = "name another file, or make it with wsmem gate --update"
        raise BaselineError(str(path), "there is no such baseline", remedy) from None
    except (OSError, ValueError) as error:
        raise damaged(path, f"cannot be read ({error})") from None
    if not isinstance(raw, dict) or type(raw.get("format")) is not int:
        raise damaged(path, "is no baseline")
    if raw["format"] > supported:
        problem = f"is a baseline of format {raw['format']}, and this wsmem reads {supported}"
        raise NewerBaselineError(str(path), problem, "upgrade wsmem")
    if raw["format"] < supported:
        raise damaged(path, f"is of the older format {raw['format']}")
    return raw


def write_file(path: Path, text: str) -> None:
    """Put a baseline in place, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise BaselineError(str(path), problem, "name another file") from error


class _Set(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    splits: list[str]
    checksums: dict[str, str]
    terms: str
    queries: Annotated[list[Annotated[list[Any], Field(min_length=2)]], Field(min_length=1)]


class _File(BaseModel):
    """The file; an unknown field is an error, because it might change what the others mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    made: dict[str, str]
    measures: Annotated[tuple[str, ...], Field(min_length=1)]
    margins: dict[str, Annotated[float, Field(ge=0)]]
    profiles: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    analysis: str
    checksum: str
    sets: Annotated[dict[str, _Set], Field(min_length=1)]


def _stored(record: RankingRecord) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "made": {"by": "wsmem gate --update", "wsmem": version()},
        "measures": list(record.measures),
        "margins": dict(record.margins),
        "profiles": {name: dict(profile) for name, profile in record.profiles.items()},
        "analysis": record.analysis,
        "sets": {
            name: {
                "splits": list(found.splits),
                "checksums": dict(found.checksums),
                "terms": found.terms,
                "queries": [
                    [query, *(_row(answers[system]) for system in record.systems)]
                    for query, answers in found.answers.items()
                ],
            }
            for name, found in record.sets.items()
        },
    }


def _row(answer: Answer) -> list[float | str | None]:
    return [*answer.values, answer.first]


def _set_text(name: str, found: Mapping[str, Any]) -> str:
    said = ", ".join(
        f"{strict_json(key)}: {strict_json(found[key])}" for key in ("splits", "checksums", "terms")
    )
    rows = ",\n".join(strict_json(row) for row in found["queries"])
    return f'{strict_json(name)}: {{{said}, "queries": [\n{rows}\n]}}'


def checksum(stored: Mapping[str, Any]) -> str:
    """Over everything that a baseline holds beside it, whatever the order of the fields."""
    text = json.dumps(stored, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _is_row(row: Sequence[Any], systems: int, measures: int) -> bool:
    """Whether it is a query's id, then for each system its values and what came first."""
    return (
        isinstance(row[0], str)
        and len(row) - 1 == systems
        and all(
            isinstance(answer, list)
            and len(answer) - 1 == measures
            and all(value is None or _is_number(value) for value in answer[:-1])
            and (answer[-1] is None or isinstance(answer[-1], str))
            for answer in row[1:]
        )
    )


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)


def _set_record(found: _Set, systems: tuple[str, ...]) -> SetRecord:
    return SetRecord(
        splits=tuple(found.splits),
        checksums=found.checksums,
        terms=found.terms,
        answers={
            query: {
                system: Answer(values=tuple(answer[:-1]), first=answer[-1])
                for system, answer in zip(systems, answers, strict=True)
            }
            for query, *answers in found.queries
        },
    )
