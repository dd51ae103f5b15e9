from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from labelled_sets import document, query, write_set

from wsmem.errors import DatasetError, UnknownNameError
from wsmem.evals.checking import check_dataset
from wsmem.evals.reading import load_dataset, read_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_set_is_read_with_its_metadata_labels_and_checksums(tmp_path: Path) -> None:
    write_set(
        tmp_path / "tiny",
        documents=[document("d1", "文", scope="s", strange={"a": [1]}) | {"lang": "zh"}],
        queries=[query("q1", "问", scope="s", slice=["exact", "exact"], lang="zh", kind="word")],
        labels=[("q1", "d1", 2)],
    )

    dataset = load_dataset(tmp_path / "tiny")

    assert dataset.name == "tiny"
    assert dataset.documents[0].metadata == {"scope": "s", "strange": {"a": [1]}, "lang": "zh"}
    assert dataset.queries[0].slices == ("exact",)
    assert dataset.relevant("q1") == {"d1": 2}
    assert set(dataset.checksums) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    write_set(tmp_path, documents=[document("d1", "a\u2028b\u0085c")], queries=[], labels=[])
    assert load_dataset(tmp_path).documents[0].text == "a\u2028b\u0085c"


def test_byte_order_mark_carriage_returns_and_blank_lines_are_no_data(tmp_path: Path) -> None:
    write_set(tmp_path)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_bytes(b"\xef\xbb\xbf" + corpus.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert [item.id for item in load_dataset(tmp_path).documents] == ["d1", "d2", "d3", "d4"]


BROKEN = [
    pytest.param("corpus.jsonl", '{"_id":"d2"', ":2: not JSON (EOF", id="cut-off-json"),
    pytest.param("corpus.jsonl", "[1]", ":2: not a JSON object", id="not-an-object"),
    pytest.param("corpus.jsonl", '{"_id":"d2"}', ":2: field text is missing", id="no-text"),
    pytest.param("corpus.jsonl", '{"text":"x"}', ":2: field _id is missing", id="no-id"),
    pytest.param("corpus.jsonl", '{"_id":"","text":"x"}', ":2: field _id: ", id="empty-id"),
    pytest.param("corpus.jsonl", '{"_id":"d2","text":null}', ":2: field text: ", id="null-text"),
    pytest.param(
        "corpus.jsonl", '{"_id":"d1","text":"x"}', ":2: id 'd1' was used on line 1", id="twice"
    ),
    pytest.param("corpus.jsonl", '{"_id":"d2","text":"\\ud800"}', ":2: not JSON", id="surrogate"),
    pytest.param(
        "queries.jsonl",
        '{"_id":"q2","text":"x","metadata":{"answerable":"no"}}',
        ":2: field metadata.answerable: ",
        id="answerable-is-text",
    ),
    pytest.param("qrels/test.tsv", "q1 d1 1", ":3: 1 fields where 3 are needed", id="blanks"),
    pytest.param("qrels/test.tsv", "q1\td1\t1.5", ":3: score '1.5' is not a whole", id="fraction"),
    pytest.param("qrels/test.tsv", "q1\td1\t-1", ":3: score '-1' is not a whole", id="negative"),
    pytest.param("qrels/test.tsv", "q9\td1\t1", ":3: label of an unknown query 'q9'", id="query"),
    pytest.param("qrels/test.tsv", "q1\td9\t1", ":3: label of an unknown document", id="document"),
    pytest.param("qrels/test.tsv", "q1\td1\t2", ":3: query 'q1' and document 'd1'", id="again"),
]


@pytest.mark.parametrize(("file", "line", "said"), BROKEN)
def test_a_faulty_line_is_named_by_file_line_fault_and_remedy(
    tmp_path: Path, file: str, line: str, said: str
) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a")],
        queries=[query("q1", "a")],
        labels=[("q1", "d1", 1)],
    )
    with (tmp_path / file).open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")

    with pytest.raises(DatasetError) as caught:
        load_dataset(tmp_path)

    assert f"{tmp_path / file}{said}" in str(caught.value)
    assert caught.value.remedy in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_label_file_without_header_says_so(tmp_path: Path) -> None:
    write_set(tmp_path)
    (tmp_path / "qrels" / "test.tsv").write_text("q1\td1\t1\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"test\.tsv:1: the first line is not the header"):
        load_dataset(tmp_path)


def test_an_unanswerable_query_with_a_relevant_document_is_a_contradiction(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q4", "d1", 1)])
    with pytest.raises(DatasetError, match=r"test.tsv:2: query 'q4' is marked answerable: false"):
        load_dataset(tmp_path)


def test_an_unanswerable_query_may_have_documents_judged_irrelevant(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q4", "d1", 0)])
    assert load_dataset(tmp_path).relevant("q4") == {}


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    write_set(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(DatasetError, match=f"{file}: there is no such file"):
        load_dataset(tmp_path)


def test_every_fault_is_found_not_only_the_first(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q1", "d9", 1), ("q9", "d1", 1)])
    with (tmp_path / "corpus.jsonl").open("a", encoding="utf-8") as opened:
        opened.write("{\n[]\n")
    _, problems = read_folder(tmp_path)
    assert [(item.path.name, item.line) for item in problems] == [
        ("corpus.jsonl", 5),
        ("corpus.jsonl", 6),
        ("test.tsv", 2),
        ("test.tsv", 3),
    ]


def test_test_is_the_split_unless_another_is_named(tmp_path: Path) -> None:
    write_set(tmp_path, labels=[("q1", "d1", 1)])
    write_set(tmp_path, labels=[("q2", "d2", 1)], split="dev")

    assert [item.id for item in load_dataset(tmp_path).queries] == ["q1", "q3", "q4"]
    assert load_dataset(tmp_path, split="dev").labels == {"q2": {"d2": 1}}
    with pytest.raises(UnknownNameError, match="no split named 'train'; there are: dev, test"):
        load_dataset(tmp_path, split="train")


def test_the_only_split_is_taken_whatever_its_name(tmp_path: Path) -> None:
    write_set(tmp_path, split="dev")
    assert load_dataset(tmp_path).split == "dev"


def test_an_unlabelled_query_stays_with_the_split_it_names(tmp_path: Path) -> None:
    queries = [
        query("q1", "a"),
        query("n1", "b", answerable=False, split="dev"),
        query("n2", "c", answerable=False, split="somewhere else"),
    ]
    write_set(tmp_path, queries=queries, labels=[("q1", "d1", 1)])
    write_set(tmp_path, queries=queries, labels=[], split="dev")
    assert [item.id for item in load_dataset(tmp_path).queries] == ["q1", "n2"]
    assert [item.id for item in load_dataset(tmp_path, split="dev").queries] == ["n1", "n2"]


def test_a_sound_set_has_no_problem(tmp_path: Path) -> None:
    assert check_dataset(write_set(tmp_path)) == []
