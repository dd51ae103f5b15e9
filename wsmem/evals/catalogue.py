"""Where datasets are found: the repository's own, and any folder the user names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.errors import DatasetError, UnknownNameError
from wsmem.evals.reading import is_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OWN_FOLDER_VARIABLE = "WSMEM_DATASETS"
"""Names the folder of our own sets, for an installation without a checkout around it."""
SEARCH_VARIABLE = "DATA"
"""Further sets or folders of sets, joined by the system's path separator."""

_OTHER_FORMATS = ("distill-",)
"""Folders of cases for the distiller lie beside retrieval sets and have their own format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A dataset that has been found but not read."""

    name: str
    path: Path


def own_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of the sets that come with the repository; it may not exist."""
    environment = os.environ if environment is None else environment
    named = environment.get(OWN_FOLDER_VARIABLE)
    return Path(named) if named else Path(__file__).resolve().parents[2] / "datasets"


def search_folders(environment: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """The folders named by the environment, in order."""
    environment = os.environ if environment is None else environment
    named = environment.get(SEARCH_VARIABLE, "").split(os.pathsep)
    return tuple(Path(part) for part in named if part.strip())


def find_datasets(folders: Iterable[Path]) -> dict[str, Source]:
    """Every labelled set in the given folders, by name, each folder's in alphabetical order.

    A folder may be a set itself or hold sets; anything else in it is passed over.

    Raises:
        DatasetError: a folder does not exist or holds no set, or two sets share a name.
    """
    found: dict[str, Source] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DatasetError(str(folder), None, "there is no such folder", "correct the path")
        sources = _sources_in(folder)
        if not sources:
            remedy = "name a folder with corpus.jsonl and queries.jsonl, or a folder of such"
            raise DatasetError(str(folder), None, "it holds no labelled set", remedy)
        for source in sources:
            add_source(found, source)
    return found


def add_source(found: dict[str, Source], source: Source) -> None:
    """Take up one more set.

    Raises:
        DatasetError: another folder already goes by that name.
    """
    other = found.setdefault(source.name, source)
    if other.path.resolve() != source.path.resolve():
        problem = f"{other.path} is named {source.name!r} too"
        raise DatasetError(str(source.path), None, problem, "rename one, or choose one of them")


def choose(wanted: Sequence[str], known: Mapping[str, Source]) -> tuple[Source, ...]:
    """The sets meant by names or paths, in the order given; all known ones when none is wanted.

    Raises:
        UnknownNameError: neither a known name nor a folder.
        DatasetError: a folder that is not a set, or two sets of one name.
    """
    if not wanted:
        return tuple(known.values())
    chosen: dict[str, Source] = {}
    for name in wanted:
        if name in known:
            add_source(chosen, known[name])
        elif Path(name).is_dir():
            for source in find_datasets([Path(name)]).values():
                add_source(chosen, source)
        else:
            raise UnknownNameError("dataset", name, tuple(known), "or give a folder's path")
    return tuple(chosen.values())


def _sources_in(folder: Path) -> list[Source]:
    if is_dataset(folder):
        return [Source(name=folder.resolve().name, path=folder)]
    return [
        Source(name=path.name, path=path)
        for path in sorted(folder.iterdir())
        if is_dataset(path) and not path.name.startswith((".", *_OTHER_FORMATS))
    ]
