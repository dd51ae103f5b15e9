"""The words that a sentence and an entry can share, and the qualifiers that keep them apart."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from wsmem.distill.rules.lexicon import lines, pattern
from wsmem.text.normalize import nfkc
from wsmem.text.scripts import cjk_run
from wsmem.text.stemming import stem
from wsmem.text.stopwords import ENGLISH, FUNCTION_LETTERS, has_function_letter

if TYPE_CHECKING:
    from collections.abc import Iterator

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+#@/-]*")
_PLAIN = re.compile(r"[a-z]+")
_JOINT = re.compile(r"[_./@#]|[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]")

_OF_CHANGE = frozenset(
    """
    actually correction correct wrong update updated change changed move moved switch switched
    migrate migrated replace replaced rename renamed upgrade upgraded raise raised lower lowered
    longer anymore instead rather earlier outdated stale old new said told meant mistake sorry
    please note remember reminder remind repeat again once known usual ever decided decision mixed
    backwards today yesterday last week month quarter
    pls plz thx tbh fwiw btw imo ngl lol yeah nah hm hmm
    """.split()
)
_OF_CHANGE_ZH = re.compile(
    r"刚才|之前|上次|前面|说错|讲错|写错|记错|搞错|弄错|搞混|说反|更正一?下?|纠正一?下?|订正|口误|其实|实际上|应该是|不是|而是|现在|已经|"
    r"改成|改为|改到|改用|改回|换成|换为|换到|换用|升到|升级到|升级|降到|降级|迁移到|迁移|迁到|切换到|切换|切到|挪到|搬到|搬去|转给|交给|"
    r"调到|调成|调整为|调整|不再|取消|停用|废弃|下线|作废|过时|旧的|更新|变成|变了|原来|原先|上周|上个月|昨天|今年|以后|今后|往后|记一下|记住|对了|提醒你?|强调|重申|重复|再说一遍|一下|老规矩|老样子|你知道的?|补充"
)


@lru_cache(maxsize=4096)
def subject_words(text: str) -> frozenset[str]:
    """What a text is about: stems of English words, identifiers, pairs of CJK letters.

    Function words, numbers and the vocabulary of correcting itself are left out.
    """
    return frozenset(_words(_OF_CHANGE_ZH.sub(" ", nfkc(text))))


def unknown_words(subject: str, content: str) -> list[str]:
    """Words of a claim's subject that an entry does not know and that are not vague.

    With any of them the two are about different things.
    Latin words are compared by their stems. Of CJK text, what no pair of letters shared with the
    entry covers is unknown from two letters on.
    """
    subject, content = nfkc(subject), nfkc(content)
    known = {*_words(content), *(word.lower() for word in _LATIN.findall(content))}
    left = _OF_CHANGE_ZH.sub(" ", pattern("vague_subject").sub(" ", subject))
    unknown = [
        word
        for word in _words(left)
        if word.isascii() and word not in known and not (len(word) == 1 and word.isalpha())
    ]
    pairs = {
        first + second for run in cjk_run().findall(content) for first, second in pairwise(run)
    }
    for run in cjk_run().findall(left):
        covered = [False] * len(run)
        for at, pair in enumerate(map("".join, pairwise(run))):
            if pair in pairs:
                covered[at] = covered[at + 1] = True
        bare = "".join(" " if c or letter in FUNCTION_LETTERS else letter
                       for letter, c in zip(run, covered, strict=True))  # fmt: skip
        unknown += [piece for piece in bare.split() if len(piece) > 1]
    return unknown


def names_in(text: str) -> frozenset[str]:
    """Latin words of a text that are names rather than English.

    Beside CJK any of them is, else those with a joint, a digit or a capital that does not merely
    begin the sentence.
    """
    folded = nfkc(text).strip()
    beside_cjk = cjk_run().search(folded) is not None
    return frozenset(
        word.lower()
        for found in _LATIN.finditer(folded)
        if (word := found[0].rstrip("._/-"))
        and word.lower() not in ENGLISH
        and (beside_cjk or _JOINT.search(word) or _has_capital(word, inside=found.start() > 0))
    )


def _has_capital(word: str, *, inside: bool) -> bool:
    return any(map(str.isupper, word if inside else word[1:]))


def identifiers_in(text: str) -> frozenset[str]:
    """Names of code: with an underscore, a dot, a slash, a digit or a capital inside."""
    return frozenset(
        word.lower()
        for found in _LATIN.finditer(nfkc(text))
        if _JOINT.search(word := found[0].rstrip("._/-"))
    )


def _words(text: str) -> Iterator[str]:
    for found in _LATIN.finditer(text):
        word = found[0].rstrip("._/-+").lower()
        if not word or word in ENGLISH or word in _OF_CHANGE:
            continue
        yield stem(word) if _PLAIN.fullmatch(word) else word
    for run in cjk_run().findall(text):
        yield from (
            first + second
            for first, second in pairwise(run)
            if not has_function_letter(first + second)
        )


@cache
def _families() -> tuple[tuple[re.Pattern[str], ...], ...]:
    return tuple(
        tuple(re.compile(member, re.IGNORECASE) for member in line.split(" / "))
        for line in lines("qualifiers")
    )


def qualified_apart(one: str, other: str, *, change: bool = False) -> bool:
    """Whether two texts speak of different members of a family, as production and staging.

    Args:
        one: A sentence.
        other: What an entry says.
        change: The sentence names both the old and the new value, so that a member of the entry
            that also stands in the sentence is what changes, not what it is about.
    """
    one, other = nfkc(one), nfkc(other)
    for group in _families():
        mine = {number for number, member in enumerate(group) if member.search(one)}
        theirs = {number for number, member in enumerate(group) if member.search(other)}
        if mine and theirs and not mine & theirs:
            return True
        if not change and mine and theirs and mine - theirs and theirs - mine:
            return True
    return False
