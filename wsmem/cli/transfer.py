"""`wsmem export` and `wsmem import`: memory as one JSON document, out of a store and into one."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.output import as_json, count, note, say, say_json
from wsmem.cli.places import (
    AsJson,
    Cwd,
    Everywhere,
    MemoryDir,
    named,
    reading,
    settings_for,
    writing,
)
from wsmem.errors import InputFileError, InvalidInputError, StoreWriteError

if TYPE_CHECKING:
    from wsmem.engine.transfer import Export, ScopeImport, Transfer

STANDARD_STREAM = "-"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("export", help="Write memory as one JSON document, credentials redacted.")(export)
    app.command("import", help="Add what is new in an exported document.")(import_)


def export(
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    everything: Annotated[
        bool, typer.Option("--all", help="The global memory and every workspace in use.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where to write it. Default: print it.")
    ] = None,
    memory_dir: MemoryDir = None,
) -> None:
    """Export one scope, or all that are in use; always UTF-8, for the owner alone."""
    from wsmem.store.jsontext import json_bytes  # noqa: PLC0415 - slow to import

    if everything and (cwd or everywhere):
        raise InvalidInputError("--all is every scope; leave out --cwd and --global")
    transfer = _transfer(memory_dir)
    found = transfer.export_all() if everything else transfer.export(cwd=reading(cwd, everywhere))
    data = json_bytes(found.document)
    if out is None or out == STANDARD_STREAM:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        _write_whole(Path(out), data)
    _note_export(found, out)


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What export wrote; - is standard input.")
    ],
    *,
    cwd: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Import a file of one workspace into this one instead of its own."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be imported.")
    ] = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Import entries with new ids as they are; change and lose nothing that is there."""
    from wsmem.engine.transfer import read_document  # noqa: PLC0415 - slow to import

    target = None if cwd is None else writing(cwd, everywhere=False)
    scopes = read_document(_read(file), source=file)
    done = _transfer(memory_dir).import_scopes(scopes, cwd=target, dry_run=dry_run)
    if as_object:
        say_json({"dryRun": dry_run, "scopes": [_import_json(each) for each in done]})
    else:
        lines = [line for each in done for line in _import_lines(each, dry_run=dry_run)]
        say(*lines or [f"{file} holds no scopes; nothing was imported"])
    refused = sum(len(each.refused) for each in done)
    failed = sum(each.error is not None for each in done)
    if refused or failed:
        parts = [count(refused, "entry", "entries")] * bool(refused)
        parts += [count(failed, "scope")] * bool(failed)
        raise InvalidInputError(f"{' and '.join(parts)} of {file} could not be imported")


def _transfer(memory_dir: str | None) -> "Transfer":
    from wsmem.engine.locating import Locator  # noqa: PLC0415 - slow to import
    from wsmem.engine.transfer import Transfer  # noqa: PLC0415
    from wsmem.scopes import ScopeResolver  # noqa: PLC0415
    from wsmem.store.access import system_clock  # noqa: PLC0415
    from wsmem.store.store import MemoryStore  # noqa: PLC0415

    settings = settings_for(memory_dir)
    store = MemoryStore(settings.memory_dir)
    return Transfer(store, settings, Locator(store, ScopeResolver()), clock=system_clock)


def _note_export(found: "Export", out: str | None) -> None:
    """What the document holds and what it does not, on standard error."""
    entries = count(found.entry_count, "entry", "entries")
    scopes = count(len(found.document["scopes"]), "scope")
    note(f"exported {entries} of {scopes}{f' to {out}' if out else ''}")
    if found.redacted:
        note(f"redacted credentials in {count(found.redacted, 'text')}")
    for problem in found.problems:
        note(f"not exported, because it could not be read: {problem}")


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == STANDARD_STREAM else Path(file).read_bytes()
    except OSError as error:
        raise InputFileError(file, None, f"cannot be read ({error.strerror})") from None


def _write_whole(path: Path, data: bytes) -> None:
    """Replace a file in one step, readable by its owner alone.

    Raises:
        StoreWriteError: the system refused; what was there is still there.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is written to, not replaced
            path.write_bytes(data)
            return
        target = path.resolve()  # a link stays a link
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StoreWriteError("writing", str(path), error.strerror or str(error)) from error


def _import_json(done: "ScopeImport") -> dict[str, Any]:
    return {**as_json(done), "refused": [as_json(refusal) for refusal in done.refused]}


def _import_lines(done: "ScopeImport", *, dry_run: bool) -> list[str]:
    place = named(done.scope, done.cwd) if done.scope else done.cwd
    if done.error is not None:
        return [f"{place}: nothing was imported: {done.error}"]
    verb = "would be added" if dry_run else "added"
    refused = f"{len(done.refused)} refused"
    return [
        f"{place}: {len(done.added)} {verb}, {done.identical} there already, {refused}",
        *(f"  refused {each.entry_id or '(no id)'}: {each.reason}" for each in done.refused),
    ]
