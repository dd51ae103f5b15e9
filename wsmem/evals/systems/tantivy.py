"""`tantivy`: a full-text engine written in Rust, over the same terms as our `default` profile."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from wsmem.evals.systems.shared import PreparedPeer, analysed, library, peer_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wsmem.records import MemoryEntry

NAME = "tantivy"

_TERMS, _ROW = "terms", "row"
_HEAP = 64 << 20
"""Bytes the writer may fill before it makes a segment; one segment keeps ties in row order."""


@dataclass(frozen=True, slots=True)
class TantivySystem:
    """BM25 as the engine ships it (k1 1.2, b 0.75), any term may match; the index is in memory."""

    name: str = NAME

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its version, and how it takes texts apart: not at all, the terms are given."""
        return {"tokenizer": "whitespace", "library": metadata.version(NAME)}

    def prepare(self, entries: Sequence[MemoryEntry], *, now: int) -> _Prepared:  # noqa: ARG002  no clock here
        """Index the terms of every entry."""
        tantivy = library("tantivy", system=NAME, extra="peers")
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(_TERMS, tokenizer_name="whitespace", index_option="freq")
        builder.add_unsigned_field(_ROW, stored=True)
        schema = builder.build()
        index = tantivy.Index(schema)
        writer = index.writer(_HEAP, 1)
        pool = analysed(entries)
        for row, terms in enumerate(pool.terms):
            writer.add_document(tantivy.Document(terms=" ".join(terms), row=row))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return _Prepared(pool.ids, schema, index.searcher(), tantivy.Query, tantivy.Occur.Should)


@dataclass(frozen=True, slots=True)
class _Prepared(PreparedPeer):
    ids: list[str]
    schema: Any
    searcher: Any
    query: Any
    should: Any

    def _found(self, query: str, limit: int) -> list[str]:
        wanted = [
            (self.should, self.query.term_query(self.schema, _TERMS, term, "freq"))
            for term in dict.fromkeys(peer_terms(query))
        ]
        if not wanted:
            return []
        found = self.searcher.search(self.query.boolean_query(wanted), limit, count=False)
        return [self.ids[self.searcher.doc(place)[_ROW][0]] for _, place in found.hits]
