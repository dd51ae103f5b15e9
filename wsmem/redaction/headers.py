"""HTTP credentials: `Authorization`, bearer and basic ones anywhere, cookies."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from functools import cache
from typing import TYPE_CHECKING

from wsmem.redaction.findings import Finding
from wsmem.redaction.judgement import is_dull, is_secret, is_strong
from wsmem.redaction.values import bare_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.redaction.gates import Gates

GATES: Gates = (("", ("authorization", "bearer", "basic", "cookie")),)

_COOKIES_AT_MOST = 64


def find(text: str) -> Iterator[Finding]:
    """Credentials in headers; the scheme and the names of cookies stay readable."""
    position = 0
    while header := _authorization().search(text, position):
        scheme = _scheme().match(text, header.end())
        position = scheme.end() if scheme else header.end()
        value = bare_value(text, position)
        if value is None:
            continue
        word = text[value.start : value.end]
        after = text[value.end : value.end + 64]
        if is_secret(word, after, kind="key") if scheme else is_strong(word):
            yield Finding(value.start, value.end, "header")
            position = value.end
    for found in _credentials().finditer(text):
        bearer = found[1].lower() == "bearer"
        if _is_bearer(found[2]) if bearer else _is_basic(found[2]):
            yield Finding(*found.span(2), "header")
    position = 0
    while cookie := _cookie().search(text, position):
        position = cookie.end()
        for pair in _pairs(text, position, only_first=cookie[1] is not None):
            position = pair.end()
            if not _is_preference(pair[1]) and not is_dull(pair[1]):
                yield Finding(*pair.span(1), "cookie")


def _is_bearer(token: str) -> bool:
    return is_strong(token) or (len(token) >= 24 and token.isalpha())


def _is_basic(encoded: str) -> bool:
    """Whether this is user name and password, which tells them from the word behind "basic"."""
    try:
        decoded = a2b_base64(encoded[:400].rstrip("=") + "===")
    except Error:
        return False
    return b":" in decoded and all(32 <= byte != 127 for byte in decoded)


def _is_preference(value: str) -> bool:
    """Whether a cookie is a flag, a count or a word (`theme=dark`) that opens nothing."""
    return len(value) < 4 or (len(value) < 16 and value.replace("-", "").isalpha())


def _pairs(text: str, start: int, *, only_first: bool) -> Iterator[re.Match[str]]:
    for _ in range(1 if only_first else _COOKIES_AT_MOST):
        pair = _pair().match(text, start)
        if pair is None:
            return
        yield pair
        start = pair.end()


@cache
def _authorization() -> re.Pattern[str]:
    return re.compile(r"authorization[\"'`]?[ \t]{0,8}[:=：][ \t]{0,8}[\"'`]?", re.IGNORECASE)


@cache
def _scheme() -> re.Pattern[str]:
    return re.compile(
        r"(?:bearer|basic|token|api-?key|digest|hmac|hawk|negotiate|ntlm|key)[ \t]{1,8}",
        re.IGNORECASE,
    )


@cache
def _credentials() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9])(bearer|basic)[ \t]{1,8}([A-Za-z0-9._~+/-]{12,}+={0,2})", re.IGNORECASE
    )


@cache
def _cookie() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9])(set-)?cookie[\"'`]?[ \t]{0,8}[:：][ \t]{0,8}[\"'`]?", re.IGNORECASE
    )


@cache
def _pair() -> re.Pattern[str]:
    return re.compile(r"[\w!#$%&*+.^|~-]{1,64}=([^\s;,\"'`]{1,4096})(?:;[ ]?)?", re.ASCII)
