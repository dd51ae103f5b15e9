"""Our stems are those of the published algorithm, and bounded as the scan relies on."""

from __future__ import annotations

import json

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st
from shared_data import SHARED

from wsmem.text.stemming import shared_prefix, stem

PUBLISHED = snowballstemmer.stemmer("english")
ENDINGS = (
    "", "s", "es", "ies", "ed", "eed", "ing", "ingly", "edly", "ational", "tional", "enci",
    "anci", "izer", "ization", "ousness", "iveness", "fulness", "bli", "alli", "ogi", "logi",
    "ogist", "li", "lessli", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "ement",
    "ment", "ent", "ion", "sion", "tion", "ism", "ate", "iti", "ous", "ive", "ize", "e", "l", "ll",
    "y", "ying", "eys", "bbed", "tting", "zzing", "ss", "us", "sses",
)  # fmt: skip
ROOTS = st.text(alphabet="aeioubcdfglmnprstvwxyz", max_size=7)
WORDS = st.builds(str.__add__, ROOTS, st.sampled_from(ENDINGS)).filter(bool)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("deploys", "deploy"),
        ("deployed", "deploy"),
        ("policies", "polici"),
        ("policy", "polici"),
        ("dying", "die"),
        ("skies", "sky"),
        ("caching", "cach"),
        ("migration", "migrat"),
        ("configuration", "configur"),
        ("general", "general"),
        ("at", "at"),
    ],
)
def test_known_words(word: str, expected: str) -> None:
    assert stem(word) == expected == PUBLISHED.stemWord(word)


@given(WORDS)
def test_any_word_has_the_published_stem(word: str) -> None:
    assert stem(word) == PUBLISHED.stemWord(word)


@given(WORDS)
def test_a_word_starts_with_what_its_stem_shares(word: str) -> None:
    assert word.startswith(shared_prefix(stem(word)))
    assert shared_prefix(stem(word))


def test_the_vocabulary_of_the_recorded_data_has_the_published_stems() -> None:
    corpora = sorted(SHARED.glob("data/*/corpus.jsonl"))
    if not corpora:
        pytest.skip("no recorded data beside this checkout")
    words: set[str] = set()
    for path in corpora:
        for line in path.read_text(encoding="utf-8").splitlines()[:400]:
            words.update(json.loads(line)["text"].lower().split())
    words = {word for word in words if word.isascii() and word.isalpha()}
    assert len(words) > 9_000
    assert [word for word in sorted(words) if stem(word) != PUBLISHED.stemWord(word)] == []
