"""A stream holds every term in reading order, be its letters numbered one by one or at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_strategies import entries, texts

from wsmem.records import MemoryEntry
from wsmem.retrieval.fields import CONTENT, searched_fields
from wsmem.retrieval.stream import BARRIER, TermStream
from wsmem.retrieval.vocabulary import Vocabulary, letter_term
from wsmem.text.analysis import fold, is_unspaced, run_terms, runs, unspaced_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = tuple[str, int, int]


@pytest.fixture(params=[0, 1, 1_000], ids=["at once", "one, then at once", "one by one"])
def few(request: pytest.FixtureRequest) -> Iterator[int]:
    """From how many runs on their pairs are numbered at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wsmem.retrieval.stream._FEW", request.param)
        yield request.param


def expected(store: Sequence[MemoryEntry]) -> tuple[list[str | None], set[Row]]:
    """Terms in order with `None` for a barrier, and rows beside them."""
    stream: list[str | None] = []
    beside: set[Row] = set()
    for document, entry in enumerate(store):
        for field, text in zip(*searched_fields(entry), strict=True):
            for run in runs(fold(text)):
                if is_unspaced(run):
                    stream += unspaced_terms(run)
                    beside |= {(letter_term(letter), document, CONTENT) for letter in run}
                    continue
                parts, whole = run_terms(run)
                stream += parts
                if whole is not None:
                    beside.add((whole, document, field))
            stream.append(None)
    return stream, beside


@pytest.mark.usefixtures("few")
@settings(max_examples=60, deadline=None)
@given(before=st.lists(entries, max_size=2), store=st.lists(entries, max_size=4))
def test_a_stream_is_every_term_of_every_text(
    before: list[MemoryEntry], store: list[MemoryEntry]
) -> None:
    vocabulary = Vocabulary()
    TermStream.read(before, vocabulary, letters=True)
    stream = TermStream.read(store, vocabulary, letters=True)
    names = list(vocabulary.numbers)
    terms = [None if number == BARRIER else names[number] for number in stream.terms.tolist()]
    rows = [(names[number], *rest) for number, *rest in stream.extras.tolist()]
    assert (terms, set(rows)) == expected(store)
    letters = [row for row in rows if row[0].startswith("\0")]
    assert len(letters) == len(set(letters))
    assert len(stream.fields) == len(terms)
    assert list(vocabulary.numbers.values()) == list(range(len(names)))


@given(text=texts)
def test_a_run_read_before_is_read_alike(text: str) -> None:
    vocabulary = Vocabulary()
    first, again = (
        TermStream.read([MemoryEntry(id="a", content=text)], vocabulary) for _ in range(2)
    )
    assert first.terms.tolist() == again.terms.tolist()
    assert first.extras.tolist() == again.extras.tolist()
