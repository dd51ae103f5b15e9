"""What several systems have in common; work that they do on the same pool is done once.

Systems are asked pool by pool, so only the latest pool is remembered; it is recognised by being
the same object, which is why pools hold their entries in one tuple.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wsmem.errors import SystemUnavailableError
from wsmem.evals.systems.base import searchable, text_of
from wsmem.text.analysis import term_role, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import ModuleType

    from wsmem.records import MemoryEntry


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
    """Ids of the entries that score above a floor, at most `limit`.

    Args:
        ids: In tie order, which equal scores keep.
        scores: An array of one score an id.
        above: What an entry scores that matches in nothing.
        limit: Most ids wanted.
    """
    matching = np.flatnonzero(scores > above)
    best = matching[np.argsort(-scores[matching], kind="stable")][:limit]
    return [ids[position] for position in best]


class PreparedPeer(ABC):
    """A pool as a peer has taken it in; peers know no conversations, so nothing was surfaced."""

    __slots__ = ()

    def search(
        self,
        query: str,
        *,
        limit: int,
        surfaced: Collection[str] = (),  # noqa: ARG002  of the protocol, and not known here
    ) -> list[str]:
        """Ids of matching entries, best first, at most `limit`."""
        return self._found(query, limit)

    @abstractmethod
    def _found(self, query: str, limit: int) -> list[str]: ...


class _LatestPool:
    """Pools analysed; the last answer is remembered."""

    def __init__(self) -> None:
        self._last: tuple[Sequence[MemoryEntry], Analysed] | None = None

    def __call__(self, entries: Sequence[MemoryEntry]) -> Analysed:
        if self._last is None or self._last[0] is not entries:
            kept = searchable(entries)
            terms_of_each = [peer_terms(text_of(entry)) for entry in kept]
            self._last = entries, Analysed([entry.id for entry in kept], terms_of_each)
        return self._last[1]


analysed = _LatestPool()
