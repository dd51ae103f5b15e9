"""What users have said to a store's agents: candidate queries for a labelled set. Reads only."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wsmem.engine.query_log import LOG_NAME
from wsmem.errors import InputFileError
from wsmem.evals.near_duplicates import normalised
from wsmem.redaction.redact import redact
from wsmem.store.layout import CHECKPOINTS
from wsmem.store.wording import CHINESE, ENGLISH
from wsmem.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.store.snapshot import ScopeSnapshot
    from wsmem.store.store import MemoryStore

Origin = Literal["pending", "checkpoint", "log", "typed"]

ANY_SCOPE = ""
"""Of a query that was given without a scope: the only workspace there is."""
LONGEST = 600
"""Characters; a longer message is a document, not a question."""
STATED = 0.6
"""Share of an entry's words in a message from which on the message is what the entry came from."""

_MESSAGE = re.compile(r"- \*\*(user|assistant)\*\*: (.*)", re.DOTALL)
_AFTER = frozenset({ENGLISH.facts, CHINESE.facts, "Durable facts", "持久事实", "长期事实"})
"""Headings of the section behind the messages, ours and the plugin's."""
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)\.\d+Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that was said, and could be asked of the memory."""

    text: str
    """Secrets redacted."""
    scope: str
    """Key of the scope it was said in."""
    origin: Origin
    date: str | None = None
    """When, ISO 8601, where that is known."""


def candidates(store: MemoryStore, snapshot: ScopeSnapshot) -> Iterator[Candidate]:
    """The user's messages of one scope: those that wait, those of each checkpoint, the log's."""
    for message in snapshot.state.pending_messages:
        if message.role == "user":
            yield _candidate(message.text, snapshot.key, "pending")
    folder = Path(store.layout.scope(snapshot.key)) / CHECKPOINTS
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        stamp = _STAMP.match(path.name)
        date = f"{stamp[1]}T{stamp[2]}:{stamp[3]}:{stamp[4]}Z" if stamp else None
        for text in user_messages(path.read_text(encoding="utf-8", errors="replace")):
            yield _candidate(text, snapshot.key, "checkpoint", date)
    log = Path(store.layout.internal) / LOG_NAME
    if log.is_file():
        yield from (found for found in logged(log) if found.scope == snapshot.key)


def user_messages(markdown: str) -> list[str]:
    """What the user said, from the text of a checkpoint file; a message may hold several lines."""
    messages: list[tuple[str, list[str]]] = []
    inside = False
    for line in markdown.splitlines():
        heading = line.removeprefix("## ").strip() if line.startswith("## ") else None
        if heading is not None and not inside:
            inside = True  # the messages are the first section
        elif heading in _AFTER:
            break
        elif inside and (form := _MESSAGE.fullmatch(line)):
            messages.append((form[1], [form[2]]))
        elif messages:
            messages[-1][1].append(line)
    return ["\n".join(lines).strip() for role, lines in messages if role == "user"]


def logged(path: Path) -> Iterator[Candidate]:
    """Queries of a log.

    Raises:
        InputFileError: a line is not an object with a text `query` and a text `scope`.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            query, scope, at = _row(path, number, line)
            yield _candidate(query, scope, "log", at)


def _row(
    path: Path, number: int, line: str, *, scope: str | None = None
) -> tuple[str, str, str | None]:
    """Query, scope and time of a line; a scope that is absent is the one given."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputFileError(str(path), number, f"not JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputFileError(str(path), number, "an object is needed")
    query, where, at = row.get("query"), row.get("scope", scope), row.get("at")
    if not isinstance(query, str) or not isinstance(where, str):
        raise InputFileError(str(path), number, "'query' and 'scope' are needed, both texts")
    return query, where, at if isinstance(at, str) else None


def typed(lines: Iterable[str], scope: str = ANY_SCOPE) -> Iterator[Candidate]:
    """Queries written for the purpose, one a line."""
    for line in lines:
        if line.strip():
            yield _candidate(line, scope, "typed")


def query_file(path: Path) -> list[Candidate]:
    """Queries of a file: plain lines, or in `.jsonl` lines with `query` and perhaps `scope`.

    Raises:
        InputFileError: it cannot be read, or a line is not of that form.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputFileError(str(path), None, f"cannot be read ({error})") from error
    if path.suffix != ".jsonl":
        return list(typed(lines))
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            query, scope, _ = _row(path, number, line, scope=ANY_SCOPE)
            found.append(_candidate(query, scope, "typed"))
    return found


def choose(
    found: Iterable[Candidate], entries: Sequence[MemoryEntry]
) -> tuple[list[Candidate], dict[str, int]]:
    """Candidates worth asking, and how many were passed over, by reason.

    What was typed or logged is kept as it is. A message that states what an entry says is no
    question: every system would find the entry that came of it.
    """
    kept: dict[tuple[str, str], Candidate] = {}
    passed: dict[str, int] = {}
    known = [frozenset(terms(entry.content)) for entry in entries]

    def pass_over(why: str) -> None:
        passed[why] = passed.get(why, 0) + 1

    for candidate in found:
        key = candidate.scope, normalised(candidate.text)
        if not key[1]:
            pass_over("without words")
        elif key in kept:
            pass_over("said before")
        elif candidate.origin in {"typed", "log"}:
            kept[key] = candidate
        elif len(candidate.text) > LONGEST:
            pass_over(f"longer than {LONGEST} characters")
        elif _states(candidate.text, known):
            pass_over("what an entry came from")
        else:
            kept[key] = candidate
    return list(kept.values()), passed


def _states(text: str, entries: Sequence[frozenset[str]]) -> bool:
    said = frozenset(terms(text))
    return any(words and len(words & said) >= STATED * len(words) for words in entries)


def _candidate(text: str, scope: str, origin: Origin, date: str | None = None) -> Candidate:
    return Candidate(text=redact(text.strip()), scope=scope, origin=origin, date=date)
