"""Recompute how far the two labellers of the labelled sets agree, from the files that come along.

    python benchmarks/label_agreement.py                      # the sets under datasets/
    python benchmarks/label_agreement.py --slices FOLDER ...  # and slice by slice

`wsmem.evals.labelling.second_reading` says what `second_labels.jsonl` holds and what is measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.errors import WsmemError
from wsmem.evals.labelling.second_reading import (
    FILE,
    agreement,
    by_slice,
    in_words,
    read_judged,
    settled,
    tables_of,
)
from wsmem.evals.reading import read_folder

if TYPE_CHECKING:
    from wsmem.evals.labelling.second_reading import Row

SETS = Path(__file__).resolve().parents[1] / "datasets"


def report(folder: Path, *, slices: bool) -> list[str]:
    """The lines printed for one set.

    Raises:
        DatasetError: the set cannot be read.
    """
    judged = read_judged(folder)
    contents, problems = read_folder(folder)
    for problem in problems:
        if problem.fatal:
            raise problem.error()
    labels = {
        (query, document): grade
        for split in contents.labels.values()
        for query, grades in split.items()
        for document, grade in grades.items()
    }
    tables = tables_of(judged)
    rows = [agreement(folder.name, list(tables.values()))]
    rows += by_slice(tables, contents.queries) if slices else []
    outcome = settled(judged, labels)
    return [
        f"{folder.name}: {in_words(rows[0], outcome)}",
        *(f"  {_line(row)}" for row in rows[1:]),
    ]


def _line(row: Row) -> str:
    return (
        f"{row.name}: {row.pairs} pairs of {row.queries} queries, same grade {row.agreed:.1%}, "
        f"kappa {row.plain}, quadratic {row.quadratic}, relevant or not {row.binary}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the agreement of the sets named, or of all that come along; 2 when one is unusable."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="a labelled set")
    parser.add_argument("--slices", action="store_true", help="list slices as well")
    options = parser.parse_args(arguments)
    folders = options.folders or sorted(path.parent for path in SETS.glob(f"*/{FILE}"))
    try:
        for folder in folders:
            print("\n".join(report(folder, slices=options.slices)))
    except WsmemError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
