"""Texts whose secrets are marked `⟦so⟧`, from which tests derive input and expected output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from wsmem.redaction.findings import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _pytest.mark.structures import ParameterSet

_MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)


def plain(marked: str) -> str:
    """The text as it was written."""
    return _MARKED.sub(r"\1", marked)


def redacted(marked: str) -> str:
    """The text as it may leave."""
    return _MARKED.sub(PLACEHOLDER, marked)


def rows(texts: Iterable[str]) -> list[ParameterSet]:
    """One row a text, with the text as its id."""
    return [pytest.param(text, id=text[:80]) for text in texts]
