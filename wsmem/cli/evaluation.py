"""`wsmem eval` and `wsmem explain`."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import say
from wsmem.cli.progress import progress_bars
from wsmem.cli.sets import (
    AsJson,
    Cluster,
    Data,
    Datasets,
    DatasetsDir,
    Jobs,
    Limit,
    Out,
    Seed,
    Split,
    chosen_sets,
    known_sets,
    note_kept,
)
from wsmem.cli.tables import print_table, whole_console
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.table import Table

    from wsmem.evals.evaluate import OnProgress
    from wsmem.evals.explaining import ExplainedQuery
    from wsmem.evals.plan import Plan
    from wsmem.evals.results import Evaluation

_EXCERPT = 60
"""Characters of an entry's text shown in a table."""


Systems = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A system, as wsmem:default or bm25; repeatable."),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="A weight profile to score as well; repeatable."),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A measure, as nDCG@10; repeatable."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with an interrupted run in the folder of --out.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("eval", help="Score systems on labelled sets and print the board.")(evaluate)
    app.command("explain", help="Show what every signal gave the top entries of a query.")(explain)


def evaluate(
    *,
    dataset: Datasets = None,
    system: Systems = None,
    profile: Profiles = None,
    measure: Measures = None,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    split: Split = None,
    out: Out = None,
    limit: Limit = None,
    jobs: Jobs = 2,
    cluster: Cluster = None,
    resume: Resume = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evaluate, print, and keep the run if a folder was named."""
    from wsmem.evals.plan import Plan  # noqa: PLC0415  slow to import
    from wsmem.evals.systems.registry import DEFAULT_SYSTEMS  # noqa: PLC0415
    from wsmem.evals.worst import WORST  # noqa: PLC0415

    plan = Plan.of(
        chosen_sets(dataset, data, datasets_dir),
        systems=(*(system or DEFAULT_SYSTEMS), *(f"wsmem:{path}" for path in profile or ())),
        measures=measure or (),
        split=split,
        limit=limit,
        seed=seed,
        jobs=jobs,
        cluster=cluster,
        worst=0 if out is None else WORST,
    )
    if resume and out is None:
        raise InvalidInputError("--resume goes on with a run in a folder; name it by --out DIR")
    try:
        evaluation = _carried_out(plan, out, resume=resume)
    except KeyboardInterrupt:
        if out is not None:
            print(f"interrupted; the same command with --resume goes on in {out}", file=sys.stderr)
        raise
    _print_board(evaluation, as_json=as_json)
    _print_notes(evaluation, out)
    if not evaluation.scored:
        print("wsmem: nothing was scored", file=sys.stderr)
        raise typer.Exit(1)


def _carried_out(plan: Plan, out: Path | None, *, resume: bool) -> Evaluation:
    """Evaluate, in a folder that keeps what is finished if one was named."""
    from wsmem.evals.evaluate import evaluate as carry_out  # noqa: PLC0415  slow to import
    from wsmem.evals.run import claim, open_ledger, write_run  # noqa: PLC0415

    if out is not None:
        claim(out)
    with (
        nullcontext() if out is None else open_ledger(out, resume=resume) as ledger,
        _progress([source.name for source in plan.sources]) as on_progress,
    ):
        if ledger is not None and resume:
            print(f"{len(ledger)} parts of the run were finished before", file=sys.stderr)
        evaluation = carry_out(plan, on_progress=on_progress, ledger=ledger)
    if out is not None:
        write_run(evaluation, out)
    return evaluation


def explain(
    *,
    dataset: Annotated[str, typer.Option(metavar="NAME|PATH", help="The set.")],
    query: Annotated[str, typer.Option(metavar="ID", help="The query's id.")],
    profile: Annotated[
        str, typer.Option(metavar="NAME|PATH", help="The weight profile.")
    ] = "default",
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many entries.")] = 5,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    split: Split = None,
    as_json: AsJson = False,
) -> None:
    """Explain one query's ranking under one profile."""
    from wsmem.evals.catalogue import choose  # noqa: PLC0415  slow to import
    from wsmem.evals.explaining import explain_query  # noqa: PLC0415
    from wsmem.evals.reading import load_dataset  # noqa: PLC0415
    from wsmem.evals.run_folder import strict_json  # noqa: PLC0415
    from wsmem.retrieval.profile import load_profile  # noqa: PLC0415

    (source,) = choose([dataset], known_sets(data, datasets_dir))
    loaded = load_dataset(source.path, name=source.name, split=split)
    explained = explain_query(loaded, query, load_profile(profile))
    if as_json:
        found = {
            "dataset": loaded.name,
            "query": query,
            "text": explained.query.text,
            "profile": profile,
            "rows": explained.to_json(top=top),
        }
        print(strict_json(found))
    else:
        _print_explained(explained, top)


@contextmanager
def _progress(names: list[str]) -> Iterator[OnProgress | None]:
    """A bar on standard error while people watch, one step a dataset."""
    with progress_bars() as bars:
        if bars is None:
            yield None
            return
        total = bars.add_task("datasets", total=len(names))
        done = dict.fromkeys(names, 0.0)

        def on_progress(dataset: str, part: float) -> None:
            done[dataset] += part
            # The parts of a set add up to a hair under or over one.
            bars.update(total, completed=round(sum(done.values()), 6), description=dataset)

        yield on_progress


def _print_board(evaluation: Evaluation, *, as_json: bool) -> None:
    from wsmem.evals.board import board_table  # noqa: PLC0415  slow to import
    from wsmem.evals.run_folder import strict_json  # noqa: PLC0415

    rows = [row.to_json() for row in evaluation.rows]
    if as_json:
        skipped = [item.to_json() for item in evaluation.skipped]
        print(strict_json({"rows": rows, "skipped": skipped}))
    elif rows:
        wide = board_table(rows, margins=True)
        whole_console().print(wide if _fits(wide) else board_table(rows, margins=False))


def _print_notes(evaluation: Evaluation, out: Path | None) -> None:
    """What the figures do not say, on standard error."""
    for item in evaluation.skipped:
        where = f" on {item.dataset}" if item.dataset else ""
        what = "all systems" if item.system == "*" else item.system
        print(f"skipped {what}{where}: {item.reason}", file=sys.stderr)
    judged = sum(dataset.judged for dataset in evaluation.datasets)
    unanswered: dict[str, int] = {}
    for dataset in evaluation.datasets:
        for system in dataset.systems:
            unanswered[system.system] = unanswered.get(system.system, 0) + system.unanswered
        if dataset.left_out:
            text = f"{dataset.name}: {dataset.left_out} queries without labels were left out"
            print(text, file=sys.stderr)
        if dataset.card_agrees is False:
            print(f"{dataset.name}: files differ from its card's checksums", file=sys.stderr)
    for name, count in unanswered.items():
        if count:
            print(f"{name}: {count} of {judged} unanswered, counted as zero", file=sys.stderr)
    note_kept(out)


def _print_explained(explained: ExplainedQuery, top: int) -> None:
    """The entries, then one row a signal and one column an entry."""
    say(f"query {explained.query.id}: {explained.query.text}")
    rows = explained.explanation.rows[:top]
    if not rows:
        say("nothing was recalled")
        return
    columns = ("rank", "entry", "grade", "score", "matched", "text")
    entries = (
        (
            str(rank),
            row.entry.id,
            str(explained.relevant.get(row.entry.id, 0)),
            f"{row.score:.3f}",
            str(row.matched),
            " ".join(f"{row.entry.title} {row.entry.content}".split())[:_EXCERPT],
        )
        for rank, row in enumerate(rows, start=1)
    )
    print_table(columns, entries, left=(1, len(columns) - 1))
    say("", "contribution (value) of each signal that is not zero for all of them:")
    parts = {name: [row.parts[name] for row in rows] for name in rows[0].parts}
    signals = (
        (
            name,
            f"{found[0].weight:g}",
            *(f"{part.contribution:.3f} ({part.value:.3g})" for part in found),
        )
        for name, found in parts.items()
        if any(part.contribution for part in found)
    )
    ranks = (f"#{rank}" for rank in range(1, len(rows) + 1))
    print_table(("signal", "weight", *ranks), signals, left=(0,))


def _fits(table: Table) -> bool:
    """Whether a table is as wide as the terminal at most; nobody looks at the end of a pipe."""
    from rich.console import Console  # noqa: PLC0415  slow to import

    terminal = Console()
    return not terminal.is_terminal or whole_console().measure(table).maximum <= terminal.width
