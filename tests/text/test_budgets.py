"""Lengths and cuts in the two units that files and hosts count in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.text.normalize import normalize_text, trim
from wsmem.text.utf8 import truncate_utf8, utf8_length
from wsmem.text.utf16 import utf16_cut, utf16_length


@given(st.text(), st.integers(-2, 60))
def test_a_byte_budget_is_kept_and_cuts_whole_characters(text: str, budget: int) -> None:
    cut = truncate_utf8(text, budget)
    assert text.startswith(cut)
    assert utf8_length(cut) <= max(0, budget)
    if utf8_length(text) <= budget:
        assert cut == text


@pytest.mark.parametrize("budget", [math.nan, 0, 0.9, -math.inf])
def test_no_budget_gives_no_text(budget: float) -> None:
    assert truncate_utf8("数据", budget) == ""


def test_an_endless_budget_gives_all() -> None:
    assert truncate_utf8("数据库", math.inf) == "数据库"


@given(st.text(), st.integers(0, 30))
def test_utf16_cuts_count_code_units(text: str, units: int) -> None:
    cut = utf16_cut(text, units)
    assert utf16_length(cut) == min(units, utf16_length(text))


def test_a_cut_inside_a_pair_leaves_its_high_half() -> None:
    assert utf16_cut("a😀b", 2) == "a\ud83d"
    assert utf16_length("a😀b") == 4


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalize_text(text)
    assert trim(once) == once
    assert normalize_text(once) == once or not once.isascii()
