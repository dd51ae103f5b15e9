"""How much two texts say the same, and whether a text holds what it must; no model judges here."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from wsmem.text.analysis import term_role, terms
from wsmem.text.normalize import nfkc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.distillation.cases import Needed


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A text as strings are looked for in it: NFKC, then lower case."""
    return nfkc(text).lower()


def holds(text: str, needed: Needed) -> bool:
    """Whether a text holds what is needed: the string, or one of several."""
    options = (needed,) if isinstance(needed, str) else needed
    return any(plain(option) in plain(text) for option in options)


def first_held(texts: Iterable[str], strings: Iterable[str]) -> str | None:
    """The first of `strings` that one of the texts holds; `None` when none does."""
    spelled = [plain(text) for text in texts]
    return next((s for s in strings if any(plain(s) in text for text in spelled)), None)


@lru_cache(maxsize=4096)
def subject_terms(text: str) -> frozenset[str]:
    """Distinct terms of a text without function words: English stems, pairs of Chinese letters."""
    return frozenset(term for term in terms(text) if term_role(term) != "function")


def overlap(one: str, other: str) -> float:
    """Token F1 of two texts over their distinct `subject_terms`: 1 for equal sets, 0 for disjoint.

    The harmonic mean of the share of one's terms that the other has and the reverse, so neither
    copying the whole conversation nor a single right word is rewarded. Two texts without any
    subject term are alike only when they are equal.
    """
    mine, theirs = subject_terms(one), subject_terms(other)
    if not mine and not theirs:
        return float(plain(one) == plain(other))
    return 2 * len(mine & theirs) / (len(mine) + len(theirs))


def covers(longer: str, shorter: str) -> float:
    """Share of the shorter text's subject terms that the longer one has; 0 when it has none."""
    wanted = subject_terms(shorter)
    return len(wanted & subject_terms(longer)) / len(wanted) if wanted else 0.0
