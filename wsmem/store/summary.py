"""`memory_summary.md`: the active entries of a scope that fit a byte budget, best first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wsmem.text.normalize import trim_end
from wsmem.text.utf8 import utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wsmem.records import MemoryEntry
    from wsmem.store.layout import ScopeKind
    from wsmem.store.wording import Wording

_NO_DATE = "undefined"
"""How a missing date compares in the shared format: as this text, so newer than any date."""


def render_summary(
    entries: Iterable[MemoryEntry], *, kind: ScopeKind, max_bytes: int, wording: Wording
) -> str:
    """Heading, note, and a line for each active entry until one does not fit.

    Order: more important first, then newer, then file order. The heading stands whatever the
    budget; lines are whole or absent, and after the first that does not fit none follows, so the
    reader never sees a lesser fact in place of a better one.
    """
    head = f"# {wording.heading(kind)}\n\n{wording.note}\n"
    used = utf8_length(head) + 1
    lines: list[str] = []
    for entry in _best_first(entries):
        line = summary_line(entry)
        used += utf8_length(line) + 1
        if used > max_bytes:
            break
        lines.append(line)
    return trim_end("\n".join([head, *lines])) + "\n"


def _best_first(entries: Iterable[MemoryEntry]) -> Iterator[MemoryEntry]:
    """The active entries; those of lesser importance are only sorted when it comes to them."""
    groups: dict[float, list[MemoryEntry]] = {}
    for entry in entries:
        if entry.status == "active":
            groups.setdefault(_importance(entry), []).append(entry)
    for importance in sorted(groups, reverse=True):
        yield from sorted(
            groups[importance], key=lambda entry: entry.updated_at or _NO_DATE, reverse=True
        )


def summary_line(entry: MemoryEntry) -> str:
    """How an entry stands in a summary; a title of several lines makes an item of several."""
    tags = f" [{', '.join(entry.tags)}]" if entry.tags else ""
    return f"- {entry.title}: {entry.description}{tags}"


def _importance(entry: MemoryEntry) -> float:
    return 0.0 if math.isnan(entry.importance) else entry.importance
