"""Find superseded entries whose successors lead nowhere, as only an edit by hand leaves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import MemoryEntry
    from wsmem.store.entry_set import Prior
    from wsmem.store.snapshot import ScopeSnapshot


class ChainFaults(NamedTuple):
    """Ids of superseded entries by what is wrong with their successors."""

    rings: tuple[str, ...] = ()
    """They lead back to themselves: nothing stands in their place."""
    missing: tuple[str, ...] = ()
    """A successor does not exist."""


def chain_faults(snapshot: ScopeSnapshot) -> ChainFaults:
    """What is wrong with the chains of a scope; computed once for a state of its entries."""
    return snapshot.derive("chain-faults", _find)


def rings_in(entries: tuple[MemoryEntry, ...]) -> tuple[str, ...]:
    """The rings among these entries."""
    return _find(entries, None).rings


def _find(entries: tuple[MemoryEntry, ...], _: Prior[ChainFaults] | None) -> ChainFaults:
    retired = {entry.id: entry for entry in entries if entry.status == "superseded"}
    if not retired:
        return ChainFaults()
    standing = {entry.id for entry in entries if entry.status != "superseded"}
    ends = _reaching(standing, retired)
    missing = tuple(
        entry_id
        for entry_id, entry in retired.items()
        if not entry.superseded_by
        or any(to not in retired and to not in standing for to in entry.superseded_by)
    )
    lost = set(missing) | _reaching(set(missing), retired)
    rings = tuple(entry_id for entry_id in retired if entry_id not in ends and entry_id not in lost)
    return ChainFaults(rings=rings, missing=missing)


def _reaching(goals: set[str], retired: dict[str, MemoryEntry]) -> set[str]:
    """Retired entries from which a chain of successors leads to one of the goals."""
    predecessors: dict[str, list[str]] = {}
    for entry_id, entry in retired.items():
        for successor in entry.superseded_by:
            predecessors.setdefault(successor, []).append(entry_id)
    found: set[str] = set()
    waiting: Sequence[str] = list(goals)
    while waiting:
        reached = {before for at in waiting for before in predecessors.get(at, ())} - found
        found |= reached
        waiting = list(reached)
    return found
