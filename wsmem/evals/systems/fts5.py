"""`fts5:trigram` and `fts5:bigram`: SQLite's full-text index, the peer that every machine has.

Its query language is never reached by a query's text: expressions are built here from terms that
hold letters and digits only.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from wsmem.errors import SystemUnavailableError
from wsmem.evals.systems.base import searchable, text_of
from wsmem.evals.systems.shared import PreparedPeer, analysed, peer_terms
from wsmem.text.analysis import fold, is_unspaced, runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wsmem.records import MemoryEntry

Tokenizer = Literal["trigram", "bigram"]
TRIGRAM: Tokenizer = "trigram"
BIGRAM: Tokenizer = "bigram"

_SEARCH = "SELECT rowid FROM entries WHERE entries MATCH ? ORDER BY bm25(entries), rowid LIMIT ?"
_GRAM = 3


@dataclass(frozen=True, slots=True)
class Fts5System:
    """FTS5 with its own bm25(); any term may match."""

    tokenizer: Tokenizer

    @property
    def name(self) -> str:
        """`fts5:` and the tokenizer."""
        return f"fts5:{self.tokenizer}"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The tokenizer and the version of SQLite."""
        return {"tokenizer": self.tokenizer, "sqlite": sqlite3.sqlite_version}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Trigrams | _Terms:  # noqa: ARG002  no clock here
        """Index the entries in memory."""
        if self.tokenizer == TRIGRAM:
            kept = searchable(entries)
            database = self._index("trigram", (_encodable(fold(text_of(e))) for e in kept))
            return _Trigrams(_Table([entry.id for entry in kept], database))
        pool = analysed(entries)
        numbers = _Numbers()
        texts = (" ".join(map(numbers.of, found)) for found in pool.terms)
        return _Terms(_Table(pool.ids, self._index("ascii", texts)), numbers.known)

    def _index(self, tokenizer: str, texts: Iterable[str]) -> sqlite3.Connection:
        database = sqlite3.connect(":memory:")
        try:
            database.execute(
                f"CREATE VIRTUAL TABLE entries USING fts5(text, tokenize='{tokenizer}')"
            )
        except sqlite3.OperationalError as error:  # built without FTS5, or before trigrams
            database.close()
            reason = f"SQLite {sqlite3.sqlite_version} says: {error}"
            raise SystemUnavailableError(self.name, reason) from error
        rows = zip(count(), texts, strict=False)
        database.executemany("INSERT INTO entries(rowid, text) VALUES (?, ?)", rows)
        return database


@dataclass(slots=True)
class _Numbers:
    """A word of letters and digits for every term, which no tokenizer takes apart."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, term: str) -> str:
        return self.known.setdefault(term, f"t{len(self.known)}")


class _Table:
    """An FTS5 table in memory; row numbers are places in `ids`."""

    def __init__(self, ids: Sequence[str], database: sqlite3.Connection) -> None:
        self._ids, self._database = ids, database

    def __del__(self) -> None:
        self._database.close()  # a connection that is only dropped warns from Python 3.13 on

    def matches(self, words: Iterable[str], limit: int) -> list[str]:
        """Ids of entries that hold any of the words, which must be free of quotes."""
        expression = " OR ".join(f'"{word}"' for word in words)
        if not expression:
            return []
        with closing(self._database.execute(_SEARCH, (expression, limit))) as rows:
            return [self._ids[row] for (row,) in rows]


@dataclass(frozen=True, slots=True)
class _Terms(PreparedPeer):
    table: _Table
    words: Mapping[str, str]

    def _found(self, query: str, limit: int) -> list[str]:
        known = dict.fromkeys(peer_terms(query))
        return self.table.matches((self.words[t] for t in known if t in self.words), limit)


@dataclass(frozen=True, slots=True)
class _Trigrams(PreparedPeer):
    """Substrings of three letters and more; a Chinese word of two letters cannot be found."""

    table: _Table

    def _found(self, query: str, limit: int) -> list[str]:
        return self.table.matches(dict.fromkeys(_grams(query)), limit)


def _grams(query: str) -> Iterator[str]:
    """What a trigram index can look up: words, and every three CJK letters in a row.

    Those that are nothing but stop words are left out, as they are for the other peers.
    """
    for run in runs(fold(query)):
        if not is_unspaced(run):
            grams = [run] if len(run) >= _GRAM else []
        else:
            grams = [run[at : at + _GRAM] for at in range(len(run) - _GRAM + 1)]
        yield from (gram for gram in grams if peer_terms(gram))


def _encodable(text: str) -> str:
    """A text SQLite can store: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
