"""Promises about the second labels of the sets that come along, and about how agreement is told."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from own_sets import NAMES, ROOT, own, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "second_labels.jsonl"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "label_agreement.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _row(query: str, document: str, first: int | None, second: int, **other: Any) -> dict[str, Any]:
    pair = {"query": query, "document": document, "grade": second, "pooled": True, "first": first}
    return pair | other


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    documents = ({"_id": name, "title": name, "text": name, "metadata": {}} for name in "abcde")
    _write(folder / "corpus.jsonl", documents)
    _write(folder / "queries.jsonl", ({"_id": name, "text": name, "metadata": {}} for name in "pq"))
    labels = "query-id\tcorpus-id\tscore\np\ta\t2\np\tb\t0\nq\tc\t0\nq\te\t1\np\td\t2\n"
    (folder / "qrels" / "test.tsv").write_text(labels, encoding="utf-8")
    rows = [_row("p", "a", 2, 2), _row("p", "b", 0, 0), _row("q", "c", 1, 0), _row("q", "d", 0, 0)]
    _write(folder / FILE, [*rows, _row("q", "a", None, 1, pooled=False, note="stays: x")])
    return folder


def test_agreement_is_of_pooled_pairs_with_the_label_that_stood_first(tiny: Path) -> None:
    done = _run(str(tiny))
    assert (done.returncode, done.stderr) == (0, "")
    # Grades met as (2,2) (0,0) (1,0) (0,0): 3 of 4 agree and chance gives 7 of 16, so 5/9;
    # squared distances are 1/4 where chance gives 24/16, so 5/6; relevant or not, 3/4 against 1/2.
    assert "tiny: 4 pooled pairs of 2 queries" in done.stdout
    assert "same grade 75.0%, Cohen's kappa 0.56 (" in done.stdout
    assert "with quadratic weights 0.83 (" in done.stdout
    assert "relevant or not 0.50 (" in done.stdout
    # Of the label now: c of q went from 1 to 0; e of q and d of p were never looked at.
    assert "differed on 2 pairs, of which 1 had their label changed; 2 relevant" in done.stdout


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{", id="not-json"),
        pytest.param('{"query": "p"}', id="no-grade"),
        pytest.param('{"query": "p", "colour": 1}', id="unknown-field"),
    ],
)
def test_a_line_that_is_no_label_is_refused(tiny: Path, line: str) -> None:
    (tiny / FILE).write_text(line, encoding="utf-8")
    done = _run(str(tiny))
    assert (done.returncode, done.stdout) == (2, "")
    assert FILE in done.stderr


def test_a_set_without_second_labels_is_refused(tmp_path: Path) -> None:
    done = _run(str(tmp_path))
    assert done.returncode == 2
    assert "there are no second labels" in done.stderr


def test_every_card_says_what_the_files_give() -> None:
    done = _run()
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said == {name: own(name).card["agreement"] for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_second_labels_join_live_entries_of_the_querys_workspace(name: str) -> None:
    labelled = own(name)
    rows = read_rows(labelled.folder / FILE)
    assert len({(row["query"], row["document"]) for row in rows}) == len(rows)
    for row in rows:
        query, entry = labelled.queries[row["query"]], labelled.entries[row["document"]]
        assert query["metadata"]["scope"] == entry["metadata"]["scope"]
        assert entry["metadata"]["status"] in {"active", "conflict"}
        assert row["grade"] in {0, 1, 2}
        assert row["first"] in {0, 1, 2} or not row["pooled"], "what is pooled had been judged"


@pytest.mark.parametrize("name", NAMES)
def test_every_difference_is_settled_as_its_note_says(name: str) -> None:
    labelled = own(name)
    for row in read_rows(labelled.folder / FILE):
        now = labelled.grades.get(row["query"], {}).get(row["document"], 0)
        first = row["first"] or 0
        outcome = row.get("note", "").split(": ")[0]
        expected = "" if row["grade"] == first else "stays" if now == first else "changed"
        assert outcome == expected, row
