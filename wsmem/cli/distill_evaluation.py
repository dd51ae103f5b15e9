"""`wsmem distill eval`, `compare`, `show` and `report`: how good distillers are, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.distill_printing import print_board, print_case, print_contest
from wsmem.cli.output import count, note
from wsmem.cli.sets import ALPHA, Alpha, AsJson, Margin, Out, ReportFile, Seed, note_kept
from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.evals.distillation.cases import CaseSet
    from wsmem.evals.distillation.comparing import Contestant
    from wsmem.evals.distillation.evaluation import Choice, NamedDistiller
    from wsmem.evals.distillation.side_by_side import SideBySide

DistillerNames = Annotated[
    list[str] | None,
    typer.Option("--distiller", metavar="rules|cassette:FILE", help="Repeatable. Default: rules."),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--dataset", metavar="D", help="A set of cases: its name or its folder; "
                 "repeatable. Default: our own."),
]  # fmt: skip
PromptName = Annotated[
    str | None,
    typer.Option("--prompt", metavar="PROMPT", help="Only a cassette's recordings of this prompt: "
                 "its id, or a folder with it."),
]  # fmt: skip
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="M", help="Only a cassette's recordings of this model."),
]
PromptLanguage = Annotated[
    str | None,
    typer.Option("--language", metavar="zh|en", help="Of the prompt, as it was recorded. "
                 "Default: the case's own."),
]  # fmt: skip
ConversationBytes = Annotated[
    int | None,
    typer.Option(metavar="N", help="The bound the cassette was recorded with."),
]
Split = Annotated[
    str,
    typer.Option(metavar="train|dev|test|all", help="Which cases. Default: dev, or all of a set "
                 "that has no such split. The test split is for reports, never for tuning."),
]  # fmt: skip
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that distill eval wrote.")]


def attach(group: typer.Typer) -> None:
    """Add the commands of this module to `wsmem distill`."""
    group.command("eval", help="Score distillers on sets of cases, offline.")(evaluate)
    group.command("compare", help="Say which of two distillers is better, and how sure that is.")(
        compare
    )
    group.command("show", help="Show cases side by side: expected, proposed, what became of it.")(
        show
    )
    group.command("report", help="Write the report of a run of distillers: one HTML file.")(report)


def evaluate(
    *,
    distiller: DistillerNames = None,
    dataset: Datasets = None,
    prompt: PromptName = None,
    model: ModelName = None,
    split: Split = "default",
    language: PromptLanguage = None,
    conversation_bytes: ConversationBytes = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evaluate, print the board, and keep the run if a folder was named."""
    from wsmem.evals.distillation.evaluation import DistillPlan  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.evaluation import evaluate as carry_out  # noqa: PLC0415
    from wsmem.evals.distillation.run import KIND, write_run  # noqa: PLC0415
    from wsmem.evals.run_folder import strict_json  # noqa: PLC0415

    plan = DistillPlan(
        sets=_sets(dataset),
        distillers=_distillers(distiller, prompt, model, language, conversation_bytes),
        split=_split(split),
        seed=seed,
    )
    if out is not None:
        KIND.claim(out)
    evaluation = carry_out(plan)
    if out is not None:
        write_run(evaluation, out)
    if as_json:
        rows = [row.to_json() for row in evaluation.rows]
        skipped = [item.to_json() for item in evaluation.skipped]
        print(strict_json({"rows": rows, "skipped": skipped}))
    elif evaluation.results:
        print_board(evaluation)
    for item in evaluation.skipped:
        named = f": {', '.join(item.cases)}" if item.cases else ""
        note(f"not scored: {item.distiller} on {item.dataset}: {item.reason}{named}")
    note_kept(out)
    if not evaluation.results:
        note("wsmem: nothing was scored")
        raise typer.Exit(1)


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="A", help="The one to beat: rules, cassette:FILE, or the folder of "
                       "a run; of several distillers in it, FOLDER::NAME."),
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The one that is judged.")],
    *,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A measure, as F1(add); repeatable."),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="all|dataset|slice", help="What each comparison is about.")
    ] = "all",
    alpha: Alpha = ALPHA,
    margin: Margin = 0.0,
    dataset: Datasets = None,
    split: Split = "default",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Compare two distillers on the cases both have."""
    from wsmem.evals.comparing import GROUPINGS  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.comparing import contest  # noqa: PLC0415
    from wsmem.evals.run_folder import strict_json  # noqa: PLC0415

    if by not in GROUPINGS:
        raise UnknownNameError("grouping", by, tuple(GROUPINGS))
    found = contest(
        _contestant(first, dataset, split, seed),
        _contestant(second, dataset, split, seed),
        measures=measure or (),
        by=GROUPINGS[by],
        alpha=alpha,
        margin=margin,
        seed=seed,
    )
    if as_json:
        print(strict_json(found.to_json()))
        return
    print_contest(found, alpha)


def show(
    case: Annotated[
        list[str] | None, typer.Argument(metavar="[CASE]...", help="Ids of cases.")
    ] = None,
    *,
    failures: Annotated[
        bool, typer.Option("--failures", help="Every case of the split with a fault.")
    ] = False,
    distiller: DistillerNames = None,
    dataset: Datasets = None,
    prompt: PromptName = None,
    model: ModelName = None,
    split: Split = "default",
    language: PromptLanguage = None,
    conversation_bytes: ConversationBytes = None,
    as_json: AsJson = False,
) -> None:
    """Try cases and show what came of them."""
    if not case and not failures:
        raise InvalidInputError("name a case, or ask for --failures")
    # A case that is named may be of any split.
    sets = _only(_sets(dataset), case) if case else _sets(dataset)
    chosen = _distillers(distiller, prompt, model, language, conversation_bytes)
    views = [
        view
        for cases in sets
        for named in chosen
        for view in _tried(cases, named, "all" if case else split)
        if not failures or not view.right
    ]
    if as_json:
        from dataclasses import asdict  # noqa: PLC0415

        from wsmem.evals.run_folder import strict_json  # noqa: PLC0415

        print(strict_json({"cases": [asdict(view) for view in views]}))
        return
    for view in views:
        print_case(view)
    if failures:
        note(f"{count(len(views), 'case')} with a fault")


def report(
    run: RunFolder,
    *,
    out: ReportFile = None,
) -> None:
    """Write a report and print its path."""
    from wsmem.evals.distillation.page import write_report  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.run import DistillRun  # noqa: PLC0415

    print(write_report(DistillRun.load(run), out))


def _sets(names: list[str] | None) -> tuple[CaseSet, ...]:
    from wsmem.evals.distillation.cases import load_case_set  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.catalogue import choose_case_sets  # noqa: PLC0415

    return tuple(load_case_set(source.path) for source in choose_case_sets(names or ()))


def _only(sets: Sequence[CaseSet], ids: Sequence[str]) -> tuple[CaseSet, ...]:
    """The sets with the named cases alone."""
    from dataclasses import replace  # noqa: PLC0415

    known = {case.id for cases in sets for case in cases.cases}
    for wanted in ids:
        if wanted not in known:
            near = tuple(name for name in sorted(known) if name.startswith(wanted[:4]))
            raise UnknownNameError("case", wanted, near or tuple(sorted(known))[:20])
    return tuple(
        replace(cases, cases=tuple(case for case in cases.cases if case.id in ids))
        for cases in sets
    )


def _distillers(
    names: list[str] | None,
    prompt: str | None,
    model: str | None,
    language: str | None,
    conversation_bytes: int | None,
) -> tuple[NamedDistiller, ...]:
    from wsmem.evals.distillation.distillers import distillers_named  # noqa: PLC0415

    return tuple(
        distiller
        for name in dict.fromkeys(names or ["rules"])
        for distiller in distillers_named(
            name,
            prompt=prompt,
            model=model,
            language=language,
            conversation_bytes=conversation_bytes,
        )
    )


def _split(name: str) -> Choice:
    from wsmem.evals.distillation.evaluation import CHOICES  # noqa: PLC0415  slow to import

    known = {choice: choice for choice in CHOICES}
    if name not in known:
        raise UnknownNameError("split", name, tuple(known))
    return known[name]


def _contestant(name: str, dataset: list[str] | None, split: str, seed: int) -> Contestant:
    """Of a saved run, or evaluated now."""
    from wsmem.evals.distillation.comparing import Contestant  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.distillers import distillers_named  # noqa: PLC0415
    from wsmem.evals.distillation.evaluation import evaluate_distiller  # noqa: PLC0415
    from wsmem.evals.distillation.run import DistillRun  # noqa: PLC0415

    spec, _, chosen = name.partition("::")
    if Path(spec).is_dir():
        return Contestant.of_run(DistillRun.load(Path(spec)), chosen or None)
    found = distillers_named(spec)
    named = [distiller for distiller in found if chosen in {"", distiller.name}]
    if len(named) != 1:
        known = tuple(distiller.name for distiller in found)
        raise UnknownNameError("distiller", chosen or spec, known, f"write {spec}::NAME")
    results = [
        evaluate_distiller(cases, named[0], split=_split(split), seed=seed)
        for cases in _sets(dataset)
    ]
    return Contestant.of_results(results)


def _tried(cases: CaseSet, distiller: NamedDistiller, split: str) -> list[SideBySide]:
    from wsmem.evals.distillation.evaluation import chosen_cases  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.execution import carry_out  # noqa: PLC0415
    from wsmem.evals.distillation.judging import judge  # noqa: PLC0415
    from wsmem.evals.distillation.side_by_side import SideBySide  # noqa: PLC0415
    from wsmem.evals.distillation.stored import stored_case, stored_judgement  # noqa: PLC0415

    trials = carry_out(chosen_cases(cases, _split(split)), distiller.ask)
    for missing in trials.unrecorded:
        note(f"{missing}: no recorded answer of {distiller.name}")
    return [
        SideBySide.of(stored_case(item), stored_judgement(item, ()), distiller=distiller.name)
        for item in map(judge, trials.done)
    ]
