"""The console entry `wsmem`; recall and hooks start here without loading the rest.

A host waits for `wsmem recall` and `wsmem hook` at every prompt, so these two reach their module
through the standard library alone; every other command is part of the Typer application.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from wsmem.errors import WsmemError

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAN_COMMANDS = {"recall": "wsmem.cli.recall", "hook": "wsmem.cli.recall"}
"""Commands that are kept off slow imports, and the module that has them.

Its function `main` takes the arguments, command included, and returns the exit status.
"""

FAILURE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 2 when it could not be carried out.

    Args:
        arguments: What stands behind the program's name; taken from the process when `None`.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if given and given[0] in LEAN_COMMANDS:
            status = _lean(given)
            sys.stdout.flush()  # here, where a reader that has gone can still be told from an error
            return status
        from wsmem.cli.app import run  # noqa: PLC0415  slow to import

        return run(given)
    except WsmemError as error:
        print(f"wsmem: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILURE
    except BrokenPipeError:
        # Whoever read our output has gone; without this the interpreter complains at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE


def _load_when_used(name: str) -> None:
    """Put off importing a module of the standard library until something of it is used.

    `dataclasses` imports `inspect`, which is a fifth of what a recall imports, only to write the
    docstrings that our classes already have. (`importlib.util.LazyLoader` would load it at the
    import statement: that looks at the module's `__spec__`.)
    """
    if name in sys.modules:
        return
    stand_in = ModuleType(name)

    def load(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        del sys.modules[name]
        module = importlib.import_module(name)
        stand_in.__dict__.update(module.__dict__)
        return getattr(module, attribute)

    stand_in.__dict__["__getattr__"] = load
    sys.modules[name] = stand_in


def _lean(arguments: list[str]) -> int:
    # One answer and the process ends: collecting garbage would take a tenth of its time.
    gc.disable()
    _load_when_used("inspect")
    module = LEAN_COMMANDS[arguments[0]]
    try:
        command = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        print(f"wsmem: this installation has no {arguments[0]!r} command", file=sys.stderr)
        return FAILURE
    return int(command.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
