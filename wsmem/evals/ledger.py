"""The ledger of a run: which units are finished, so that a resumed run repeats none of them.

A file of JSON lines that is only ever appended to. Each line is on the disk before its unit counts
as finished; a last line that was cut short by a crash is no line.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Self

from wsmem.errors import RunFolderError

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LEDGER = "ledger.jsonl"
"""Its name in a run folder."""


def unit_key(definition: Mapping[str, Any]) -> str:
    """What a unit is known by: equal for equal definitions, whatever their order of keys.

    Args:
        definition: JSON values. Everything the result depends on belongs in it: the checksums of
            the data and the version of the code (`wsmem.evals.surroundings`) as well.
    """
    text = json.dumps(definition, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class Ledger:
    """Results by the keys of their units. One process writes it at a time, others are refused."""

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        """Read what is recorded, and be ready to record more.

        Args:
            path: The file; made if need be.
            anew: Drop what is recorded.

        Raises:
            RunFolderError: it cannot be read or written, another process writes it, or a line other
                than the last is damaged.
        """
        self.path = path
        self._found: dict[str, Any] = {}
        try:
            self._file = path.open("a+b")
        except OSError as error:
            problem = f"cannot be used ({error.strerror})"
            raise RunFolderError(str(path), problem, "choose another folder") from error
        try:
            self._claim()
            if anew:
                self._file.truncate(0)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __getitem__(self, key: str) -> Any:
        return self._found[key]

    def __len__(self) -> int:
        return len(self._found)

    def record(self, key: str, result: Any, *, unit: str = "") -> None:
        """Append one result; it is on the disk when this returns. The first of a key stays.

        Args:
            key: As `unit_key` makes it.
            result: JSON values.
            unit: What to call it, for whoever reads the file.
        """
        if key in self._found:
            return
        line = {"key": key, "unit": unit, "result": result}
        text = json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._found[key] = result

    def close(self) -> None:
        """Close the file; what is recorded can still be read from this object."""
        self._file.close()

    def _claim(self) -> None:
        """Keep others out for as long as the file is open; whoever dies lets go of it."""
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            problem = "another process works on this run"
            raise RunFolderError(
                str(self.path), problem, "wait, or choose another folder"
            ) from error
        except OSError:
            return  # some network disks know no locks

    def _read(self) -> None:
        """Take up every whole line; what follows the last of them is cut off."""
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                found = json.loads(line)
                self._found.setdefault(found["key"], found["result"])
            except (ValueError, KeyError, TypeError) as error:
                problem = f"line {number} is damaged"
                remedy = "remove that line to work on its unit again, or start without --resume"
                raise RunFolderError(str(self.path), problem, remedy) from error
            whole += len(line)
        # Whatever is appended next must begin a line of its own.
        self._file.truncate(whole)
