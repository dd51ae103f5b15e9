"""Reading strangers' JSON: every value knows its file and its place in it.

A file may be one JSON value, an array too large for memory, or one value a line; `.gz` is read as
what it holds.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any, TextIO, cast

from wsmem.errors import InputFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK = 1 << 22
_NEAR_THE_END = 16
"""A fault this close to the end of what was read may be the end itself, cutting a value short."""
_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*\Z")


class Node:
    """A JSON value and where it stands."""

    __slots__ = ("file", "line", "place", "value")

    def __init__(self, file: Path, value: Any, place: str = "", line: int | None = None) -> None:
        self.file, self.value, self.place, self.line = file, value, place, line

    def fault(self, problem: str) -> InputFileError:
        """An error that names this place."""
        where = f"{self.place}: " if self.place else ""
        return InputFileError(str(self.file), self.line, where + problem)

    def members(self) -> dict[str, Node]:
        """The values of an object by key.

        Raises:
            InputFileError: it is not an object.
        """
        self._expect(dict, "an object")
        return {key: self._at(key, value) for key, value in self.value.items()}

    def member(self, key: str) -> Node:
        """The value of a key that must be there.

        Raises:
            InputFileError: it is not, or this is not an object.
        """
        self._expect(dict, "an object")
        if key not in self.value:
            raise self.fault(f"{key!r} is missing")
        return self._at(key, self.value[key])

    def maybe(self, key: str) -> Node | None:
        """The value of a key; `None` when it is absent or null.

        Raises:
            InputFileError: this is not an object.
        """
        self._expect(dict, "an object")
        value = self.value.get(key)
        return None if value is None else self._at(key, value)

    def elements(self) -> list[Node]:
        """The values of an array.

        Raises:
            InputFileError: it is not an array.
        """
        self._expect(list, "a list")
        return [
            Node(self.file, value, f"{self.place}[{position}]", self.line)
            for position, value in enumerate(self.value)
        ]

    def text(self) -> str:
        """A text.

        Raises:
            InputFileError: it is something else.
        """
        self._expect(str, "a text")
        return cast("str", self.value)

    def word(self) -> str:
        """A text or a whole number, as text: what ids and answers are written as.

        Raises:
            InputFileError: it is something else.
        """
        if isinstance(self.value, str) or type(self.value) in {int, float}:
            return str(self.value)
        raise self.fault(f"a text or a number is needed, not {_kind(self.value)}")

    def _at(self, key: str, value: Any) -> Node:
        step = f".{key}" if _PLAIN_KEY.match(key) else f"[{key!r}]"
        return Node(self.file, value, (self.place + step).removeprefix("."), self.line)

    def _expect(self, kind: type, name: str) -> None:
        if not isinstance(self.value, kind):
            raise self.fault(f"{name} is needed, not {_kind(self.value)}")


def read_json(path: Path) -> Node:
    """A whole file as one value.

    Raises:
        InputFileError: it cannot be read or is not JSON.
    """
    text = "".join(_chunks(path))
    try:
        return Node(path, json.loads(text))
    except ValueError as error:
        raise _not_json(path, error, 0) from error


def read_items(path: Path) -> Iterator[Node]:
    """The values of a top-level array, or of a file with one value a line, one at a time.

    Only as much is kept in memory as one value takes.

    Raises:
        InputFileError: the file cannot be read, or is neither.
    """
    if path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        yield from read_lines(path)
        return
    for position, value in enumerate(_array(path)):
        yield Node(path, value, f"[{position}]")


def read_lines(path: Path) -> Iterator[Node]:
    """One JSON value a line; blank lines are passed over.

    Raises:
        InputFileError: the file cannot be read, or a line is not JSON.
    """
    for number, line in text_lines(path):
        try:
            yield Node(path, json.loads(line), line=number)
        except ValueError as error:
            raise InputFileError(str(path), number, f"not JSON ({error})") from error


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers.

    Raises:
        InputFileError: the file cannot be read.
    """
    rest, number = "", 0
    for chunk in _chunks(path):
        *lines, rest = (rest + chunk).split("\n")
        for line in lines:
            number += 1
            if line.strip():
                yield number, line.removesuffix("\r")
    if rest.strip():
        yield number + 1, rest.removesuffix("\r")


class _Text:
    """Text that arrives in chunks, as much of it as the value being read takes."""

    def __init__(self, path: Path) -> None:
        self._path, self._chunks = path, _chunks(path)
        self._text, self._at, self._lines = "", 0, 0
        self._decode = json.JSONDecoder().raw_decode

    def sign(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            found = _BLANK.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._grow():
                return self._text[self._at : self._at + 1]

    def take(self, expected: str) -> str:
        """Go past one of the expected signs.

        Raises:
            InputFileError: there is another one.
        """
        sign = self.sign()
        if not sign or sign not in expected:
            wanted = " or ".join(expected)
            raise self._fault(json.JSONDecodeError(f"{wanted} is needed", self._text, self._at))
        self._at += 1
        return sign

    def value(self) -> Any:
        """Read one value.

        Raises:
            InputFileError: there is none.
        """
        self.sign()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not _cut_short(error, len(self._text)) or not self._grow():
                    raise self._fault(error) from error
                continue
            if end < len(self._text) or not self._grow():  # a number may go on
                self._at = end
                return value

    def _grow(self) -> bool:
        """Read on, twice as much as is waiting; whether there was anything."""
        more: list[str] = []
        wanted = max(len(self._text) - self._at, 1)
        while wanted > 0 and (chunk := next(self._chunks, "")):
            more.append(chunk)
            wanted -= len(chunk)
        if more:
            self._lines += self._text.count("\n", 0, self._at)
            self._text, self._at = self._text[self._at :] + "".join(more), 0
        return bool(more)

    def _fault(self, error: json.JSONDecodeError) -> InputFileError:
        return _not_json(self._path, error, self._lines)


def _array(path: Path) -> Iterator[Any]:
    """The elements of a top-level array; what stands behind it is not looked at."""
    text = _Text(path)
    text.take("[")
    if text.sign() == "]":
        return
    while True:
        yield text.value()
        if text.take(",]") == "]":
            return


def _cut_short(error: json.JSONDecodeError, length: int) -> bool:
    return error.msg.startswith("Unterminated string") or error.pos >= length - _NEAR_THE_END


def _chunks(path: Path) -> Iterator[str]:
    try:
        with _open(path) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except UnicodeDecodeError as error:
        raise InputFileError(str(path), None, f"not UTF-8 ({error.reason})") from error
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputFileError(str(path), None, f"cannot be read ({why})") from error


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _not_json(path: Path, error: ValueError, lines_before: int) -> InputFileError:
    if isinstance(error, json.JSONDecodeError):
        problem = f"not JSON ({error.msg}, column {error.colno})"
        return InputFileError(str(path), lines_before + error.lineno, problem)
    return InputFileError(str(path), None, f"not JSON ({error})")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), "a number")
