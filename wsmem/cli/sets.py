"""Options that the commands of the harness share: which labelled sets, who works, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import note
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from wsmem.evals.catalogue import Source

Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", metavar="NAME|PATH", help="A set; repeatable. Default: all there are."
    ),
]
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
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="Only the first N queries of each set.")
]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the intervals.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Processes; figures do not depend on it.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local:N",
        help="Work on a Dask cluster: tcp://HOST:PORT of a scheduler, or N workers here.",
    ),
]

Alpha = Annotated[float, typer.Option(metavar="P", help="Chance of any false verdict among all.")]
Margin = Annotated[float, typer.Option(metavar="D", help="Differences up to this are no verdict.")]
ALPHA = 0.005
"""`wsmem.evals.comparison.ALPHA`, which is slow to import; a test sees that they agree."""

Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the run in this folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where to write it. Default: RUN/report.html."),
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


def chosen_sets(
    names: list[str] | None, data: list[str] | None, datasets_dir: str | None
) -> tuple[Source, ...]:
    """The sets of these names; without names, all that can be named.

    Raises:
        InvalidInputError: there is none at all.
    """
    from wsmem.evals.catalogue import choose  # noqa: PLC0415  slow to import

    sources = tuple(choose(names or (), known_sets(data, datasets_dir)))
    if not sources:
        raise InvalidInputError("there is no labelled set here; name one by --dataset or --data")
    return sources


def note_kept(out: Path | None) -> None:
    """Say on standard error where a run was kept, or how to keep the next."""
    note(f"run kept in {out}" if out else "run not kept; --out DIR keeps it")
