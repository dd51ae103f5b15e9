"""`wsmem label`: judge pooled results in the terminal, and see what the judgements are worth."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.output import as_json, count, note, say, say_json
from wsmem.cli.places import AsJson
from wsmem.cli.tables import print_table
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from wsmem.evals.labelling.folder import LabellingFolder

ME = "me"
"""Who labels unless somebody says otherwise."""


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("label", help="Judge which entries answer which queries, blind and resumable.")(
        label
    )


def label(
    dataset: Annotated[
        str, typer.Argument(metavar="DIR", help="Made by datasets from-store or datasets pool.")
    ],
    *,
    judge: Annotated[str, typer.Option(metavar="NAME", help="Who labels.")] = ME,
    share: Annotated[
        float,
        typer.Option(metavar="PART", help="Part of the queries, the same for every labeller."),
    ] = 1.0,
    settle: Annotated[
        bool, typer.Option("--settle", help="Judge only what labellers disagree about.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Show how far labellers agree; judge nothing.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show how thin the labels are; judge nothing.")
    ] = False,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --status: a system; repeatable."),
    ] = None,
    as_object: AsJson = False,
) -> None:
    """Ask for judgements, or show what those given so far are worth."""
    from wsmem.evals.labelling.folder import open_folder  # noqa: PLC0415  slow to import

    if not 0 < share <= 1:
        raise InvalidInputError(f"--share is above 0 and at most 1, not {share}")
    if sum([settle, agreement, status]) > 1:
        raise InvalidInputError("--settle, --agreement and --status exclude each other")
    folder = open_folder(Path(dataset))
    if agreement:
        _show_agreement(folder, as_object=as_object)
    elif status:
        _show_status(folder, system or [], as_object=as_object)
    elif as_object:
        raise InvalidInputError("--json needs --agreement or --status: a session is a conversation")
    else:
        _session(folder, judge, share=share, settle=settle)


def _session(folder: "LabellingFolder", judge: str, *, share: float, settle: bool) -> None:
    from filelock import FileLock, Timeout  # noqa: PLC0415  slow to import

    from wsmem.evals.labelling.folder import PUBLISHED, SETTLED  # noqa: PLC0415
    from wsmem.evals.labelling.judgements import ledger_path  # noqa: PLC0415

    if judge in {PUBLISHED, SETTLED}:
        raise InvalidInputError(f"{judge!r} is not a labeller's name here; choose another")
    name = SETTLED if settle else judge
    path = ledger_path(folder.path, name)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        with FileLock(path.with_suffix(".lock"), timeout=0):
            _judge(folder, name, share=share, settle=settle)
    except Timeout as error:
        raise InvalidInputError(
            f"{name} is labelling here in another session; nothing was changed"
        ) from error


def _judge(folder: "LabellingFolder", name: str, *, share: float, settle: bool) -> None:
    from wsmem.evals.labelling.session import Session, work_list  # noqa: PLC0415  slow to import
    from wsmem.evals.labelling.settling import compile_labels, verdicts  # noqa: PLC0415

    ledger = folder.ledger(name)
    disputed = verdicts(folder).disputed if settle else ()
    pairs = [] if settle and not disputed else work_list(folder, ledger, share=share, only=disputed)
    if pairs:
        say(f"{count(len(pairs), 'pair')} to judge; ? shows what can be answered")
    report = Session(folder, ledger, pairs, ask=_ask, show=say).run()
    compiled = compile_labels(folder)
    say(
        "",
        f"{count(report.judged, 'judgement')} in this session, {report.left} left"
        + (f" ({report.skipped} put off)" if report.skipped else ""),
        f"{compiled.judged} of {count(compiled.pairs, 'pair')} have a label; "
        f"{count(compiled.unanswerable, 'query', 'queries')} without an answer, "
        f"{compiled.unfinished} unfinished",
    )
    if compiled.disputed:
        note(
            f"{count(compiled.disputed, 'pair')} disputed: no label until "
            f"wsmem label {folder.path} --settle"
        )


def _ask(prompt: str) -> str | None:
    """One line of an answer; nothing more when input ends or the labeller breaks off."""
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        say("")
        return None


def _show_agreement(folder: "LabellingFolder", *, as_object: bool) -> None:
    from wsmem.evals.labelling.agreement import agreements  # noqa: PLC0415  slow to import
    from wsmem.evals.labelling.folder import SETTLED  # noqa: PLC0415

    ledgers = folder.ledgers()
    names = sorted(name for name in ledgers if name != SETTLED)
    found = {
        (first, second): agreements(ledgers[first].grades, ledgers[second].grades, folder.queries)
        for first, second in combinations(names, 2)
    }
    if as_object:
        said = [
            {"judges": list(pair), "rows": [as_json(row) for row in rows]}
            for pair, rows in found.items()
        ]
        say_json({"agreement": said})
        return
    if not any(found.values()):
        say("no pair was judged by two labellers yet")
        return
    for pair, rows in found.items():
        if rows:
            say(f"{pair[0]} and {pair[1]}, Cohen's kappa (95 % interval over queries):")
            columns = ("slice", "pairs", "queries", "same", "kappa", "interval", "linear", "quadr.")
            lines = [
                (
                    row.slice,
                    str(row.pairs),
                    str(row.queries),
                    f"{row.agreed:.2f}",
                    _figure(row.kappa),
                    "-" if row.low is None else f"{row.low:.2f}..{row.high:.2f}",
                    _figure(row.linear),
                    _figure(row.quadratic),
                )
                for row in rows
            ]
            print_table(columns, lines, left=(0,))


def _show_status(folder: "LabellingFolder", systems: list[str], *, as_object: bool) -> None:
    from wsmem.evals.labelling.judgements import PairKey  # noqa: PLC0415  slow to import
    from wsmem.evals.labelling.settling import compile_labels  # noqa: PLC0415
    from wsmem.evals.labelling.thinness import thinness  # noqa: PLC0415

    compiled = compile_labels(folder)
    pairs = [PairKey(q, d) for q, documents in folder.pool.items() for d in documents]
    done = {
        name: sum(pair in ledger.grades for pair in pairs)
        for name, ledger in folder.ledgers().items()
    }
    rows = thinness(folder.path, systems=systems)
    if as_object:
        said: dict[str, Any] = as_json(compiled) | {"judges": done}
        say_json(said | {"systems": [as_json(row) for row in rows]})
        return
    for name, judged in done.items():
        say(f"{name}: {judged} of {count(len(pairs), 'pair')}")
    say(
        f"labels: {compiled.labels}, disputed: {compiled.disputed}, "
        f"without an answer: {compiled.unanswerable}, unfinished: {compiled.unfinished}"
    )
    columns = ("system", "Judged@10", "unjudged", "Bpref", "nDCG@10", "queries")
    lines = [
        (
            row.system,
            _figure(row.judged),
            _figure(row.unjudged),
            _figure(row.bpref),
            _figure(row.ndcg),
            str(row.queries),
        )
        for row in rows
    ]
    print_table(columns, lines, left=(0,))


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
