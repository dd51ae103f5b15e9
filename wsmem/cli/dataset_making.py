"""`wsmem datasets sources`, `import`, `from-store`, `pool` and `export`: new labelled sets."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wsmem.cli.output import as_json, count, note, say, say_json
from wsmem.cli.places import AsJson
from wsmem.cli.sets import Data, DatasetsDir, Split, known_sets
from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from wsmem.evals.importers.writing import ImportReport
    from wsmem.evals.labelling.candidates import Candidate
    from wsmem.evals.labelling.export import ExportReport
    from wsmem.evals.labelling.making import MadeReport
    from wsmem.evals.labelling.pooling import Pooling

Out = Annotated[Path, typer.Option(metavar="DIR", help="The new folder; its name is the set's.")]
System = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A system whose results are pooled; repeatable."),
]
Depth = Annotated[
    int, typer.Option(metavar="N", min=1, help="How many results of each system are pooled.")
]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of samples and of the order shown.")]
Licence = Annotated[str | None, typer.Option(metavar="TEXT", help="Licence for the card.")]


def add_making(datasets: typer.Typer) -> None:
    """Add the commands of this module to `wsmem datasets`."""
    datasets.command("sources", help="List the public sets that can be imported.")(sources)
    datasets.command("import", help="Make a labelled set of a public one you downloaded.")(
        import_public
    )
    datasets.command("from-store", help="Make a set to be labelled from your own memory.")(
        from_own_store
    )
    datasets.command("pool", help="Make a set to be labelled again from a labelled one.")(pool)
    datasets.command("export", help="Take a set you labelled out of its private folder.")(
        export_labelled
    )


def sources(as_object: AsJson = False) -> None:
    """What can be imported, with its files, licence and options."""
    from wsmem.evals.importers.registry import SOURCES  # noqa: PLC0415  slow to import

    if as_object:
        rows = [
            {
                "name": source.name,
                "title": source.title,
                "files": source.files,
                "licence": source.licence,
                "source": source.source,
                "options": {
                    name: {"help": o.help, "choices": list(o.choices), "default": o.default}
                    for name, o in source.options.items()
                },
                "measures": source.measures,
            }
            for source in SOURCES.values()
        ]
        say_json({"sources": rows})
        return
    for source in SOURCES.values():
        say(f"{source.name}: {source.title} ({source.licence})", f"  files: {source.files}")
        for name, option in source.options.items():
            choices = f"; one of {', '.join(option.choices)}" if option.choices else ""
            default = f"; default {option.default}" if option.default else ""
            say(f"  option {name}: {option.help}{choices}{default}")


def import_public(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="As sources lists them.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What you downloaded.")],
    *,
    out: Out,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A choice of the source; repeatable."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the first N questions.")
    ] = None,
    licence: Licence = None,
    as_object: AsJson = False,
) -> None:
    """Convert a public set and say what was left out of it."""
    from wsmem.evals.importers.registry import source_named  # noqa: PLC0415  slow to import
    from wsmem.evals.importers.writing import import_source  # noqa: PLC0415

    report = import_source(
        source_named(source),
        [_existing(file) for file in files],
        out,
        options=_choices(option or []),
        limit=limit,
        licence=licence,
    )
    if as_object:
        _say_object(report)
        return
    say(f"{_sizes(report)} ({report.unanswerable} without an answer), {_labels(report)}")
    for why, number in report.left_out.items():
        note(f"left out: {number} {why}")
    note(f"measures to report: {source_named(source).measures}")


def from_own_store(
    *,
    memory_dir: Annotated[
        str, typer.Option(metavar="DIR", help="The store; it is read and never written.")
    ],
    out: Out,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY|DIR", help="A scope; repeatable. Default: all live ones."),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Further queries: lines, or .jsonl with query, scope."),
    ] = None,
    typed: Annotated[
        bool, typer.Option("--typed", help="Read further queries from standard input.")
    ] = False,
    messages: Annotated[
        bool, typer.Option(help="Whether what was said to the store's agents may be asked.")
    ] = True,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Most queries; a sample.")] = 200,
    system: System = None,
    depth: Depth = 10,
    seed: Seed = 0,
    as_object: AsJson = False,
) -> None:
    """Collect entries and queries, pool the results of several systems, and keep it private."""
    from wsmem.evals.labelling.candidates import query_file  # noqa: PLC0415  slow to import
    from wsmem.evals.labelling.sources import from_store  # noqa: PLC0415

    given: list[Candidate] = query_file(_existing(queries)) if queries else []
    report = from_store(
        Path(memory_dir),
        out,
        scopes=scope or (),
        further=[*given, *(_typed() if typed else ())],
        messages=messages,
        limit=limit,
        pooling=_pooling(system, depth, seed),
    )
    _say_made(report, as_object=as_object)


def pool(
    dataset: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A labelled set.")],
    *,
    out: Out,
    share: Annotated[
        float, typer.Option(metavar="PART", help="Part of the queries; 0.2 measures agreement.")
    ] = 1.0,
    split: Split = None,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    system: System = None,
    depth: Depth = 10,
    seed: Seed = 0,
    as_object: AsJson = False,
) -> None:
    """Pool results for a labelled set; its labels become those of the labeller `published`."""
    from wsmem.evals.catalogue import choose  # noqa: PLC0415  slow to import
    from wsmem.evals.labelling.relabelling import from_dataset  # noqa: PLC0415
    from wsmem.evals.reading import load_dataset  # noqa: PLC0415

    (source,) = choose([dataset], known_sets(data, datasets_dir))
    loaded = load_dataset(source.path, name=source.name, split=split)
    report = from_dataset(loaded, out, share=share, pooling=_pooling(system, depth, seed))
    _say_made(report, as_object=as_object)


def export_labelled(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A folder you labelled in.")],
    *,
    out: Out,
    pseudonymise: Annotated[
        bool, typer.Option("--pseudonymise", help="Replace names of people, hosts, folders.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A further name to replace; repeatable."),
    ] = None,
    licence: Licence = None,
    as_object: AsJson = False,
) -> None:
    """Write a set without pool, judgements and names of labellers."""
    from wsmem.evals.labelling.export import export  # noqa: PLC0415  slow to import

    report = export(
        Path(dataset), out, pseudonymise=pseudonymise, names=name or (), licence=licence
    )
    if as_object:
        _say_object(report)
        return
    say(f"{_sizes(report)}, {_labels(report)}")
    if pseudonymise:
        replaced = ", ".join(f"{number} {kind}" for kind, number in report.stand_ins.items())
        note(f"stand-ins for: {replaced or 'nothing, no name was found'}")
        note("read it before you give it away: a text can tell who is meant without a name")


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.exists():
        raise InvalidInputError(f"{name}: there is no such file; nothing was made")
    return path


def _choices(options: list[str]) -> dict[str, str]:
    chosen = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise InvalidInputError(f"--option {option}: write NAME=VALUE; nothing was imported")
        chosen[name.strip()] = value.strip()
    return chosen


def _typed() -> "list[Candidate]":
    """Queries from standard input, up to an empty line where somebody types."""
    from wsmem.evals.labelling.candidates import typed  # noqa: PLC0415  slow to import

    if not sys.stdin.isatty():
        return list(typed(sys.stdin))
    note("one query a line; an empty line ends")
    return list(typed(iter(lambda: sys.stdin.readline().strip(), "")))


def _pooling(systems: list[str] | None, depth: int, seed: int) -> "Pooling":
    from wsmem.evals.labelling.pooling import Pooling  # noqa: PLC0415  slow to import

    chosen = {"systems": tuple(systems)} if systems else {}
    return Pooling(depth=depth, seed=seed, **chosen)


def _say_made(report: "MadeReport", *, as_object: bool) -> None:
    if as_object:
        _say_object(report)
        return
    origins = ", ".join(f"{number} {origin}" for origin, number in report.origins.items())
    say(
        f"{_sizes(report)} ({origins}), {count(report.pairs, 'pair')} to judge",
        f"label it by: wsmem label {report.folder}",
    )
    for why, number in report.passed_over.items():
        note(f"passed over: {number} {why}")
    for name, reason in report.skipped_systems.items():
        note(f"skipped {name}: {reason}")


def _say_object(report: "MadeReport | ImportReport | ExportReport") -> None:
    say_json(as_json(report) | {"folder": str(report.folder)})


def _sizes(report: "MadeReport | ImportReport | ExportReport") -> str:
    documents, queries = count(report.documents, "document"), report.queries
    return f"{report.folder}: {documents}, {count(queries, 'query', 'queries')}"


def _labels(report: "ImportReport | ExportReport") -> str:
    return count(report.labels, "label")
