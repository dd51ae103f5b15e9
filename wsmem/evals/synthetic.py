"""Seeded stores and queries of any size, for measuring speed; they say nothing about quality.

Words follow a Zipf-Mandelbrot law over an English-like and a Chinese-like vocabulary whose
commonest words are the real function words, with identifiers as a long tail of unique ones. The
same seed and size give the same texts on every machine.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from wsmem.records import MEMORY_TYPES, MemoryEntry
from wsmem.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QueryKind = Literal[
    "phrase", "keywords", "question", "fragment", "tag", "letter", "nothing", "prompt"
]
_SHARES: dict[QueryKind, int] = {
    "phrase": 40, "keywords": 50, "question": 50, "fragment": 20, "tag": 15, "letter": 10,
    "nothing": 5, "prompt": 10,
}  # fmt: skip
"""How many of 200 queries are of each kind."""

Language = Literal["zh", "en", "mixed"]
Length = Literal["short", "question", "prompt"]
"""Two or three words; a sentence; about 100 terms, as when a whole message is the query."""

NEWEST = datetime(2026, 9, 1, tzinfo=UTC)
"""When the youngest entry was written."""

_WORDS = 30_000
_CONSONANTS, _VOWELS = "bcdfghklmnprstvwz", "aeiou"
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ment")
_CHINESE_FUNCTION = (
    "的 是 在 了 我们 可以 这个 什么 没有 不是 需要 使用 如果 已经 就是 一个 以及 然后 不能 怎么"
).split()
_FIRST_LETTER, _LETTERS = 0x4E00, 3500


class SyntheticQuery(NamedTuple):
    """A query and what kind of question it imitates."""

    text: str
    kind: QueryKind


class LabelledQuery(NamedTuple):
    """A query with the groups it is counted in."""

    text: str
    language: Language
    length: Length


class _Vocabulary:
    """Words of one language by rank, with the law they are drawn by."""

    def __init__(self, words: Sequence[str], generator: np.random.Generator) -> None:
        ranks = np.arange(len(words))
        weights = 1.0 / (ranks + 2.7) ** 1.05
        self._words = words
        self._cumulative = np.cumsum(weights / weights.sum())
        self._generator = generator

    def draw(self, count: int) -> list[str]:
        """Words by the law, with repeats."""
        at = np.searchsorted(self._cumulative, self._generator.random(count))
        return [self._words[min(int(i), len(self._words) - 1)] for i in at]

    def rare(self, count: int) -> list[str]:
        """Words of the middle ranks: what a question is about."""
        at = self._generator.integers(200, len(self._words), count)
        return [self._words[int(i)] for i in at]


class _Writer:
    """Writes texts in English, Chinese or both.

    Args:
        seed: Of the vocabulary.
        stream: Of what is drawn from it: others give other texts in the same words.
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        english, chinese, state = _words(seed)
        self.generator = np.random.default_rng((seed, stream) if stream else seed)
        if not stream:
            self.generator.bit_generator.state = state
        self.english = _Vocabulary(english, self.generator)
        self.chinese = _Vocabulary(chinese, self.generator)

    def pick(self, count: int) -> int:
        return int(self.generator.integers(count))

    def identifier(self) -> str:
        parts = [word.lower() for word in self.english.rare(2)]
        number = self.pick(10_000)
        return (
            f"{parts[0]}_{parts[1]}",
            f"{parts[0]}{parts[1].capitalize()}",
            f"src/{parts[0]}/{parts[1]}.ts",
            f"{parts[0]}:{number}",
            f"v{number % 9}.{number % 31}.{number % 7}",
        )[self.pick(5)]

    def text(self, language: str, words: int) -> str:
        if language == "en":
            return " ".join([*self.english.draw(words), self.identifier()]).capitalize() + "."
        if language == "zh":
            return "".join(self.chinese.draw(words)) + "。"
        half = words // 2
        pieces = self.chinese.draw(half)
        pieces.insert(half // 2, f" {self.identifier()} ")
        return "".join(pieces) + " ".join(self.english.rare(2)) + "。"


def synthetic_entries(count: int, *, seed: int, stream: int = 0) -> list[MemoryEntry]:
    """Entries of a grown store: 40 % English, 40 % Chinese, 20 % mixed, about 230 letters each.

    Args:
        count: How many.
        seed: Of the vocabulary and, in the first stream, of the texts.
        stream: Others give other entries in the same words.
    """
    writer = _Writer(seed, stream)
    return [_entry(writer, number) for number in range(count)]


_LANGUAGES: tuple[Language, ...] = ("en", "en", "zh", "zh", "mixed")
"""Of the entries in turn."""


def _entry(writer: _Writer, number: int) -> MemoryEntry:
    language = _LANGUAGES[number % len(_LANGUAGES)]
    words = {"en": 30, "zh": 70, "mixed": 60}[language]
    content = writer.text(language, words // 2 + writer.pick(words))
    topics = writer.english.rare(2) if language == "en" else writer.chinese.rare(2)
    when = NEWEST - timedelta(minutes=int(writer.generator.exponential(60 * 24 * 90)))
    stamp = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return MemoryEntry(
        id=f"mem-{number:012x}",
        content=content,
        type=MEMORY_TYPES[writer.pick(len(MEMORY_TYPES))],
        title=content[:80] if number % 3 else writer.text(language, 4),
        description=content[:240],
        tags=tuple(topics),
        retrieval_terms=tuple(writer.english.rare(1) + writer.chinese.rare(1)),
        importance=writer.pick(4),
        created_at=stamp,
        updated_at=stamp,
    )


def synthetic_queries(
    entries: Sequence[MemoryEntry], count: int, *, seed: int
) -> list[SyntheticQuery]:
    """Questions to such a store, cut from its entries, in the shares of `_SHARES`, mixed."""
    writer = _Writer(seed)
    kinds = [kind for kind in get_args(QueryKind) for _ in range(_SHARES[kind])]
    order = writer.generator.permutation(len(kinds))
    return [
        SyntheticQuery(_question(writer, entries[writer.pick(len(entries))], kind), kind)
        for kind in (kinds[int(order[at % len(kinds)])] for at in range(count))
    ]


def _question(writer: _Writer, entry: MemoryEntry, kind: QueryKind) -> str:
    content, chinese = entry.content, not entry.content.isascii()
    start = writer.pick(max(1, len(content) - 40))
    words = content.split(" ")
    match kind:
        case "phrase":
            return content[start : start + (8 if chinese else 30)].strip()
        case "keywords":
            topics = [content[start : start + 2], content[start + 5 : start + 7]]
            return " ".join([*(topics if chinese else words[2:12:4]), entry.tags[0]])
        case "question":
            if chinese:
                return f"请问我们的{content[start : start + 6]}是怎么{entry.tags[0]}的？"
            return f"What is the {' '.join(words[3:6])} that we use for {entry.tags[0]}?"
        case "fragment":
            return content[start : start + (2 if chinese else 4)].strip() or entry.tags[0]
        case "tag":
            return entry.tags[writer.pick(len(entry.tags))]
        case "letter":
            return content[start : start + 1].strip() or "库"
        case "nothing":
            return f"zqx{writer.pick(10**6)} 龘{chr(0x9F00 + writer.pick(100))}"
        case "prompt":
            return f"{content[:200]} {writer.text('en' if chinese else 'zh', 25)}"


def labelled_queries(
    entries: Sequence[MemoryEntry], *, each: int, seed: int, stream: int = 1
) -> list[LabelledQuery]:
    """Questions of every language and length, `each` times each, in a mixed order.

    Args:
        entries: As `synthetic_entries` gives them, five or more: each query asks about one of its
            own language.
        each: How many of every pair of language and length.
        seed: That of the entries, so that the words of both are the same.
        stream: Others give other queries.
    """
    writer = _Writer(seed, stream)
    queries = []
    for language in get_args(Language):
        places = [at for at in range(len(entries)) if _LANGUAGES[at % len(_LANGUAGES)] == language]
        for length in get_args(Length):
            for _ in range(each):
                entry = entries[places[writer.pick(len(places))]]
                text = _asked(writer, entry, language, length)
                queries.append(LabelledQuery(text, language, length))
    return [queries[int(at)] for at in writer.generator.permutation(len(queries))]


_PROMPT_WORDS: dict[Language, int] = {"en": 78, "zh": 24, "mixed": 52}
"""Words of fresh text that make a prompt of about 100 terms of what was cut from an entry."""


def _asked(writer: _Writer, entry: MemoryEntry, language: Language, length: Length) -> str:
    content, topic = entry.content, entry.tags[0]
    start = writer.pick(max(1, len(content) - 60))
    words = content.split(" ")
    at = writer.pick(max(1, len(words) - 3))
    match length, language:
        case "short", "en":
            return " ".join([*words[at : at + 2], topic])
        case "short", _:
            second = (
                content[start + 7 : start + 9] if language == "zh" else entry.retrieval_terms[0]
            )
            return " ".join([content[start : start + 2], second, topic])
        case "question", "en":
            return f"What is the {' '.join(words[at : at + 3])} that we use for {topic}?"
        case "question", "zh":
            return f"请问我们的{content[start : start + 6]}是怎么{topic}的？"
        case "question", _:
            return f"{content[start : start + 12]}的 {entry.retrieval_terms[0]} 是怎么{topic}的？"
        case "prompt", "en":
            cut = " ".join(words[at : at + 25])
        case _:
            cut = content[start : start + 60]
    return f"{cut} {writer.text(language, _PROMPT_WORDS[language])}"


@lru_cache(maxsize=4)
def _words(seed: int) -> tuple[list[str], list[str], Mapping[str, Any]]:
    """Both vocabularies of a seed, and the state of the generator that has drawn them."""
    generator = np.random.default_rng(seed)
    english, chinese = _english_words(generator), _chinese_words(generator)
    return english, chinese, generator.bit_generator.state


def _english_words(generator: np.random.Generator) -> list[str]:
    common = sorted(ENGLISH)
    generator.shuffle(common)
    words = dict.fromkeys(common)
    while len(words) < _WORDS:
        syllables = 1 + int(generator.integers(3))
        picks = generator.integers(0, [len(_CONSONANTS), len(_VOWELS)], (syllables, 2))
        word = "".join(_CONSONANTS[c] + _VOWELS[v] for c, v in picks.tolist())
        word += _CONSONANTS[int(generator.integers(len(_CONSONANTS)))]
        words.setdefault(word + _ENDINGS[int(generator.integers(len(_ENDINGS)))])
    return list(words)


def _chinese_words(generator: np.random.Generator) -> list[str]:
    # Letters are skewed too, so that common letters make common pairs, as in real text.
    letters = generator.permutation(_LETTERS)
    words = dict.fromkeys(_CHINESE_FUNCTION)
    while len(words) < _WORDS:
        picks = np.minimum(generator.zipf(1.3, 2) - 1 + generator.integers(0, 400, 2), _LETTERS - 1)
        words.setdefault("".join(chr(_FIRST_LETTER + int(letters[p])) for p in picks))
    return list(words)
