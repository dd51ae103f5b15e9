"""The tokens of many contents as one sorted array, to find those that share many with another.

A key is 32 bits of a token above the number of its content. All contents are cut into tokens
together, some hundred at a time, which takes a third of the time of doing so one by one; in
exchange a token may be counted twice, or count for another one with the same bits. So what is found
is at least what there is to find, and whoever asks compares those few token by token.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from wsmem.text.lexical import other_letter, unicode_token
from wsmem.text.normalize import normalize_text
from wsmem.text.scripts import CJK_RANGES, is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

    Keys = npt.NDArray[np.uint64]

_TOGETHER = 250
"""Contents cut at a time: a millisecond or two, in which no other thread gets a turn."""
_END, _NO_END = "\0", "\1"
"""Ends a content, and stands in its text for a character like that; neither is in any token."""
_TOKEN_OR_END = re.compile(r"\x00|[a-z0-9][a-z0-9_./:#-]*")
_BITS = 0xFFFFFFFF
_FIRST, _SECOND = 0x9E3779B1, 0x85EBCA77
"""Odd numbers that spread the two letters of a pair over all bits."""


def keys_of(contents: Sequence[str], *, first: int = 0) -> Keys:
    """Sorted keys of these contents, numbered from `first`; each token once or more often."""
    import numpy as np  # noqa: PLC0415 - only where there are many contents

    parts = [
        _keys_of_some(contents[at : at + _TOGETHER], first + at)
        for at in range(0, len(contents), _TOGETHER)
    ]
    keys = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
    keys.sort()
    return keys


def merged(one: Keys, other: Keys) -> Keys:
    """The keys of both."""
    import numpy as np  # noqa: PLC0415

    keys = np.concatenate([one, other])
    keys.sort(kind="stable")  # of two sorted halves: a merge
    return keys


def numbers_sharing(keys: Keys, tokens: Iterable[str], *, fewest: int) -> list[int]:
    """Numbers of the contents that may have `fewest` of these tokens; none that has is missing."""
    import numpy as np  # noqa: PLC0415

    low = np.array([_bits_of(token) for token in tokens], dtype=np.uint64) << np.uint64(32)
    starts = np.searchsorted(keys, low)
    ends = np.searchsorted(keys, low | np.uint64(_BITS), side="right")
    found = [keys[start:end] for start, end in zip(starts, ends, strict=True)]
    if not found:
        return []
    numbers = (np.concatenate(found) & np.uint64(_BITS)).astype(np.intp)
    return [int(number) for number in np.flatnonzero(np.bincount(numbers) >= fewest)]


def _keys_of_some(contents: Sequence[str], first: int) -> Keys:
    import numpy as np  # noqa: PLC0415

    text = _joined(contents)
    words = _TOKEN_OR_END.findall(text)
    if other_letter().search(text):
        words += _unicode_token_or_end().findall(text)
    bits, places = _words(words, len(contents))
    pairs, places_of_pairs = _pairs(text)
    bits, places = np.concatenate([bits, pairs]), np.concatenate([places, places_of_pairs])
    bare = np.flatnonzero(np.bincount(places, minlength=len(contents)) == 0)
    if bare.size:  # one without any token is its own only token
        own = [_bits_of(normalize_text(contents[place])) for place in bare.tolist()]
        bits = np.concatenate([bits, np.array(own, dtype=np.uint64)])
        places = np.concatenate([places, bare])
    keys: Keys = bits << np.uint64(32) | (places + first).astype(np.uint64)
    return keys


def _joined(contents: Sequence[str]) -> str:
    """The contents, normalised, each with an end behind it.

    An end joins nothing to its neighbours in any step of the normalisation.
    """
    if any(_END in content for content in contents):
        contents = [content.replace(_END, _NO_END) for content in contents]
    return normalize_text(_END.join([*contents, ""]))


def _words(words: Sequence[str], count: int) -> tuple[Keys, npt.NDArray[np.intp]]:
    """Bits of the words and the contents they stand in; the ends may come round again."""
    import numpy as np  # noqa: PLC0415

    hashes = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
    ends = hashes == hash(_END)  # all 64 bits: no word is taken for an end
    places = (np.cumsum(ends) % max(count, 1)).astype(np.intp)
    bits = (hashes & _BITS).astype(np.uint64)
    return bits[~ends], places[~ends]


def _pairs(text: str) -> tuple[Keys, npt.NDArray[np.intp]]:
    """Bits of the pairs of CJK letters, and of each last letter, and their contents."""
    import numpy as np  # noqa: PLC0415

    letters = "".join(_letters_or_ends().findall(text))
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = codes == 0
    places = np.cumsum(ends)
    wide = codes.astype(np.uint64)
    bits = (wide[:-1] * np.uint64(_FIRST) + wide[1:] * np.uint64(_SECOND)) & np.uint64(_BITS)
    real = ~ends[:-1]
    return bits[real], places[:-1][real]


def _bits_of(token: str) -> int:
    if token and is_cjk(token[0]):
        second = ord(token[1]) if len(token) > 1 else 0
        return (ord(token[0]) * _FIRST + second * _SECOND) & _BITS
    return hash(token) & _BITS


@cache
def _letters_or_ends() -> re.Pattern[str]:
    return re.compile(f"[\0{CJK_RANGES}]+")


@cache
def _unicode_token_or_end() -> re.Pattern[str]:
    return re.compile(rf"\x00|{unicode_token().pattern}")
