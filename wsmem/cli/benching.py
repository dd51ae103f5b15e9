"""`wsmem bench latency` and `wsmem bench report`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.progress import progress_bars
from wsmem.cli.sets import AsJson, Data, DatasetsDir, Out, ReportFile, Split, known_sets, note_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wsmem.evals.latency.bench import Step, Tables
    from wsmem.evals.latency.plan import LatencyPlan

group = typer.Typer(help="Measure how long things take, and what they are worth in less time.")
"""The commands `wsmem bench …`."""

NONE = "none"
"""Named instead of a set or a peer: leave them all out."""


Sizes = Annotated[
    list[int] | None,
    typer.Option(metavar="N", help="Size of a store; repeatable. Default: 100, 1000, 2000, 10000."),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STATE",
        help="warm, committing, writers, snapshot, fresh, "
        "process, and the last two with -unfiled; repeatable. Default: all.",
    ),
]
Peers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Who answers the same queries; repeatable, none for nobody. Default: all.",
    ),
]
PluginFolder = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Where npm has installed the public plugin."),
]
Each = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Queries of every pair of language and length, warm. Default: 20."
    ),
]
Cold = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="The same for processes, fresh engines and changed files. Default: 2."
    ),
]
Writers = Annotated[int | None, typer.Option(metavar="N", help="Processes that write. Default: 2.")]
Deadline = Annotated[
    float | None, typer.Option(metavar="MS", help="What a host waits for. Default: 250.")
]
Padded = Annotated[
    list[int] | None,
    typer.Option(
        metavar="N",
        help="Size to which labelled workspaces are padded; repeatable. Default: 1000, 10000.",
    ),
]
Cuts = Annotated[
    list[float] | None,
    typer.Option(
        metavar="MS",
        help="A deadline for labelled queries; repeatable. Default: 5, 25, 50, 100, 250.",
    ),
]
Asked = Annotated[
    int | None,
    typer.Option(metavar="N", help="Labelled queries of each workspace. Default: 24."),
]
QualitySets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|PATH",
        help="A labelled set; repeatable, none for no quality. Default: our own workspace sets.",
    ),
]
SizesCluster = Annotated[
    str | None,
    typer.Option(
        metavar="local:N|ADDRESS",
        help="Measure sizes on a Dask cluster; only "
        "workers on machines of their own do not disturb each other.",
    ),
]
StoreSeed = Annotated[int, typer.Option(metavar="S", help="Seed of stores and queries.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that --out wrote.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(group, name="bench", no_args_is_help=True)


@group.command("latency", help="Time recalls through the engine, in every state, beside peers.")
def latency(
    *,
    entries: Sizes = None,
    state: States = None,
    peer: Peers = None,
    plugin: PluginFolder = None,
    each: Each = None,
    cold: Cold = None,
    writers: Writers = None,
    deadline: Deadline = None,
    padded: Padded = None,
    cut: Cuts = None,
    asked: Asked = None,
    dataset: QualitySets = None,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    split: Split = None,
    cluster: SizesCluster = None,
    out: Out = None,
    seed: StoreSeed = 7,
    as_json: AsJson = False,
) -> None:
    """Measure, print, and keep the run if a folder was named."""
    from wsmem.cli.bench_printing import print_tables  # noqa: PLC0415  slow to import
    from wsmem.evals.latency.plan import LatencyPlan  # noqa: PLC0415

    given: dict[str, Any] = {
        "sizes": entries and tuple(sorted(set(entries))),
        "states": state and tuple(dict.fromkeys(state)),
        "peers": () if peer == [NONE] else peer and tuple(dict.fromkeys(peer)),
        "each": each,
        "cold": cold,
        "writers": writers,
        "deadline_ms": deadline,
        "padded": padded and tuple(sorted(set(padded))),
        "cuts": cut and tuple(sorted(set(cut))),
        "asked": asked,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    plan = LatencyPlan(plugin=plugin, split=split, seed=seed, **chosen)
    folders = _folders(dataset, data, datasets_dir)
    found = _measured(plan, folders, cluster=cluster, out=out)
    print_tables(found, plan, as_json=as_json)
    note_kept(out)


def _measured(
    plan: LatencyPlan, folders: dict[str, Path], *, cluster: str | None, out: Path | None
) -> Tables:
    """Measure; what is finished stands in the folder at once, if one was named."""
    from wsmem.evals.latency.bench import Tables, measure  # noqa: PLC0415  slow to import
    from wsmem.evals.latency.run import RunWriter  # noqa: PLC0415

    writer = RunWriter(out, plan, folders) if out is not None else None
    found = Tables()
    with _progress(plan, len(folders)) as on_step:
        for tables in measure(plan, folders, cluster=cluster, on_step=on_step):
            found.extend(tables)
            if writer is not None:
                writer.add(tables)
    return found if writer is None else writer.finish().tables


@group.command("report", help="Write the report of a run of bench latency: one HTML file.")
def report(
    run: RunFolder,
    *,
    out: ReportFile = None,
) -> None:
    """Write a report and print its path."""
    from wsmem.evals.latency.page import write_report  # noqa: PLC0415  slow to import
    from wsmem.evals.latency.run import LatencyRun  # noqa: PLC0415

    print(write_report(LatencyRun.load(run), out))


def _folders(
    names: list[str] | None, data: list[str] | None, datasets_dir: str | None
) -> dict[str, Path]:
    """The labelled sets by name; those of our own that are about workspaces unless named."""
    from wsmem.evals.catalogue import choose  # noqa: PLC0415  slow to import

    if names == [NONE]:
        return {}
    known = known_sets(data, datasets_dir)
    own = [name for name in known if name.startswith("workspace-")]
    return {source.name: source.path for source in choose(names or own, known)}


@contextmanager
def _progress(plan: LatencyPlan, datasets: int) -> Iterator[Callable[[Step], None] | None]:
    """A bar on standard error while people watch, one step a state or set of each size."""
    from wsmem.evals.latency.bench import steps  # noqa: PLC0415  slow to import

    with progress_bars() as bars:
        if bars is None:
            yield None
            return
        task = bars.add_task("starting", total=steps(plan, datasets))

        def on_step(step: Step) -> None:
            bars.update(task, advance=1, description=f"{step.entries:,} entries: {step.what}")

        yield on_step
