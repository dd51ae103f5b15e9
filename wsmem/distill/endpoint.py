"""Addresses of endpoints, and keeping a key out of everything that is said about them."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit, urlunsplit

from wsmem.errors import InvalidInputError
from wsmem.redaction.redact import redact

_MAX_QUOTED = 300
"""Characters of an endpoint's own words that an error repeats."""

_SCRAP = 8
"""A run of this many characters of a key, found in a text, gives the key away."""


class Secret:
    """A key that neither prints nor pickles; `reveal()` is the only way to it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself, for the header of a request."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")


def normal_base_url(url: str) -> str:
    """The base URL that `/chat/completions` is added to.

    A bare host gets `/v1`, which is where all known servers listen; a path that is given stays,
    without a trailing slash or an endpoint pasted with it.

    Raises:
        InvalidInputError: it is no http(s) address, or it holds a user name or password.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInputError("the base URL of a model must be an http(s) address")
    if "@" in parts.netloc:
        raise InvalidInputError("the base URL of a model must not hold a user name or a password")
    path = re.sub(r"/+", "/", parts.path).rstrip("/")
    path = path.removesuffix("/chat/completions").rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", parts.query, ""))


def shown_address(url: str) -> str:
    """Host and port of an address: what an error may say of it, as a path or query may hold a key.

    The port is left out where it is the scheme's own.
    """
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"


def cleaned(text: str, key: Secret | None) -> str:
    """What an endpoint wrote, short, on one line and without secrets.

    A text that repeats the key, or a piece of it, in any case or escaped for a URL, is withheld
    whole: nobody can tell what else of it stands there.
    """
    if key is not None and repeats_key(text, key):
        return "[withheld: the text repeats the key]"
    return redact(" ".join(text.split()))[:_MAX_QUOTED]


def repeats_key(text: str, key: Secret) -> bool:
    """Whether `text` holds the key or at least eight characters of it in a row."""
    value = key.reveal()
    spelled = (value.lower(), quote(value, safe="").lower())
    folded = text.lower()
    for spelling in spelled:
        size = min(_SCRAP, len(spelling))
        pieces = (spelling[at : at + size] for at in range(len(spelling) - size + 1))
        if size and any(piece in folded for piece in pieces):
            return True
    return False


def without_key(text: str, key: Secret | None) -> str:
    """`text` with every whole occurrence of the key replaced."""
    if key is None or not key.reveal():
        return text
    return text.replace(key.reveal(), "[REDACTED]")
