"""Credentials in addresses: `scheme://user:password@host`, `user:password@host`, signed links."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from wsmem.redaction.findings import PLACEHOLDER, Finding
from wsmem.redaction.judgement import is_strong
from wsmem.redaction.references import is_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.redaction.gates import Gates

GATES: Gates = (("", ("://",)), ("=", ("sig=", "signature=")), ("@", (":",)))


def find(text: str) -> Iterator[Finding]:
    """Passwords and tokens in addresses; scheme, user name, host and path stay readable."""
    position = text.find("://")
    while position >= 0:
        secret = _password(text, position + 3) or _bare_token(text, position + 3)
        if secret:
            yield Finding(*secret, "url")
        position = text.find("://", secret[1] if secret else position + 3)
    for found in _login().finditer(text):
        if text.startswith(("tcp(", "unix("), found.end() + 1) or is_strong(found["password"]):
            yield Finding(*found.span("password"), "url")
    for found in _signature().finditer(text):
        yield Finding(*found.span(1), "url")


def _password(text: str, start: int) -> tuple[int, int] | None:
    """Where the password of `user:password@` stands, by the last @ before the path.

    A password may hold `/`, `?` or `#` that nobody escaped; it is taken to the next @ that a host
    follows, unless what stands before them is a port: `http://host:8080/@vite`.
    """
    user = _user().match(text, start)
    if user is None:
        return None
    begin = user.end()
    authority = _authority().match(text, begin)
    end = authority[0].rfind("@") if authority else -1
    if authority and end > 0 and _host().match(text, begin + end + 1):
        stop = begin + end
    else:
        port = authority is None or re.fullmatch(r"[0-9]{1,5}", authority[0])
        long = None if port else _unescaped().match(text, begin)
        if long is None:
            return None
        stop = long.end()
    return (begin, stop) if _is_password(text[begin:stop]) else None


def _bare_token(text: str, start: int) -> tuple[int, int] | None:
    found = _token().match(text, start)
    return found.span(1) if found and is_strong(found[1]) else None


def _is_password(password: str) -> bool:
    """Any text but a blank to fill in; `pass` may well be the password of a test database."""
    if password.startswith(PLACEHOLDER) or password.strip("*xX•.%") in ("", "s"):
        return False
    return not is_template(password) and not (password[0] in "<[{" and password[-1] in ">]}")


@cache
def _user() -> re.Pattern[str]:
    return re.compile(r"(?!\[)[^\s:/?#@\"'`<>]{0,128}+:")


@cache
def _authority() -> re.Pattern[str]:
    return re.compile(r"[^\s/?#\"`]{1,512}+")


@cache
def _unescaped() -> re.Pattern[str]:
    return re.compile(r"[^\s\"`<>@]{1,256}+(?=@[\w.-]+(?:\.[A-Za-z]|:[0-9]|/|localhost))", re.ASCII)


@cache
def _host() -> re.Pattern[str]:
    return re.compile(r"[\w\[$%{<*]")


@cache
def _token() -> re.Pattern[str]:
    return re.compile(r"([^\s:/?#@\"'`<>.]{16,512}+)@[\w.-]", re.ASCII)


@cache
def _login() -> re.Pattern[str]:
    """`user:password@` without a scheme, where no mail address can be meant.

    That is before a driver's `tcp(`, an IP address or a host with its port, or behind the name of
    an account that everybody has; `contact:team24@example.com` is none of them.
    """
    users = "root|admin|administrator|app|user|default|guest|sa|postgres|mysql|redis|ubuntu|oauth2"
    up_to_at = r"[^\s:@/?#\"'`<>$\[\]{}()]{2,256}+@"
    host = r"(?:[\w-]{1,63}+\.){0,9}[\w-]{1,63}+"
    return re.compile(
        rf"(?<![\w/:.@%-])(?:(?:{users}):(?={up_to_at}{host})"
        rf"|[A-Za-z][\w.-]{{0,63}}+:(?={up_to_at}(?:(?:tcp|unix)\(|[0-9.]{{7,15}}+|{host}:[0-9])))"
        r"(?P<password>[^@]++)",
        re.ASCII,
    )


@cache
def _signature() -> re.Pattern[str]:
    """The part of a signed link that opens it."""
    return re.compile(
        r"[?&](?:sig|x-amz-signature|signature)=([A-Za-z0-9%+/=_-]{20,}+)", re.IGNORECASE
    )
