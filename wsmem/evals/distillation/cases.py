"""Labelled conversations for distillers: what is known, what was said, what should be kept of it.

A set is a folder with `cases.jsonl`, one case a line, and a card. Reading is strict: the first
fault ends it, with file and line, because a case that is half understood would be scored wrongly.
What a distiller did answer, and how right it was, is not known here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from wsmem.errors import DatasetError
from wsmem.evals.card import CARD_NAME, Card, checksum
from wsmem.evals.distillation.public import is_public_form, public_case
from wsmem.records import MemoryEntry, MemoryMessage, MemoryType, OperationKind, Role, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CASES_NAME = "cases.jsonl"

Language = Literal["zh", "en", "mixed"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
CaseLayer = Literal["global", "workspace"]
"""Layers a distiller may write to; a conversation's own layer is no choice of a distiller."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Needed = Text | Annotated[tuple[Text, ...], Field(min_length=2)]
"""A text that must occur, or several of which one must; compared after NFKC, without case."""

_SLOT = re.compile(r"\{\{([A-Z][A-Z0-9_]*)\}\}")


class _Strict(BaseModel):
    """A part of a case; a field nobody knows is a typo, hence an error."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
    )


class CaseMessage(_Strict):
    """One utterance of the conversation."""

    id: Text
    role: Role
    text: Text


class ExistingEntry(_Strict):
    """One memory that was held before the conversation."""

    id: Text
    scope: CaseLayer
    type: MemoryType
    title: str
    content: Text
    tags: tuple[Text, ...]
    importance: Annotated[float, Field(ge=0, le=3)]
    status: Status
    updated_at: Text
    """ISO 8601."""

    def entry(self) -> MemoryEntry:
        """The memory as the engine knows it."""
        return MemoryEntry(
            id=self.id,
            scope=self.scope,
            type=self.type,
            title=self.title,
            content=self.content,
            tags=self.tags,
            importance=self.importance,
            status=self.status,
            created_at=self.updated_at,
            updated_at=self.updated_at,
        )


class ExpectedOperation(_Strict):
    """One operation a good distiller proposes."""

    op: OperationKind
    accept: tuple[OperationKind, ...] = ()
    """Every kind that is as good as `op`, itself included; empty when only `op` is right."""
    scope: CaseLayer
    type: MemoryType | None = None
    """A fitting type, for building the ideal operation; another may be as good."""
    target_id: Text | None = None
    also_target_ids: tuple[Text, ...] = ()
    """Further entries the same statement outdates; naming one of them is right, too."""
    required: tuple[Needed, ...]
    forbidden: tuple[Text, ...] = ()
    """Texts that must not occur in this operation's content."""
    old_quote: Text | None = None
    new_quote: Text | None = None
    evidence_message_ids: tuple[Text, ...] = ()
    reference: Text
    """How a good memory would read."""

    @property
    def kinds(self) -> tuple[OperationKind, ...]:
        """Every kind that counts as right."""
        return self.accept or (self.op,)

    @property
    def targets(self) -> tuple[str, ...]:
        """Every entry that counts as the right target."""
        return (() if self.target_id is None else (self.target_id,)) + self.also_target_ids

    def ideal(self) -> dict[str, Any]:
        """The operation as a perfect distiller would write it."""
        target_scope = None if self.target_id is None else self.scope
        fields = {
            "op": self.op,
            "scope": self.scope,
            "targetId": self.target_id,
            "targetScope": target_scope,
            "oldQuote": self.old_quote,
            "newQuote": self.new_quote,
            "evidenceMessageIds": list(self.evidence_message_ids) or None,
            "type": self.type,
            "content": self.reference,
        }
        return {name: value for name, value in fields.items() if value is not None}


class ExpectedText(_Strict):
    """A memory known by what it says, because its id is given only when it is written."""

    required: Annotated[tuple[Needed, ...], Field(min_length=1)]


class Question(_Strict):
    """What is asked of the memory once the operations have been applied."""

    query: Text
    winner: Text | ExpectedText
    """Id of the existing entry that has to come first, or what the first one has to say."""
    stale: tuple[Text, ...] = ()
    """Existing entries that must not be among the first five."""


class Case(_Strict):
    """One conversation with everything a distiller may know, and what it should make of it."""

    id: Text = Field(alias="_id")
    language: Language
    split: Split
    slices: Annotated[tuple[Text, ...], Field(alias="slice", min_length=1)]
    """What the case tests, the main reason first."""
    cwd: Text | None = None
    """Directory of the workspace; without one the conversation belongs to the global scope."""
    messages: Annotated[tuple[CaseMessage, ...], Field(min_length=1)]
    existing: tuple[ExistingEntry, ...]
    expected: tuple[ExpectedOperation, ...]
    """Empty where the right answer is to keep nothing."""
    forbidden: tuple[Text, ...] = ()
    """Texts that may be in nothing that is stored: a secret, a planted instruction, a claim."""
    questions: tuple[Question, ...] = ()
    note: str = ""
    """Why this is the right answer."""

    @model_validator(mode="after")
    def _refers_to_what_exists(self) -> Self:
        entries = {entry.id: entry for entry in self.existing}
        messages = {message.id: message for message in self.messages}
        if len(entries) < len(self.existing) or len(messages) < len(self.messages):
            raise ValueError("two messages or two existing entries share an id")
        for operation in self.expected:
            _check_expected(operation, entries, messages)
        for question in self.questions:
            known = [*question.stale]
            known += [question.winner] if isinstance(question.winner, str) else []
            for entry_id in known:
                if entry_id not in entries:
                    raise ValueError(f"question {question.query!r} names unknown {entry_id!r}")
        return self

    def entries(self) -> tuple[MemoryEntry, ...]:
        """What was known before, as the engine knows it."""
        return tuple(existing.entry() for existing in self.existing)

    def conversation(self) -> tuple[MemoryMessage, ...]:
        """What was said, as the engine knows it; credentials are not redacted yet."""
        return tuple(
            MemoryMessage(id=message.id, role=message.role, text=message.text)
            for message in self.messages
        )

    def ideal_answer(self) -> dict[str, Any]:
        """What a perfect distiller would answer, decoded."""
        return {"version": 1, "operations": [operation.ideal() for operation in self.expected]}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """A set of cases, read."""

    name: str
    path: Path
    cases: tuple[Case, ...]
    """In file order."""
    checksum: str
    """SHA-256 of the file of cases."""
    card: Card | None

    def of_split(self, split: Split | None) -> tuple[Case, ...]:
        """The cases of one split; all of them when `None`."""
        return tuple(case for case in self.cases if split in (None, case.split))


def is_case_set(folder: Path) -> bool:
    """Whether a folder holds cases for a distiller."""
    return (folder / CASES_NAME).is_file()


def load_case_set(folder: Path) -> CaseSet:
    """Read a folder of cases, ours or in the public form (see `wsmem.evals.distillation.public`).

    Raises:
        DatasetError: the first fault met, with its file and line.
    """
    path = folder / CASES_NAME
    cases: dict[str, Case] = {}
    for number, row in _rows(path):
        case = _read_case(path, number, row)
        if case.id in cases:
            problem = f"id {case.id!r} is used twice"
            raise DatasetError(str(path), number, problem, "give every case its own id")
        cases[case.id] = case
    return CaseSet(
        name=folder.resolve().name,
        path=folder,
        cases=tuple(cases.values()),
        checksum=checksum(path),
        card=_read_card(folder / CARD_NAME),
    )


def _check_expected(
    operation: ExpectedOperation,
    entries: Mapping[str, ExistingEntry],
    messages: Mapping[str, CaseMessage],
) -> None:
    """Refuse an expectation no distiller could meet."""
    what = f"expected {operation.op}"
    if operation.accept and operation.op not in operation.accept:
        raise ValueError(f"{what}: accept leaves it out")
    if (operation.op == "add") != (operation.target_id is None) and not operation.accept:
        raise ValueError(f"{what}: an add has no target, everything else has one")
    for target in operation.targets:
        if target not in entries:
            raise ValueError(f"{what}: unknown target {target!r}")
    for message_id in operation.evidence_message_ids:
        if message_id not in messages:
            raise ValueError(f"{what}: unknown message {message_id!r}")
    target_id, old_quote = operation.target_id, operation.old_quote
    if old_quote is not None and (target_id is None or old_quote not in entries[target_id].content):
        raise ValueError(f"{what}: the old quote is not in the target's content")
    named = [messages[message_id] for message_id in operation.evidence_message_ids]
    if operation.new_quote is not None and not any(
        message.role == "user" and operation.new_quote in message.text for message in named
    ):
        raise ValueError(f"{what}: no user message named as evidence holds the new quote")


def _assembled(row: dict[str, Any]) -> dict[str, Any]:
    """A case with its invented credentials put together.

    They are kept in pieces, `"secrets": {"KEY": ["gh", "p_…"]}` for `{{KEY}}` in a text, so that
    scanners of repositories do not raise an alarm over a file of test data.
    """
    if "secrets" not in row:
        return row
    whole = {name: "".join(pieces) for name, pieces in row["secrets"].items()}
    filled: dict[str, Any] = _filled({k: v for k, v in row.items() if k != "secrets"}, whole)
    return filled


def _filled(value: Any, secrets: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _SLOT.sub(lambda slot: secrets.get(slot[1], slot[0]), value)
    if isinstance(value, list):
        return [_filled(item, secrets) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, secrets) for key, item in value.items()}
    return value


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """The decoded lines of a file; blank ones are passed over."""
    if not path.is_file():
        raise DatasetError(str(path), None, "there is no such file", "give a folder of cases")
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # a byte order mark is no data
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:  # UnicodeDecodeError is one
            problem = f"not JSON ({error})"
            raise DatasetError(str(path), number, problem, "mend or remove this line") from error
        if not isinstance(row, dict):
            raise DatasetError(str(path), number, "not a JSON object", "mend or remove this line")
        yield number, row


def _read_case(path: Path, number: int, row: dict[str, Any]) -> Case:
    remedy = "see wsmem.evals.distillation.cases.Case for the fields of a case"
    try:
        whole = public_case(row) if is_public_form(row) else _assembled(row)
        # Through JSON, where a list is the only sequence there is and strictness still holds.
        return Case.model_validate_json(json.dumps(whole))
    except ValidationError as error:
        raise DatasetError(str(path), number, _explain(error), remedy) from error
    except KeyError as error:
        problem = f"{error.args[0]!r} is missing or unknown in a case of the public form"
        raise DatasetError(str(path), number, problem, remedy) from error
    except (TypeError, AttributeError) as error:
        problem = f"a field of this case has the wrong shape ({error})"
        raise DatasetError(str(path), number, problem, remedy) from error


def _read_card(path: Path) -> Card | None:
    if not path.is_file():
        return None
    try:
        return Card.model_validate_json(path.read_bytes())
    except ValidationError as error:
        remedy = "see wsmem.evals.card.Card for the fields of a card"
        raise DatasetError(str(path), None, _explain(error), remedy) from error


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"field {place} is missing"
    return f"field {place}: {message[0].lower()}{message[1:]}" if place else message
