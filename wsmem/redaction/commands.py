"""Passwords on command lines of programs known to take them; `-p` alone means anything."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from wsmem.redaction.findings import PLACEHOLDER, Finding
from wsmem.redaction.judgement import is_dull
from wsmem.redaction.values import read_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.redaction.gates import Gates

GATES: Gates = (
    (" -", ("mysql", "mariadb", "sshpass", "redis-cli", "docker", "podman", "curl", "wget")),
)

_USER_OPTIONS = ("-u", "--user", "--proxy-user")


def find(text: str) -> Iterator[Finding]:
    """Values of password options; of `user:password` only the password."""
    program, position = "", 0
    while part := _part().search(text, position):
        position = part.end()
        if part["option"] is None:
            program = part["program"] or ""
            continue
        if not _takes(program, part["option"], spaced=part["gap"] != ""):
            continue
        value = read_value(text, part.end())
        if value is None:
            continue
        start = value.start
        if part["option"] in _USER_OPTIONS:
            start = text.find(":", value.start, value.end) + 1
        word = text[start : value.end]
        if start and word and not word.startswith(PLACEHOLDER) and not is_dull(word):
            yield Finding(start, value.end, "command")
            position = value.end


def _takes(program: str, option: str, *, spaced: bool) -> bool:
    """Whether the option of this program is a password; mysql's is glued to the letter."""
    if program in ("curl", "wget"):
        return option in _USER_OPTIONS
    if program == "redis-cli":
        return option == "-a"
    glued = program.startswith(("mysql", "mariadb"))
    return program != "" and option == "-p" and not (glued and spaced)


@cache
def _part() -> re.Pattern[str]:
    """A program, one of its options, or what ends its command."""
    return re.compile(
        r"(?<![\w-])(?P<program>mysql(?:dump|admin)?|mariadb(?:-dump)?|sshpass|redis-cli|curl|wget"
        r"|(?:docker|podman)(?= login))(?= )"
        r"|(?<=[ \t])(?P<option>-p|-a|-u|--user|--proxy-user)(?P<gap>[ =]?)(?=[^\s-])"
        r"|[|;]|(?<!\\)\n|&&"
    )
