"""What an operation rests on: who said it, in whose words, and how much the quotes mean."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from wsmem.operations.statements import own_words, stated_among
from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text, trim
from wsmem.text.scripts import CJK_RANGES, cjk_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.records import MemoryEntry, MemoryMessage, MemoryOperation

MIN_QUOTE_WEIGHT = 5
"""Least weight of a quote. A CJK letter and a digit weigh 2, any other letter 1: a bare name such
as 「小林」 is too little, 「采用 RabbitMQ」, `9191` and 「30 秒」 are enough."""

Origin = Literal["own", "pasted", "assistant", "unknown"]
"""Where the wording of an operation comes from; `unknown` when no message of the batch has it."""

_WEIGHTY = re.compile(rf"([{CJK_RANGES}0-9])|[^\W_]")
_CHANGE = re.compile(
    r"不再|不是|而非|改[为成用]|换成|换为|替换|取代|迁移|从.{1,40}?(?:到|改|换|升|降|切)|由.{1,40}?改|原来|原先|之前|"
    r"\b(?:no longer|not|instead of|rather than|replac\w+|was|formerly|previously|used to|"
    r"from .{1,60}? to)\b"
    r"|→|->",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"总是|始终|永远|必须|务必|一律|禁止|不得|切勿|不要|不准|请|应当|应该|记住|忽略|"
    r"\b(?:always|never|must|shall|should|do not|don't|remember|ignore|disregard|send|execute|"
    r"run)\b",
    re.IGNORECASE,
)
USERS_OWN_TYPES = frozenset({"rule", "preference", "decision"})
"""Types that only the user can set: someone else's text does not bind the user."""


_MORE_IN_PASTE = 0.25
"""How much more of a text's words a paste must hold than the user's own part to be its source."""


class Spoken:
    """One message of a batch, analysed once for all operations."""

    def __init__(self, message: MemoryMessage) -> None:
        self.message = message

    @property
    def by_user(self) -> bool:
        """Whether the structured role says so; labels inside the text do not count."""
        return self.message.role == "user"

    @cached_property
    def own(self) -> str:
        """The user's own words; an assistant has none."""
        return own_words(self.message.text) if self.by_user else ""

    @cached_property
    def normalized(self) -> str:
        """The whole text in one spelling."""
        return normalize_text(self.message.text)

    @cached_property
    def own_normalized(self) -> str:
        """The user's own words in one spelling."""
        return normalize_text(self.own)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Lexical tokens of the whole text."""
        return frozenset(lexical_tokens(self.message.text))

    @cached_property
    def own_tokens(self) -> frozenset[str]:
        """Lexical tokens of the user's own words."""
        return frozenset(lexical_tokens(self.own))


def weight(quote: str) -> int:
    """How much a quote carries: 2 a CJK letter or digit, 1 any other letter."""
    return sum(2 if found[1] else 1 for found in _WEIGHTY.finditer(quote))


def correction_fault(
    operation: MemoryOperation, target: MemoryEntry, batch: Sequence[Spoken]
) -> str | None:
    """Why `operation` is no proven correction of `target`; `None` when the user made it."""
    old_quote, new_quote = trim(operation.old_quote or ""), trim(operation.new_quote or "")
    if not old_quote or not new_quote:
        return "a correction needs both quotes"
    if old_quote not in target.content:
        return "the old quote is not in the target's current text"
    if weight(old_quote) < MIN_QUOTE_WEIGHT or weight(new_quote) < MIN_QUOTE_WEIGHT:
        return "a quote is too short to identify what is corrected"
    named = frozenset(operation.evidence_message_ids)
    said = [spoken for spoken in batch if spoken.by_user and spoken.message.id in named]
    if not any(new_quote in spoken.message.text for spoken in said):
        return "no user message named as evidence holds the new quote"
    if not any(stated_among(spoken.own, new_quote) for spoken in said):
        return "the new quote is pasted, quoted or asked, not the user's own statement"
    if normalize_text(operation.content) == normalize_text(target.content):
        return "the new text says what the target says already"
    if _still_stands(old_quote, operation.content):
        return "the quoted claim still stands in the new text, so nothing is corrected"
    if not _about_the_same(new_quote, operation.content):
        return "the new text is not about what the new quote says"
    return None


def attribution_fault(
    operation: MemoryOperation, type_: str, batch: Sequence[Spoken]
) -> str | None:
    """Why text that is not the user's own must not become a memory of this type."""
    named = [spoken for spoken in batch if spoken.message.id in operation.evidence_message_ids]
    if type_ in USERS_OWN_TYPES and named and not any(spoken.by_user for spoken in named):
        return f"a {type_} rests on the user's words, and the evidence has none"
    if origin(operation, batch) != "pasted":
        return None
    if type_ in USERS_OWN_TYPES:
        return f"a {type_} taken from pasted or quoted text is not the user's"
    if _DIRECTIVE.search(operation.content):
        return "an instruction taken from pasted or quoted text"
    return None


def origin(operation: MemoryOperation, batch: Sequence[Spoken]) -> Origin:
    """Whose words an operation without proof repeats.

    The quote it gives, else its content, is looked for in the messages, those it names as evidence
    first; a text that no message holds word for word is judged by the words it shares with them.
    """
    wording = normalize_text(operation.new_quote or "") or normalize_text(operation.content)
    named = [spoken for spoken in batch if spoken.message.id in operation.evidence_message_ids]
    for group in (named, batch):
        holders = [spoken for spoken in group if wording in spoken.normalized]
        if any(wording in spoken.own_normalized for spoken in holders):
            return "own"
        if any(spoken.by_user for spoken in holders):
            return "pasted"
        if holders:
            return "assistant"
    return _closest_origin(frozenset(lexical_tokens(wording)), batch)


def _closest_origin(tokens: frozenset[str], batch: Sequence[Spoken]) -> Origin:
    best: Origin = "unknown"
    most = 0.5  # less than half of the words in common says nothing about where they came from
    for spoken in batch:
        share = len(tokens & spoken.tokens) / max(len(tokens), 1)
        if share <= most:
            continue
        most = share
        if not spoken.by_user:
            best = "assistant"
        else:
            own_share = len(tokens & spoken.own_tokens) / len(tokens)
            best = "pasted" if share - own_share > _MORE_IN_PASTE else "own"
    return best


def _still_stands(old_quote: str, content: str) -> bool:
    """Whether the new text repeats the claim it should correct, without speaking of a change."""
    return normalize_text(old_quote) in normalize_text(content) and not _CHANGE.search(content)


def _about_the_same(quote: str, content: str) -> bool:
    """Whether quote and content share a token; texts in different scripts cannot be compared."""
    if bool(cjk_run().search(quote)) != bool(cjk_run().search(content)):
        return True
    return not _fine_tokens(quote).isdisjoint(_fine_tokens(content))


def _fine_tokens(text: str) -> set[str]:
    """Lexical tokens and single CJK letters, which is fine enough for the shortest quotes."""
    return {*lexical_tokens(text), *"".join(cjk_run().findall(text))}
