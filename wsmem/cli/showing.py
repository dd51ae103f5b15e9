"""`wsmem scopes`, `show` and `status`: look at memory without changing it."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.output import as_json, count, say, say_json
from wsmem.cli.places import (
    AsJson,
    Cwd,
    Everywhere,
    Key,
    MemoryDir,
    named,
    reading,
    settings_for,
    with_engine,
)
from wsmem.errors import InvalidInputError
from wsmem.records import STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.reports import ScopeStatus, ScopeView
    from wsmem.records import MemoryEntry
    from wsmem.store.listing import ScopeListing

Archived = Annotated[bool, typer.Option("--archived", help="What was moved to the archive.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("scopes", help="List the workspaces that have memory.")(scopes)
    app.command("show", help="Show the summary and all entries of a scope.")(show)
    app.command("status", help="Show what waits, what was done last, what went wrong.")(status)


def scopes(
    *, archived: Archived = False, memory_dir: MemoryDir = None, as_object: AsJson = False
) -> None:
    """List scopes: the global one first, then workspaces by directory."""
    settings = settings_for(memory_dir)
    listings = with_engine(settings, lambda engine: engine.scopes(archived=archived))
    if as_object:
        say_json({"scopes": [_listing_json(listing) for listing in listings]})
    elif not listings:
        say("nothing is archived")
    else:
        say(*_table(listings))


def show(
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    key: Key = None,
    archived: Archived = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Show one scope, credentials redacted; of the archive also by its key."""
    if key is not None and (cwd or everywhere):
        raise InvalidInputError("--key names the scope already; leave out --cwd and --global")
    directory = reading(cwd, everywhere)
    view = with_engine(
        settings_for(memory_dir), lambda engine: _view(engine, directory, key, archived=archived)
    )
    if as_object:
        say_json(_view_json(view))
    else:
        say(*_view_lines(view))


def status(
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Show how one scope stands."""
    directory = reading(cwd, everywhere)
    found = with_engine(settings_for(memory_dir), lambda engine: engine.status(cwd=directory))
    if as_object:
        say_json({**as_json(found), "entries": _by_status(found.entries)})
    else:
        say(*_status_lines(found))


async def _view(
    engine: "WorkspaceMemoryEngine", cwd: str, key: str | None, *, archived: bool
) -> "ScopeView":
    """What a scope holds; a workspace without memory is an empty one, a key without is an error."""
    from wsmem.store.layout import ScopeRef  # noqa: PLC0415 - slow to import

    view = await engine.show(cwd=cwd, key=key, archived=archived)
    if archived and not engine.store.read_archived(view.scope).exists:
        problem = f"{key or cwd} is not in the archive; wsmem scopes --archived lists what is"
        raise InvalidInputError(problem)
    if key is not None and not archived and not engine.store.read_scope(ScopeRef(key)).exists:
        raise InvalidInputError(f"no scope has the key {key}; wsmem scopes lists those there are")
    return view


def _table(listings: "tuple[ScopeListing, ...]") -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("key", "entries", "waiting", "stages", "last change", "directory")
    ]
    for listing in listings:
        name = listing.cwd or {"global": "(global)"}.get(listing.kind, "(session)")
        counters = (listing.entry_count, listing.pending, listing.checkpoint_count)
        updated = (listing.updated_at or "-")[:19]
        broken = f"  [{count(len(listing.problems), 'problem')}]" if listing.problems else ""
        rows.append((listing.key, *map(str, counters), updated, name + broken))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[-1] = 0  # directories stand last, so that no width of theirs has to be known
    right = {1, 2, 3}
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _listing_json(listing: "ScopeListing") -> dict[str, Any]:
    return {**as_json(listing), "problems": list(map(str, listing.problems))}


def _view_lines(view: "ScopeView") -> list[str]:
    counts = _by_status(Counter(entry.status for entry in view.entries))
    shares = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    where = ", in the archive" if view.archived else ""
    lines = [f"{named(view.scope, view.cwd)}{where}", ""]
    if view.summary.strip():
        lines += [*view.summary.rstrip().splitlines(), ""]
    lines.append(f"{count(len(view.entries), 'entry', 'entries')}{': ' * bool(shares)}{shares}")
    for entry in view.entries:
        lines += _entry_lines(entry)
    lines += [f"could not be read: {problem}" for problem in view.problems]
    return lines


def _entry_lines(entry: "MemoryEntry") -> list[str]:
    """An entry for a reader: one line, more where its content has more."""
    title = "" if entry.content.startswith(entry.title) else f"{entry.title}: "
    first, *others = f"{title}{entry.content}".splitlines() or [""]
    group = f"/{entry.conflict_group_id}" if entry.conflict_group_id else ""
    tags = f"  [{', '.join(entry.tags)}]" if entry.tags else ""
    head = f"{entry.id}  {entry.status}{group}  {entry.type}  {(entry.updated_at or '-')[:10]}"
    lines = [f"{head}  {first}", *(f"    {line}" for line in others)]
    lines[-1] += tags
    if entry.superseded_by:
        lines.append(f"    replaced by {', '.join(entry.superseded_by)}")
    return lines


def _view_json(view: "ScopeView") -> dict[str, Any]:
    from wsmem.redaction.redact import redact_value  # noqa: PLC0415 - slow to import
    from wsmem.store.codec import entry_to_stored  # noqa: PLC0415

    entries = [redact_value(entry_to_stored(entry)) for entry in view.entries]
    return {**as_json(view), "entries": entries}


def _status_lines(found: "ScopeStatus") -> list[str]:
    counts = _by_status(found.entries)
    waiting = count(found.pending, "message")
    if found.pending:
        claimed = f", {found.claimed} being distilled" if found.claimed else ""
        waiting += f" ({found.pending_chars} characters{claimed})"
    rows = [
        ("scope", named(found.scope, found.cwd) + ", in the archive" * found.archived),
        ("entries", ", ".join(f"{number} {name}" for name, number in counts.items())),
        ("waiting", waiting),
        ("last buffered", _moment(found.last_buffered_at)),
        ("stages", str(found.checkpoint_count)),
        ("last stage", _moment(found.last_checkpoint_at)),
    ]
    if found.next_stage_at is not None:
        rows.append(("next stage", f"{_moment(found.next_stage_at)} at the latest"))
    rows.append(("last error", found.last_error or "none"))
    if found.last_error:
        failures = f"{count(found.failures, 'stage')} failed in a row"
        rows.append(("", f"{_moment(found.last_error_at)}, {failures}"))
        rows.append(("next try", _moment(found.retry_at)))
    rows += [("not readable", problem) for problem in found.problems]
    return [f"{name:14}{text}" for name, text in rows]


def _by_status(counts: "Mapping[str, int]") -> dict[str, int]:
    """Counters of every status in the usual order, zeros and all."""
    return {name: counts.get(name, 0) for name in STATUSES} | {
        name: number for name, number in counts.items() if name not in STATUSES
    }


def _moment(at_ms: int | None) -> str:
    return (
        "never" if at_ms is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1000))
    )
