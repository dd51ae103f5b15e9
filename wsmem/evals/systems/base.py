"""What a system under test is, and what the peers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wsmem.records import MemoryEntry


class Prepared(Protocol):
    """A system that has taken in one pool of entries."""

    def search(self, query: str, *, limit: int, surfaced: Collection[str] = ()) -> list[str]:
        """Ids of matching entries, best first, at most `limit`; empty when nothing matches.

        Any text is a query. An entry that matches in nothing is not an answer: entries are never
        listed only to fill the ranking.

        Args:
            query: What is asked.
            limit: Most ids wanted.
            surfaced: Entries shown lately in the conversation; a system that does not know what
                to do with that ignores it.
        """


class Served(NamedTuple):
    """What a host is given for one query."""

    ids: list[str]
    """The entries in it, best first."""
    size: int
    """UTF-8 bytes of all that is injected, frame included."""


@runtime_checkable
class Serving(Protocol):
    """A prepared system that renders what a host injects, under limits of its own."""

    def serve(self, query: str, *, surfaced: Collection[str] = ()) -> Served:
        """The answer to a query as a host is given it."""


class System(Protocol):
    """A way to find entries, under the name by which the command line knows it."""

    @property
    def name(self) -> str:
        """Its name on the board."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What a reader needs to know to repeat its results, as JSON values."""

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> Prepared:
        """Take in entries; only those that may be recalled are ever found.

        Args:
            entries: Everything that can be found, in any number, none included.
            now: The clock of all searches that follow, milliseconds since the epoch.

        Raises:
            SystemUnavailableError: it cannot run here.
        """


def searchable(entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """Entries that may be recalled, in the order in which ties are listed.

    The engine breaks ties by the later change and then by the smaller id; the peers list equal
    scores in this order, so that no system gains by the order of a file.
    """
    recallable = sorted((entry for entry in entries if entry.recallable), key=lambda e: e.id)
    recallable.sort(key=lambda entry: entry.updated_at or "", reverse=True)
    return recallable


def text_of(entry: MemoryEntry) -> str:
    """Everything of an entry that can be searched; the engine looks at the same fields."""
    parts = (entry.title, entry.description, entry.content, *entry.tags, *entry.retrieval_terms)
    return "\n".join(dict.fromkeys(part for part in parts if part))
