"""Which existing entries the distiller sees: those the conversation may correct or repeat."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.scan import scan
from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text
from wsmem.text.scripts import cjk_run
from wsmem.text.stopwords import ENGLISH, is_function_pair
from wsmem.text.utf8 import utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wsmem.records import Match, MemoryEntry, MemoryMessage

_IDEOGRAPHS = re.compile("[\u4e00-\u9fff]+")

MAX_LEXICAL = 12
"""Entries chosen because they share words with the conversation."""
MAX_RECENT = 8
"""Entries chosen because they changed last."""
MAX_QUERY_TOKENS = 64
"""Most words of the conversation that are searched with: a search costs in proportion."""

Search = Callable[[str, int], "Iterable[Match]"]
"""Finds entries by a query, at most so many, best first."""


def select_candidates(
    entries: Sequence[MemoryEntry],
    messages: Sequence[MemoryMessage],
    *,
    now: int,
    max_entries: int = 20,
    max_bytes: int = 12_000,
    search: Search | None = None,
) -> list[MemoryEntry]:
    """The entries to show, most useful first.

    Those that share words with the messages come first, then those of a type or tag the messages
    name, then the latest. An entry too large for what is left of the budget is skipped, smaller
    ones behind it are not.

    Args:
        entries: Of every layer that operations may target.
        messages: What is about to be distilled.
        now: Milliseconds since the epoch; recency is measured from here.
        max_entries: Most entries shown.
        max_bytes: Most UTF-8 bytes of id, title, content and tags together.
        search: How `entries` are searched, when the caller has an index; by a scan otherwise.
    """
    recallable = [entry for entry in entries if entry.recallable]
    by_age = sorted(recallable, key=_age, reverse=True)
    text = "\n".join(message.text for message in messages)
    query = _short_query(text, messages)
    if search is None:
        found = scan(recallable, query, load_profile("reference"), now=now, limit=MAX_LEXICAL)
    else:
        found = list(search(query, MAX_LEXICAL))
    lexical = (match.entry for match in found)
    chosen: dict[int, MemoryEntry] = {}
    left = max_bytes
    for entry in chain(lexical, _on_topic(by_age, text), islice(by_age, MAX_RECENT)):
        if len(chosen) >= max_entries:
            break
        size = shown_bytes(entry)
        if id(entry) not in chosen and size <= left:
            chosen[id(entry)] = entry
            left -= size
    return list(chosen.values())


def shown_bytes(entry: MemoryEntry) -> int:
    """UTF-8 bytes of what a distiller must see of an entry, as compact JSON."""
    shown = {"id": entry.id, "title": entry.title, "content": entry.content, "tags": entry.tags}
    return utf8_length(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


def _age(entry: MemoryEntry) -> str:
    # A missing date reads "undefined" in the public plugin, which sorts as newest.
    return "undefined" if entry.updated_at is None else entry.updated_at


def _short_query(text: str, messages: Sequence[MemoryMessage]) -> str:
    """The conversation itself when it is short, else some words of every message.

    Words are taken in turn, from the last message back and from the user's before the assistant's,
    so that neither one long paste nor the end of the talk fills the query alone.
    """
    if len(lexical_tokens(text)) <= MAX_QUERY_TOKENS:
        return text
    latest_first = messages[::-1]
    users = [message for message in latest_first if message.role == "user"]
    others = [message for message in latest_first if message.role != "user"]
    words = [
        [token for token in lexical_tokens(message.text) if not _is_function_word(token)]
        for message in (*users, *others)
    ]
    in_turn = chain.from_iterable(zip_longest(*words))
    distinct = dict.fromkeys(token for token in in_turn if token is not None)
    return " ".join(islice(distinct, MAX_QUERY_TOKENS))


def _is_function_word(token: str) -> bool:
    return token in ENGLISH or (len(token) == 2 and is_function_pair(token))


def _on_topic(entries: Iterable[MemoryEntry], text: str) -> Iterator[MemoryEntry]:
    """Entries whose type or a tag of which the conversation names as a word."""
    normalized = normalize_text(text)
    words = frozenset(lexical_tokens(text))
    named: dict[str, bool] = {}
    for entry in entries:
        for topic in (entry.type, *entry.tags):
            if topic not in named:
                named[topic] = _names(normalized, words, topic)
            if named[topic]:
                yield entry
                break


def _names(normalized: str, words: frozenset[str], topic: str) -> bool:
    """Whether a text, normalised and as words, names a topic as its entry spells it."""
    # Most are one of these two: this is how they are normalised.
    if topic.isascii() and topic.isalnum():
        return topic.lower() in words
    if _IDEOGRAPHS.fullmatch(topic):
        return topic in normalized or topic in words
    spelled = normalize_text(topic)
    return spelled in words or (cjk_run().search(spelled) is not None and spelled in normalized)
