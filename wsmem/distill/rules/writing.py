"""How a statement is written down: its content, title, tags, further words, importance, type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wsmem.distill.rules.cues import cue_of, is_rule
from wsmem.distill.rules.gates import REMOVED
from wsmem.distill.rules.glossary import translations
from wsmem.distill.rules.lexicon import leading, nothing_but, pattern, says
from wsmem.text.scripts import cjk_run
from wsmem.text.stopwords import ENGLISH
from wsmem.text.utf16 import utf16_cut

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.distill.rules.cues import Cue
    from wsmem.records import MemoryType

_CLAUSE_END = re.compile(
    r"(?<=[，,；;。！!])\s*|(?<=\.)\s+|\s+(?=and (?:its|the|his|her|their|my)\b)"
)
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+#-]*")
_WORD = re.compile(r"[A-Za-z0-9][\w.+#/-]*")

_MAX_TITLE = {"cjk": 28, "latin": 64}
_MAX_TAGS = 4
_MAX_TERMS = 6
_MIN_SUBSTANCE = 6
"""A CJK letter counts 1, a Latin word or number 2."""


def joined(texts: Iterable[str]) -> str:
    """Sentences in a row, with a blank where one of both sides is Latin."""
    said = ""
    for text in texts:
        gap = " " if said and (said[-1].isascii() or text[:1].isascii()) else ""
        said = f"{said}{gap}{text}"
    return said


def without_address(text: str) -> str:
    """A statement without what only addresses the listener: "by the way", "correction:"."""
    while True:
        opened = leading("address").match(text.strip())
        stripped = text.strip()[opened.end() :] if opened else text.strip()
        stripped = pattern("address_end").sub("", stripped).strip(" ，,；;：:、")
        if stripped == text or not stripped:
            return _capitalised(stripped)
        text = stripped


def without_secrets(text: str) -> str:
    """The clauses of a text that hold no removed secret; what led up to one goes with it."""
    if REMOVED not in text:
        return text
    kept = [part for part in _CLAUSE_END.split(text) if part and REMOVED not in part]
    while kept and says("secret_lead", kept[-1]):
        kept.pop()
    return joined(kept).strip(" ，,；;")


def is_filler(text: str) -> bool:
    """Whether a text only leads up to something."""
    return nothing_but("filler").fullmatch(text.strip(" ，,；;：:、。")) is not None


def is_substantial(text: str) -> bool:
    """Whether a text is long enough to state something: six CJK letters, or three words."""
    letters = sum(map(len, cjk_run().findall(text)))
    return letters + 2 * len(_WORD.findall(text)) >= _MIN_SUBSTANCE and not is_filler(text)


def title_of(content: str) -> str:
    """The beginning of a statement, up to a mark if one comes soon enough."""
    cjk = cjk_run().search(content) is not None
    most = _MAX_TITLE["cjk" if cjk else "latin"]
    first = re.split(r"[，。；！？\n]|[,;:](?=\s)|\.(?=\s|$)", content, maxsplit=1)[0].strip()
    if len(first) <= most:
        return first or utf16_cut(content, most)
    cut = utf16_cut(first, most)
    return cut if cjk or " " not in cut else cut.rpartition(" ")[0]


def tags_of(content: str) -> tuple[str, ...]:
    """Names that stand out: Latin words in a Chinese statement; else code, versions, capitals."""
    cjk = cjk_run().search(content) is not None
    found: dict[str, None] = {}
    for match in _LATIN.finditer(content):
        word = match[0].rstrip(".-+")
        inside = match.start() > 0
        marked = re.search(r"[_.#0-9]|[a-z][A-Z]", word) is not None
        named = marked or any(map(str.isupper, word if inside else word[1:]))
        if len(word) > 1 and word.lower() not in ENGLISH and (cjk or named):
            found[word.lower()] = None
    return tuple(found)[:_MAX_TAGS]


def terms_of(content: str) -> tuple[str, ...]:
    """Words a question may use that the statement does not: its terms in the other language."""
    return translations(content)[:_MAX_TERMS]


def type_of(content: str, cue: Cue) -> MemoryType:
    """What kind of memory a statement is."""
    if cue != "request":
        return cue
    if says("preference", content):
        return "preference"
    if is_rule(content):
        return "rule"
    return "decision" if cue_of(content) == "decision" else "fact"


def importance_of(content: str, cue: Cue) -> int:
    """2 for what was asked for or binds, 1 for the rest."""
    return 2 if cue in {"request", "preference"} or says("binding", content) else 1


def _capitalised(text: str) -> str:
    """An English sentence with a capital, unless it begins with a name of code."""
    return text[0].upper() + text[1:] if re.match(r"[a-z][a-z']*(?=[\s,])", text) else text
