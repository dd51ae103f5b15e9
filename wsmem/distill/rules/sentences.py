"""The user's own words, cut into sentences; pasted and quoted parts are not among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.distill.rules.lexicon import pattern, says
from wsmem.operations.statements import own_words
from wsmem.redaction.redact import redact
from wsmem.text.scripts import cjk_run

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAMILIAR = str.maketrans(
    "’記幫們決後從現開這個說錯換歡慣規則須為來會時對應該麼還讓請寫給過別嗎討厭習慣總結爛隨時約準許單筆錄備統變遷級調轉壞話樣頭緒誰",
    "'记帮们决后从现开这个说错换欢惯规则须为来会时对应该么还让请写给过别吗讨厌习惯总结烂随时约准许单笔录备统变迁级调转坏话样头绪谁",
)
"""Traditional letters of the words that are listened for, and the curly apostrophe; one for one, so
that places in the text stay."""

MAX_SENTENCE = 600
"""Characters of the longest sentence that is listened to; people do not talk in longer ones."""

_LAST_CHARACTERS = 20_000
"""How much of one message is listened to: its end, where conclusions stand."""

_END = re.compile(
    r"[。！？；]+[”」』\")）]?|(?<=\S)[!?]+[\")]?(?=\s|$|[^\x00-\x7f])|\.(?=\s|$)|;(?=\s|$)|…+"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|dr|mr|ms|st)|\b[A-Z])$", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*•·]\s+|\(?\d{1,2}[.)、）]\s*|[①-⑳]\s*|[一二三四五六七八九十]、)")
_QUOTED = re.compile(
    r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|‘[^’\n]*’|\"[^\"\n]*\"|`[^`\n]*`"
    r"|(?<![A-Za-z0-9])'[^'\n]*'(?![A-Za-z])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a user, without its list mark."""

    text: str
    """Trimmed, its final mark included."""
    line: int
    """Number of the line it stands on."""
    listed: bool = False
    """Whether it is an item of a list."""

    @property
    def bare(self) -> str:
        """The text without its final mark."""
        return self.text.rstrip('。！？!?；;.… \t"”」』')

    @property
    def unquoted(self) -> str:
        """The text with quoted passages blanked out, offsets unchanged.

        Cues are looked for here, because what somebody quotes they do not say.
        """
        straight = self.text.translate(_FAMILIAR)
        return _QUOTED.sub(lambda found: " " * len(found[0]), straight)

    @property
    def is_cjk(self) -> bool:
        """Whether it is Chinese, Japanese or Korean at all."""
        return cjk_run().search(self.text) is not None


def sentences_of(text: str) -> list[Sentence]:
    """The sentences a user said in a message, secrets redacted.

    When the first line hands something over (to summarise, explain, look at) the lines below it
    are what was handed over, whatever they say.
    """
    lines = _before_planted(own_words(redact(text[-_LAST_CHARACTERS:]))).split("\n")
    spoken = [line for line in lines if line.strip()]
    if len(spoken) > 1 and _hands_over(spoken[0]):
        lines = spoken[:1]
    found: list[Sentence] = []
    for number, line in enumerate(lines):
        if not line.strip() or says("code_line", line):
            continue
        bullet = _BULLET.match(line)
        body = line[bullet.end() :] if bullet else line
        found += [
            Sentence(text=piece, line=number, listed=bullet is not None)
            for piece in _split(body)
            if len(piece) <= MAX_SENTENCE
        ]
    return found


def _before_planted(text: str) -> str:
    """A text up to where it goes on in a voice that speaks to the assistant, or as it.

    At the very start that voice is the user's own.
    """
    found = pattern("planted").search(text.translate(_FAMILIAR))
    return text if found is None or not text[: found.start()].strip() else text[: found.start()]


def _hands_over(line: str) -> bool:
    """Whether a first line presents what stands below it, rather than saying it."""
    if says("asks_to_keep", line):
        return False
    if says("handed_over", line):
        return True
    return line.rstrip().endswith((":", "：")) and not says("own_list", line)


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        before = line[start : end.start()]
        if end[0] == "." and _ABBREVIATION.search(before):
            continue
        piece = line[start : end.end()].strip()
        if piece:
            yield piece
        start = end.end()
    rest = line[start:].strip()
    if rest:
        yield rest
