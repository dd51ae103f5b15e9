from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operation_builders import entry

from wsmem.operations.similarity import NearDuplicates, content_tokens, dice, is_near

if TYPE_CHECKING:
    from wsmem.records import MemoryEntry

WORDS = [f"w{n}" for n in range(12)]
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


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
    filed=st.booleans(),
)
def test_the_index_finds_what_comparing_one_by_one_finds(
    before: list[str], added: list[str], asked: str, *, filed: bool
) -> None:
    entries = [entry(f"mem-{n}", content) for n, content in enumerate(before)]
    index = NearDuplicates(entries)
    if filed:
        index.file()
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
    successor.file()
    assert found_by(successor, asked) == compared_one_by_one(changed, asked)


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
