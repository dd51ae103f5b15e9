"""Small labelled sets written to a folder, for the tests of the harness and of its commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Line = dict[str, Any]
Label = tuple[str, str, int]

DOCUMENTS = (
    ("d1", "部署脚本在 deploy.sh，先放 5% 流量"),
    ("d2", "Kestrel service owns billing exports"),
    ("d3", "数据库端口是 5432，备份在凌晨两点"),
    ("d4", "Nightly backup keeps seven days of snapshots"),
)
QUERIES = (
    ("q1", "部署脚本", "zh", "word", True),
    ("q2", "who owns billing exports", "en", "question", True),
    ("q3", "数据库 backup", "mixed", "word", True),
    ("q4", "量子火山地震学", "zh", "none", False),
)
LABELS: tuple[Label, ...] = (("q1", "d1", 2), ("q2", "d2", 1), ("q3", "d3", 2), ("q3", "d4", 1))


def document(identifier: str, text: str, **metadata: Any) -> Line:
    """One line of a corpus."""
    return {"_id": identifier, "title": "", "text": text, "metadata": metadata}


def query(identifier: str, text: str, **metadata: Any) -> Line:
    """One line of queries."""
    return {"_id": identifier, "text": text, "metadata": metadata}


def write_set(
    folder: Path,
    *,
    documents: Sequence[Line] | None = None,
    queries: Sequence[Line] | None = None,
    labels: Sequence[Label] = LABELS,
    split: str = "test",
    card: Mapping[str, Any] | None = None,
) -> Path:
    """Write a set in the BEIR layout; what is not given is the small set above."""
    if documents is None:
        documents = [document(name, text) for name, text in DOCUMENTS]
    if queries is None:
        queries = [
            query(name, text, lang=lang, kind=kind)
            | (
                {}
                if answerable
                else {"metadata": {"lang": lang, "kind": kind, "answerable": False}}
            )
            for name, text, lang, kind, answerable in QUERIES
        ]
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    write_lines(folder / "corpus.jsonl", documents)
    write_lines(folder / "queries.jsonl", queries)
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, label)) for label in labels)]
    (folder / "qrels" / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    if card is not None:
        (folder / "card.json").write_text(json.dumps(card, ensure_ascii=False), encoding="utf-8")
    return folder


def write_lines(path: Path, lines: Sequence[Line]) -> None:
    """Write JSON lines."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def card(folder: Path, checksums: Mapping[str, str], /, **changes: Any) -> dict[str, Any]:
    """A card that fits a folder."""
    said = {
        "name": folder.name,
        "title": "A small set",
        "language": ["zh", "en"],
        "licence": "MIT",
        "source": "Written for a test",
        "description": "Four entries",
        "authors": ["wsmem"],
        "checksums": dict(checksums),
        "intended_use": "Tests",
        "limits": "Tiny",
    }
    return said | changes
