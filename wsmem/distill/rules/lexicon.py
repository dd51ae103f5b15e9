"""The words that the rules listen for, read from one text file a concept in `lexicon/`.

A line is a regular expression; `#` begins a comment line. Those under `[zh]` stand as they are,
those under `[en]` match whole words only. `{OLD}` in `old_value.txt` and `{NEW}` in
`new_value.txt` are the phrases to catch.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "lexicon"

_HAN = re.compile(r"[\u3400-\u9fff]")
_NO_MARK = r"[^，,。；;：:！!？?、\s（）()]"
_OLD = {
    "zh": rf"(?P<old>{_NO_MARK}(?:[^，,。；;：:！!？?（）()]{{0,22}}?{_NO_MARK})??)",
    "en": r"(?P<old>[\w.+#/:-]+(?: [\w.+#/:-]+){0,4}?)",
}


@cache
def pattern(name: str) -> re.Pattern[str]:
    """All of a concept as one pattern, without regard to case."""
    return re.compile("|".join(_lines(name)), re.IGNORECASE)


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """A concept line by line, for those that catch a phrase."""
    return tuple(re.compile(line, re.IGNORECASE) for line in _lines(name))


@cache
def leading(name: str) -> re.Pattern[str]:
    """What a text may begin with: any number of a concept's phrases, each ended by a mark."""
    phrases = "|".join(_lines(name))
    return re.compile(rf"(?:(?:{phrases})(?:[，,：:。！!；;、.]|\s[—-])\s*)+", re.IGNORECASE)


@cache
def nothing_but(name: str) -> re.Pattern[str]:
    """A text of a concept's phrases alone, with marks and blanks between them."""
    phrases = "|".join(_lines(name))
    return re.compile(rf"(?:(?:{phrases})[\s，,、.。！!：:—-]*)*", re.IGNORECASE)


@cache
def _latin_pattern(name: str) -> re.Pattern[str] | None:
    """A concept without the lines that speak Chinese; `None` when none is left."""
    expressions = [line for line in _lines(name) if _HAN.search(line) is None]
    return re.compile("|".join(expressions), re.IGNORECASE) if expressions else None


@lru_cache(maxsize=16_384)  # one sentence is asked about the same concept from several sides
def says(name: str, text: str) -> bool:
    """Whether a text holds anything of a concept."""
    found = _latin_pattern(name) if text.isascii() else pattern(name)
    return found is not None and found.search(text) is not None


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a file that are neither empty nor comments."""
    text = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    stripped = (line.strip() for line in text.splitlines())
    return tuple(line for line in stripped if line and not line.startswith("#"))


def _lines(name: str) -> tuple[str, ...]:
    found: list[str] = []
    section = "zh"
    for line in lines(name):
        if line in {"[zh]", "[en]"}:
            section = line[1:-1]
            continue
        new = _OLD[section].replace("?P<old>", "?P<new>")
        expression = line.replace("{OLD}", _OLD[section]).replace("{NEW}", new)
        found.append(rf"(?<!\w)(?:{expression})(?!\w)" if section == "en" else f"(?:{expression})")
    return tuple(found)
