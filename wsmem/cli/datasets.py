"""`wsmem datasets list` and `check`: which labelled sets there are, and what is wrong with them."""

# Annotations are read by Typer when a command is registered, so they are not postponed here.

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wsmem.cli.dataset_making import add_making
from wsmem.cli.output import count, say, say_json
from wsmem.cli.places import AsJson
from wsmem.cli.sets import Data, DatasetsDir, known_sets
from wsmem.cli.tables import print_table
from wsmem.errors import WsmemError

if TYPE_CHECKING:
    from wsmem.evals.catalogue import Source
    from wsmem.evals.dataset import Problem


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    datasets = typer.Typer(help="Labelled sets: what there is, what is wrong with it, new ones.")
    datasets.command("list", help="List the labelled sets that can be named.")(list_datasets)
    datasets.command("check", help="Look for faults; exit status 1 when there are errors.")(check)
    add_making(datasets)
    app.add_typer(datasets, name="datasets", no_args_is_help=True)


def list_datasets(
    data: Data = None, datasets_dir: DatasetsDir = None, as_object: AsJson = False
) -> None:
    """List what `find_datasets` finds, read or not."""
    rows = [_summary(source) for source in known_sets(data, datasets_dir).values()]
    if as_object:
        from wsmem.evals.run_folder import strict_json  # noqa: PLC0415  slow to import

        print(strict_json({"datasets": rows}))
        return
    columns = ("name", "language", "documents", "queries", "unanswerable", "scopes", "licence")
    lines = [
        (row["name"], "cannot be read, see: wsmem datasets check")
        if "error" in row
        else tuple(str(row[column]) for column in columns)
        for row in rows
    ]
    print_table(columns, lines, left=(0, 1, len(columns) - 1))


def check(
    dataset: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|PATH]...", help="Default: all there are.")
    ] = None,
    *,
    data: Data = None,
    datasets_dir: DatasetsDir = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_object: AsJson = False,
) -> None:
    """Print every problem with its file and line; warnings are what may be meant."""
    from wsmem.evals.catalogue import choose  # noqa: PLC0415  slow to import
    from wsmem.evals.checking import check_dataset  # noqa: PLC0415

    found: dict[str, list[Problem]] = {}
    for source in choose(dataset or (), known_sets(data, datasets_dir)):
        problems = found[source.name] = check_dataset(source.path)
        if as_object:
            continue
        for problem in problems:
            say(f"{'warning: ' if problem.severity == 'warning' else ''}{problem}")
        say(f"{source.name}: {_verdict(problems)}")
    if as_object:
        say_json({"datasets": {name: [_fields(p) for p in rows] for name, rows in found.items()}})
    if any(strict or p.severity == "error" for problems in found.values() for p in problems):
        raise typer.Exit(1)


def _summary(source: "Source") -> dict[str, Any]:
    from wsmem.evals.reading import load_dataset  # noqa: PLC0415  slow to import

    named = {"name": source.name, "path": str(source.path)}
    try:
        dataset = load_dataset(source.path, name=source.name)
    except WsmemError as error:
        return named | {"error": str(error)}
    languages = sorted({query.lang for query in dataset.queries if query.lang})
    return named | {
        "language": ", ".join(languages),
        "documents": len(dataset.documents),
        "queries": len(dataset.queries),
        "unanswerable": sum(not query.answerable for query in dataset.queries),
        "scopes": len({doc.scope for doc in dataset.documents if doc.scope is not None}),
        "licence": dataset.card.licence if dataset.card else "see SOURCE.md",
    }


def _verdict(problems: "list[Problem]") -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    said = [count(errors, "problem")] if errors else []
    said += [count(warnings, "warning")] if warnings else []
    return ", ".join(said) or "no problems"


def _fields(problem: "Problem") -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "kind": problem.kind,
        "file": str(problem.path),
        "line": problem.line,
        "problem": problem.text,
        "remedy": problem.remedy,
    }
