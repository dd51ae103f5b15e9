from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from labelled_sets import card, document, query, write_set
from shared_data import SHARED

from wsmem.evals.card import checksums
from wsmem.evals.checking import check_dataset
from wsmem.evals.reading import is_dataset, load_dataset

if TYPE_CHECKING:
    from pathlib import Path


def problems_of(folder: Path) -> list[tuple[str, str, int | None]]:
    return [(item.kind, item.path.name, item.line) for item in check_dataset(folder)]


def with_card(folder: Path, **changes: object) -> Path:
    write_set(folder)
    return write_set(folder, card=card(folder, checksums(folder), **changes))


def test_a_text_of_blanks_is_found_where_it_stands(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a"), document("d2", " \n")],
        queries=[query("q1", "a"), query("q2", "\t", answerable=False)],
        labels=[("q1", "d1", 1)],
    )
    assert problems_of(tmp_path) == [
        ("empty-text", "corpus.jsonl", 2),
        ("empty-text", "queries.jsonl", 2),
    ]


def test_a_title_alone_is_a_text(tmp_path: Path) -> None:
    write_set(tmp_path, documents=[document("d1", "") | {"title": "t"}], queries=[], labels=[])
    assert problems_of(tmp_path) == []


def test_a_query_without_relevant_document_must_be_marked(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q1", "d1", 1), ("q2", "d1", 0), ("q3", "d3", 1)])
    assert problems_of(tmp_path) == [("unlabelled-query", "queries.jsonl", 2)]


def test_a_query_labelled_in_another_split_is_labelled(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q1", "d1", 1)])
    write_set(tmp_path, labels=[("q2", "d2", 1), ("q3", "d3", 1)], split="dev")
    assert problems_of(tmp_path) == []


def test_a_label_that_its_query_cannot_reach_is_found(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a", scope="one"), document("d2", "b")],
        queries=[query("q1", "a", scope="one"), query("q2", "b", scope="two")],
        labels=[("q1", "d1", 1), ("q1", "d2", 1), ("q2", "d2", 1)],
    )
    assert problems_of(tmp_path) == [
        ("label-out-of-scope", "test.tsv", 3),
        ("label-out-of-scope", "test.tsv", 4),
    ]


def test_a_card_that_fits_is_no_problem(tmp_path: Path) -> None:
    folder = with_card(tmp_path / "tiny", splits={"test": "all of it"}, slices={"word": "words"})
    assert problems_of(folder) == []
    loaded = load_dataset(folder)
    assert loaded.card is not None
    assert loaded.card.authors == ("wsmem",)


def test_a_changed_file_does_not_match_its_card(tmp_path: Path) -> None:
    folder = with_card(tmp_path / "tiny")
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    (problem,) = check_dataset(folder)
    assert (problem.kind, problem.path.name) == ("checksum", "corpus.jsonl")
    assert checksums(folder)["corpus.jsonl"] in problem.text


CARDS = [
    pytest.param({"checksums": {}}, {"checksum"}, id="files-without-checksum"),
    pytest.param({"checksums": {"corpus.jsonl": "abc"}}, {"card"}, id="not-a-checksum"),
    pytest.param({"licence": ""}, {"card"}, id="empty-field"),
    pytest.param({"license": "MIT"}, {"card"}, id="unknown-field"),
    pytest.param({"name": "other"}, {"card"}, id="other-name"),
    pytest.param({"splits": {"test": "t", "dev": "d"}}, {"card"}, id="split-without-file"),
]


@pytest.mark.parametrize(("changes", "kinds"), CARDS)
def test_a_faulty_card_is_found(
    tmp_path: Path, changes: dict[str, object], kinds: set[str]
) -> None:
    assert {kind for kind, _, _ in problems_of(with_card(tmp_path / "tiny", **changes))} == kinds


def test_a_set_with_a_card_is_held_to_the_fields_of_entries(tmp_path: Path) -> None:
    documents = [
        document("d1", "a", type="Persona Memory", tags="one,two", importance=9, date="soon"),
        document("d2", "b", type="rule", tags=["one"], importance=3, date="2026-01-02"),
    ]
    folder = tmp_path / "tiny"
    write_set(folder, documents=documents, queries=[], labels=[])
    assert problems_of(folder) == []  # without a card the words may mean something else
    write_set(
        folder,
        documents=documents,
        queries=[],
        labels=[],
        card=card(folder, checksums(folder)),
    )
    found = check_dataset(folder)
    assert {item.text.split(" of ")[0] for item in found} == {
        "metadata.type",
        "metadata.tags",
        "metadata.importance",
        "metadata.date",
    }
    assert {item.line for item in found} == {1}


def recorded_sets() -> list[Path]:
    data = SHARED / "data"
    return sorted(path for path in data.glob("*") if is_dataset(path)) if data.is_dir() else []


@pytest.mark.parametrize("folder", recorded_sets(), ids=lambda path: path.name)
def test_the_recorded_public_sets_are_sound(folder: Path) -> None:
    # Texts of others hold examples of credentials and repeat themselves; nothing else is wrong.
    found = [item for item in check_dataset(folder) if item.severity == "error"]
    assert {item.kind for item in found} <= {"secret"}
