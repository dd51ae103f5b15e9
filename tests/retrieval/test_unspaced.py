"""Pairs and letters are numbered alike, be they few or many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.retrieval.fields import CONTENT
from wsmem.retrieval.unspaced import UnspacedRuns
from wsmem.retrieval.vocabulary import Vocabulary, letter_term
from wsmem.text.analysis import fold, runs, unspaced_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = st.sampled_from("登录入队列一𠮷가ぁ〇")
RUNS = st.lists(
    st.tuples(st.integers(0, 4), st.text(LETTERS, min_size=1, max_size=5)), min_size=1, max_size=12
).map(sorted)


@pytest.fixture(params=[0, 1_000], ids=["many", "few"])
def few(request: pytest.FixtureRequest) -> Iterator[int]:
    """From how many runs on all are numbered at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wsmem.retrieval.unspaced._FEW", request.param)
        yield request.param


@pytest.mark.usefixtures("few")
class TestNumbers:
    """What numbers stand for, however many are made."""

    @given(known=st.lists(LETTERS), found=RUNS)
    def test_pairs_are_those_of_each_run_in_order(
        self, known: list[str], found: list[tuple[int, str]]
    ) -> None:
        vocabulary = Vocabulary(known)
        documents, texts = zip(*found, strict=True)
        numbers = UnspacedRuns(texts, documents).pairs(vocabulary).tolist()
        terms = list(vocabulary.numbers)
        assert [terms[number] for number in numbers] == [
            term for text in texts for term in unspaced_terms(text)
        ]
        assert list(vocabulary.numbers.values()) == list(range(len(vocabulary)))

    @given(before=RUNS, found=RUNS)
    def test_letters_stand_once_for_each_document(
        self, before: list[tuple[int, str]], found: list[tuple[int, str]]
    ) -> None:
        vocabulary = Vocabulary()
        for each in (before, found):
            documents, texts = zip(*each, strict=True)
            rows = UnspacedRuns(texts, documents).letters(vocabulary).tolist()
        terms = list(vocabulary.numbers)
        assert sorted((terms[number], document, field) for number, document, field in rows) == (
            sorted(
                {
                    (letter_term(letter), document, CONTENT)
                    for document, text in found
                    for letter in text
                }
            )
        )


def test_every_run_without_blanks_begins_behind_the_first_of_them() -> None:
    assert runs(fold("a 登录")) == ["a", "登录"]
    rows = UnspacedRuns(["⺀", "\U00030000"], [0, 1]).letters(Vocabulary())
    assert rows[:, 1].tolist() == [0, 1]
