"""Where a value begins and ends: quoted, escaped, emphasised or bare, on one line."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_NOT_IN_VALUES = (
    "\u2010-\u206f\u1100-\u11ff\u2e80-\u303f\u3040-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff"
)
"""Chinese, Japanese and Korean letters and punctuation, typographic quotes, pictographs."""

_LONGEST_QUOTED = 256
_CLOSING = {
    "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "【": "】", "〈": "〉", "（": "）",
    "«": "»", "„": "“", "”": "”", "’": "’", "<": ">",
}  # fmt: skip


class Value(NamedTuple):
    """A stretch of text that stands where a value is expected, without its quotes."""

    start: int
    end: int
    quoted: bool = False


def read_value(text: str, start: int) -> Value | None:
    """The value that begins at `start`, `None` where there is none on this line.

    A quoted value with Chinese in it is a phrase, of which only the first run is taken as a bare
    value. The closing quote of an ASCII pair is the first one that no letter or digit follows, so a
    password may hold its own kind of quote.
    """
    opening = _opening().match(text, start)
    at = opening.end() if opening else start
    if at >= len(text):
        return None
    quoted = _quoted(text, at)
    if quoted is None:
        unclosed = _unclosed().match(text, at)
        return bare_value(text, unclosed.end() if unclosed else at)
    if quoted.start == quoted.end:
        return None
    if _foreign().search(text, quoted.start, quoted.end):
        return bare_value(text, quoted.start)
    return quoted


def bare_value(text: str, start: int) -> Value | None:
    """The run of characters at `start` that may belong to one value, sentence marks taken off."""
    emphasis = 2 if text.startswith("**", start) and not text.startswith("***", start) else 0
    run = _bare().match(text, start + emphasis)
    if run is None:
        return None
    end = _trimmed(text, run.start(), run.end())
    return Value(run.start(), end) if end > run.start() else None


def _quoted(text: str, at: int) -> Value | None:
    quote, limit = text[at], at + _LONGEST_QUOTED
    if quote == "\\":
        escaped = _escaped().match(text, at, limit)
        return Value(*escaped.span(1), quoted=True) if escaped else None
    if quote in "\"'`":
        found = _ascii(quote).match(text, at, limit) or _plainly(quote).match(text, at, limit)
        return Value(*found.span(1), quoted=True) if found else None
    if quote == "{":
        found = _braced().match(text, at, limit)
        return Value(*found.span(1), quoted=True) if found else None
    closing = _CLOSING.get(quote)
    if closing is None:
        return None
    end = text.find(closing, at + 1, limit)
    line = text.find("\n", at + 1, limit)
    return None if end < 0 or 0 <= line < end else Value(at + 1, end, quoted=True)


def _trimmed(text: str, start: int, end: int) -> int:
    """`end` without what closes the sentence or the bracket around the value."""
    if text.endswith("**", start, end) and not text.endswith("***", start, end):
        end -= 2
    pairs = {")": "(", "]": "[", "}": "{", ">": "<"}
    while end > start:
        last = text[end - 1]
        unopened = last in pairs and (
            text.count(last, start, end) > text.count(pairs[last], start, end)
        )
        if last not in ".:([{" and not unopened:
            break
        end -= 1
    return end


@cache
def _opening() -> re.Pattern[str]:
    """Brackets and prefixes that may stand before an opening quote: `("`, `["`, `r'`, `@"`."""
    return re.compile(r"[\[(][ ]?(?=[\"'])|(?:[rbfuRBFU]{1,2}|[@$])(?=[\"'])|(?:\"\"|'')(?=[\"'])")


@cache
def _ascii(quote: str) -> re.Pattern[str]:
    inner = rf"{quote}{{1,2}}(?=[A-Za-z0-9_!#$%^*+=~@])"  # doubled as in YAML and SQL
    return re.compile(rf"{quote}((?:[^\\\r\n{quote}]++|\\.|{inner})*+){quote}")


@cache
def _plainly(quote: str) -> re.Pattern[str]:
    """To the next quote, where no quote near by looks like a closing one."""
    return re.compile(rf"{quote}([^\r\n{quote}]*+){quote}")


@cache
def _unclosed() -> re.Pattern[str]:
    return re.compile(r"\\{0,7}[\"'`“‘「『《【〈«„]")


@cache
def _braced() -> re.Pattern[str]:
    """A value in braces as ODBC quotes it; a name in braces is a blank to fill in."""
    return re.compile(r"\{(?=[\w.]*+[^\w.{}\s])([^{}\s\"':]++)\}")


@cache
def _escaped() -> re.Pattern[str]:
    r"""A value between escaped quotes, as in JSON inside a JSON text: `\"value\"`."""
    return re.compile(r"\\+[\"']((?:[^\\\r\n]++|\\(?![\\\"']))*+)\\+[\"']")


@cache
def _bare() -> re.Pattern[str]:
    r"""A run without white space that ends before what separates values.

    A comma, quote, bar, ampersand or backslash ends it only where what follows shows that it does:
    `a=1&b=2`, `"value",`, `[text](link`, `\n` written out; otherwise it is a sign of a password.
    """
    plain = rf"[^\s\"'`,;<|&\\)\]{_NOT_IN_VALUES}]++"
    return re.compile(
        rf"(?:{plain}"
        r"|[\"'`](?=[A-Za-z0-9!#$%^*+=_~@-])"
        r"|,(?=[^\s,;=:\"'&]{0,40}[!@#$%^*])"
        r"|<(?![/A-Za-z!])"
        r"|\|(?=[^\s|])"
        r"|\)(?!\]\()|\](?!\()"
        r"|&(?![A-Za-z_][\w.-]{0,40}=)"
        r"|\\(?![nrt\"'\\]))++"
    )


@cache
def _foreign() -> re.Pattern[str]:
    return re.compile(f"[{_NOT_IN_VALUES}]")
