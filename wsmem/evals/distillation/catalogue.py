"""Where sets of cases are found: the repository's own, those of `$DATA`, and any folder named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.errors import DatasetError, UnknownNameError
from wsmem.evals.catalogue import Source, add_source, own_folder, search_folders
from wsmem.evals.distillation.cases import is_case_set, load_case_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wsmem.evals.distillation.cases import CaseSet


def find_case_sets(folders: Iterable[Path]) -> dict[str, Source]:
    """Every set of cases in the given folders, by name; a folder may be a set itself.

    Raises:
        DatasetError: two sets share a name.
    """
    found: dict[str, Source] = {}
    for folder in folders:
        paths = [folder] if is_case_set(folder) else sorted(folder.glob("*"))
        for path in paths:
            if is_case_set(path):
                add_source(found, Source(name=path.resolve().name, path=path))
    return found


def choose_case_sets(wanted: Sequence[str], *, own: Path | None = None) -> tuple[Source, ...]:
    """The sets meant by names or paths, in the order given; our own when none is named.

    Raises:
        UnknownNameError: neither a known name nor a folder with a set.
        DatasetError: there is no set at all, or two share a name.
    """
    ours = find_case_sets([own or own_folder()])
    if not wanted:
        if not ours:
            remedy = "name one by --dataset"
            raise DatasetError(str(own or own_folder()), None, "it holds no set of cases", remedy)
        return tuple(ours.values())
    known = ours | find_case_sets(folder for folder in search_folders() if folder.is_dir())
    chosen: dict[str, Source] = {}
    for name in wanted:
        sources = (known[name],) if name in known else _below(name, tuple(known))
        for source in sources:
            add_source(chosen, source)
    return tuple(chosen.values())


def load_own_case_sets(*, own: Path | None = None) -> dict[str, CaseSet]:
    """Our own sets of cases, read, by name.

    Raises:
        DatasetError: there is none, or one has a fault.
    """
    return {source.name: load_case_set(source.path) for source in choose_case_sets((), own=own)}


def _below(name: str, known: tuple[str, ...]) -> tuple[Source, ...]:
    found = find_case_sets([Path(name)]) if Path(name).is_dir() else {}
    if not found:
        raise UnknownNameError("set of cases", name, known, "or give a folder with cases.jsonl")
    return tuple(found.values())
