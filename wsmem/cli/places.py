"""Which memory a command means, and the engine that serves it.

A relative `--cwd` is taken from the present directory, because somebody typed it there; without
`--cwd` the present directory means nothing. What only reads then asks the global memory; what
writes wants to be told.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from wsmem.errors import InvalidInputError, RelativePathError
from wsmem.scopes import GLOBAL_KEY, normalize_cwd

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.operations.contract import Distiller
    from wsmem.settings import Settings

T = TypeVar("T")

Cwd = Annotated[
    str | None,
    typer.Option(
        "--cwd", metavar="DIR", help="The workspace's directory; a relative one is taken from here."
    ),
]
Everywhere = Annotated[
    bool, typer.Option("--global", help="The global memory, of no workspace in particular.")
]
Key = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="The scope's key, as scopes shows it.")
]
MemoryDir = Annotated[
    str | None,
    typer.Option("--memory-dir", metavar="DIR", help="Where memory is kept."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]


def reading(cwd: str | None, everywhere: bool) -> str:
    """The directory a reading command means, absolute; empty for the global memory."""
    if cwd and everywhere:
        raise InvalidInputError("--cwd and --global exclude each other; give one of them")
    return absolute(cwd) if cwd else ""


def writing(cwd: str | None, everywhere: bool) -> str:
    """The directory a writing command means, absolute; empty for the global memory.

    Raises:
        InvalidInputError: nobody said which, or `cwd` names no workspace; nothing was changed.
    """
    if everywhere and cwd is None:
        return ""
    if cwd is None:
        raise InvalidInputError(
            "say which memory: --cwd DIR for a workspace, or --global; nothing was changed"
        )
    directory = reading(cwd, everywhere)
    if not directory or not normalize_cwd(directory):
        raise InvalidInputError(
            f"--cwd {cwd!r} names no workspace; nothing was changed. "
            "Give its directory, or --global for the memory of no workspace"
        )
    return directory


def workspace(cwd: str | None, key: str | None) -> dict[str, str | None]:
    """The arguments that name a whole workspace to the engine.

    Raises:
        InvalidInputError: not exactly one of `--cwd` and `--key` was given.
    """
    if (cwd is None) == (key is None):
        raise InvalidInputError(
            "name one workspace: --cwd DIR, or --key KEY as scopes shows it; nothing was changed"
        )
    return {"cwd": None, "key": key} if cwd is None else {"cwd": writing(cwd, False), "key": None}


def absolute(cwd: str) -> str:
    """A directory as it was typed, made absolute by the present one if need be."""
    try:
        normalize_cwd(cwd)
    except RelativePathError:
        try:
            return os.path.join(os.getcwd(), cwd)  # noqa: PTH109, PTH118 - links are not followed here
        except OSError as error:
            raise RelativePathError(cwd) from error
    return cwd


def settings_for(memory_dir: str | None) -> Settings:
    """The settings, with the memory directory of the command line."""
    from wsmem.settings import load_settings  # noqa: PLC0415 - only a command that runs needs it

    return load_settings(arguments={"memory_dir": memory_dir})


def with_engine(
    settings: Settings,
    call: Callable[[WorkspaceMemoryEngine], Awaitable[T]],
    *,
    distiller: Distiller | None = None,
) -> T:
    """Run `call` with an engine that does this and nothing else.

    It is not started and its timers never ring: a command does not distil what other processes
    left waiting.
    """
    from wsmem.engine.memory import WorkspaceMemoryEngine  # noqa: PLC0415 - slow to import

    async def run() -> T:
        engine = WorkspaceMemoryEngine(settings, distiller=distiller, sleep=_forever)
        try:
            return await call(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


def named(key: str, cwd: str) -> str:
    """A scope in words: what people call it, and its key."""
    if key == GLOBAL_KEY:
        return "the global memory"
    return f"{cwd} ({key})" if cwd else key


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if the user agrees.

    Raises:
        InvalidInputError: they do not, or nobody is there to ask; nothing was changed.
    """
    if yes:
        return
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        answer = sys.stdin.readline()
    except OSError:
        answer = ""
    if not answer or not sys.stdin.isatty():  # nobody's return key has ended the line
        print(file=sys.stderr)
    if not answer:
        raise InvalidInputError(
            "nobody is there to confirm it; nothing was changed. Give --yes to go on without asking"
        )
    if answer.strip().lower() not in {"y", "yes", "是"}:
        raise InvalidInputError("not confirmed; nothing was changed")


async def _forever(seconds: float) -> NoReturn:
    del seconds
    never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    await never
    raise AssertionError("unreachable: nobody completes it")
