"""What several systems have in common; work that they do on the same pool is done once.

Systems are asked pool by pool, so only the latest pool is remembered; it is recognised by being
the same object, which is why pools hold their entries in one tuple.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from wsmem.errors import SystemUnavailableError
from wsmem.evals.systems.base import searchable, text_of
from wsmem.retrieval.index import Index
from wsmem.text.analysis import term_role, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from wsmem.records import MemoryEntry

T = TypeVar("T")


class Analysed(NamedTuple):
    """A pool as the lexical peers see it."""

    ids: list[str]
    """Of the entries that may be recalled, in tie order."""
    terms: list[list[str]]
    """The peers' terms of each."""


def peer_terms(text: str) -> list[str]:
    """The terms of the `default` profile, repeats kept, without the function words.

    Our own ranking weighs those down; the peers have no such weights, and would answer "what is
    the" with every English entry.
    """
    return [term for term in terms(text) if term_role(term) != "function"]


def library(name: str, *, system: str, extra: str) -> ModuleType:
    """The library that a system rests on, imported when the system is prepared.

    Raises:
        SystemUnavailableError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.replace("_", "-")
        reason = f"{package} is not installed; run: pip install 'wsmem[{extra}]'"
        raise SystemUnavailableError(system, reason) from error


def best_first(ids: Sequence[str], scores: Any, *, above: float, limit: int) -> list[str]:
    """Ids of the entries that score above what none of the terms gives, at most `limit`.

    Args:
        ids: In tie order, which equal scores keep.
        scores: An array of one score an id.
        above: What an entry without any of the terms scores.
        limit: Most ids wanted.
    """
    matching = np.flatnonzero(scores > above)
    best = matching[np.argsort(-scores[matching], kind="stable")][:limit]
    return [ids[position] for position in best]


class _Latest(Generic[T]):
    """A function of a pool that remembers its last answer."""

    def __init__(self, function: Callable[[Sequence[MemoryEntry]], T]) -> None:
        self._function = function
        self._last: tuple[Sequence[MemoryEntry], T] | None = None

    def __call__(self, entries: Sequence[MemoryEntry]) -> T:
        if self._last is None or self._last[0] is not entries:
            self._last = entries, self._function(entries)
        return self._last[1]


def _analyse(entries: Sequence[MemoryEntry]) -> Analysed:
    kept = searchable(entries)
    return Analysed([entry.id for entry in kept], [peer_terms(text_of(entry)) for entry in kept])


analysed = _Latest(_analyse)
index_of = _Latest(Index.build)
