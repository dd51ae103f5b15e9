"""Signals of the substring family for one entry: what the public plugin looks at.

A query token matches an entry whose normalised text holds it as a substring, or which has it among
its own tokens (so a pair of CJK letters also matches across a gap). Everything else is earned only
by entries that match at least one token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wsmem.retrieval.fields import haystack
from wsmem.text.lexical import cjk_letters, tokens_of_normalized
from wsmem.text.normalize import normalize_text
from wsmem.text.scripts import is_cjk
from wsmem.text.utf16 import utf16_length

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry

LONG_TOKEN = 4
"""UTF-16 units from which a token counts as long."""


class SubstringQuery(NamedTuple):
    """A question as the substring signals read it."""

    normalized: str
    tokens: tuple[str, ...]
    token_set: frozenset[str]

    @classmethod
    def of(cls, text: str) -> SubstringQuery:
        """Normalise and tokenise a question."""
        normalized = normalize_text(text)
        tokens = tuple(tokens_of_normalized(normalized))
        return cls(normalized, tokens, frozenset(tokens))


class SubstringEarned(NamedTuple):
    """The family's signals of one matching entry, in the order of `signals.SIGNALS`."""

    phrase: float
    title_phrase: float
    tag_equals: float
    term_overlaps: float
    long_tokens: float
    short_tokens: float
    token_share: float


class SubstringText(NamedTuple):
    """An entry as the substring signals read it."""

    haystack: str
    letters: str
    """Its CJK letters, everything between them left out."""
    title: str
    tags: tuple[str, ...]
    terms: tuple[str, ...]

    @classmethod
    def of(cls, entry: MemoryEntry) -> SubstringText:
        """Normalise an entry's texts once."""
        normalized = normalize_text(haystack(entry))
        terms = (normalize_text(term) for term in entry.retrieval_terms)
        return cls(
            haystack=normalized,
            letters="" if normalized.isascii() else cjk_letters(normalized),
            title=normalize_text(entry.title),
            tags=tuple(normalize_text(tag) for tag in entry.tags),
            terms=tuple(term for term in terms if term),
        )

    def matches(self, token: str) -> bool:
        """Whether a query token matches: as a substring, or as a pair across a gap."""
        return token in self.haystack or (is_cjk(token[0]) and token in self.letters)

    def earned(self, query: SubstringQuery) -> SubstringEarned | None:
        """Signals for a query; `None` if no token matches."""
        matched = [token for token in query.tokens if self.matches(token)]
        if not matched:
            return None
        long = sum(is_long(token) for token in matched)
        return SubstringEarned(
            phrase=float(query.normalized in self.haystack),
            title_phrase=float(query.normalized in self.title),
            tag_equals=float(sum(tag in query.token_set for tag in self.tags)),
            term_overlaps=float(sum(overlaps(term, query) for term in self.terms)),
            long_tokens=float(long),
            short_tokens=float(len(matched) - long),
            token_share=len(matched) / len(query.tokens),
        )


def is_long(token: str) -> bool:
    """Whether a token counts as long."""
    return utf16_length(token) >= LONG_TOKEN


def overlaps(term: str, query: SubstringQuery) -> bool:
    """Whether a normalised retrieval term lies in the query or shares a token with it."""
    return term in query.normalized or not query.token_set.isdisjoint(tokens_of_normalized(term))
