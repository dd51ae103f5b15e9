"""`wsmem checkpoint`: completed messages, handed over to be distilled."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

import json
import logging
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.output import as_json, count, say, say_json
from wsmem.cli.places import (
    AsJson,
    Cwd,
    Everywhere,
    MemoryDir,
    named,
    settings_for,
    with_engine,
    writing,
)
from wsmem.errors import InputFileError, InvalidInputError, UnknownNameError
from wsmem.records import REASONS, ROLES, CheckpointInput, MemoryMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.operations.contract import DistillOutput, DistillRequest
    from wsmem.records import CheckpointResult

STANDARD_INPUT = "-"


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("checkpoint", help="Hand over completed messages to be distilled.")(checkpoint)


def checkpoint(
    *,
    reason: Annotated[str, typer.Option(metavar="REASON", help=", ".join(REASONS))],
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='JSON lines {"id", "role", "text"}; - is standard input. '
            "Default: only what waits already.",
        ),
    ] = None,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The session they come from.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Distil now, ready or not.")] = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Buffer messages; distil them if their stage is ready, by the settings' model or by rules."""
    if reason not in REASONS:
        raise UnknownNameError("reason", reason, REASONS, "no message was taken")
    directory = writing(cwd, everywhere)
    given = read_messages(messages) if messages is not None else ()
    settings = settings_for(memory_dir)
    request = CheckpointInput(
        reason=reason,
        messages=given,
        cwd=directory,
        session_id=session,
        force=force,
    )

    async def distil(stage: "DistillRequest") -> "DistillOutput | str":
        # Found only when it is needed: messages are kept even where no distiller can be had.
        from wsmem.distill import choosing  # noqa: PLC0415 - slow to import

        return await choosing.configured_distiller(settings)(stage)

    with _without_log():
        result = with_engine(settings, lambda engine: hand_over(engine, request), distiller=distil)
    if as_object:
        say_json(as_json(result))
    if result.error:
        waiting = f"; {count(result.pending, 'message')} wait" if result.pending else ""
        raise InvalidInputError(f"checkpoint {result.status}: {result.error}{waiting}")
    if not as_object:
        say(_in_words(result, len(given), named(result.scope, directory)))


async def hand_over(
    engine: "WorkspaceMemoryEngine", request: CheckpointInput
) -> "CheckpointResult":
    """Run a stage, and those that follow when it was too large for one; their results as one."""
    result = await engine.checkpoint(request)
    while result.status == "committed" and result.pending:
        following = replace(request, messages=(), force=True)
        more = await engine.checkpoint(following)
        if more.status == "failed":
            return replace(result, status="failed", pending=more.pending, error=more.error)
        if more.status != "committed":  # somebody else works on the rest
            return replace(result, pending=more.pending)
        names = ("added", "updated", "superseded", "conflicts", "ignored")
        sums = {name: getattr(result, name) + getattr(more, name) for name in names}
        result = replace(result, pending=more.pending, **sums)
    return result


@contextmanager
def _without_log() -> "Iterator[None]":
    """Keep the engine from logging what the command is about to say itself."""
    log = logging.getLogger("wsmem.engine.running")
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before


def read_messages(source: str) -> tuple[MemoryMessage, ...]:
    """The messages of a file of JSON lines, all of them or none; blank lines are passed over.

    Raises:
        InputFileError: it cannot be read, or a line is no message; says which and why.
    """
    name = "standard input" if source == STANDARD_INPUT else source
    try:
        data = sys.stdin.buffer.read() if source == STANDARD_INPUT else Path(source).read_bytes()
    except OSError as error:
        raise InputFileError(name, None, f"cannot be read ({error.strerror})") from None
    return tuple(_messages(data, name))


def _messages(data: bytes, name: str) -> "Iterator[MemoryMessage]":
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            message, fault = _message(line)
            if message is None:
                raise InputFileError(name, number, fault)
            yield message


def _message(line: bytes) -> tuple[MemoryMessage | None, str]:
    """A message, or what is wrong with its line; the text itself is never repeated."""
    try:
        raw: Any = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return None, f"byte {error.start} of the line is not UTF-8"
    except json.JSONDecodeError as error:
        return None, f"not valid JSON ({error.msg} at column {error.colno})"
    except RecursionError:
        return None, "nested too deeply"
    if not isinstance(raw, dict):
        return None, 'expected an object {"id", "role", "text"}'
    for field in ("id", "role", "text"):
        if field not in raw:
            return None, f'"{field}" is missing'
        if not isinstance(raw[field], str):
            return None, f'"{field}" is not a text'
    if not raw["id"].strip():
        return None, '"id" is empty'
    if raw["role"] not in ROLES:
        return None, f'"role" is none of {", ".join(ROLES)}'
    return MemoryMessage(id=raw["id"], role=raw["role"], text=raw["text"]), ""


def _in_words(result: "CheckpointResult", given: int, place: str) -> str:
    taken = f"{result.accepted} of {count(given, 'message')} new, {result.pending} waiting"
    if result.status == "committed":
        changes = [
            f"{number} {name}"
            for name in ("added", "updated", "superseded", "conflicts", "ignored")
            if (number := getattr(result, name))
        ]
        return f"distilled in {place}: {', '.join(changes) or 'nothing worth keeping'} ({taken})"
    if result.accepted:
        return f"buffered in {place}, not distilled yet: {taken}"
    if result.pending:
        return f"nothing new in {place}, not distilled yet: {taken}"
    return f"nothing to do in {place}: {taken}"
