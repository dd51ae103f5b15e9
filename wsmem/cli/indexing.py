"""`wsmem index`: write by hand what a running engine writes by itself, for recalls from scratch.

Without a scope it looks after every large memory; below that size a recall reads the entries about
as fast, and one is written only when its scope is named.
"""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

import os
import time
from typing import TYPE_CHECKING, NamedTuple

import typer

from wsmem.cli.output import note, say, say_json
from wsmem.cli.places import AsJson, Cwd, Everywhere, MemoryDir, named, reading, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.settings import Settings
    from wsmem.store.layout import ScopeRef
    from wsmem.store.postings_writing import WriteOutcome
    from wsmem.store.store import MemoryStore

NOT_WRITTEN = 1
"""Exit status when a memory was left without good postings."""

PATIENCE_S = 10.0
_STEP_S = 0.25

_WORDS: "dict[WriteOutcome, str]" = {
    "written": "written",
    "current": "were good already",
    "absent": "not written: there are no entries",
    "unsettled": "not written: the entries are being rewritten all the time",
    "changed": "not written: the entries are being rewritten all the time",
    "busy": "not written: somebody else is writing to it",
    "unsuitable": "not written: the entries cannot all be read; wsmem show says why",
}
_GOOD = ("written", "current")
_FOR_NOW = ("unsettled", "changed", "busy")


class _Postings(NamedTuple):
    """What became of one scope's postings."""

    scope: str
    cwd: str
    outcome: "WriteOutcome"
    seconds: float
    size: int
    """Bytes of the file; 0 where there is none."""


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("index", help="Write the file by which a fresh process finds memories quickly.")(
        index
    )


def index(
    *,
    cwd: Cwd = None,
    everywhere: Everywhere = False,
    memory_dir: MemoryDir = None,
    as_object: AsJson = False,
) -> None:
    """Bring the postings of large memories, or of one scope, up to their entries."""
    from wsmem.store.store import MemoryStore  # noqa: PLC0415 - only a command that runs needs it

    directory = reading(cwd, everywhere)
    settings = settings_for(memory_dir)
    store = MemoryStore(settings.memory_dir)
    wanted = _one(store, directory) if directory or everywhere else _large(store)
    done = [_write(store, scope) for scope in wanted]
    if as_object:
        say_json({"scopes": [postings._asdict() for postings in done]})
    elif not done:
        say("no memory is large enough; name a scope to write its postings all the same")
    else:
        say(*map(_line, done))
    _warn_if_unused(settings)
    if any(postings.outcome not in _GOOD for postings in done):
        raise typer.Exit(NOT_WRITTEN)


def _one(store: "MemoryStore", directory: str) -> "list[ScopeRef]":
    from wsmem.engine.locating import Locator  # noqa: PLC0415 - only a command that runs needs it
    from wsmem.scopes import ScopeResolver  # noqa: PLC0415
    from wsmem.store.layout import ScopeRef  # noqa: PLC0415

    place = Locator(store, ScopeResolver()).place(cwd=directory)
    return [ScopeRef(place.main.key, place.main.cwd)]


def _large(store: "MemoryStore") -> "Iterator[ScopeRef]":
    from wsmem.store.layout import ScopeRef  # noqa: PLC0415 - only a command that runs needs it
    from wsmem.store.postings import WORTHWHILE  # noqa: PLC0415

    for listing in store.list_scopes(sessions=True):
        if listing.entry_count >= WORTHWHILE:
            yield ScopeRef(listing.key, listing.cwd)


def _write(store: "MemoryStore", scope: "ScopeRef") -> _Postings:
    """Write, waiting a little for entries to come to rest."""
    from wsmem.engine.chains import rings_in  # noqa: PLC0415 - only a command that runs needs it
    from wsmem.store.postings import POSTINGS  # noqa: PLC0415

    began = time.monotonic()
    outcome = store.write_postings(scope, rings_of=rings_in)
    while outcome in _FOR_NOW and time.monotonic() - began < PATIENCE_S:
        time.sleep(_STEP_S)
        outcome = store.write_postings(scope, rings_of=rings_in)
    path = f"{store.layout.cache(scope.key)}/{POSTINGS}"
    size = os.path.getsize(path) if outcome in _GOOD else 0  # noqa: PTH202 - a path as text
    seconds = round(time.monotonic() - began, 2)
    return _Postings(scope.key, scope.cwd, outcome, seconds, size)


def _line(postings: _Postings) -> str:
    words = _WORDS[postings.outcome]
    size = f", {postings.size / 1e6:.1f} MB" if postings.outcome in _GOOD else ""
    return f"postings of {named(postings.scope, postings.cwd)}: {words}{size}"


def _warn_if_unused(settings: "Settings") -> None:
    if settings.postings == "off":
        note("wsmem: the setting postings is off, so recalls do not use them")
