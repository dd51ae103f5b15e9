"""Libraries that come with an extra, imported where they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wsmem.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType


def optional(name: str, *, extra: str = "eval") -> ModuleType:
    """A library that may not be installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(name, extra) from error
