"""Labels that announce a secret, in five languages, and the value that follows them.

How much a value must look like a secret depends on what stands between it and its label: after a
colon or an equals sign almost anything is one, after 是 or `is` it must look like one, after
nothing at all it must be unmistakable.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from wsmem.redaction.findings import Finding
from wsmem.redaction.judgement import (
    LabelKind,
    is_dense,
    is_phrase_secret,
    is_secret,
    is_strong,
)
from wsmem.redaction.values import Value, bare_value, read_value
from wsmem.redaction.vocabulary import (
    BEHIND_BAR,
    BOUNDED,
    LABELS,
    QUALIFIED,
    SEED,
    SHORT,
    VAGUE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IDENTIFIER = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-"

_ASSIGNS = frozenset({"=", ":", "：", "﹕", "∶", ":=", "::"})
"""Separators after which any word may be a secret."""

_AFTER = 64
"""Characters behind a value that tell whether it begins a sentence."""


class _Label(NamedTuple):
    start: int
    end: int
    kind: LabelKind
    sure: bool
    """Whether what is assigned to it is a secret even when it does not look like one."""


def find(text: str) -> Iterator[Finding]:
    """Labelled secrets in folded text, in order, not overlapping."""
    position, lowered = 0, text.lower()  # the same length: folding saw to that
    while found := _labels().search(lowered, position):
        position = found.end()
        if found[0] in SEED:
            values: Iterable[Value] = _seed_phrase(text, found.end())
        else:
            label = _label(text, found)
            values = _secrets_of(text, label) if label else ()
        for value in values:
            yield Finding(value.start, value.end, "label")
            position = value.end


def names_secret(field: str) -> LabelKind | None:
    """What kind of secret a field of this name holds; `None` for any other field."""
    for found in _labels().finditer(field.lower()):
        label = _label(field, found) if found[0] not in SEED else None
        if label and label.sure and _after_label(field, label) == len(field):
            return label.kind
    return None


def _label(text: str, found: re.Match[str]) -> _Label | None:
    """The label a match stands for, `None` where it is part of another word."""
    (start, end), word = found.span(), found[0]
    if text[end : end + 1].isalpha() and text[end].isascii() and text[end - 1].isascii():
        return None  # tokens, secretary
    if word == QUALIFIED:
        qualifier = _qualifier().search(text, max(0, start - 32), start)
        if qualifier is None:
            return None
        start = qualifier.start()
    whole = word not in BOUNDED or _begins_word(text, start)
    if not whole and word not in ("token", "secret"):
        return None
    if word == SHORT:  # `pass: 12` is as often the result of a test
        return _Label(start, end, "token", sure=text[start - 1 : start] == "_" or text[end] == "=")
    if text.endswith(("1", "/etc/"), 0, start) and word in ("password", "passwd"):
        return None  # 1Password, /etc/passwd
    if word == BEHIND_BAR:
        return _Label(start, end, "token", sure=False) if text[start - 1 : start] == "_" else None
    spaced = word == QUALIFIED and " " in text[start:end]
    kind: LabelKind = "key" if word == QUALIFIED else LABELS[word]
    return _Label(start, end, kind, sure=whole and word not in VAGUE and not spaced)


def _begins_word(text: str, start: int) -> bool:
    """Whether an English label begins a word, a part of an identifier, or a known compound."""
    before = text[start - 1 : start]
    if not (before.isascii() and before.isalnum()):
        return True
    if text[start].isupper() and not before.isupper():
        return True  # dbSecret
    return _compound().search(text, max(0, start - 12), start) is not None


def _secrets_of(text: str, label: _Label) -> Iterator[Value]:
    """The values of one label: usually one, several where they are listed."""
    value = _first_value(text, label)
    if value is None:
        return
    yield value
    end = value.end
    while (more := _and_another().match(text, end)) and (value := bare_value(text, more.end())):
        word = text[value.start : value.end]
        if not is_dense(word) or _inner_separator().search(word):
            return  # prose, or the next assignment
        yield value
        end = value.end


def _first_value(text: str, label: _Label) -> Value | None:
    if not _goes_on().match(text, label.end):
        return None
    after = _after_label(text, label)
    if assigned := _assignment().match(text, after):
        returns = text[after - 1] == ")" and assigned[1] == "->"  # def f(x: Token) -> Y
        return None if returns else _assigned(text, label, assigned)
    if longer := _longer_name().match(text, label.end):
        value = read_value(text, longer.end())
        return value if value and is_dense(text[value.start : value.end]) else None
    if remark := _remark().match(text, label.end):
        value = Value(*remark.span(1))
        return value if label.sure and is_dense(remark[1]) else None
    if _in_tag(text, label) and (element := _element().match(text, label.end)):
        inner = Value(*element.span(1), quoted=True)
        return inner if _accepts(text, inner, label) else None
    if attribute := _attribute().match(text, label.end):
        return _looks_like_one(text, Value(*attribute.span(1)))
    if pair := _name_value().match(text, label.end):
        value = read_value(text, pair.end())
        return value if value and _accepts(text, value, label, tight=True) else None
    if said := _verb().match(text, after):
        # The public plugin, and so the shared record, lets `the password is hunter2` stand.
        shortest = 8 if said[0].isascii() else 6
        return _looks_like_one(text, read_value(text, said.end()), shortest=shortest)
    if _is_flag(text, label) and (blank := _blank().match(text, label.end)):
        return _looks_like_one(text, read_value(text, blank.end()))
    if not label.sure:
        return None
    below = _block().match(text, after)
    return _on_next_line(text, below) if below else _adjacent(text, label, after)


def _after_label(text: str, label: _Label) -> int:
    suffix = _suffix().match(text, label.end)
    return suffix.end() if suffix else label.end


def _assigned(text: str, label: _Label, assigned: re.Match[str]) -> Value | None:
    """The value after `:`, `=` and the like; an empty one does not reach for the next line."""
    block = _block().match(text, assigned.end())
    value = None if block else read_value(text, assigned.end())
    if value is None:
        return _on_next_line(text, block) if block and "=" not in assigned[1] else None
    if not value.quoted and assigned[1] not in _ASSIGNS:
        return _looks_like_one(text, value)  # a comparison or an arrow, often between two names
    tight = assigned[1].endswith("=") and assigned[0] == assigned[1]
    if not _accepts(text, value, label, tight=tight):
        return None
    groups = _four_fours().match(text, value.start) if label.kind == "password" else None
    return Value(*groups.span()) if groups else value


def _on_next_line(text: str, block: re.Match[str]) -> Value | None:
    """A secret alone on the line below `label:`, or in a YAML block."""
    value = bare_value(text, block.end())
    if value is None or not _line_end().match(text, value.end):
        return None
    word = text[value.start : value.end]
    return value if is_dense(word) or (block[1] and is_strong(word)) else None


def _accepts(text: str, value: Value, label: _Label, *, tight: bool = False) -> bool:
    word = text[value.start : value.end]
    if text.startswith("<", value.start - 1) and text.startswith(">", value.end):
        return is_strong(word)  # <your password>, but also <Kx7pQ2vL9z>
    if not label.sure:
        return is_strong(word)
    if value.quoted and len(word.split()) != 1:
        return bool(word.strip()) and is_phrase_secret(word, kind=label.kind)
    after = "" if value.quoted else text[value.end : value.end + _AFTER]
    return is_secret(word, after, kind=label.kind, tight=tight, quoted=value.quoted)


def _looks_like_one(text: str, value: Value | None, *, shortest: int = 8) -> Value | None:
    if value is None or text.startswith("-", value.start):
        return None
    word = text[value.start : value.end]
    if is_strong(word, shortest=shortest):
        return value
    plain = word.isalpha() or len(word.split()) != 1
    told = value.quoted and not plain and is_secret(word, kind="token", quoted=True)
    return value if told else None


def _adjacent(text: str, label: _Label, after: int) -> Value | None:
    """A value right behind the label or one blank away: `密码Kx7pQ2vL9z`, `PASSWORD 'x7#k9'`."""
    blank = _blank().match(text, after)
    at = blank.end() if blank else after
    if at == label.end and text[label.start].isascii() and not text.startswith("(", at):
        return None  # the label is only the beginning of a longer word
    value = read_value(text, at)
    if value is None:
        return None
    word = text[value.start : value.end]
    return value if is_dense(word) or (value.quoted and is_strong(word)) else None


def _seed_phrase(text: str, start: int) -> Iterator[Value]:
    """The words of a wallet's recovery phrase: twelve or more, or it is prose."""
    if words := _twelve_words().match(text, start):
        yield Value(*words.span(1))


def _in_tag(text: str, label: _Label) -> bool:
    """Whether the label ends the name of a start tag, `<db:password`; not of an end tag."""
    return text.startswith("<", _identifier_start(text, label.start) - 1)


def _is_flag(text: str, label: _Label) -> bool:
    return text.startswith("--", _identifier_start(text, label.start))


def _identifier_start(text: str, start: int) -> int:
    """Where the identifier that ends in a label begins; looks back at most 64 characters."""
    before = text[max(0, start - 64) : start]
    return start - len(before) + len(before.rstrip(_IDENTIFIER))


@cache
def _labels() -> re.Pattern[str]:
    """All labels, longer before shorter; plain words, for which the search has a fast path."""
    words = sorted((*LABELS, *SEED, QUALIFIED, BEHIND_BAR), key=lambda word: (-len(word), word))
    return re.compile("|".join([*words, rf"{SHORT}(?=[ \t]?[:=])"]))


@cache
def _qualifier() -> re.Pattern[str]:
    """What makes a key a secret; the key of a cache, a table or a keyboard is none."""
    return re.compile(
        r"(?:api|access|secret|private|account|encrypt(?:ion)?|sign(?:ing)?|master|shared|storage|auth"
        r"|admin|subscription|webhook|crypto?|cipher|aes|hmac|jwt|consumer|service[_-]role)"
        r"[ _.-]?(?:access[ _.-]?)?\Z",
        re.IGNORECASE,
    )


@cache
def _compound() -> re.Pattern[str]:
    """Words written together with token, secret, key or pwd."""
    return re.compile(
        r"(?:auth|access|refresh|api|bearer|session|csrf|xsrf|client|app|shared|bot|user|db|root|admin"
        r"|jwt|oauth|github|gitlab|slack|webhook|deploy|id)\Z",
        re.IGNORECASE,
    )


@cache
def _goes_on() -> re.Pattern[str]:
    """What can follow a label that has a value: a quick look before the exact ones."""
    verbs = (
        "–—现現目暂仍统統默預已就还還都均分是为為即叫设設改换換更修重变變用使はがをもの는은가이를을"
    )
    return re.compile(
        rf"[\s:=：﹕∶→⇒|_.(（\[<>?!*A-Za-z0-9\"'`\\\])“”‘’「」『』《【】〈〕-]|[{verbs}]"
    )


@cache
def _suffix() -> re.Pattern[str]:
    """What may follow a label before its separator: a number, a stage, closing quotes, a remark."""
    stages = (
        "prod|production|dev|test|testing|staging|stage|uat|live|base|old|new|value|string|plain"
        "|local|main|master|root|admin|backup|primary|secondary"
    )
    return re.compile(
        rf"(?:[_.-]?[0-9]{{1,3}}(?![0-9]))?(?:[_-](?:{stages})(?![A-Za-z0-9]))?"
        r"(?:\\{0,3}[\"'`”’」』】〕*\])]){0,3}+[?!]?"
        r"(?:[ \t]{0,2}[(（](?![\"'`])[^()（）\r\n]{0,30}[)）])?",
        re.IGNORECASE,
    )


@cache
def _assignment() -> re.Pattern[str]:
    return re.compile(r"[ \t\u00a0]{0,64}([:=]{1,3}>?|[-=]>|[：→⇒﹕∶])[ \t\u00a0]{0,64}")


@cache
def _verb() -> re.Pattern[str]:
    """是, 为, 改成, は, 는, `is`, `was changed to`, a table's bar."""
    chinese = (
        r"[ ]?(?:现在|現在|目前|暂时|仍然|统一|統一|默认|預設|已经?|已經|就|仍|还|還|都|均|现)"
        r"{0,2}(?:是|为|為|即|叫|用的是|用|使用"
        r"|(?:设置?|設置?|設定|改|换|換|更新|更改|修改|重置|变更|變更)(?:为|為|成|到))"
    )
    others = r"[はがをもの][ ]?|[는은가이를을](?=[ ])|[ \t]?\|(?=[ \t])"
    dash = r"[ \t]+[-–]{1,2}(?=[ \t])|[ \t]?—{1,2}"
    english = (
        r"(?i:[ \t]+(?:is|was|are|were|has been|will be|to|now|set|changed|reset|updated|equals?"
        r"|still)(?:[ \t]+(?:now|set|changed|reset|updated|to|still|be)){0,3})(?=[ \t:\"'`])"
    )
    return re.compile(rf"(?:{chinese}|{others}|{dash}|{english})[ \t]{{0,4}}[:：]?[ \t]{{0,4}}")


@cache
def _longer_name() -> re.Pattern[str]:
    """The rest of a name that only begins with the label: `TOKEN_GITHUB=`, not `password_hash=`."""
    others = (
        "hash|id|name|type|kind|url|uri|path|file|dir|ttl|limit|count|size|min|max|len|length|policy|exp"
        "|expir|endpoint|field|env|ref|arn|version|salt|digest|format|prefix|hint|algo"
    )
    return re.compile(
        rf"(?![A-Za-z0-9_-]{{0,30}}(?:{others}))[_-][A-Za-z0-9_-]{{1,30}}[ \t]?[:=][ \t]?",
        re.IGNORECASE,
    )


@cache
def _remark() -> re.Pattern[str]:
    return re.compile(r"[ ]?[(（](?![\"'`])([^()（）\s]{8,128})[)）]")


@cache
def _element() -> re.Pattern[str]:
    """The rest of an XML start tag and its text: `<password>x</password>`."""
    return re.compile(r"(?:\s[^<>\r\n]{0,200})?>\s{0,8}([^<>\r\n]{1,512}?)\s{0,8}</")


@cache
def _attribute() -> re.Pattern[str]:
    """The rest of a tag whose attribute names the secret: `<entry key="password">x</entry>`."""
    return re.compile(r"[\"'][^<>\r\n]{0,100}>\s{0,8}([^<>\s]{1,512})\s{0,8}</")


@cache
def _name_value() -> re.Pattern[str]:
    """`name: X` with its `value:` beside or below, as in manifests and web.config."""
    return re.compile(r"[\"']?,?\s{1,40}[\"']?value[\"']?\s{0,8}[:=]\s{0,8}", re.IGNORECASE)


@cache
def _and_another() -> re.Pattern[str]:
    return re.compile(
        r"[\"'`”’」』]?[ \t]{0,2}(?:[/、,，|]|或者?|和|及|以及|or|and)[ \t]{0,2}[\"'`“‘「『]?"
    )


@cache
def _inner_separator() -> re.Pattern[str]:
    return re.compile(r"[:=](?!=*\Z)")


@cache
def _block() -> re.Pattern[str]:
    return re.compile(r"([|>][+-]?)?[ \t]{0,8}\r?\n[ \t]{0,40}(?:```\w{0,12}\r?\n[ \t]{0,40})?")


@cache
def _line_end() -> re.Pattern[str]:
    return re.compile(r"[ \t`]{0,8}(?:\r?\n|\Z)")


@cache
def _four_fours() -> re.Pattern[str]:
    """A mail provider's application password as it is shown: four groups of four letters."""
    return re.compile(r"[a-z]{4}(?:[ \u00a0][a-z]{4}){3}(?![A-Za-z])")


@cache
def _blank() -> re.Pattern[str]:
    return re.compile(r"[ \t\u00a0]{1,4}")


@cache
def _twelve_words() -> re.Pattern[str]:
    return re.compile(r"[\s:：=是]{0,8}[\"'`“「]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})")
