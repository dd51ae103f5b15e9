"""`wsmem archive`, `restore` and `purge-archived`: whole workspaces, out of recall and back."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

from typing import TYPE_CHECKING

import typer

from wsmem.cli.output import count, note, say, say_json
from wsmem.cli.places import (
    AsJson,
    Cwd,
    Key,
    MemoryDir,
    Yes,
    confirm,
    named,
    settings_for,
    with_engine,
    workspace,
)
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.reports import ScopeView
    from wsmem.store.archive import MoveOutcome


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("archive", help="Move a workspace's memory out of recall.")(archive)
    app.command("restore", help="Move a workspace's memory back from the archive.")(restore)
    app.command("purge-archived", help="Remove an archived workspace's memory for good.")(
        purge_archived
    )


def archive(
    *,
    cwd: Cwd = None,
    key: Key = None,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Archive a workspace that is in use."""
    wanted = workspace(cwd, key)

    async def call(engine: "WorkspaceMemoryEngine") -> "tuple[MoveOutcome, ScopeView, bool]":
        before = await engine.show(**wanted, archived=False)
        outcome = await engine.archive(**wanted)
        return outcome, before, engine.store.read_archived(before.scope).exists

    outcome, view, archived = with_engine(settings_for(memory_dir), call)
    name = named(view.scope, view.cwd)
    if outcome == "occupied":
        raise InvalidInputError(
            f"the archive has memory of {name} already; nothing was moved. Purge that first"
        )
    if outcome == "absent":
        state = "is in the archive already" if archived else "has no memory"
        raise InvalidInputError(f"{name} {state}; nothing was moved")
    _report(f"archived {name}", view, as_object, archived=True)


def restore(
    *,
    cwd: Cwd = None,
    key: Key = None,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Restore a workspace from the archive."""
    wanted = workspace(cwd, key)

    async def call(engine: "WorkspaceMemoryEngine") -> "tuple[MoveOutcome, ScopeView]":
        before = await engine.show(**wanted, archived=True)
        return await engine.restore(**wanted), before

    outcome, view = with_engine(settings_for(memory_dir), call)
    name = named(view.scope, view.cwd)
    if outcome == "occupied":
        raise InvalidInputError(
            f"{name} has new memory in use; nothing was moved. Archiving is not possible either "
            "while an older one is in the archive: export and purge one of the two"
        )
    if outcome == "absent":
        raise InvalidInputError(f"{name} is not in the archive; nothing was moved")
    _report(f"restored {name}", view, as_object, archived=False)


def purge_archived(
    *,
    cwd: Cwd = None,
    key: Key = None,
    yes: Yes = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Purge an archived workspace with its checkpoints and history, after asking."""
    wanted = workspace(cwd, key)
    settings = settings_for(memory_dir)

    async def look(engine: "WorkspaceMemoryEngine") -> "tuple[ScopeView, bool]":
        view = await engine.show(**wanted, archived=True)
        return view, engine.store.read_archived(view.scope).exists

    view, exists = with_engine(settings, look)
    name = named(view.scope, view.cwd)
    if not yes and exists:
        note(f"{name}: {count(len(view.entries), 'entry', 'entries')} in the archive")
        confirm("Remove it for good, with its checkpoints and history?", yes=yes)
    if not with_engine(settings, lambda engine: engine.purge_archived(**wanted)):
        raise InvalidInputError(f"{name} is not in the archive; nothing was removed")
    if as_object:
        say_json({"scope": view.scope, "cwd": view.cwd, "purged": True})
    else:
        say(f"purged {name} from the archive")


def _report(text: str, view: "ScopeView", as_object: bool, *, archived: bool) -> None:
    if as_object:
        say_json({"scope": view.scope, "cwd": view.cwd, "archived": archived})
    else:
        say(f"{text}: {count(len(view.entries), 'entry', 'entries')}")
