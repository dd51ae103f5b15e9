"""The substring family answered for a whole store at once, without a scan of its texts.

A token without CJK letters is a substring of a text exactly when it is a substring of one of the
text's tokens: both are runs of the same characters, and a token starts at its run's first letter
or digit. A pair of CJK letters matches exactly when it is a token. So one search over the
vocabulary stands for a search over every entry, and only entries that hold all tokens are asked
for the whole phrase.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wsmem.retrieval.substring import SubstringQuery, SubstringText, is_long
from wsmem.text.lexical import tokens_of_normalized
from wsmem.text.scripts import is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

_MEMO_LIMIT = 512
"""Unions kept: a short token such as "a" is part of thousands of words and comes again."""


class Columns(NamedTuple):
    """The family's signals for every entry of the index (dense, in entry order)."""

    matched: Ints
    signals: dict[str, Floats]


class SubstringIndex:
    """Postings of the reference tokens of every entry; never changes once built."""

    def __init__(self, entries: Sequence[MemoryEntry]) -> None:
        self._size = len(entries)
        self._texts = [SubstringText.of(entry) for entry in entries]
        self._vocabulary, self._starts, self._postings = _invert(
            tokens_of_normalized(text.haystack) for text in self._texts
        )
        self._blob = "\n".join(self._vocabulary)
        self._offsets = _line_offsets(self._vocabulary)
        self._tags = _documents_by_key(
            (tag, doc) for doc, text in enumerate(self._texts) for tag in text.tags
        )
        self._terms = _documents_by_key(
            (term, doc) for doc, text in enumerate(self._texts) for term in text.terms
        )
        self._terms_by_token: defaultdict[str, list[str]] = defaultdict(list)
        for term in self._terms:
            for token in tokens_of_normalized(term):
                self._terms_by_token[token].append(term)
        self._longest_term = max(map(len, self._terms), default=0)
        self._memo: dict[str, Ints] = {}

    def columns(self, text: str) -> Columns:
        """Compute every signal of the family for a question."""
        query = SubstringQuery.of(text)
        holding = [(token, self._documents(token)) for token in query.tokens]
        long = self._count([docs for token, docs in holding if is_long(token)])
        short = self._count([docs for token, docs in holding if not is_long(token)])
        matched = (long + short).astype(np.int64)
        phrase, title_phrase = self._phrases(query, matched)
        counts = matched > 0  # without a token nothing else is earned
        signals = {
            "phrase": phrase,
            "title_phrase": title_phrase,
            "tag_equals": counts
            * self._count([self._tags[t] for t in query.tokens if t in self._tags]),
            "term_overlaps": counts
            * self._count([self._terms[term] for term in self._overlapping(query)]),
            "long_tokens": long,
            "short_tokens": short,
            "token_share": matched / max(1, len(query.tokens)),
        }
        return Columns(matched, signals)

    def _documents(self, token: str) -> Ints:
        """Entries that match a token, ascending."""
        known = self._memo.get(token)
        if known is not None:
            return known
        if len(token) == 2 and is_cjk(token[0]) and is_cjk(token[1]):
            at = self._vocabulary.get(token)
            items = [] if at is None else [at]
        else:
            items = self._items_holding(token)
        slices = [self._postings[self._starts[item] : self._starts[item + 1]] for item in items]
        if len(slices) > 1:
            member = np.zeros(self._size, dtype=bool)
            member[np.concatenate(slices)] = True
            documents = np.flatnonzero(member)
        else:
            documents = slices[0] if slices else np.empty(0, dtype=np.int64)
        if len(self._memo) >= _MEMO_LIMIT:
            self._memo.pop(next(iter(self._memo)), None)
        self._memo[token] = documents
        return documents

    def _items_holding(self, token: str) -> list[int]:
        """Vocabulary items that hold a token as a substring."""
        items: list[int] = []
        at = self._blob.find(token)
        while at >= 0:
            item = bisect_right(self._offsets, at) - 1
            items.append(item)
            at = self._blob.find(token, self._offsets[item + 1])
        return items

    def _overlapping(self, query: SubstringQuery) -> set[str]:
        found = {term for token in query.tokens for term in self._terms_by_token.get(token, ())}
        text, longest = query.normalized, min(self._longest_term, len(query.normalized))
        if len(text) * longest < len(self._terms):
            parts = (
                text[start:end]
                for start in range(len(text))
                for end in range(start + 1, min(start + longest, len(text)) + 1)
            )
            found.update(part for part in parts if part in self._terms)
        else:
            found.update(term for term in self._terms if term in text)
        return found

    def _phrases(self, query: SubstringQuery, matched: Ints) -> tuple[Floats, Floats]:
        phrase, title_phrase = np.zeros(self._size), np.zeros(self._size)
        if query.tokens:
            for doc in np.flatnonzero(matched == len(query.tokens)).tolist():
                text = self._texts[doc]
                if query.normalized in text.haystack:
                    phrase[doc] = 1.0
                    title_phrase[doc] = float(query.normalized in text.title)
        return phrase, title_phrase

    def _count(self, documents: list[Ints]) -> Floats:
        """How often each entry occurs in the given lists."""
        if not documents:
            return np.zeros(self._size)
        return np.bincount(np.concatenate(documents), minlength=self._size).astype(np.float64)


def _invert(token_lists: Iterable[list[str]]) -> tuple[dict[str, int], Ints, Ints]:
    """Vocabulary ids by token, and postings sorted by id with the start of each id's slice."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    items: list[int] = []
    counts: list[int] = []
    for tokens in token_lists:
        items.extend([vocabulary[token] for token in tokens])
        counts.append(len(tokens))
    vocabulary.default_factory = None
    ids = np.array(items, dtype=np.int64)
    documents = np.repeat(np.arange(len(counts)), counts)
    starts = np.zeros(len(vocabulary) + 1, dtype=np.int64)
    np.cumsum(np.bincount(ids, minlength=len(vocabulary)), out=starts[1:])
    return vocabulary, starts, documents[np.argsort(ids, kind="stable")]


def _line_offsets(vocabulary: Iterable[str]) -> list[int]:
    """Where each item starts in the newline-joined vocabulary, and one past its end."""
    offsets = [0]
    for item in vocabulary:
        offsets.append(offsets[-1] + len(item) + 1)
    return offsets


def _documents_by_key(pairs: Iterable[tuple[str, int]]) -> dict[str, Ints]:
    """Documents of each key, one that has it twice listed twice."""
    grouped: defaultdict[str, list[int]] = defaultdict(list)
    for key, doc in pairs:
        grouped[key].append(doc)
    return {key: np.array(docs, dtype=np.int64) for key, docs in grouped.items()}
