"""The public sources that can be imported, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.errors import UnknownNameError
from wsmem.evals.importers import beir, halumem, locomo, longmemeval, perltqa, trajectories

if TYPE_CHECKING:
    from wsmem.evals.importers.items import PublicSource

SOURCES: dict[str, PublicSource] = {
    source.name: source
    for source in (
        locomo.SOURCE,
        longmemeval.SOURCE,
        perltqa.SOURCE,
        trajectories.MEMDAILY,
        trajectories.MEMBENCH,
        halumem.SOURCE,
        beir.SOURCE,
    )
}


def source_named(name: str) -> PublicSource:
    """The source of a name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in SOURCES:
        raise UnknownNameError("source", name, tuple(SOURCES))
    return SOURCES[name]
