"""The labelled sets that come with the repository, read without the harness, and their words."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("workspace-zh", "workspace-en", "workspace-mixed")
HAN = re.compile(r"[\u3400-\u9fff]")
_STOP_EN = """
a am an and any are be been can do does for from going how i if in is it long many may me much my
need no of on or out per so that the there they this to too uh um up we what when which who whose
why will with without you
"""
_STOP_ZH = """
的 了 吗 呢 吧 啊 呀 嗯 呃 那个 这个 怎么 什么 哪里 多久 多少
能不能 是不是 会不会 有没有 可以 还能 还是
我们 我 你 它 要 会 在 是 不 一个 最多 现在 用 就 都 也 很 和 时候 有人 谁 算 当天 到底
"""
STOP_EN = frozenset(_STOP_EN.split())
"""Words of a question that say nothing about its subject."""
STOP_ZH = sorted(_STOP_ZH.split(), key=len, reverse=True)
"""The same in Chinese, longest first."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSet:
    """One set, read without the harness so that the two can disagree."""

    folder: Path
    entries: dict[str, Row]
    queries: dict[str, Row]
    grades: dict[str, dict[str, int]]
    """Grades of 1 and 2 by query and entry, all splits together."""
    splits: dict[str, dict[str, list[tuple[str, int]]]]
    """What was judged, grades of 0 included, by split and query."""
    card: Row

    def split_of(self, query: Row) -> str:
        """The one split that a query belongs to."""
        homes = [name for name, judged in self.splits.items() if query["_id"] in judged]
        if not homes:
            homes = [query["metadata"].get("split", "test")]
        (home,) = homes
        return home

    def sliced(self, name: str) -> list[Row]:
        return [query for query in self.queries.values() if name in query["metadata"]["slice"]]

    def answers(self, query: Row) -> list[Row]:
        """Entries labelled 2."""
        labels = self.grades.get(query["_id"], {})
        return [self.entries[entry] for entry, grade in labels.items() if grade == 2]

    def neighbours(self, query: Row) -> list[Row]:
        """All entries of the query's workspace."""
        scope = query["metadata"]["scope"]
        return [entry for entry in self.entries.values() if entry["metadata"]["scope"] == scope]


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def label_files(folder: Path) -> list[Path]:
    return sorted((folder / "qrels").glob("*.tsv"))


def data_files(folder: Path) -> list[str]:
    """Paths inside the folder of what a card has checksums of."""
    labels = [f"qrels/{file.name}" for file in label_files(folder)]
    return ["corpus.jsonl", "queries.jsonl", *labels]


def read_labels(file: Path) -> list[list[str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "query-id\tcorpus-id\tscore"
    return [line.split("\t") for line in lines[1:]]


@functools.cache
def own(name: str) -> OwnSet:
    folder = ROOT / "datasets" / name
    grades: dict[str, dict[str, int]] = {}
    splits: dict[str, dict[str, list[tuple[str, int]]]] = {}
    for file in label_files(folder):
        judged = splits.setdefault(file.stem, {})
        for query, entry, grade in read_labels(file):
            judged.setdefault(query, []).append((entry, int(grade)))
            if int(grade):
                grades.setdefault(query, {})[entry] = int(grade)
    return OwnSet(
        folder=folder,
        entries={row["_id"]: row for row in read_rows(folder / "corpus.jsonl")},
        queries={row["_id"]: row for row in read_rows(folder / "queries.jsonl")},
        grades=grades,
        splits=splits,
        card=json.loads((folder / "card.json").read_text(encoding="utf-8")),
    )


def norm(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def body(entry: Row) -> str:
    return norm(f"{entry['title']}\n{entry['text']}")


def content_words(text: str) -> set[str]:
    """ASCII words and Chinese bigrams, without words that say nothing about a subject."""
    text = norm(text)
    words = {word for word in re.findall(r"[a-z0-9]+", text) if word not in STOP_EN}
    for stop in STOP_ZH:
        text = text.replace(stop, " ")
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        words |= {run[at : at + 2] for at in range(len(run) - 1)}
    return words


def shared_words(left: str, right: str) -> set[str]:
    """Words in common; `price` and `prices` are the same word."""
    ours, theirs = content_words(left), content_words(right)
    stems = {
        word
        for word in ours
        for other in theirs
        if min(len(word), len(other)) >= 4
        and word.isascii()
        and (word.startswith(other) or other.startswith(word))
    }
    return (ours & theirs) | stems


def spoken_values(labelled: OwnSet) -> list[str]:
    """Every text of a set that somebody wrote."""
    texts = [query["text"] for query in labelled.queries.values()]
    for entry in labelled.entries.values():
        meta = entry["metadata"]
        texts += [entry["title"], entry["text"], *meta["tags"], *meta["retrievalTerms"]]
    return texts
