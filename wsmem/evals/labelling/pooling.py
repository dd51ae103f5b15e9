"""Pools: what several systems return first for a query, put together for a labeller to judge.

A pool says nothing about who returned what: it is a union, shuffled by a seed and the query's id.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError, SystemUnavailableError
from wsmem.evals.entries import pools
from wsmem.evals.systems.registry import make_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.dataset import Dataset, Query

DEPTH = 10
"""How many results of each system are pooled."""
SYSTEMS = ("wsmem:default", "wsmem:reference", "bm25", "fts5:bigram", "fts5:trigram", "dense")
"""Systems of different kinds, so that no kind's favourites alone are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """How a pool is made."""

    systems: tuple[str, ...] = SYSTEMS
    depth: int = DEPTH
    seed: int = 0

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InvalidInputError(f"a pool of depth {self.depth} is empty; ask for 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """What each system returns for each query."""

    by_system: Mapping[str, Mapping[str, tuple[str, ...]]]
    skipped: Mapping[str, str]
    """Systems that cannot run here, and why."""


def rank_all(
    dataset: Dataset, queries: Sequence[Query], systems: Iterable[str], *, depth: int
) -> Rankings:
    """Ask every system every query, each within its own scope.

    Raises:
        UnknownNameError: there is no such system.
    """
    able, skipped = [], {}
    for name in dict.fromkeys(systems):
        try:
            able.append(make_system(name))
        except SystemUnavailableError as error:
            skipped[name] = error.reason
    found: dict[str, dict[str, tuple[str, ...]]] = {system.name: {} for system in able}
    for pool in pools(dataset, queries):
        for system in able:
            prepared = system.prepare(pool.entries, now=pool.now)
            for query in pool.queries:
                ranked = dict.fromkeys(prepared.search(query.text, limit=depth))
                found[system.name][query.id] = tuple(ranked)[:depth]
    return Rankings(by_system=found, skipped=skipped)


def pooled(
    rankings: Rankings, queries: Iterable[Query], *, seed: int, further: Mapping[str, Iterable[str]]
) -> dict[str, tuple[str, ...]]:
    """Documents to judge by query.

    Args:
        rankings: What the systems return.
        queries: In the order in which they are to be judged.
        seed: Of the shuffle; the same seed and pool give the same order.
        further: Documents that are judged beside them, by query: those labelled before.
    """
    pools_: dict[str, tuple[str, ...]] = {}
    for query in queries:
        union = {
            name for ranked in rankings.by_system.values() for name in ranked.get(query.id, ())
        }
        union.update(further.get(query.id, ()))
        documents = sorted(union)  # a set has no order that a seed could repeat
        random.Random(f"{seed}/{query.id}").shuffle(documents)
        pools_[query.id] = tuple(documents)
    return pools_
