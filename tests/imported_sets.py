"""Small files in the original formats of public benchmarks, written for the tests here."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from wsmem.evals.importers.registry import source_named
from wsmem.evals.importers.writing import ImportReport, import_source
from wsmem.evals.reading import read_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wsmem.evals.reading import Folder


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def imported(
    name: str, files: Sequence[Path], out: Path, **options: str
) -> tuple[Folder, ImportReport]:
    """The set a source makes of files; it must be free of faults that make scores wrong."""
    report = import_source(source_named(name), files, out, options=options)
    folder, problems = read_folder(out)
    assert [str(problem) for problem in problems] == []
    return folder, report


def labels(folder: Folder, split: str = "test") -> dict[str, set[str]]:
    """Relevant passages by question."""
    return {query: set(found) for query, found in folder.labels[split].items()}


def texts(folder: Folder) -> dict[str, str]:
    return {name: document.text for name, document in folder.documents.items()}
