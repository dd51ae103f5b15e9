"""What labelled sets hold, as data frames: sizes, groups, depth of the labels, repeats, agreement.

Everything is counted from the files of the sets; nothing is ranked. Frames are in the order of the
sets given, then by name, so that equal files give equal frames.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from wsmem.evals.catalogue import find_datasets, own_folder
from wsmem.evals.checking import check_dataset
from wsmem.evals.extras import optional
from wsmem.evals.hygiene import GLOBAL_LAYER
from wsmem.evals.labelling.second_reading import agreement, read_judged, tables_of
from wsmem.evals.near_duplicates import JACCARD, near_duplicates
from wsmem.evals.reading import queries_of_split, read_folder
from wsmem.evals.slices import slices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from wsmem.evals.dataset import Document, Query
    from wsmem.evals.labelling.second_reading import Row
    from wsmem.evals.reading import Folder

    Sets = Mapping[str, Folder]

GRADES = (2, 1, 0)
ANSWERED, UNANSWERABLE = "answered", "nothing to find"


def read_sets(folders: Iterable[Path] | None = None) -> dict[str, Folder]:
    """The sets in the given folders with all their splits; our own when `None`.

    Raises:
        DatasetError: a folder holds no set, or a set has a fault with which a score would be wrong.
    """
    found: dict[str, Folder] = {}
    for name, source in find_datasets([own_folder()] if folders is None else folders).items():
        found[name], problems = read_folder(source.path)
        for problem in problems:
            if problem.fatal:
                raise problem.error()
    return found


def frame_of(rows: Sequence[Mapping[str, Any]], index: str | list[str]) -> pd.DataFrame:
    """Rows as a frame, some of their columns as its index; without rows, an empty one.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    columns = None if rows else [index] if isinstance(index, str) else index
    frame: pd.DataFrame = optional("pandas").DataFrame(list(rows), columns=columns)
    return frame.set_index(index)


def sets_frame(sets: Sets) -> pd.DataFrame:
    """One row a set and split: its workspaces, entries and queries, these by language.

    `of the user` counts entries that are copied into each workspace of a user; `unanswerable`
    counts queries that should recall nothing.
    """
    languages = sorted({query.lang for query in _queries(sets) if query.lang})
    rows = []
    for name, folder in sets.items():
        for split, queries in _splits(folder).items():
            scopes = {query.scope for query in queries}
            entries = [item for item in folder.documents.values() if item.scope in scopes]
            spoken = Counter(query.lang for query in queries)
            rows.append(
                {
                    "dataset": name,
                    "split": split,
                    "workspaces": len(scopes),
                    "entries": len(entries),
                    "of the user": sum(map(_is_global, entries)),
                    "queries": len(queries),
                    "unanswerable": sum(not query.answerable for query in queries),
                    **{language: spoken[language] for language in languages},
                }
            )
    return frame_of(rows, ["dataset", "split"])


def workspaces_frame(sets: Sets) -> pd.DataFrame:
    """One row a split and workspace, one column a set: `entries / queries`."""
    cells: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name, folder in sets.items():
        held = Counter(item.scope for item in folder.documents.values())
        for split, queries in _splits(folder).items():
            for scope, asked in Counter(query.scope for query in queries).items():
                cells[split, str(scope)][name] = f"{held[scope]} / {asked}"
    rows = [
        {"split": split, "workspace": scope} | {name: found.get(name, "–") for name in sets}
        for (split, scope), found in sorted(cells.items())
    ]
    return frame_of(rows, ["split", "workspace"])


def entries_frame(sets: Sets, fields: Sequence[str] = ("type", "status")) -> pd.DataFrame:
    """One row a metadata field and value, one column a set: how many entries have it."""
    rows = []
    for field in fields:
        counts = {
            name: Counter(str(item.metadata.get(field, "–")) for item in folder.documents.values())
            for name, folder in sets.items()
        }
        rows += [{"field": field} | row for row in _side_by_side(counts, "value")]
    return frame_of(rows, ["field", "value"])


def groups_frame(sets: Sets, dimension: str) -> pd.DataFrame:
    """One row a group of queries (`lang`, `kind` or `slice`), one column a set: how many queries.

    A query can be in several slices, and in one language and one kind.
    """
    counts = {
        name: Counter(group for query in folder.queries.values() for group in _in(query, dimension))
        for name, folder in sets.items()
    }
    return frame_of(_side_by_side(counts, dimension), dimension)


def depth_frame(sets: Sets) -> pd.DataFrame:
    """How deep the pools are: judged entries a query, and how many of each grade on average.

    Queries with an answer and those without stand apart: of the latter, every label is a 0.
    """
    rows = []
    for name, folder in sets.items():
        for answerable in (True, False):
            grades = [
                Counter(_labels(folder, query).values())
                for query in folder.queries.values()
                if query.answerable is answerable
            ]
            if grades:
                depth = [counts.total() for counts in grades]
                rows.append(
                    {
                        "dataset": name,
                        "queries": len(grades),
                        "kind": ANSWERED if answerable else UNANSWERABLE,
                        "least": min(depth),
                        "median": median(depth),
                        "most": max(depth),
                        **{
                            f"grade {grade}": round(mean(counts[grade] for counts in grades), 2)
                            for grade in GRADES
                        },
                    }
                )
    return frame_of(rows, ["dataset", "kind"])


def repeats_frame(sets: Sets, thresholds: Sequence[float] = (JACCARD, 0.6)) -> pd.DataFrame:
    """Pairs of queries and of entries that are alike, over whole sets, borders ignored.

    One row a set and least similarity. `copies` are two entries of the user, the same in two
    workspaces on purpose; `entries` are all other pairs of entries, `queries` pairs of queries.
    """
    rows = []
    for name, folder in sets.items():
        documents = folder.documents
        asked = {query.id: query.text for query in folder.queries.values()}
        held = {item.id: f"{item.title}\n{item.text}" for item in documents.values()}
        for least in thresholds:
            pairs = near_duplicates(held, threshold=least)
            copies = sum(
                _is_global(documents[pair.first]) and _is_global(documents[pair.second])
                for pair in pairs
            )
            rows.append(
                {
                    "dataset": name,
                    "similarity": f"≥ {least}",
                    "queries": len(near_duplicates(asked, threshold=least)),
                    "entries": len(pairs) - copies,
                    "copies": copies,
                }
            )
    return frame_of(rows, ["dataset", "similarity"])


def check_frame(sets: Sets) -> pd.DataFrame:
    """What `wsmem datasets check` has to say: one row a set, how many findings of which weight.

    Copies of an entry of the user are no finding; queries that are alike, or entries of one
    workspace with one text, are warnings, and counted by themselves besides.
    """
    rows = []
    for name, folder in sets.items():
        found = check_dataset(folder.path)
        kinds = Counter(problem.kind for problem in found)
        weights = Counter(problem.severity for problem in found)
        rows.append(
            {
                "dataset": name,
                "errors": weights["error"],
                "warnings": weights["warning"],
                "queries alike": kinds["near-duplicate"],
                "texts alike": kinds["duplicate-text"],
            }
        )
    return frame_of(rows, "dataset")


def agreement_frame(sets: Sets) -> pd.DataFrame:
    """How far the second labeller agrees with the first; kappas with 95 % intervals.

    Raises:
        DatasetError: a set has no second labels.
    """
    rows = []
    for name, folder in sets.items():
        tables = tables_of(read_judged(folder.path))
        rows.append({"dataset": name} | _agreed(agreement(name, list(tables.values()))))
    return frame_of(rows, "dataset")


def confusion_frame(sets: Sets) -> pd.DataFrame:
    """Which grades met: the first labeller's down, the second's across.

    Counted are the pooled pairs of all sets together.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for folder in sets.values():
        for pair in read_judged(folder.path):
            if pair.pooled and pair.first is not None:
                counts[pair.first, pair.grade] += 1
    rows = [
        {"first": grade} | {f"second: {other}": counts[grade, other] for other in GRADES}
        for grade in GRADES
    ]
    return frame_of(rows, "first")


def _agreed(row: Row) -> dict[str, Any]:
    return {
        "pairs": row.pairs,
        "queries": row.queries,
        "same grade": f"{row.agreed:.1%}",
        "kappa": str(row.plain),
        "quadratic": str(row.quadratic),
        "relevant or not": str(row.binary),
    }


def _side_by_side(counts: Mapping[str, Counter[str]], heading: str) -> list[dict[str, Any]]:
    names = sorted({name for found in counts.values() for name in found})
    return [
        {heading: name} | {column: found[name] for column, found in counts.items()}
        for name in names
    ]


def _splits(folder: Folder) -> dict[str, tuple[Query, ...]]:
    return {split: queries_of_split(folder, split) for split in sorted(folder.labels)}


def _queries(sets: Sets) -> Iterator[Query]:
    for folder in sets.values():
        yield from folder.queries.values()


def _labels(folder: Folder, query: Query) -> dict[str, int]:
    """What was judged for a query, whichever split it is in."""
    return {
        document: grade
        for labels in folder.labels.values()
        for document, grade in labels.get(query.id, {}).items()
    }


def _in(query: Query, dimension: str) -> tuple[str, ...]:
    return slices_of(query, scope_size=0).get(dimension, ())


def _is_global(document: Document) -> bool:
    return document.metadata.get("layer") == GLOBAL_LAYER
