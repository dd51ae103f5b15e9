"""Stand-ins for what names people and machines: e-mail, hosts, addresses, users, folders, paths.

The same name gets the same stand-in wherever it occurs, in queries and entries alike, so that what
matched before matches after. This is not anonymity: what a text tells about someone without naming
him stays in it, and should be read before it is given away.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

EMAIL, HOST, ADDRESS, USER, FOLDER, NAME = "email", "host", "address", "user", "folder", "name"
_FOR_DOCUMENTS = ("192.0.2", "198.51.100", "203.0.113")
"""Networks that are nobody's (RFC 5737)."""


def _address(number: int) -> str:
    block, host = divmod(number - 1, 254)
    if block < len(_FOR_DOCUMENTS):
        return f"{_FOR_DOCUMENTS[block]}.{host + 1}"
    return f"240.0.{block}.{host + 1}"  # reserved: no machine can have it


_STAND_INS: dict[str, Callable[[int], str]] = {
    EMAIL: lambda number: f"person{number}@example.com",
    HOST: lambda number: f"host{number}.example",
    ADDRESS: _address,
    USER: lambda number: f"user{number}",
    FOLDER: lambda number: f"folder{number}",
    NAME: lambda number: f"name{number}",
}

_A = "A-Za-z0-9"
_EMAIL = re.compile(
    rf"(?<![{_A}._%+-])[{_A}._%+-]{{1,64}}@(?:[{_A}-]{{1,63}}\.){{1,6}}[A-Za-z]{{2,24}}(?![{_A}])"
)
_LOGIN = re.compile(
    rf"(?<![{_A}._-])([{_A}_][{_A}._-]{{0,31}})@([{_A}][{_A}-]{{0,62}})(?![{_A}.@-])"
)
_URL_HOST = re.compile(rf"(?<=://)(?:([{_A}._-]{{1,64}})@)?([{_A}][{_A}.-]{{0,252}})")
_LABEL = rf"[{_A}](?:[{_A}-]{{0,61}}[{_A}])?"
_DOMAIN = re.compile(
    rf"(?<![{_A}@._/-])(?:"
    rf"(?:{_LABEL}\.){{1,8}}(?:com|net|org|cn|edu|gov|internal|intranet|local|lan|corp)"
    rf"|(?:{_LABEL}\.){{2,8}}(?:io|dev|app|cloud|home|de|uk|jp|hk|tw)"
    rf")(?![{_A}_-]|\.[{_A}])"
)
"""Names that end as hosts do; where an attribute or a file could end so too, only longer ones."""
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = re.compile(rf"(?<![\d.])(?:{_BYTE}\.){{3}}{_BYTE}(?!\d|\.\d)")
_HOME = re.compile(
    r"(?:/home/|/Users/|[A-Za-z]:[\\/]Users[\\/])([^\s\\/:*?\"'<>|,;，。；、）)]{1,64})"
)
_ROOTS = "home|Users|srv|opt|mnt|media|data|work|workspaces?|projects?|var|tmp|private|root|Volumes"
_PATH = re.compile(
    rf"(?<![{_A}_.~/\\:])(?:[A-Za-z]:[\\/]|~[\\/]|/(?=(?:{_ROOTS}|usr|etc)/))"
    r"(?:[\w.@+~-]+[\\/])*[A-Za-z0-9_.@+~-]*"
)
"""Paths of a file system; a route such as /orders/refunds is none. A last part ends with its Latin
letters, because Chinese goes on without a blank."""

_PLAIN_HOSTS = frozenset({"localhost", "example.com", "example.org", "example.net"})
_PLAIN_ADDRESSES = re.compile(r"127\.|0\.0\.0\.0|255\.255\.")
_PLAIN_USERS = frozenset(
    {"root", "git", "admin", "user", "users", "ubuntu", "public", "shared", "example"}
)
_PLAIN_FOLDERS = frozenset(
    """
    home users root usr etc var tmp opt srv mnt media dev proc sys bin sbin lib lib64 local share
    log logs run cache spool data src app apps api docs doc test tests build dist config conf work
    workspace workspaces projects project repos repo code scripts public static assets windows
    program files documents desktop downloads library volumes private node_modules site-packages
    """.split()
)
_TELLS_NOTHING = re.compile(r"v?\d+(?:\.\d+)*|..?|python\d.*")


class Pseudonyms:
    """Replaces names; remembers which stand-in each got."""

    def __init__(
        self,
        known: Mapping[str, Mapping[str, str]] | None = None,
        *,
        names: Iterable[str] = (),
        directories: Iterable[str] = (),
    ) -> None:
        """Prepare stand-ins.

        Args:
            known: Stand-ins of an earlier export, by kind, to be used again.
            names: Words that are replaced wherever they stand: of people, companies, products.
            directories: Workspaces, whose own folder's name is replaced wherever it stands.
        """
        self._given: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for kind, stand_ins in (known or {}).items():
            self._given[kind].update(stand_ins)
        self._words: dict[str, str] = {}
        for name in names:
            if name.strip():
                self._words[name.strip().casefold()] = self._stand_in(NAME, name.strip())
        for directory in directories:
            self.learn_path(directory)
            last = PurePosixPath(directory.replace("\\", "/")).name
            if last and last.casefold() not in _PLAIN_FOLDERS:
                self._words[last.casefold()] = self._stand_in(FOLDER, last)

    @property
    def given(self) -> dict[str, dict[str, str]]:
        """All stand-ins by kind and name; private, as it undoes the replacement."""
        return {kind: dict(names) for kind, names in self._given.items() if names}

    def learn(self, text: str) -> None:
        """Take note of users that paths and logins of a text name, before anything is replaced."""
        for home in _HOME.finditer(text):
            self._learn_user(home[1])
        for login in _LOGIN.finditer(text):
            self._learn_user(login[1])

    def learn_path(self, path: str) -> None:
        """Take note of the user whose home a path lies in."""
        if home := _HOME.search(path):
            self._learn_user(home[1])

    def replace(self, text: str) -> str:
        """The text with stand-ins."""
        text = _EMAIL.sub(lambda found: self._stand_in(EMAIL, found[0].casefold()), text)
        text = _URL_HOST.sub(self._url, text)
        text = _LOGIN.sub(self._login, text)
        text = _DOMAIN.sub(lambda found: self._host(found[0]), text)
        text = _IPV4.sub(lambda found: self._address(found[0]), text)
        text = _PATH.sub(lambda found: self._path(found[0]), text)
        return self._replace_words(text)

    def _learn_user(self, name: str) -> None:
        if len(name) > 1 and name.casefold() not in _PLAIN_USERS:
            self._words[name.casefold()] = self._stand_in(USER, name)

    def _url(self, found: re.Match[str]) -> str:
        login = f"{self._user(found[1])}@" if found[1] else ""
        host = found[2].rstrip(".")
        shown = self._address(host) if _IPV4.fullmatch(host) else self._host(host)
        return login + shown + found[2][len(host) :]

    def _login(self, found: re.Match[str]) -> str:
        return f"{self._user(found[1])}@{self._host(found[2])}"

    def _user(self, name: str) -> str:
        return name if name.casefold() in _PLAIN_USERS else self._stand_in(USER, name)

    def _host(self, name: str) -> str:
        plain = name.casefold()
        if plain in _PLAIN_HOSTS or plain.endswith((".example", ".example.com")):
            return name
        return self._stand_in(HOST, plain)

    def _address(self, text: str) -> str:
        return text if _PLAIN_ADDRESSES.match(text) else self._stand_in(ADDRESS, text)

    def _path(self, path: str) -> str:
        """Folders that are not found everywhere get a stand-in; the file's own name stays."""
        parts = re.split(r"([\\/])", path)
        last = len(parts) - 1
        for place, part in enumerate(parts):
            is_file = place == last and ("." in part.strip(".") or not part)
            if part in {"/", "\\", "", "~"} or is_file or part.endswith(":"):
                continue
            parts[place] = self._folder(part)
        return "".join(parts)

    def _folder(self, name: str) -> str:
        plain = name.casefold()
        if plain in self._words:
            return self._words[plain]
        if plain in _PLAIN_FOLDERS or _TELLS_NOTHING.fullmatch(plain) or self._is_given(name):
            return name
        return self._stand_in(FOLDER, name)

    def _replace_words(self, text: str) -> str:
        if not self._words:
            return text
        longest_first = sorted(self._words, key=lambda word: (-len(word), word))
        for word in longest_first:
            text = _word_pattern(word).sub(self._words[word], text)
        return text

    def _is_given(self, name: str) -> bool:
        """Whether a name is a stand-in itself."""
        return any(name in names.values() for names in self._given.values())

    def _stand_in(self, kind: str, name: str) -> str:
        """The name's stand-in; what is a stand-in already stays."""
        known = self._given[kind]
        key = name.casefold()
        if self._is_given(name):
            return name
        if key not in known:
            known[key] = _STAND_INS[kind](len(known) + 1)
        return known[key]


def _word_pattern(word: str) -> re.Pattern[str]:
    """The word by itself: not inside a longer Latin word; Chinese has no such borders."""
    escaped = re.escape(word)
    before = rf"(?<![{_A}])" if word[:1].isascii() and word[:1].isalnum() else ""
    after = rf"(?![{_A}])" if word[-1:].isascii() and word[-1:].isalnum() else ""
    return re.compile(before + escaped + after, re.IGNORECASE)
