"""`wsmem tune`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import note, say
from wsmem.cli.progress import progress_bars
from wsmem.cli.sets import Cluster, Data, Datasets, DatasetsDir, Jobs, Limit, chosen_sets
from wsmem.cli.tables import whole_console
from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID

    from wsmem.evals.tuning.planning import Step
    from wsmem.evals.tuning.run import TuningRun
    from wsmem.evals.tuning.space import Space
    from wsmem.evals.tuning.tuner import OnProgress


Folder = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The run's folder; a study broken off goes on in it."),
]
Formula = Annotated[
    str | None,
    typer.Option(
        metavar="FORMULA",
        help="What to maximise, as in 'nDCG@10 - 0.2 * max(0, FalseRecall - 0.05)'.",
    ),
]
Trials = Annotated[int, typer.Option(metavar="N", help="Trials of each search.")]
Sampler = Annotated[
    str, typer.Option(metavar="NAME", help="tpe, cma-es, ascent, or one and then the ascent.")
]
EverySeed = Annotated[int, typer.Option(metavar="S", help="Seed of everything random.")]
StartProfile = Annotated[str, typer.Option(metavar="NAME|PATH", help="The profile to begin from.")]
Signal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|FAMILY",
        help="What may have a weight; repeatable. Default: the families terms and entry.",
    ),
]
Anchor = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The signal that keeps its weight. Default: the heaviest."),
]
Hold = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE", help="Keep a weight, evidence_share or evidence_cap; repeatable."
    ),
]
Steps = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Beside the fit: folds, ablation, curve, samplers, peers, abstention, none; "
        "repeatable. Default: all.",
    ),
]
OpenTest = Annotated[
    bool,
    typer.Option("--open-test", help="Score test splits, too; the manifest says so."),
]
CacheFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where signals are kept. Default: OUT/cache.")
]
SharedStorage = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A database of trials that several commands work on, each with its own --seed.",
    ),
]
ProfileName = Annotated[str, typer.Option(metavar="NAME", help="Of the profile.")]


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("tune", help="Search for the weights that rank labelled sets best.")(tune)


def tune(
    *,
    dataset: Datasets = None,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    out: Folder = Path("runs/tuning"),
    objective: Formula = None,
    trials: Trials = 1000,
    sampler: Sampler = "cma-es+ascent",
    seed: EverySeed = 0,
    start: StartProfile = "default",
    signal: Signal = None,
    anchor: Anchor = None,
    hold: Hold = None,
    step: Steps = None,
    open_test: OpenTest = False,
    cache: CacheFolder = None,
    storage: SharedStorage = None,
    name: ProfileName = "tuned",
    jobs: Jobs = 2,
    cluster: Cluster = None,
    limit: Limit = None,
) -> None:
    """Tune, print the gains, and say where the profile is."""
    from wsmem.evals.tuning.objective import Objective  # noqa: PLC0415  slow to import
    from wsmem.evals.tuning.page import write_report  # noqa: PLC0415
    from wsmem.evals.tuning.search import Search, sampler_named  # noqa: PLC0415
    from wsmem.evals.tuning.tuner import Tuning  # noqa: PLC0415
    from wsmem.evals.tuning.tuner import tune as carry_out  # noqa: PLC0415

    tuning = Tuning(
        sources=chosen_sets(dataset, data, datasets_dir),
        space=_space(start, signal, anchor, hold),
        out=out,
        objective=Objective() if objective is None else Objective.parse(objective),
        search=Search(trials=trials, sampler=sampler_named(sampler), seed=seed),
        steps=_steps(step),
        open_test=open_test,
        cache=cache,
        storage=storage,
        name=name,
        jobs=jobs,
        cluster=cluster,
        limit=limit,
    )
    try:
        with _progress() as on_progress:
            run = carry_out(tuning, on_progress=on_progress)
    except KeyboardInterrupt:
        note(f"interrupted; the same command goes on in {out}")
        raise
    _print(run)
    note(f"report: {write_report(run)}")


def _space(
    start: str, signals: list[str] | None, anchor: str | None, hold: list[str] | None
) -> Space:
    from wsmem.evals.tuning.space import Space  # noqa: PLC0415  slow to import
    from wsmem.retrieval.profile import load_profile  # noqa: PLC0415

    return Space.of(
        load_profile(start),
        signals=signals or ("terms", "entry"),
        anchor=anchor,
        held=dict(map(_held, hold or ())),
    )


def _held(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        hint = "write NAME=VALUE" if not equals else f"{value!r} is no number"
        raise InvalidInputError(f"--hold {text}: {hint}") from None


def _steps(wanted: list[str] | None) -> tuple[Step, ...]:
    from wsmem.evals.tuning.planning import STEPS  # noqa: PLC0415

    for name in wanted or ():
        if name not in (*STEPS, "none"):
            raise UnknownNameError("step", name, (*STEPS, "none"))
    return STEPS if wanted is None else tuple(name for name in STEPS if name in wanted)


@contextmanager
def _progress() -> Iterator[OnProgress | None]:
    """A bar a task on standard error while people watch; those that are done go."""
    with progress_bars(percent=True) as bars:
        if bars is None:
            yield None
            return
        tasks: dict[str, TaskID] = {}
        done: dict[str, float] = {}

        def on_progress(task: str, part: float) -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=1.0)
            done[task] = done.get(task, 0.0) + part
            # The parts of a task add up to a hair under or over one.
            whole = done[task] > 1 - 1e-6
            bars.update(tasks[task], completed=done[task], visible=not whole)

        yield on_progress


def _print(run: TuningRun) -> None:
    """Gains, weights, and where everything is."""
    from wsmem.evals.tuning.tables import gains_table, weights_table  # noqa: PLC0415  slow to import

    console = whole_console()
    if run.results["gains"]:
        console.print(gains_table(run))
        say("")
    console.print(weights_table(run))
    speed, fit = run.manifest["speed"], run.searches["fit"]
    say(
        "",
        f"{run.manifest['settings']['objective']}: {fit.start_value:.4f} at the start, "
        f"{fit.value:.4f} found in {fit.trials} trials",
        f"{speed['trials_per_second']:.0f} trials a second on {speed['sets']} sets, one core",
        f"profile: {run.path / 'profile.json'}",
    )
    note(f"run kept in {run.path}; wsmem eval --profile {run.path / 'profile.json'} tries it")
