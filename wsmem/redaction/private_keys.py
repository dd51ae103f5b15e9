"""Private keys in text form: PEM, OpenSSH and PGP blocks, whole, escaped on one line, or cut."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from wsmem.redaction.findings import PLACEHOLDER, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.redaction.gates import Gates

GATES: Gates = (("", ("private key", "private-lines")),)

_LONGEST_TAIL = 20_000
"""Characters before an end mark that are searched for a key whose beginning was cut off."""


def find(text: str) -> Iterator[Finding]:
    """Bodies of private keys, their begin and end marks left standing.

    A block without an end is taken as far as it looks like one, and what stands before an end
    without a beginning likewise: messages are cut into batches. A mark alone hides nothing.
    """
    marks = list(_mark().finditer(text))
    previous: re.Match[str] | None = None
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        body: tuple[int, int] | None = None
        if mark[1] == "BEGIN":
            closed = following is not None and following[1] == "END"
            body = (
                (mark.end(), following.start()) if closed and following else _open_body(text, mark)
            )
        elif previous is None or previous[1] == "END":
            body = _tail(text, previous.end() if previous else 0, mark.start())
        if body and _is_key(text[slice(*body)]):
            yield _finding(text, *body)
        previous = mark
    for found in _putty().finditer(text):
        if _is_key(found[1]):
            yield _finding(text, *found.span(1))


def _open_body(text: str, mark: re.Match[str]) -> tuple[int, int] | None:
    body = _body().match(text, mark.end())
    return body.span() if body else None


def _tail(text: str, floor: int, end: int) -> tuple[int, int]:
    """The lines of base64 that lead up to an end mark, a first one cut anywhere included."""
    start = end
    floor = max(floor, end - _LONGEST_TAIL)
    for line in reversed(list(_line().finditer(text, floor, end))):
        if line.end() != start:
            break
        start = line.start()
    return start, end


def _is_key(body: str) -> bool:
    """Whether a body holds key material and not words between two marks that prose names."""
    compact = _ignorable().sub("", body)
    if not compact or compact == PLACEHOLDER:
        return False
    if _material().search(compact):
        return True
    mixed = any(char.isupper() for char in compact) and any(char.islower() for char in compact)
    return (
        compact.isascii() and " " not in body.strip() and (mixed or any(map(str.isdigit, compact)))
    )


def _finding(text: str, start: int, end: int) -> Finding:
    """The body without the white space and the written-out line ends around it."""
    body = text[start:end]
    lead = len(body) - len(_edge().sub("", body))
    kept = body[lead:].rstrip()
    while kept.endswith(("\\n", "\\r")):
        kept = kept.rstrip("\\")[:-2].rstrip("\\").rstrip()
    return Finding(start + lead, start + lead + len(kept), "private-key")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")


@cache
def _body() -> re.Pattern[str]:
    header = r"[A-Z][A-Za-z-]{2,20}: [^\r\n\\]{1,100}"
    between = r"(?:\s|\\+[nr]|[\"',])*+"
    last = rf"(?:(?:\s*\n|\\+n){between}[A-Za-z0-9+/=]{{4,}}+(?=\s*+(?:\\|[\"'`]|\Z)))?"
    return re.compile(rf"(?:{between}(?:{header}|[A-Za-z0-9+/]{{20,}}+={{0,2}}))*+{last}")


@cache
def _line() -> re.Pattern[str]:
    """One line of base64 with its line end, or a stretch with a written-out one."""
    return re.compile(r"[A-Za-z0-9+/=]{4,}+(?:[ \t]*\r?\n[ \t]*|(?:\\+r)?\\+n)")


@cache
def _edge() -> re.Pattern[str]:
    return re.compile(r"\A(?:\s|\\+[nr])++")


@cache
def _ignorable() -> re.Pattern[str]:
    return re.compile(r"\\+[nr]|[\s\"',.]")


@cache
def _material() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+/=]{32}")


@cache
def _putty() -> re.Pattern[str]:
    return re.compile(r"Private-Lines: [0-9]{1,3}\s{1,4}((?:[A-Za-z0-9+/=]{4,}+(?:\s{1,4}+|\Z))++)")
