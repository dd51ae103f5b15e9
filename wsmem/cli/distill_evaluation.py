"""`wsmem distill eval`, `compare`, `show` and `report`: how good distillers are, offline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import count, note, say
from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from wsmem.evals.distillation.cases import CaseSet
    from wsmem.evals.distillation.comparing import Contest, Contestant
    from wsmem.evals.distillation.evaluation import Choice, DistillEvaluation, NamedDistiller
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
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the intervals.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_WIDEST = 1000
"""Columns that no table reaches."""
_SHOWN_WIDTH = 120
"""Columns of a case side by side, where the terminal does not say."""


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
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep the run in this folder.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Evaluate, print the board, and keep the run if a folder was named."""
    from wsmem.evals.distillation.evaluation import DistillPlan  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.evaluation import evaluate as carry_out  # noqa: PLC0415
    from wsmem.evals.distillation.run import claim, write_run  # noqa: PLC0415

    plan = DistillPlan(
        sets=_sets(dataset),
        distillers=_distillers(distiller, prompt, model, language, conversation_bytes),
        split=_split(split),
        seed=seed,
    )
    if out is not None:
        claim(Path(out))
    evaluation = carry_out(plan)
    if out is not None:
        write_run(evaluation, Path(out))
    _print_board(evaluation, as_json=as_json)
    for item in evaluation.skipped:
        named = f": {', '.join(item.cases)}" if item.cases else ""
        note(f"not scored: {item.distiller} on {item.dataset}: {item.reason}{named}")
    note(f"run kept in {out}" if out else "run not kept; --out DIR keeps it")
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
    alpha: Annotated[
        float, typer.Option(metavar="P", help="Chance of any false verdict among all.")
    ] = 0.005,
    margin: Annotated[
        float, typer.Option(metavar="D", help="Differences up to this are no verdict.")
    ] = 0.0,
    dataset: Datasets = None,
    split: Split = "default",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Compare two distillers on the cases both have."""
    from wsmem.evals.distillation.comparing import GROUPINGS, contest  # noqa: PLC0415  slow to import
    from wsmem.evals.run import strict_json  # noqa: PLC0415

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
    _print_contest(found, alpha)


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

        from wsmem.evals.run import strict_json  # noqa: PLC0415

        print(strict_json({"cases": [asdict(view) for view in views]}))
        return
    for view in views:
        _print_case(view)
    if failures:
        note(f"{count(len(views), 'case')} with a fault")


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A folder that distill eval wrote.")],
    *,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to write it. Default: RUN/report.html."),
    ] = None,
) -> None:
    """Write a report and print its path."""
    from wsmem.evals.distillation.page import write_report  # noqa: PLC0415  slow to import
    from wsmem.evals.distillation.run import DistillRun  # noqa: PLC0415

    print(write_report(DistillRun.load(Path(run)), None if out is None else Path(out)))


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
    from wsmem.evals.distillation.evaluation import evaluate_distiller  # noqa: PLC0415
    from wsmem.evals.distillation.run import DistillRun  # noqa: PLC0415

    spec, _, chosen = name.partition("::")
    if Path(spec).is_dir():
        return Contestant.of_run(DistillRun.load(Path(spec)), chosen or None)
    found = _distillers([spec], None, None, None, None)
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


def _print_board(evaluation: DistillEvaluation, *, as_json: bool) -> None:
    from wsmem.evals.run import strict_json  # noqa: PLC0415  slow to import

    if as_json:
        rows = [row.to_json() for row in evaluation.rows]
        skipped = [item.to_json() for item in evaluation.skipped]
        print(strict_json({"rows": rows, "skipped": skipped}))
        return
    if not evaluation.results:
        return
    from rich.table import Table  # noqa: PLC0415

    from wsmem.evals.distillation.board import WHOLE  # noqa: PLC0415
    from wsmem.evals.distillation.measures import HEADLINE  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    for column in ("dataset", "distiller", "cases"):
        table.add_column(column, justify="right" if column == "cases" else "left", no_wrap=True)
    for name in HEADLINE:
        table.add_column(name, justify="right", no_wrap=True)
    for result in evaluation.results:
        found = {row.measure: row.interval for row in result.rows if row.slice == WHOLE}
        cells = (_figure(found[name].value, found[name].n) for name in HEADLINE)
        table.add_row(result.dataset, result.distiller, str(len(result.judgements)), *cells)
    _print_table(table)
    note("in brackets: what a figure is a share of; --json or a report has all, with intervals")


def _figure(value: float | None, n: int) -> str:
    return "–" if value is None else f"{value:.3f} ({n})"


def _print_contest(found: Contest, alpha: float) -> None:
    from rich.table import Table  # noqa: PLC0415  slow to import

    say(
        f"A  {found.first}",
        f"B  {found.second}",
        f"{count(found.cases, 'shared case')}, {found.left_out} left out",
        "",
    )
    columns = (
        "measure", "A", "B", "B - A", "95 %", "p (Holm)", "would see", "better", "worse", "B is",
    )  # fmt: skip
    table = Table(box=None, pad_edge=False)
    for column in columns:
        left = column in {"measure", "B is"}
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in found.comparisons:
        bounds = "–" if row.low is None or row.high is None else f"{row.low:+.3f} {row.high:+.3f}"
        table.add_row(
            row.name,
            _number(row.first),
            _number(row.second),
            _number(row.difference, signed=True),
            bounds,
            _number(row.adjusted, digits=4),
            _number(row.detectable),
            str(row.better),
            str(row.worse),
            row.verdict,
        )
    _print_table(table)
    note(
        f"verdicts: paired randomisation over cases, at most {alpha:g} chance of any false one; "
        "'would see' is the smallest difference that 80 % of such comparisons would find"
    )


def _number(value: float | None, *, digits: int = 3, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def _print_case(view: SideBySide) -> None:
    """A case: what was said and held, then expectation and proposal beside each other."""
    from rich.console import Console  # noqa: PLC0415  slow to import
    from rich.table import Table  # noqa: PLC0415

    terminal = Console()
    console = Console(
        highlight=False,
        markup=False,
        width=terminal.width if terminal.is_terminal else _SHOWN_WIDTH,
    )
    say(f"══ {view.case} · {view.distiller} · {', '.join(view.slices)} · {view.scope}")
    for identifier, role, text in view.messages:
        say(f"  {identifier} {role}: {text}")
    for identifier, kind, text in view.existing:
        say(f"  held {identifier} ({kind}): {text}")
    if view.note:
        say(f"  note: {view.note}")
    if view.failure:
        say(f"  no answer: {view.failure}")
    table = Table(show_lines=True, expand=True)
    for column in ("expected", "proposed", "what became of it"):
        table.add_column(column, ratio=1, overflow="fold")
    for line in view.lines:
        wanted, given = line.wanted, line.given
        table.add_row(
            "–" if wanted is None else _column(wanted.heading, wanted.text, wanted.required),
            "–" if given is None else _column(f"#{given.number} {given.heading}", given.text,
                                              given.quotes),
            line.verdict if given is None else _column(line.verdict, f"{given.effect}: "
                                                       f"{given.reason}", ()),
        )  # fmt: skip
    if view.lines:
        with console.capture() as captured:
            console.print(table)
        say(captured.get().rstrip("\n"))
    else:
        say("  nothing expected, nothing proposed")
    for query, wanted_first, said in view.answers:
        say(f"  asked {query!r} (wanted: {wanted_first}): {said}")
    say(*(f"  ✗ {fault}" for fault in view.faults) if view.faults else ("  ✓ right",), "")


def _column(heading: str, text: str, further: Sequence[str]) -> str:
    return "\n".join([heading, text, *(f"· {item}" for item in further)])


def _print_table(table: Table) -> None:
    """Print a table whole: a terminal may wrap its lines, but no cell is cut short."""
    from rich.console import Console  # noqa: PLC0415  slow to import

    console = Console(highlight=False, width=_WIDEST)
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().splitlines())
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
