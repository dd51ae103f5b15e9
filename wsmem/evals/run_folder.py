"""What the folders of all kinds of runs share: how files are written, and which are refused.

What a folder holds is told by its kind: `wsmem.evals.run`, and `run` of distillation, latency and
tuning. All JSON is strict.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.errors import RunFolderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KEPT = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
"""Where the repository keeps the runs that its notebooks and tests read."""
MANIFEST = "manifest.json"
"""The file that makes a folder a run: it is written last, and removed before a run is replaced."""

_UNSAFE = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """How folders of one kind are told from others, and what is said of those that will not do."""

    name: str | None
    """What the manifest calls such a run; those of recall, the first there were, have no name."""
    called: str
    """What people call it, as in `run of latency`."""
    format: int
    """A run of a newer one is not read, because its figures might be misunderstood."""
    written: frozenset[str]
    """Everything that such a folder may hold."""
    begun: tuple[str, ...] = ()
    """How further files begin that come and go while the work is done."""
    command: str
    """What makes such folders."""
    again: str
    """What to do where one is damaged, as in `measure again`."""

    def strange(self, folder: Path) -> tuple[str, ...]:
        """Make a folder where there is none; the names in it that are not of such a run.

        A manifest of another kind is strange, a damaged one is not: it can be replaced.

        Raises:
            RunFolderError: it cannot be made.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            found = {path.name for path in folder.iterdir()}
        except OSError as error:
            problem = f"cannot be made ({error.strerror})"
            raise RunFolderError(str(folder), problem, "choose another folder") from error
        own = {name for name in found & self.written if name != MANIFEST}
        own |= {name for name in found if name.startswith(self.begun)}
        if MANIFEST in found and self._kind(folder, unread=self.name) == self.name:
            own.add(MANIFEST)
        return tuple(sorted(found - own))

    def claim(self, folder: Path) -> None:
        """Make a run folder before the work begins, so that a bad name fails at once.

        Raises:
            RunFolderError: it cannot be made, or holds something other than such a run.
        """
        if self.strange(folder):
            problem = "holds something other than such a run"
            raise RunFolderError(str(folder), problem, "choose another folder, or empty it")

    def is_in(self, folder: Path) -> bool:
        """Whether a folder holds such a run."""
        return self._kind(folder, unread=object()) == self.name

    def manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest of a finished run.

        Raises:
            RunFolderError: there is no such run in it, it is damaged, or a newer wsmem wrote it.
        """
        remedy = f"give a folder that {self.command} wrote"
        if not (folder / MANIFEST).is_file():
            raise RunFolderError(str(folder), f"holds no {MANIFEST}", remedy)
        found = self.read(folder / MANIFEST)
        if found.get("kind") != self.name:
            raise RunFolderError(str(folder), f"is no {self.called}", remedy)
        written = found.get("format", self.format)
        if written != self.format:
            problem = f"is a run of format {written}, and this wsmem reads format {self.format}"
            raise RunFolderError(str(folder), problem, f"upgrade wsmem, or {self.again}")
        return found

    def read(self, path: Path, keys: Iterable[str] = ()) -> dict[str, Any]:
        """A JSON object that has the given keys.

        Raises:
            RunFolderError: the file holds none, or cannot be read.
        """
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._unread(path, error) from error
        if not isinstance(value, dict) or not set(keys) <= value.keys():
            problem = "does not hold what a run holds there"
            raise RunFolderError(str(path), problem, f"{self.again} into this folder")
        return value

    def read_lines(self, path: Path) -> list[dict[str, Any]]:
        """The objects of a file that has one a line.

        Raises:
            RunFolderError: it cannot be read.
        """
        try:
            with path.open(encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except (OSError, ValueError) as error:
            raise self._unread(path, error) from error

    def _unread(self, path: Path, error: Exception) -> RunFolderError:
        problem = f"cannot be read ({error})"
        return RunFolderError(str(path), problem, f"{self.again} into this folder")

    def _kind(self, folder: Path, *, unread: object) -> object:
        """What a folder's manifest calls its run; `unread` where there is none to be read."""
        try:
            return self.read(folder / MANIFEST).get("kind")
        except RunFolderError:
            return unread


def drop_earlier(folder: Path, *parts: str) -> None:
    """Remove an earlier run's manifest, without which a folder is no run, then lines in parts."""
    (folder / MANIFEST).unlink(missing_ok=True)
    for part in parts:
        for stale in folder.glob(f"{part}/*.jsonl"):
            stale.unlink()


def kept(path: Path, *, made_by: str, what: str = "run") -> Path:
    """The path of something that the repository keeps.

    Raises:
        RunFolderError: it is not there, or no checkout is around this installation.
    """
    if not path.exists():
        remedy = f"use a checkout of wsmem; {made_by} makes it"
        raise RunFolderError(str(path), f"there is no such {what}", remedy)
    return path


def strict_json(value: Any, *, indent: int | None = None) -> str:
    """JSON for files and pipes: not a number is an error here, non-ASCII text stays readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def write_json(path: Path, value: Any) -> None:
    """Write one value, indented for people."""
    _replace(path, strict_json(value, indent=1) + "\n")


def write_tables(path: Path, tables: Mapping[str, Iterable[Any]]) -> None:
    """Write one JSON object of lists with a row a line: small, and shows what has changed."""
    texts = (
        f"{strict_json(name)}: [\n" + ",\n".join(map(strict_json, rows)) + "\n]"
        for name, rows in tables.items()
    )
    _replace(path, "{" + ",\n".join(texts) + "}\n")


def write_lines(path: Path, values: Iterable[Any]) -> None:
    """Write one value a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(strict_json(value) + "\n" for value in values)


def free_stem(folder: Path, name: str) -> str:
    """A file name for a name: `wsmem:default` becomes `wsmem-default`, with a number if taken."""
    folder.mkdir(exist_ok=True)
    stem = wanted = _UNSAFE.sub("-", name).strip("-.") or "set"
    for number in count(2):
        if not (folder / f"{stem}.jsonl").exists():
            break
        stem = f"{wanted}-{number}"
    return stem


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, so that no reader and no interruption meets half of it."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise RunFolderError(str(path), problem, "choose another folder") from error
    finally:
        new.unlink(missing_ok=True)
