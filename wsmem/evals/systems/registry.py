"""Systems by the names that the command line takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.errors import UnknownNameError
from wsmem.evals.systems import bm25, dense, wsmem
from wsmem.evals.systems.bm25 import Bm25System
from wsmem.evals.systems.dense import DenseSystem
from wsmem.evals.systems.fts5 import BIGRAM, TRIGRAM, Fts5System
from wsmem.evals.systems.wsmem import WsmemSystem

if TYPE_CHECKING:
    from wsmem.evals.systems.base import System

DEFAULT_SYSTEMS = (
    "wsmem:reference",
    "wsmem:default",
    bm25.NAME,
    Fts5System(TRIGRAM).name,
    Fts5System(BIGRAM).name,
    dense.NAME,
)
"""What is compared unless something else is asked for."""


def system_names() -> tuple[str, ...]:
    """Every name that can be asked for, except the paths of profile files."""
    peers = (bm25.NAME, Fts5System(TRIGRAM).name, Fts5System(BIGRAM).name, dense.NAME)
    return (*wsmem.names(), *peers)


def check_system(name: str) -> None:
    """See that a name means a system, without loading it.

    Raises:
        UnknownNameError: it does not.
    """
    is_file = name.startswith(wsmem.PREFIX) and name.endswith(".json")
    if name not in system_names() and not is_file:
        raise UnknownNameError(
            "system", name, system_names(), "or wsmem:PATH with the .json file of a weight profile"
        )


def make_system(name: str) -> System:
    """The system of a name, ready to take in entries.

    Raises:
        UnknownNameError: there is no such system.
        SystemUnavailableError: it cannot run here.
        ProfileError: its weight profile cannot be read.
    """
    check_system(name)
    if name.startswith(wsmem.PREFIX):
        return WsmemSystem.of(name)
    if name == bm25.NAME:
        return Bm25System()
    if name == dense.NAME:
        return DenseSystem.load()
    return Fts5System(TRIGRAM if name.endswith(TRIGRAM) else BIGRAM)
