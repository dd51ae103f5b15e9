"""The text functions give what the public plugin gave, case by recorded case."""

from __future__ import annotations

import math
from typing import Any

from shared_data import golden

from wsmem.text.lexical import lexical_tokens
from wsmem.text.normalize import normalize_text
from wsmem.text.utf8 import truncate_utf8


def as_javascript_text(value: Any) -> str:
    """`String(value ?? "")`: the plugin coerces, wsmem takes text only."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case dict():
            return "[object Object]"
        case list():
            return ",".join(as_javascript_text(item) for item in value)
    return str(value)


def failures(name: str, got: Any) -> list[str]:
    return [
        f"{case['name']}: {case['input']} gave {found!r}, not {case['expected']!r}"
        for case in golden(name)["cases"]
        if (found := got(case["input"])) != case["expected"]
    ]


def test_normalisation_is_the_recorded_one() -> None:
    assert not failures(
        "normalize_text.json", lambda given: normalize_text(as_javascript_text(given["value"]))
    )


def test_tokens_are_the_recorded_ones_in_order() -> None:
    assert not failures(
        "tokens.json", lambda given: lexical_tokens(as_javascript_text(given["value"]))
    )


def test_byte_budgets_cut_where_the_record_cuts() -> None:
    def cut(given: dict[str, Any]) -> str:
        budget = math.nan if given["maxBytes"] is None else given["maxBytes"]
        return truncate_utf8(as_javascript_text(given["value"]), budget)

    assert not failures("truncate_utf8.json", cut)
