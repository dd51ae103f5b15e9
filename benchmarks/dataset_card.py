"""Bring the counts and checksums of dataset cards up to date after their files were edited.

    python benchmarks/dataset_card.py datasets/*/card.json           # rewrite what is out of date
    python benchmarks/dataset_card.py --check datasets/*/card.json   # only say so, exit status 1

The prose of a card stays as it was written. What follows from the files is computed: the name, the
languages of the queries or conversations, the checksums, and the count that opens each line of
`slices` and `splits`. A slice or split that the card does not describe yet is an error.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wsmem.errors import DatasetError, WsmemError
from wsmem.evals.card import checksums
from wsmem.evals.distillation.cases import is_case_set, load_case_set
from wsmem.evals.reading import queries_of_split, read_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.evals.card import Card
    from wsmem.evals.distillation.cases import Case
    from wsmem.evals.reading import Folder

_COUNT = re.compile(r"^\d[^:]*: ")
"""The computed opening of a line, as it was written last time."""


class Counted(NamedTuple):
    """What the files of a set say about the lines of its card."""

    card: Card | None
    languages: list[str]
    slices: dict[str, str]
    """How much each slice holds, in words."""
    splits: dict[str, str]


def refreshed(path: Path) -> str:
    """The text of a card as it should be, from the card and the files beside it.

    Raises:
        DatasetError: the set cannot be read, or has a slice or split the card says nothing about.
    """
    folder = path.parent
    counted = _count_cases(folder) if is_case_set(folder) else _count_queries(folder)
    if counted.card is None:
        raise DatasetError(str(path), None, "there is no card", "write one, see wsmem.evals.card")
    card = counted.card.model_dump(mode="json", exclude_unset=True) | {
        "name": path.resolve().parent.name,
        "language": counted.languages,
        "checksums": checksums(folder),
        "slices": _lines(path, counted.card.slices, counted.slices),
        "splits": _lines(path, counted.card.splits, counted.splits),
    }
    return json.dumps(card, ensure_ascii=False, indent=2) + "\n"


def _count_queries(path: Path) -> Counted:
    """Of a labelled retrieval set."""
    folder, problems = read_folder(path)
    for problem in problems:
        raise problem.error()
    queries = folder.queries.values()
    slices = Counter(name for query in queries for name in query.slices)
    return Counted(
        card=folder.card,
        languages=sorted({query.lang for query in queries if query.lang}),
        slices={name: _plural(count) for name, count in slices.items()},
        splits={name: _split_size(folder, name) for name in folder.labels},
    )


def _count_cases(path: Path) -> Counted:
    """Of a set of cases for distillers."""
    found = load_case_set(path)
    by_slice = {
        name: [case for case in found.cases if name in case.slices]
        for name in dict.fromkeys(name for case in found.cases for name in case.slices)
    }
    by_split = {
        name: found.of_split(name) for name in dict.fromkeys(case.split for case in found.cases)
    }
    return Counted(
        card=found.card,
        languages=sorted({case.language for case in found.cases}),
        slices={name: f"{len(cases)} cases" for name, cases in by_slice.items()},
        splits={name: _cases_size(cases) for name, cases in by_split.items()},
    )


def _cases_size(cases: Sequence[Case]) -> str:
    """How many cases, how many of them ask for nothing, and the operations the others ask for."""
    kinds = Counter(operation.op for case in cases for operation in case.expected)
    nothing = sum(not case.expected for case in cases)
    operations = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{len(cases)} cases, {nothing} of them with nothing to keep, {operations}"


def _split_size(folder: Folder, split: str) -> str:
    """How much a split holds, in words; entries are those its queries search."""
    queries = queries_of_split(folder, split)
    unanswerable = sum(not query.answerable for query in queries)
    grades = [grade for labels in folder.labels[split].values() for grade in labels.values()]
    scopes = {query.scope for query in queries}
    entries = [item for item in folder.documents.values() if item.scope in scopes]
    return (
        f"{_plural(len(queries))}, {unanswerable} of them without an answer, "
        f"{sum(map(bool, grades))} labels and {grades.count(0)} pairs judged not relevant, "
        f"{len(entries)} entries in {len(scopes)} workspaces"
    )


def _plural(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


def _lines(path: Path, prose: Mapping[str, str], counts: Mapping[str, str]) -> dict[str, str]:
    """Each described name with its count before the words, in the card's order."""
    unknown = sorted(set(counts) - set(prose))
    if unknown:
        what = f"the card says nothing about {', '.join(unknown)}"
        raise DatasetError(str(path), None, what, "add a line that says what it tests")
    return {
        name: f"{counts[name]}: {_COUNT.sub('', text)}"
        for name, text in prose.items()
        if name in counts
    }


def main(arguments: list[str] | None = None) -> int:
    """Refresh or check the cards named on the command line; 1 when one was out of date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cards", nargs="+", type=Path, metavar="CARD", help="path of a card.json")
    parser.add_argument("--check", action="store_true", help="change nothing, report stale cards")
    options = parser.parse_args(arguments)
    stale = 0
    for path in options.cards:
        try:
            text = refreshed(path)
        except WsmemError as error:
            print(error, file=sys.stderr)
            return 2
        if text == path.read_text(encoding="utf-8"):
            print(f"{path}: up to date")
            continue
        stale += 1
        if options.check:
            print(f"{path}: out of date, run {Path(__file__).name} without --check")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path}: rewritten")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
