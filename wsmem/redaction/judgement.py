"""Secret or not: whether what stands where a value is expected is one.

The doubtful cases are decided for keeping the secret: an unknown word after `password:` is taken
for a password. What is let through is what a reader can name: a number that counts something, a
placeholder, a reference to a variable, file or vault, a type, an algorithm, the beginning of a
sentence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from wsmem.redaction.findings import PLACEHOLDER
from wsmem.redaction.references import (
    is_attribute,
    is_code,
    is_name,
    is_path,
    is_placeholder,
    is_template,
)
from wsmem.redaction.words import (
    ACTIONS,
    ALGORITHMS,
    CONNECTIVES,
    HAN_POLICY,
    LABEL_WORDS,
    PLACEHOLDERS,
    PRODUCTS,
    PROSE,
    TYPES,
    UNITS,
)

LabelKind = Literal["password", "token", "key"]

_ALWAYS_SECRET = 1024
"""A longer unbroken value is no word, reference or number; this also bounds all work on a value."""

_LONGEST_PHRASE = 8
"""Words of a passphrase, at most."""

_LONGEST_ACRONYM = 5

_SIGNS = frozenset("!@#$%^&*?=+~")


def is_secret(
    value: str, after: str = "", *, kind: LabelKind, tight: bool = False, quoted: bool = False
) -> bool:
    """Whether the value of an assignment (`label: value`, `label=value`) is a secret.

    Args:
        value: The value, without quotes and without white space.
        after: Some text behind it; empty where the value is quoted.
        kind: What the label names; a password may be all digits, a token count is no token.
        tight: `=` and nothing else separates label and value, so it begins no sentence.
        quoted: The value stood in quotes, so it is no program text and begins no sentence.
    """
    if len(value) > _ALWAYS_SECRET:
        return True
    if value.startswith(PLACEHOLDER):
        return is_strong(value[len(PLACEHOLDER) :])
    if value[:1] == "<" and value[-1] == ">":
        return is_strong(value[1:-1])
    if len(value) < 2 or not any(char.isalnum() for char in value):
        return False
    if is_dull(value, quoted=quoted) or (kind != "password" and not quoted and is_attribute(value)):
        return False
    if _quantity().fullmatch(value):
        return _is_numeric_secret(value, after, kind)
    word = value.lower().strip("'’-")
    if tight or quoted or not _word().fullmatch(word):
        return True
    return not _begins_prose(value, word, after)


def is_phrase_secret(value: str, *, kind: LabelKind) -> bool:
    """Whether a quoted value of several words is a secret: a passphrase, not a caption."""
    parts = value.split(maxsplit=_LONGEST_PHRASE)
    if len(parts) > _LONGEST_PHRASE or PLACEHOLDER in value or is_dull(parts[0]):
        return False
    words = re.findall(r"\w+", value[:_ALWAYS_SECRET].lower())
    if sum(word in PROSE for word in words) * 2 >= len(words):
        return False
    return LABEL_WORDS.isdisjoint(words) and (kind == "password" or any(map(is_dense, parts)))


def is_strong(value: str, *, shortest: int = 8) -> bool:
    """Whether a value looks like a secret by itself: for labels and separators that say little."""
    if len(value) > _ALWAYS_SECRET:
        return True
    if len(value) < shortest or value.split() != [value] or PLACEHOLDER in value or is_dull(value):
        return False
    if _ordinary().fullmatch(value) or not any(char.isalpha() for char in value):
        return False
    mixed = any(char.isdigit() for char in value) or not _SIGNS.isdisjoint(value)
    return mixed and not _is_wordy(value)


def is_dense(value: str) -> bool:
    """Whether a value cannot be anything but a secret: for labels without any separator."""
    if len(value) > _ALWAYS_SECRET:
        return True
    if not is_strong(value) or _digest().fullmatch(value) or not _BRACKETS.isdisjoint(value):
        return False
    turns = len(_turn().findall(value))
    if turns >= 3 or (turns >= 1 and not _SIGNS.isdisjoint(value)):
        return True
    cases = any(char.isupper() for char in value) and any(char.islower() for char in value)
    return turns >= 1 and cases and not _humps().fullmatch(value)


def is_dull(value: str, *, quoted: bool = False) -> bool:
    """Whether a value stands for one, names its kind, or points to where it is kept."""
    word = value.lower().strip("'\"`.,;:!?()[]")
    if word in PLACEHOLDERS or word in TYPES or word in LABEL_WORDS or _is_algorithm(word):
        return True
    if is_placeholder(value) or is_template(value) or is_path(value) or is_name(value):
        return True
    return not quoted and is_code(value)


def _is_numeric_secret(value: str, after: str, kind: LabelKind) -> bool:
    rest = after.lstrip(" \t")
    if not value.isdigit() or rest.startswith(UNITS) or _counted().match(rest):
        return False
    return len(value) >= (4 if kind == "password" else 12)


def _begins_prose(value: str, word: str, after: str) -> bool:
    """Whether a value made of letters is the first word of a sentence."""
    parts = re.split(r"['’-]", word)
    if parts[0] in PROSE and (len(parts) <= 2 or parts[1] in PROSE):
        return True
    rest = after.lstrip(" \t*_`\"'")
    if word in PRODUCTS:
        return rest[:1] not in ("", "\r", "\n", ",", ";", "|", ")", "]", "}", "<")
    if value[0].isupper() and rest.startswith(("= ", "| ")):
        return True  # a type with a default, or one of several
    if after.startswith(("(\n", "(\r", '("', "('")):
        return True  # a call
    following = re.match(r"[A-Za-z]+", rest) if rest != after else None
    said = following[0].lower() if following else ""
    if said in ACTIONS or (word.endswith(("ed", "ing", "ly")) and said in CONNECTIVES):
        return True
    acronym = value.isupper() and len(value) <= _LONGEST_ACRONYM
    han = _han().match(rest)
    if han is None:
        return acronym and said != ""
    return acronym or any(what in han[0] for what in HAN_POLICY)


def _is_algorithm(word: str) -> bool:
    """`AES-256-GCM`, `OAuth2.0`, `RSA2048`: a known name with numbers and other known names."""
    if word in ALGORITHMS:
        return True
    parts = re.split(r"[-_./+]", word)
    return _is_named(parts[0]) and all(
        _is_named(part) or part.isdigit() or part in PROSE or part.endswith("ed") for part in parts
    )


def _is_named(part: str) -> bool:
    return part in ALGORITHMS or _sized().fullmatch(part) is not None


def _is_wordy(value: str) -> bool:
    """Whether a value is words, algorithm names and small numbers joined by signs."""
    return all(
        _plain_part().fullmatch(part) or _is_named(part.lower())
        for part in re.split(r"[-_./:@]", value)
    )


_BRACKETS = frozenset("(){}[]<>/\\")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[a-z]+(?:['’-][a-z]+)*+")


@cache
def _plain_part() -> re.Pattern[str]:
    return re.compile(r"[A-Z]?[a-z]{0,20}|[A-Z]{1,12}|[0-9]{1,4}|v[0-9]+")


@cache
def _quantity() -> re.Pattern[str]:
    """A number, a range, a share or a date, with a unit or without."""
    unit = (
        r"(?:[kmbgwx%]|ms|[smhdw]|mins?|hrs?|hours?|days?|weeks?|months?|years?|sec(?:ond)?s?"
        r"|bits?|bytes?|[kmgt]i?b|chars?|characters?|digits?|letters?|words?|tokens?|st|nd|rd|th)"
    )
    number = r"[0-9]{1,40}(?:[.,_:/][0-9]{1,40}){0,6}"
    date = r"[0-9]{2,4}-[0-9]{1,2}-[0-9]{1,2}"
    return re.compile(
        rf"(?i)[~≈<>≥≤±=+-]{{0,2}}{number}(?:[-~]{number})?\+?-?{unit}?|{date}|0x[0-9a-f]{{1,8}}"
    )


@cache
def _counted() -> re.Pattern[str]:
    """What a bare number counts in an English sentence."""
    return re.compile(
        r"(?i)(?:iteration|character|char|digit|letter|word|bit|byte|second|minute|hour|day|week"
        r"|month|year|time|attempt|round|user|token|request)s?(?![a-z])"
    )


@cache
def _sized() -> re.Pattern[str]:
    return re.compile(
        r"(?:rsa|aes|sha|dsa|ecdsa|hmac|des|md|sm|tls|ssl|oauth|uuid|utf|base|pkcs|pbkdf|argon|hs"
        r"|rs|es|ps|ed|secp|curve|chacha|blake)-?[0-9]{1,4}"
    )


@cache
def _ordinary() -> re.Pattern[str]:
    """Dates, times, versions, network and mail addresses, web addresses."""
    return re.compile(
        r"[0-9]{1,4}(?:[-/.][0-9]{1,4}){1,5}(?:[T ][0-9:.]+Z?)?|[0-9]{1,2}(?::[0-9]{2}){1,2}"
        r"|v?[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:[-+][a-z0-9.]+)?"
        r"|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+|[a-z][a-z0-9+.-]{1,20}://.*"
    )


@cache
def _digest() -> re.Pattern[str]:
    return re.compile(r"(?i)[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@cache
def _turn() -> re.Pattern[str]:
    return re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")


@cache
def _humps() -> re.Pattern[str]:
    """Words and numbers written together as in program text: `Base64Encoder`, `parseV2Config`."""
    return re.compile(r"(?:[A-Z]?[a-z]{3,}+|[A-Z]{2,}+|V?[0-9]++|[_-])++")


@cache
def _han() -> re.Pattern[str]:
    return re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,14}")
