"""English stems by the Porter2 algorithm, in the standard library only.

M. F. Porter, "The English (Porter2) stemming algorithm", 2002, from the published description.
A library (snowballstemmer) does the same; recall must start without one, and a scan needs to know
how far a stem may differ from its word (`shared_prefix`). A test compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOWELS = frozenset("aeiouy")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_LI_ENDINGS = frozenset("cdeghkmnrt")

# Words whose stem no rule gives, and words that are their own stem.
_EXCEPTIONS = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli",
    "early": "earli", "only": "onli", "singly": "singl", "sky": "sky", "news": "news",
    "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}  # fmt: skip
_UNCHANGED_AFTER_PLURAL = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "evening", "proceed", "exceed", "succeed")
)

_REGION_PREFIXES = (
    "gener",
    "commun",
    "arsen",
    "past",
    "univers",
    "later",
    "emerg",
    "organ",
    "inter",
)
_KINDS = str.maketrans({chr(code): "-" for code in range(128)} | dict.fromkeys(_VOWELS, "a"))
"""Letters as vowels (`a`) and others (`-`): a region begins behind the first `a-`."""
_PAST_AND_GERUND = ("eed", "eedly", "ed", "edly", "ing", "ingly")

_STEP_2 = (
    ("ational", "ate"), ("fulness", "ful"), ("iveness", "ive"), ("ization", "ize"),
    ("ousness", "ous"), ("biliti", "ble"), ("lessli", "less"), ("tional", "tion"),
    ("alism", "al"), ("aliti", "al"), ("ation", "ate"), ("entli", "ent"), ("fulli", "ful"),
    ("iviti", "ive"), ("ousli", "ous"), ("ogist", "og"), ("abli", "able"), ("alli", "al"),
    ("anci", "ance"),
    ("ator", "ate"), ("enci", "ence"), ("izer", "ize"), ("bli", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent", "ism", "iti", "ive",
    "ize", "ous", "al", "er", "ic",
)  # fmt: skip


def _by_last_letters(endings: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Endings and what takes their place by their last two letters: few are to be tried, in order.

    Of two that end alike the longer comes first.
    """
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for ending, replacement in endings:
        found[ending[-2:]].append((ending, replacement))
    return dict(found)


_STEP_2_BY_LAST = _by_last_letters(_STEP_2)
_STEP_3_BY_LAST = _by_last_letters(_STEP_3)
_STEP_4_BY_LAST = _by_last_letters((ending, "") for ending in _STEP_4)


def stemmed(word: str) -> str:
    """The stem of a lower-case ASCII word; words of one or two letters are their own."""
    if len(word) < 3:
        return word
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    word = _mark_consonant_y(word)
    start_1, start_2 = _regions(word)
    word = _plural(word)
    if word in _UNCHANGED_AFTER_PLURAL:
        return word
    if word.endswith(_PAST_AND_GERUND):
        word = _past_and_gerund(word, start_1)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _derived(word, start_1, start_2)
    word = _residual(word, start_2)
    return _final_letter(word, start_1, start_2).replace("Y", "y")


stem = lru_cache(maxsize=8192)(stemmed)
"""The same, for words that come again."""


def shared_prefix(stemmed: str) -> str:
    """A start that every word with this stem has; rules rewrite at most two letters of a stem.

    Words of up to three letters may come from the exceptions (dying, skies): one letter is sure.
    """
    return stemmed[:-2] if len(stemmed) > 4 else stemmed[: max(1, len(stemmed) - 2)]


def _mark_consonant_y(word: str) -> str:
    """Write a y that acts as a consonant (at the start, after a vowel) as Y."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where the two regions begin, at the end of the word if there are none.

    The first begins after the first non-vowel that follows a vowel, or after one of some prefixes;
    the second is the same within the first.
    """
    kinds = word.translate(_KINDS)
    if word.startswith(_REGION_PREFIXES):
        start_1 = next(len(prefix) for prefix in _REGION_PREFIXES if word.startswith(prefix))
    elif (at := kinds.find("a-")) >= 0:
        start_1 = at + 2
    else:
        return len(word), len(word)
    at = kinds.find("a-", start_1)
    return start_1, at + 2 if at >= 0 else len(word)


def _has_vowel(text: str) -> bool:
    return not _VOWELS.isdisjoint(text)


def _ends_in_short_syllable(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    if word.endswith("past"):
        return True
    return (
        len(word) > 2
        and word[-3] not in _VOWELS
        and word[-2] in _VOWELS
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
    )


def _plural(word: str) -> str:
    if word[-1] != "s":
        return (word[:-2] if len(word) > 4 else word[:-1]) if word.endswith("ied") else word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    return word[:-1] if _has_vowel(word[:-2]) else word


def _past_and_gerund(word: str, start_1: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            return word[: -len(ending)] + "ee" if len(word) - len(ending) >= start_1 else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if not word.endswith(ending):
            continue
        left = word[: -len(ending)]
        if ending == "ing" and len(left) == 2 and left[1] in "yY" and left[0] not in _VOWELS:
            return left[0] + "ie"  # dying, lying, tying
        return _restore(left, start_1) if _has_vowel(left) else word
    return word


def _restore(left: str, start_1: int) -> str:
    """Give back what a gerund or past tense dropped: an e, or nothing after a doubled letter."""
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if left.endswith(_DOUBLES):
        return left if len(left) == 3 and left[0] in "aeo" else left[:-1]
    if start_1 >= len(left) and _ends_in_short_syllable(left):
        return left + "e"
    return left


def _derived(word: str, start_1: int, start_2: int) -> str:
    """Steps 2 to 3: derivational endings become shorter ones."""
    for ending, replacement in _STEP_2_BY_LAST.get(word[-2:], ()):
        if word.endswith(ending):
            if len(word) - len(ending) >= start_1:
                word = word[: -len(ending)] + replacement
            break
    else:
        if word.endswith("ogi"):
            if len(word) - 3 >= start_1 and word.endswith("logi"):
                word = word[:-1]
        elif word.endswith("li") and len(word) - 2 >= start_1 and word[-3:-2] in _LI_ENDINGS:
            word = word[:-2]
    for ending, replacement in _STEP_3_BY_LAST.get(word[-2:], ()):
        if word.endswith(ending):
            left = len(word) - len(ending)
            return word[:left] + replacement if left >= start_1 else word
    if word.endswith("ative") and len(word) - 5 >= start_2:
        return word[:-5]
    return word


def _residual(word: str, start_2: int) -> str:
    """Step 4: drop a last derivational ending that lies in the second region."""
    for ending, _ in _STEP_4_BY_LAST.get(word[-2:], ()):
        if word.endswith(ending):
            return word[: -len(ending)] if len(word) - len(ending) >= start_2 else word
    if word.endswith(("sion", "tion")) and len(word) - 3 >= start_2:
        return word[:-3]
    return word


def _final_letter(word: str, start_1: int, start_2: int) -> str:
    if word.endswith("e"):
        at = len(word) - 1
        if at >= start_2 or (at >= start_1 and not _ends_in_short_syllable(word[:-1])):
            return word[:-1]
    elif word.endswith("ll") and len(word) - 1 >= start_2:
        return word[:-1]
    return word
