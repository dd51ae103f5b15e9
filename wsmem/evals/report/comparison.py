"""A badly answered query as a table: each signal's part in both entries, and the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACES = {
    "not-matched": "not recalled: nothing of it matches the query",
    "below-evidence": "not recalled: too little of the query is in it",
    "not-recallable": "not recalled: its status keeps it out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal in the entries that are compared."""

    signal: str
    weight: float
    parts: tuple[tuple[float | None, float | None], ...]
    """Value and contribution, by column."""
    difference: float | None
    """What the first entry gained by it over the second; `None` without two entries."""
    decisive: bool
    """Whether no signal did more to put the first entry before the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry and where it stood."""

    entry: str
    title: str
    text: str
    grade: int
    heading: str
    place: str
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One query with the entry that came first and the one that should have."""

    query: str
    text: str
    verdict: str
    failure: str
    groups: tuple[str, ...]
    entries: tuple[EntryView, ...]
    columns: tuple[EntryView, ...]
    """The entries that earned anything: those the rows are about."""
    rows: tuple[SignalRow, ...]
    """Signals that have a weight."""
    silent: tuple[SignalRow, ...]
    """Signals without one: what they saw counts for nothing in this profile."""

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Comparison:
        """From a line of the run's worst queries."""
        entries = tuple(_entry(entry, at) for at, entry in enumerate(item["entries"]))
        rows = _rows([entry for entry in item["entries"] if entry["signals"]])
        return cls(
            query=item["query"],
            text=item["text"],
            verdict=_verdict(item),
            failure=item["failure"],
            groups=tuple(
                f"{dimension}: {', '.join(names)}" for dimension, names in item["slices"].items()
            ),
            entries=entries,
            columns=tuple(
                view
                for view, entry in zip(entries, item["entries"], strict=True)
                if entry["signals"]
            ),
            rows=tuple(row for row in rows if row.weight),
            silent=tuple(row for row in rows if not row.weight),
        )


def _verdict(item: Mapping[str, Any]) -> str:
    if item["failure"] == "false-recall":
        return "nothing answers this, and something was recalled"
    if not item["entries"] or item["entries"][0]["place"] != "ranked":
        return f"{item['measure']} {item['value']:.3f}; nothing was recalled"
    return f"{item['measure']} {item['value']:.3f}"


def _entry(entry: Mapping[str, Any], at: int) -> EntryView:
    ranked = entry["place"] == "ranked"
    first = ranked and at == 0
    return EntryView(
        entry=entry["entry"],
        title=entry["title"],
        text=entry["text"],
        grade=entry["grade"],
        heading="came first" if first else "labelled relevant",
        place=f"rank {entry['rank']}" if ranked else _PLACES[entry["place"]],
        score=entry["score"],
    )


def _rows(entries: list[Mapping[str, Any]]) -> list[SignalRow]:
    names = dict.fromkeys(name for entry in entries for name in entry["signals"])
    found = {
        # A signal that is not stored had neither a weight nor a value.
        name: [entry["signals"].get(name, (0.0, 0.0, 0.0)) for entry in entries]
        for name in names
    }
    differences = {name: _difference([part[2] for part in found[name]]) for name in names}
    most = max((gain for gain in differences.values() if gain is not None), default=0.0)
    return [
        SignalRow(
            signal=name,
            weight=max((weight for _, weight, _ in parts), key=abs),
            parts=tuple((value, adds) for value, _, adds in parts),
            difference=differences[name],
            decisive=most > 0 and differences[name] == most,
        )
        for name, parts in found.items()
    ]


def _difference(contributions: list[float | None]) -> float | None:
    if len(contributions) != 2:
        return None
    first, second = contributions
    return None if first is None or second is None else first - second
