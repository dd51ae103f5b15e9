"""What a user said in their own words, told apart from what they pasted, quoted or only wondered.

A correction rests on the user's own statement. A message may also carry text of others: files,
logs, transcripts, memory that a host injected. A passage counts as someone else's when its form
says so; when in doubt against the passage, because a missed correction can be repeated while a
rule planted in a pasted document stays for good. Someone else's are

- blocks of injected memory, fenced blocks, lines that start with `>`, blocks in tags that open a
  line (`<document>` … `</document>`);
- lines that start with a speaker's label (`assistant: …`) and the lines directly below them;
- everything behind the announcement of a document (`here is the README:`, 「这是文档：」), unless
  the announcement speaks of the user's own decisions, and everything from the first Markdown
  heading, front matter or diff header on when several lines follow it;
- long passages in quotation marks.

All of it takes time linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from wsmem.text.framing import without_frames

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_QUOTE_LINE = re.compile(r"[ \t]{0,3}[>＞]")
_TAG_OPENING = re.compile(r"[ \t]*<([A-Za-z][\w.-]{0,40})(?:\s[^<>]*)?>")
_TAG_CLOSING = re.compile(r"</([A-Za-z][\w.-]{0,40})>")
_SPEAKER = re.compile(
    r"[ \t]*(?:\*\*)?(?:assistant|user|human|system|ai|bot|"
    r"助手|助理|用户|用戶|系统|系統|机器人|客服)(?:\*\*)?[ \t]*[:：]",
    re.IGNORECASE,
)
_DOCUMENT_HEAD = re.compile(r"#{1,6}[ \t]+\S|\+\+\+ |diff --git |@@ |={3,}[ \t\r]*$")
_FRONT_MATTER = re.compile(r"---[ \t\r]*$")
_FIELD = re.compile(r"[A-Za-z][\w-]*:\s")
_MIN_DOCUMENT_LINES = 3
"""Lines that must follow a heading before the rest counts as a document."""

_NAMED_DOCUMENT = re.compile(
    r"(?:readme|changelog|contributing|licen[cs]e|e-?mail|article|web ?page|transcript|snippet|"
    r"pasted?|attached|attachment|"
    r"文档|邮件|文章|网页|日志|聊天记录|工单|说明书|手册|附件|粘贴|原文|全文)"
    r"[^\n:：]{0,24}[:：]",
    re.IGNORECASE,
)
_PLAIN_ANNOUNCEMENT = re.compile(
    r"(?:the following|below|as follows|output|files?|contents?|documents?|documentation|docs|"
    r"logs?|issue|ticket|文件|页面|内容|如下|以下|下面|输出|记录)"
    r"[^\n:：]{0,24}[:：]\s*$",
    re.IGNORECASE,
)
_OWN_ANNOUNCEMENT = re.compile(
    r"决定|拍板|敲定|定了|定下|结论|共识|更正|纠正|改正|约定|偏好|要求|规定|规则|请记|记住|记一下|我想|我要|我选|我们(?:采?用|改|选|定)|"
    r"\b(?:decisions?|decided?|settled|agreed|verdict|corrections?|correct|preferences?|prefer|"
    r"rules?|remember|note that|"
    r"we (?:use|will|chose|want))\b",
    re.IGNORECASE,
)
_MIN_PASTE = 24
"""Characters on the announcing line itself before they count as a document."""

_LONG_QUOTE = re.compile(r"[“「『\"][^“「『”」』\"\n]{20,}[”」』\"]")

_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
_QUESTION = re.compile(r"[?？]|(?:吗|呢|么)[\s。！!]*$")
_HYPOTHETICAL = re.compile(
    r"假如|假设|要是|倘若|是否|要不要|能不能|可不可以|会不会|该不该|也许|或许|可能|大概|考虑|打算|建议|"
    r"如果.{0,12}?(?:改|换|用|迁|切|选)|"
    r"\b(?:suppos(?:e|ing)|imagine|maybe|perhaps|might|(?:could|should|would|shall) (?:we|it|that)|"
    r"(?:what|how) about|what if|consider(?:ing)?|thinking of|propos(?:e|ing)|"
    r"if .{0,16}?(?:switch|chang|mov|us|replac|migrat|were))",
    re.IGNORECASE,
)


def own_words(text: str) -> str:
    """The lines of a user's message that are the user's own."""
    return "\n".join(_own_lines(without_frames(text).split("\n")))


def stated_among(words: str, quote: str) -> bool:
    """Whether `quote` stands word for word in the user's own `words` as a statement.

    A question or a supposition is no statement.
    """
    at = words.find(quote)
    while at >= 0:
        if _is_statement(words, at, at + len(quote)):
            return True
        at = words.find(quote, at + len(quote))
    return False


def _is_statement(words: str, start: int, end: int) -> bool:
    """Judge the sentence around a quote: how it ends, and what leads up to the quote."""
    begin = max((mark.end() for mark in _SENTENCE_END.finditer(words[max(0, start - 400) : start])),
                default=0) + max(0, start - 400)  # fmt: skip
    after = _SENTENCE_END.search(words, max(end - 1, start))
    stop = max(end, after.end() if after is not None else len(words))
    if _QUESTION.search(words[begin:stop].rstrip()):
        return False
    return _HYPOTHETICAL.search(words[begin:end]) is None


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    closings = _closing_lines(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        if _FENCE.match(line):
            at = _behind_fence(lines, at)
        elif (tag := _closed_tag(line, closings, at)) is not None:
            name, at = tag
            yield lines[at].rpartition(f"</{name}>")[2]
            at += 1
        elif _SPEAKER.match(line):
            at = _behind_paragraph(lines, at)
        elif _QUOTE_LINE.match(line):
            at += 1
        elif _starts_document(lines, at):
            return
        elif (end := _announces_document(line, more=at + 1 < len(lines))) is not None:
            yield line[:end]
            return
        else:
            yield _LONG_QUOTE.sub(" ", line)
            at += 1


def _announces_document(line: str, *, more: bool) -> int | None:
    """Where a document starts on or behind this line, or `None` when it announces none."""
    named = _NAMED_DOCUMENT.search(line)
    plain = _PLAIN_ANNOUNCEMENT.search(line)
    found = named or plain
    if found is None or _OWN_ANNOUNCEMENT.search(line[: found.end()]):
        return None
    behind = line[found.end() :].strip()
    if (not behind and more) or (named is not None and len(behind) >= _MIN_PASTE):
        return found.end()
    return None


def _closing_lines(lines: Sequence[str]) -> Mapping[str, list[int]]:
    closings: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if "</" in line:
            for found in _TAG_CLOSING.finditer(line):
                closings.setdefault(found[1], []).append(number)
    return closings


def _closed_tag(line: str, closings: Mapping[str, list[int]], at: int) -> tuple[str, int] | None:
    """Name of the tag that opens line `at`, and the line that closes it, if one does."""
    opened = _TAG_OPENING.match(line)
    if opened is None:
        return None
    numbers = closings.get(opened[1], [])
    found = bisect_left(numbers, at)
    return (opened[1], numbers[found]) if found < len(numbers) else None


def _behind_fence(lines: Sequence[str], at: int) -> int:
    for other in range(at + 1, len(lines)):
        if _FENCE.match(lines[other]):
            return other + 1
    return len(lines)


def _behind_paragraph(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and lines[at].strip():
        at += 1
    return at


def _starts_document(lines: Sequence[str], at: int) -> bool:
    """Whether a document begins on this line; one headed "our rules" is the user's own."""
    line = lines[at]
    if _FRONT_MATTER.match(line):
        return at + 1 < len(lines) and _FIELD.match(lines[at + 1]) is not None
    if not _DOCUMENT_HEAD.match(line) or _OWN_ANNOUNCEMENT.search(line):
        return False
    return _is_long(lines, at)


def _is_long(lines: Sequence[str], at: int) -> bool:
    return sum(1 for line in lines[at + 1 :] if line.strip()) >= _MIN_DOCUMENT_LINES
