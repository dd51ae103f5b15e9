"""`wsmem distill prompts` and `wsmem distill run`; the group that other commands join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli import distill_evaluation, places, recording
from wsmem.cli.checkpointing import read_messages
from wsmem.cli.output import count, note, say, say_json
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.prompting import Prompt
    from wsmem.operations.contract import DistillOutput, DistillRequest
    from wsmem.records import MemoryEntry, MemoryMessage

group = typer.Typer(help="Turn conversation into memory: prompts, models, recordings.")
"""The commands `wsmem distill …`; other modules may add theirs before `register`."""

RULES = "rules"
"""Names the built-in distiller, where a model could stand."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(group, name="distill", no_args_is_help=True)


@group.command("prompts", help="List the prompts with their changes, or show one in full.")
def prompts(
    name: Annotated[str | None, typer.Argument(metavar="[PROMPT]", help="Show this one.")] = None,
    *,
    language: Annotated[str, typer.Option(metavar="zh|en", help="Language to show.")] = "en",
    as_object: places.AsJson = False,
) -> None:
    """Show what there is to choose from."""
    from wsmem.distill.prompting import load_prompt, prompt_ids  # noqa: PLC0415

    shown = [load_prompt(name)] if name else [load_prompt(each) for each in prompt_ids()]
    if as_object:
        say_json({"prompts": [_prompt_object(prompt) for prompt in shown]})
        return
    for prompt in shown:
        say(f"{prompt.id}  {prompt.description.get(language, '')}")
        say(*(f"    {change.date}  {change.id}: {change.changes}" for change in prompt.changelog))
    if name:
        variant = shown[0].variant(language)
        say("", "--- system", variant.system, "", "--- user", variant.user)


@group.command("run", help="Distil one conversation and print the operations; nothing is stored.")
def run(
    *,
    messages: Annotated[
        str,
        typer.Option(metavar="FILE", help='Lines of {"id", "role", "text"}; - is standard input.'),
    ],
    existing: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What is known already: a memory_entries.json."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model to ask; rules for the built-in rules. "
                     "Default: the settings'."),
    ] = None,
    prompt: recording.PromptName = recording.DEFAULT,
    base_url: recording.BaseUrl = None,
    language: recording.PromptLanguage = None,
    everywhere: Annotated[
        bool, typer.Option("--global", help="As a conversation outside any workspace.")
    ] = False,
    as_object: places.AsJson = False,
) -> None:  # fmt: skip
    """Ask one distiller about one conversation."""
    import asyncio  # noqa: PLC0415  only a command that runs needs it

    request = _request(
        read_messages(messages),
        _entries(existing) if existing else (),
        language=language or "zh",
        everywhere=everywhere,
    )
    output = asyncio.run(_distil(request, model, prompt, base_url))
    _print_answer(output, as_object=as_object)


async def _distil(
    request: DistillRequest, model: str | None, prompt: str, base_url: str | None
) -> DistillOutput:
    from wsmem.distill.choosing import configured_distiller  # noqa: PLC0415
    from wsmem.operations.contract import DistillOutput  # noqa: PLC0415
    from wsmem.settings import load_settings  # noqa: PLC0415

    settings = recording.with_model(load_settings(), model, base_url, none=RULES)
    answer = await configured_distiller(settings, prompt=prompt)(request)
    return answer if isinstance(answer, DistillOutput) else DistillOutput(answer=answer)


def _request(
    messages: Sequence[MemoryMessage],
    entries: Sequence[MemoryEntry],
    *,
    language: str,
    everywhere: bool,
) -> DistillRequest:
    """A stage as the engine would hand it over."""
    from dataclasses import replace  # noqa: PLC0415
    from time import time  # noqa: PLC0415

    from wsmem.operations.candidates import select_candidates  # noqa: PLC0415
    from wsmem.operations.contract import DistillRequest  # noqa: PLC0415
    from wsmem.redaction.redact import redact  # noqa: PLC0415
    from wsmem.text.framing import without_frames  # noqa: PLC0415

    now = int(time() * 1000)
    clean = [
        replace(message, text=redact(without_frames(message.text)))
        for message in messages
        if message.text.strip()
    ]
    return DistillRequest(
        scope="global" if everywhere else "workspace",
        cwd="",
        reason="explicit",
        messages=tuple(clean),
        existing=tuple(select_candidates(entries, clean, now=now)),
        language=language,
        now=now,
    )


def _entries(path: str) -> Sequence[MemoryEntry]:
    """The entries of a `memory_entries.json`, read only.

    Raises:
        InvalidInputError: it cannot be read.
    """
    import json  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from wsmem.records import MemoryEntry  # noqa: PLC0415

    try:
        document: Any = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        rows = document["entries"] if isinstance(document, dict) else document
        return [MemoryEntry.from_stored(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"{path}: no list of memory entries ({error.__class__.__name__}); "
            "give a memory_entries.json"
        ) from None


def _print_answer(output: DistillOutput, *, as_object: bool) -> None:
    from wsmem.operations.parsing import find_document, parse_output  # noqa: PLC0415

    proposals = parse_output(output.answer)
    if as_object:
        answer = output.answer
        document = find_document(answer) if isinstance(answer, str) else answer
        say_json({"answer": document, "details": dict(output.details)})
        return
    for proposal in proposals:
        operation = proposal.operation
        target = f" {operation.target_id}" if operation.target_id else ""
        where = operation.target_scope or operation.scope or "-"
        say(f"{operation.op}{target}  [{where}, {operation.type or '-'}]  {operation.content}")
        if operation.op == "supersede":
            say(f"    was: {operation.old_quote}", f"    now: {operation.new_quote}")
        if proposal.fault:
            say(f"    unusable: {proposal.fault}")
    if not proposals:
        say("nothing to keep")
    note(_in_short(output))


def _in_short(output: DistillOutput) -> str:
    details = output.details
    parts = [str(details[name]) for name in ("prompt", "model") if details.get(name)]
    if details.get("input_tokens") is not None:
        parts.append(f"{details['input_tokens']} + {count(details['output_tokens'] or 0, 'token')}")
    if details.get("cost") is not None:
        parts.append(f"{details['cost']:.6f} {details['currency']}")
    if details.get("latency_ms"):
        parts.append(f"{details['latency_ms'] / 1000:.1f} s")
    return ", ".join(parts)


def _prompt_object(prompt: Prompt) -> dict[str, Any]:
    return {
        "id": prompt.id,
        "description": dict(prompt.description),
        "languages": list(prompt.variants),
        "parameters": dict(prompt.parameters),
        "changelog": [
            {"id": change.id, "date": change.date, "changes": change.changes}
            for change in prompt.changelog
        ],
    }


group.command("record", help="Ask a model about every case of a set and keep its answers.")(
    recording.record
)
group.command("batch-export", help="Write what is not recorded yet as an OpenAI Batch file.")(
    recording.batch_export
)
group.command("batch-import", help="Take the answers of a Batch output file onto a cassette.")(
    recording.batch_import
)
distill_evaluation.attach(group)
