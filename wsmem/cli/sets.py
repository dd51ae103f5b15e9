"""Options that the commands of the harness share: which labelled sets, and who works on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wsmem.evals.catalogue import Source

Data = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR",
        help="A labelled set or a folder of sets, beside our own; repeatable. Default: $DATA.",
    ),
]
DatasetsDir = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Where our own sets are. Default: $WSMEM_DATASETS."),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Label file of qrels/ to use. Default: test, or the only one."
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local:N",
        help="Work on a Dask cluster: tcp://HOST:PORT of a scheduler, or N workers here.",
    ),
]


def known_sets(data: list[str] | None, datasets_dir: str | None) -> dict[str, Source]:
    """Every set that can be named: our own, then those of the folders given."""
    from wsmem.evals.catalogue import (  # noqa: PLC0415  slow to import
        find_datasets,
        own_folder,
        search_folders,
    )

    own = Path(datasets_dir) if datasets_dir else own_folder()
    further = [Path(folder) for folder in data] if data else search_folders()
    # An installed package has no sets around it; that is no error unless a folder was named.
    return find_datasets([own, *further] if datasets_dir or own.is_dir() else further)
