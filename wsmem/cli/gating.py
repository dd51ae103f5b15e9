"""`wsmem gate` and `wsmem compare`: whether ranking got worse, and which of two is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.gate_printing import (
    SHOWN,
    language_of,
    print_contest,
    print_end,
    print_evidence,
    print_ranking,
    print_update,
    print_work,
)
from wsmem.cli.sets import (
    ALPHA,
    Alpha,
    AsJson,
    Data,
    DatasetsDir,
    Jobs,
    Margin,
    known_sets,
)
from wsmem.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from wsmem.cli.gate_printing import Language
    from wsmem.evals.catalogue import Source
    from wsmem.evals.contestants import Contestant
    from wsmem.evals.gate.judging import RankingVerdict
    from wsmem.evals.gate.work_baseline import WorkVerdict


_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "baselines"
_PARTS = ("ranking", "work")
LOST, UNPROVEN = 1, 3
"""How the gate ends beside 0, and 2 for what cannot be judged: something was lost; or nothing was,
and what ships is not what the committed evidence is about."""


Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The ranking's baseline. Default: ranking.json in benchmarks/baselines.",
    ),
]
Work = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="That of counted work. Default: work.json beside the other."),
]
OnlyPart = Annotated[
    str | None, typer.Option(metavar="ranking|work", help="Judge one of them alone.")
]
Candidate = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Judge this profile in the place of `default`, by its figures alone."
    ),
]
Update = Annotated[
    bool,
    typer.Option(
        "--update",
        help="Write what is found as the new baseline, changed profiles included, unless a figure "
        "is lower.",
    ),
]
AcceptLower = Annotated[
    bool,
    typer.Option(
        "--accept-lower",
        help="With --update: also where it is lower, or the sets changed so that nobody can tell.",
    ),
]
Shown = Annotated[
    int, typer.Option("--show", metavar="N", min=0, help="How many queries are shown.")
]
Spoken = Annotated[
    str | None,
    typer.Option(
        "--language", metavar="zh|en", help="Language of the report. Default: the terminal's."
    ),
]
First = Annotated[
    str, typer.Argument(metavar="RUN[::SYSTEM]", help="A run folder: what is to be beaten.")
]
Second = Annotated[
    str | None,
    typer.Argument(metavar="RUN[::SYSTEM]", help="The run that is judged; the same if none."),
]
Systems = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="A B", help="The two systems, instead of naming them behind ::."),
]
Measure = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A measure; repeatable. Default: nDCG@10, FalseRecall."),
]
Grouping = Annotated[
    str,
    typer.Option(metavar="all|dataset|slice", help="How far the comparison is taken apart."),
]
SwapUnit = Annotated[
    str,
    typer.Option(
        metavar="auto|scope|answer|query",
        help="What is swapped as one: workspaces, where there are enough of them.",
    ),
]
SwapSeed = Annotated[int, typer.Option(metavar="S", help="Of sampled swaps and intervals.")]


_HELP = """Fail if ranking got worse than a committed baseline, or ships without evidence.

Ends with 0 where all is well; 1 where something was lost, surely and by more than the margin; 3
where nothing was, but weights or terms are not those whose evidence is committed; 2 where it cannot
be judged.
"""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("gate", help=_HELP)(gate)
    app.command("compare", help="Say which of two systems is better, and how sure that is.")(
        compare
    )


def gate(
    *,
    baseline: Baseline = None,
    work: Work = None,
    only: OnlyPart = None,
    profile: Candidate = None,
    update: Update = False,
    accept_lower: AcceptLower = False,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    jobs: Jobs = 1,
    shown: Shown = SHOWN,
    language: Spoken = None,
    as_json: AsJson = False,
) -> None:
    """Judge, print, and end as `_HELP` says."""
    if only is not None and only not in _PARTS:
        raise UnknownNameError("part of the gate", only, _PARTS)
    if accept_lower and not update:
        raise InvalidInputError("--accept-lower allows --update something; nothing is updated")
    if profile and (update or only == "work"):
        raise InvalidInputError("--profile tries a ranking; it updates nothing and counts no work")
    spoken = language_of(language)
    ranking_path = Path(baseline) if baseline else _FOLDER / "ranking.json"
    work_path = Path(work) if work else ranking_path.with_name("work.json")
    known = known_sets(data, datasets_dir)
    if update:
        status = _update(ranking_path, work_path, only, known, jobs=jobs, accept_lower=accept_lower)
        raise typer.Exit(status)
    ranking = _ranking(ranking_path, known, jobs, profile) if only != "work" else None
    if ranking and not as_json:
        print_ranking(ranking, str(baseline or ranking_path.name), spoken, shown=shown)
    counted = _work(work_path) if only != "ranking" and not profile else None
    if counted and not as_json:
        print_work(counted, spoken)
    raise typer.Exit(_end(ranking, counted, spoken, as_json=as_json))


def _end(
    ranking: RankingVerdict | None,
    counted: WorkVerdict | None,
    language: Language,
    *,
    as_json: bool,
) -> int:
    """Say the verdict; the status to end with."""
    lost = bool((ranking and ranking.losses) or (counted and counted.grown))
    unproven = bool(ranking and ranking.unproven)
    status = LOST if lost else UNPROVEN if unproven else 0
    if as_json:
        verdicts = {"ranking": ranking, "work": counted}
        parts = {name: verdict.to_json() for name, verdict in verdicts.items() if verdict}
        _print_json({"passed": not status, "status": status} | parts)
        return status
    if ranking and unproven:
        print_evidence(ranking, language)
    print_end(language, lost=lost, unproven=unproven)
    return status


def compare(
    first: First,
    second: Second = None,
    *,
    systems: Systems = None,
    measure: Measure = None,
    by: Grouping = "dataset",
    unit: SwapUnit = "auto",
    alpha: Alpha = ALPHA,
    margin: Margin = 0.0,
    seed: SwapSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two systems of saved runs on the queries both have."""
    from wsmem.evals.comparing import (  # noqa: PLC0415  slow to import
        GROUPINGS,
        HEADLINE,
        UNITS,
        contest,
    )

    if by not in GROUPINGS:
        raise UnknownNameError("grouping", by, tuple(GROUPINGS))
    if unit not in UNITS:
        raise UnknownNameError("unit", unit, tuple(UNITS))
    named = systems or (None, None)
    found = contest(
        _contestant(first, named[0]),
        _contestant(second or first.partition("::")[0], named[1]),
        measures=measure or HEADLINE,
        by=GROUPINGS[by],
        unit=UNITS[unit],
        alpha=alpha,
        margin=margin,
        seed=seed,
    )
    if as_json:
        _print_json(found.to_json())
    else:
        print_contest(found, alpha)


def _contestant(text: str, system: str | None) -> Contestant:
    from wsmem.evals.contestants import Contestant  # noqa: PLC0415  slow to import
    from wsmem.evals.run import Run  # noqa: PLC0415

    folder, _, named = text.partition("::")
    if named and system and named != system:
        raise InvalidInputError(f"{text} and --systems name different systems; give one of them")
    return Contestant.of_run(Run.load(Path(folder)), named or system)


def _ranking(
    path: Path, known: dict[str, Source], jobs: int, profile: str | None
) -> RankingVerdict:
    from wsmem.evals.gate.checking import (  # noqa: PLC0415  slow to import
        check_extent,
        check_queries,
        check_sets,
    )
    from wsmem.evals.gate.evidence import study_departures  # noqa: PLC0415
    from wsmem.evals.gate.judging import judge_ranking  # noqa: PLC0415
    from wsmem.evals.gate.record import read_record  # noqa: PLC0415
    from wsmem.evals.gate.running import fresh_run_of  # noqa: PLC0415
    from wsmem.evals.gate.trying import candidate_system, judge_candidate  # noqa: PLC0415

    stored = read_record(path)
    check_extent(stored, known, path)
    sources = check_sets(stored, known, path)
    candidate = candidate_system(profile) if profile else None
    fresh = fresh_run_of(stored, sources, system=candidate, jobs=jobs)
    check_queries(stored, fresh, path)
    if candidate:
        return judge_candidate(stored, fresh)
    return judge_ranking(stored, fresh, claims=study_departures())


def _work(path: Path) -> WorkVerdict:
    from wsmem.evals.gate.work import count_work  # noqa: PLC0415  slow to import
    from wsmem.evals.gate.work_baseline import judge_work, read_work  # noqa: PLC0415

    stored = read_work(path)
    return judge_work(stored, count_work(), path)


def _update(
    ranking: Path,
    work: Path,
    only: str | None,
    known: dict[str, Source],
    *,
    jobs: int,
    accept_lower: bool,
) -> int:
    """Write new baselines; the status to end with."""
    from wsmem.evals.gate.evidence import study_departures  # noqa: PLC0415  slow to import
    from wsmem.evals.gate.updating import update_ranking, update_work  # noqa: PLC0415

    written = True
    claims = study_departures() if only != "work" else ()
    if only != "work":
        found = update_ranking(ranking, known, jobs=jobs, accept_lower=accept_lower)
        print_update(ranking.name, found, claims)
        written &= found.written
    if only != "ranking":
        found = update_work(work, accept_lower=accept_lower)
        print_update(work.name, found)
        written &= found.written
    return LOST if not written else UNPROVEN if claims else 0


def _print_json(value: dict[str, Any]) -> None:
    from wsmem.evals.run_folder import strict_json  # noqa: PLC0415  slow to import

    print(strict_json(value))
