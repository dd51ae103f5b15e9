"""Systems by the names that the command line takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.errors import UnknownNameError
from wsmem.evals.systems import bm25, dense, rank_bm25, tantivy, wsmem
from wsmem.evals.systems.bm25 import Bm25System
from wsmem.evals.systems.dense import DenseSystem
from wsmem.evals.systems.fts5 import BIGRAM, TRIGRAM, Fts5System
from wsmem.evals.systems.rank_bm25 import RankBm25System
from wsmem.evals.systems.tantivy import TantivySystem
from wsmem.evals.systems.wsmem import HOST, profile_of, system_of

if TYPE_CHECKING:
    from wsmem.evals.systems.base import System
    from wsmem.evals.systems.pool_store import PoolStore

DEFAULT_SYSTEMS = (
    "wsmem:reference",
    "wsmem:default",
    "wsmem:default" + HOST,
    "wsmem:strict",
    bm25.NAME,
    Fts5System(TRIGRAM).name,
    Fts5System(BIGRAM).name,
    dense.NAME,
)
"""What is compared unless something else is asked for."""

PEERS = (
    bm25.NAME,
    Fts5System(TRIGRAM).name,
    Fts5System(BIGRAM).name,
    tantivy.NAME,
    rank_bm25.NAME,
)
"""Lexical engines of others; the last two rank as the first does and differ in their speed."""


def system_names() -> tuple[str, ...]:
    """Every name that can be asked for, except the paths of profile files."""
    return (*wsmem.names(), *PEERS, dense.NAME)


def check_system(name: str) -> None:
    """See that a name means a system, without loading it.

    Raises:
        UnknownNameError: it does not.
    """
    is_file = name.startswith(wsmem.PREFIX) and profile_of(name).endswith(".json")
    if name not in system_names() and not is_file and not bm25.is_variant(name):
        raise UnknownNameError(
            "system",
            name,
            system_names(),
            f"or wsmem:PATH or wsmem:PATH{HOST} with the .json file of a weight profile",
        )


def make_system(name: str, store: PoolStore | None = None) -> System:
    """The system of a name, ready to take in entries.

    Args:
        name: As `check_system` knows it.
        store: Where those systems keep pools that need a store; `None` lets each see to itself.

    Raises:
        UnknownNameError: there is no such system.
        SystemUnavailableError: it cannot run here.
        ProfileError: its weight profile cannot be read.
    """
    check_system(name)
    if name.startswith(wsmem.PREFIX):
        return system_of(name, store)
    if bm25.is_variant(name):
        return Bm25System.of(name)
    if name == tantivy.NAME:
        return TantivySystem()
    if name == rank_bm25.NAME:
        return RankBm25System()
    if name == dense.NAME:
        return DenseSystem.load()
    return Fts5System(TRIGRAM if name.endswith(TRIGRAM) else BIGRAM)
