"""One labeller's judgements: appended to a file as they are made, taken back by another line.

A line that was cut short by a crash is passed over; everything before it counts. Nothing is ever
rewritten, so what was judged and taken back can still be read.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.errors import InputFileError, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

FOLDER = "judgements"
GRADES = (0, 1, 2)
_NAME = re.compile(r"[^\W_][\w.-]{0,39}")


class PairKey(NamedTuple):
    """What is judged: a document for a query."""

    query: str
    document: str


@dataclass(slots=True)
class _State:
    grades: dict[PairKey, int] = field(default_factory=dict)
    skipped: dict[PairKey, None] = field(default_factory=dict)
    """Put off and not judged since, in order."""
    undoable: list[tuple[PairKey, int | None, bool]] = field(default_factory=list)
    """Each step's pair, its grade before, and whether it was put off before."""

    def judge(self, pair: PairKey, grade: int | None) -> None:
        """Grade a pair, or put it off."""
        self.undoable.append((pair, self.grades.get(pair), pair in self.skipped))
        if grade is None:
            self.skipped[pair] = None
            return
        self.grades[pair] = grade
        self.skipped.pop(pair, None)

    def undo(self) -> PairKey | None:
        """Take back the last step; the pair it was about."""
        if not self.undoable:
            return None
        pair, grade, skipped = self.undoable.pop()
        if grade is None:
            self.grades.pop(pair, None)
        else:
            self.grades[pair] = grade
        if skipped:
            self.skipped[pair] = None
        else:
            self.skipped.pop(pair, None)
        return pair


class Ledger:
    """The judgements of one labeller, as read from the file and as made since."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] | None = None) -> None:
        """Read what there is.

        Raises:
            InputFileError: a whole line cannot be understood.
        """
        self._path = path
        self._clock = clock or (lambda: datetime.now(UTC))
        self._state = _State()
        for number, row in _rows(path):
            self._replay(number, row)

    @property
    def judge(self) -> str:
        """Who judges."""
        return self._path.stem

    @property
    def grades(self) -> Mapping[PairKey, int]:
        """The grade of every pair that was judged and not taken back."""
        return self._state.grades

    @property
    def skipped(self) -> tuple[PairKey, ...]:
        """Pairs that were put off, in that order."""
        return tuple(self._state.skipped)

    def record(self, pair: PairKey, grade: int) -> None:
        """Keep a judgement; it is on disk when this returns.

        Raises:
            InvalidInputError: there is no such grade.
        """
        if grade not in GRADES:
            raise InvalidInputError(f"a grade is 0, 1 or 2, not {grade}; nothing was kept")
        self._append({"query": pair.query, "document": pair.document, "grade": grade})
        self._state.judge(pair, grade)

    def skip(self, pair: PairKey) -> None:
        """Put a pair off."""
        self._append({"query": pair.query, "document": pair.document, "skip": True})
        self._state.judge(pair, None)

    def undo(self) -> PairKey | None:
        """Take back the last judgement or skip; the pair, or `None` when there is nothing left."""
        if not self._state.undoable:
            return None
        self._append({"undo": True})
        return self._state.undo()

    def _replay(self, number: int, row: Any) -> None:
        if not isinstance(row, dict):
            raise self._fault(number, "an object is needed")
        if row.get("undo") is True:
            self._state.undo()
            return
        query, document, grade = row.get("query"), row.get("document"), row.get("grade")
        if not isinstance(query, str) or not isinstance(document, str):
            raise self._fault(number, "'query' and 'document' are needed, both texts")
        if row.get("skip") is not True and (grade not in GRADES or isinstance(grade, bool)):
            raise self._fault(number, f"grade {grade!r} is not 0, 1 or 2")
        self._state.judge(PairKey(query, document), None if row.get("skip") is True else grade)

    def _fault(self, number: int, problem: str) -> InputFileError:
        return InputFileError(str(self._path), number, problem)

    def _append(self, row: Mapping[str, Any]) -> None:
        """Add one line by one write, on disk before this returns."""
        said = {**row, "at": self._clock().isoformat(timespec="seconds")}
        line = json.dumps(said, ensure_ascii=False).encode() + b"\n"
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if not _ends_whole(fd):
                line = b"\n" + line  # what was cut short stays a line of its own
            os.write(fd, line)
            os.fsync(fd)
        finally:
            os.close(fd)


def ledger_path(folder: Path, judge: str) -> Path:
    """Where a labeller's judgements are kept.

    Raises:
        InvalidInputError: the name cannot be that of a file.
    """
    if not _NAME.fullmatch(judge):
        raise InvalidInputError(
            f"{judge!r} cannot name a labeller: use letters, digits, '.', '-' and '_', at most 40"
        )
    return folder / FOLDER / f"{judge}.jsonl"


def judges(folder: Path) -> tuple[str, ...]:
    """Names of all who have judged here, sorted."""
    return tuple(sorted(path.stem for path in (folder / FOLDER).glob("*.jsonl")))


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    if not path.is_file():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            # Cut short by a crash: never closed, so the line has no end of an object.
            if not line.rstrip().endswith(b"}"):
                continue
            raise InputFileError(str(path), number, f"not JSON ({error})") from error


def _ends_whole(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"
