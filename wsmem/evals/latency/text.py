"""Figures as texts, the same in the terminal, on the page and in the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE_WORDS: dict[str, str] = {
    "warm": "warm engine",
    "committing": "while checkpoints commit",
    "writers": "while other processes write",
    "snapshot": "files changed since",
    "fresh": "first recall of an engine",
    "fresh-unfiled": "first recall, no postings",
    "process": "whole process",
    "process-unfiled": "whole process, no postings",
}


def milliseconds(value: float | None) -> str:
    """Three digits that mean something: `0.41`, `3.82`, `47.5`, `1,204`."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def percentile_text(row: Mapping[str, Any], name: str) -> str:
    """A percentile with its interval: `3.82 [3.10–4.55]`; a bound that is not known is open."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None and high is None:
        return milliseconds(row[name])
    return f"{milliseconds(row[name])} [{milliseconds(low)}–{_open(high)}]"


def share_text(row: Mapping[str, Any], name: str) -> str:
    """A share with its interval, in per cent: `98.9 [96.0–99.7]`."""
    if row[name] is None:
        return "–"
    value, low, high = (f"{100 * row[key]:.1f}" for key in (name, f"{name}_low", f"{name}_high"))
    return f"{value} [{low}–{high}]"


def figure_text(row: Mapping[str, Any], name: str) -> str:
    """A mean with its interval, three decimals: `0.712 [0.655–0.768]`."""
    if row[name] is None:
        return "–"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or high is None:
        return f"{row[name]:.3f}"
    return f"{row[name]:.3f} [{low:.3f}–{high:.3f}]"


def deadline_text(deadline_ms: float | None) -> str:
    """`25 ms`, or `none`."""
    return "none" if deadline_ms is None else f"{deadline_ms:g} ms"


def _open(high: float | None) -> str:
    return "" if high is None else milliseconds(high)
