"""`wsmem remember`, `forget` and `purge`: what changes single memories."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import as_json, excerpt, note, say, say_json
from wsmem.cli.places import (
    AsJson,
    Cwd,
    Everywhere,
    MemoryDir,
    Yes,
    confirm,
    named,
    settings_for,
    with_engine,
    writing,
)
from wsmem.errors import UnknownNameError
from wsmem.records import MEMORY_TYPES

if TYPE_CHECKING:
    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.reports import RememberResult
    from wsmem.records import MemoryEntry
    from wsmem.store.purge import PurgeReport

FAILURE = 2

EntryId = Annotated[str, typer.Argument(metavar="ID", help="The whole id, as recall shows it.")]
Session = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The session whose own memories are meant, too."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("remember", help="Keep a statement.")(remember)
    app.command("forget", help="Take a memory out of every answer; its record stays.")(forget)
    app.command("purge", help="Remove a memory's text from everything that is kept.")(purge)


def remember(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to keep, in any language.")],
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    kind: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help=", ".join(MEMORY_TYPES))
    ] = None,
    title: Annotated[str | None, typer.Option(help="Default: the beginning of the text.")] = None,
    description: Annotated[str | None, typer.Option(help="Default: as the title.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeatable.")] = None,
    term: Annotated[
        list[str] | None,
        typer.Option(help="A word questions may use that the text does not; repeatable."),
    ] = None,
    importance: Annotated[int | None, typer.Option(min=0, max=3, help="0 to 3.")] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Keep it for the conversation of this session only."),
    ] = None,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Keep a statement, or say which memory states it already."""
    from wsmem.engine.reports import RememberInput  # noqa: PLC0415 - slow to import

    if kind is not None and kind not in MEMORY_TYPES:
        raise UnknownNameError("type of memory", kind, MEMORY_TYPES, "nothing was remembered")
    request = RememberInput(
        content=text,
        cwd=writing(cwd, everywhere),
        session_id=session,
        layer="session" if session else "workspace",
        type=kind,
        title=title,
        description=description,
        tags=tag or (),
        retrieval_terms=term or (),
        importance=importance,
    )
    result = with_engine(settings_for(memory_dir), lambda engine: engine.remember(request))
    if as_object:
        say_json(as_json(result))
    else:
        say(_remembered(result, _place(result.scope, request.cwd or "")))


def forget(
    entry_id: EntryId,
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    session: Session = None,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Forget one memory that a recall from the same place shows."""
    directory = writing(cwd, everywhere)

    result = with_engine(
        settings_for(memory_dir),
        lambda engine: engine.forget(entry_id, cwd=directory, session_id=session),
    )
    if as_object:
        say_json({**as_json(result), "forgotten": True})
    else:
        say(f"forgot {result.entry_id} in {_place(result.scope, directory)}")


def purge(
    entry_id: EntryId,
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    session: Session = None,
    yes: Yes = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Purge one memory, forgotten or not, after asking."""
    directory = writing(cwd, everywhere)
    settings = settings_for(memory_dir)
    if not yes:
        entry = with_engine(settings, lambda engine: _find(engine, entry_id, directory, session))
        if entry is not None:  # otherwise the purge below says what is wrong with the id
            note(f"{entry.id}  [{entry.status}]  {excerpt(entry.content, 200)}")
            confirm("Remove its text for good, from files and history alike?", yes=False)
    report = with_engine(
        settings, lambda engine: engine.purge(entry_id, cwd=directory, session_id=session)
    )
    if as_object:
        say_json(as_json(report))
    else:
        say(f"purged {report.entry_id}", *_purged(report))
    if report.left:
        note(f"wsmem: could not be removed, remove by hand: {', '.join(report.left)}")
        raise typer.Exit(FAILURE)


def _remembered(result: "RememberResult", place: str) -> str:
    if result.added:
        return f"remembered {result.entry_id} in {place}"
    if result.updated:
        return f"updated {result.entry_id} in {place}: {result.reason}"
    return f"nothing was changed: {result.entry_id} in {place} says it already"


def _place(key: str, directory: str) -> str:
    """Where an entry was; not in the workspace that was named when its key is another layer's."""
    return named(key, directory if key.startswith("ws-") else "")


def _purged(report: "PurgeReport") -> list[str]:
    """What a purge did, line by line."""
    lines = [f"  rewritten: {path}" for path in report.rewritten]
    lines += [f"  lost a link to it or a revision: {entry_id}" for entry_id in report.unlinked]
    for key, entry_id in report.also_in:
        lines.append(f"  says it, too, and was not touched: {entry_id} in {key}")
    return lines


async def _find(
    engine: "WorkspaceMemoryEngine", entry_id: str, cwd: str, session: str | None
) -> "MemoryEntry | None":
    """The entry a purge would remove, if it can be looked at."""
    from wsmem.scopes import session_scope  # noqa: PLC0415 - rarely needed

    views = [await engine.show(cwd=cwd), await engine.show(cwd="")]
    if session:
        views.append(await engine.show(key=session_scope(session).key))
    return next((e for view in views for e in view.entries if e.id == entry_id), None)
