from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operation_builders import entry

from wsmem.operations.similarity import NearDuplicates, content_tokens, dice, is_near
from wsmem.operations.token_keys import keys_of, merged, numbers_sharing

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry

WORDS = [
    *(f"w{n}" for n in range(8)),
    *("记忆", "忆记", "记", "ｗ1", "W2", "w3_x", "ΟΔΟΣ", "οδος", "naïve", "nai", "ﬁx"),
    *("\u0301", "が", "か", "\u3099", "\0", "!", "！"),
    *("\u3000", "\U0001f600", "\ud800", "İ", "w1.w2"),
]  # fmt: skip
contents = st.builds(
    str.join, st.sampled_from([" ", "", "\0"]), st.lists(st.sampled_from(WORDS), max_size=12)
)


def compared_one_by_one(entries: list[MemoryEntry], content: str) -> set[tuple[str, float]]:
    tokens = content_tokens(content)
    return {
        (item.id, dice(tokens, content_tokens(item.content)))
        for item in entries
        if item.recallable and is_near(tokens, content_tokens(item.content))
    }


def found_by(index: NearDuplicates, content: str) -> set[tuple[str, float]]:
    return {(item.id, share) for item, share in index.near(content_tokens(content))}


@given(
    before=st.lists(contents, max_size=20),
    added=st.lists(contents, max_size=6),
    asked=contents,
    keyed_from=st.sampled_from([1, 3, 100]),
)
def test_the_index_finds_what_comparing_one_by_one_finds(
    before: list[str], added: list[str], asked: str, keyed_from: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wsmem.operations.similarity.KEYED_FROM", keyed_from)
        compare_indexes(before, added, asked)


def compare_indexes(before: list[str], added: list[str], asked: str) -> None:
    entries = [entry(f"mem-{n}", content) for n, content in enumerate(before)]
    index = NearDuplicates(entries)
    assert found_by(index, asked) == compared_one_by_one(entries, asked)
    # Some change, some go, some are read again from disk as other objects, some are new.
    changed = [
        replace(item, content=f"{item.content} w0") if n % 3 == 0
        else replace(item, status="deleted") if n % 3 == 1
        else replace(item)
        for n, item in enumerate(entries)
    ]  # fmt: skip
    changed += [entry(f"new-{n}", content) for n, content in enumerate(added)]
    successor = index.updated(changed)
    assert found_by(successor, asked) == compared_one_by_one(changed, asked)
    assert found_by(index, asked) == compared_one_by_one(entries, asked)


@given(st.lists(contents, min_size=1, max_size=30), st.integers(0, 5))
def test_a_content_shares_all_of_its_own_tokens(written: list[str], first: int) -> None:
    """Cut together, no content loses a token to its neighbours or to its place among them."""
    half = len(written) // 2
    keys = merged(keys_of(written[:half], first=first), keys_of(written[half:], first=first + half))
    for number, content in enumerate(written, start=first):
        tokens = content_tokens(content)
        assert number in numbers_sharing(keys, tokens, fewest=len(tokens))


def test_of_many_contents_only_those_that_share_enough_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = [f"the 主题 alpha{n} beta{n} gamma{n} delta{n}" for n in range(3_000)]
    entries = [entry(f"mem-{n}", content) for n, content in enumerate(written)]
    index = NearDuplicates(entries)
    index.prepare()
    tokens = content_tokens("the 主题 alpha7 beta7 gamma7 other")
    compared: list[str] = []

    def counted(content: str) -> frozenset[str]:
        compared.append(content)
        return content_tokens(content)

    monkeypatch.setattr("wsmem.operations.similarity.content_tokens", counted)
    assert [item.id for item, _ in index.near(tokens)] == ["mem-7"]
    assert compared == [written[7]]
    # A later list shares what is known: besides, only its new content is cut into tokens, once.
    successor = index.updated([*entries[:5], *entries[6:], entry("new", "something else")])
    compared.clear()
    for _ in range(2):
        assert [item.id for item, _ in successor.near(tokens)] == ["mem-7"]
    assert sorted(compared) == sorted([written[7], "something else", written[7]])


@pytest.mark.parametrize(
    ("shared", "near"), [pytest.param(17, True, id="at-0.68"), pytest.param(16, False, id="below")]
)
def test_the_threshold_itself_counts(shared: int, *, near: bool) -> None:
    common = [f"shared{n}" for n in range(shared)]
    rest = 25 - shared
    one = " ".join([*common, *(f"left{n}" for n in range(rest))])
    other = " ".join([*common, *(f"right{n}" for n in range(rest))])
    index = NearDuplicates([entry("mem-1", one)])
    assert bool(found_by(index, other)) == near


def test_contents_without_any_token_are_alike_only_when_they_read_alike() -> None:
    index = NearDuplicates([entry("mem-1", "！！！！")])
    assert found_by(index, "!!!!") == {("mem-1", 1.0)}
    assert found_by(index, "？？？？") == set()
