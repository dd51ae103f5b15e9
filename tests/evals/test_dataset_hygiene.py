from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_sets import card, document, query, write_set
from labelling_kit import TOKEN
from own_sets import NAMES, ROOT

from wsmem.evals.card import checksums
from wsmem.evals.checking import check_dataset
from wsmem.evals.language import contradicts, language_of
from wsmem.evals.near_duplicates import near_duplicates, normalised
from wsmem.text.analysis import terms

if TYPE_CHECKING:
    from pathlib import Path


def found(folder: Path) -> list[tuple[str, str, str, int | None]]:
    return [(p.severity, p.kind, p.path.name, p.line) for p in check_dataset(folder)]


def test_secrets_are_found_in_texts_and_in_metadata(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[
            document("d1", "plain words about passwords"),
            document("d2", "a fact", retrievalTerms=["x", f"token {TOKEN}"]),
        ],
        queries=[query("q1", f"is {TOKEN} valid"), query("q2", "what is d41d8cd98f00b204e98009")],
        labels=[("q1", "d1", 1), ("q2", "d2", 1)],
    )
    assert found(tmp_path) == [
        ("error", "secret", "corpus.jsonl", 2),
        ("error", "secret", "queries.jsonl", 1),
    ]
    assert TOKEN not in "".join(map(str, check_dataset(tmp_path)))


def test_a_language_that_the_letters_contradict_is_found(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a")],
        queries=[
            query("q1", "where is it", lang="zh"),
            query("q2", "端口", lang="en"),
            query("q3", "no Chinese", lang="mixed"),
            query("q4", "部署 deploy", lang="zh"),
            query("q5", "??", lang="zh"),
        ],
        labels=[(f"q{number}", "d1", 1) for number in range(1, 6)],
    )
    assert [(kind, line) for _, kind, _, line in found(tmp_path)] == [
        ("wrong-language", 1),
        ("wrong-language", 2),
        ("wrong-language", 3),
    ]


def test_a_language_that_the_card_does_not_list_is_found(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    write_set(folder, card=card(folder, checksums(folder), language=["zh"]))
    assert [(kind, line) for _, kind, _, line in found(folder)] == [
        ("wrong-language", 2),
        ("wrong-language", 3),
    ]


LANGUAGES = [
    pytest.param("部署脚本", "zh", id="chinese"),
    pytest.param("ship it", "en", id="latin"),
    pytest.param("用 deploy.sh 部署", "mixed", id="both"),
    pytest.param("T恤 32B", "zh", id="lone-letters"),
    pytest.param("ｄｅｐｌｏｙ", "en", id="full-width"),
    pytest.param("5432 ??", None, id="no-letters"),
]


@pytest.mark.parametrize(("text", "language"), LANGUAGES)
def test_the_letters_of_a_text_say_its_language(text: str, language: str | None) -> None:
    assert language_of(text) == language
    assert language is None or not contradicts(language, text)


def test_repeated_queries_are_found_and_whether_they_are_labelled_alike(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a"), document("d2", "b")],
        queries=[
            query("q1", "支付回调的超时是多少"),
            query("q2", "支付回调的超时是多少？"),
            query("q3", "Where do nightly backups go, and who may read them?"),
            query("q4", "where do the nightly backups go and who may read them"),
            query("q5", "the port is 80"),
            query("q6", "the port is 81"),
        ],
        labels=[(f"q{n}", "d2" if n == 4 else "d1", 1) for n in range(1, 7)],
    )
    assert found(tmp_path) == [
        ("warning", "near-duplicate", "queries.jsonl", 2),
        ("warning", "near-duplicate", "queries.jsonl", 4),
    ]
    texts = [problem.text for problem in check_dataset(tmp_path)]
    assert texts[0] == "query 'q2' repeats 'q1' of line 1"
    assert texts[1].endswith("of line 3, and is labelled differently")


def test_the_same_question_to_another_scope_is_another_question(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a", scope="x"), document("d2", "b", scope="y")],
        queries=[query("q1", "the port", scope="x"), query("q2", "the port", scope="y")],
        labels=[("q1", "d1", 1), ("q2", "d2", 1)],
    )
    assert found(tmp_path) == []


def test_a_text_held_twice_is_found_unless_one_was_superseded(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[
            document("d1", "端口是 5432"),
            document("d2", "端口是５４３２。"),
            document("d3", "端口是 5432", status="superseded"),
            document("d4", "端口是 5432", scope="x"),
        ],
        queries=[query("q1", "端口")],
        labels=[("q1", "d1", 1)],
    )
    assert found(tmp_path) == [("warning", "duplicate-text", "corpus.jsonl", 2)]


def test_an_answer_that_was_superseded_needs_the_trap_slice(tmp_path: Path) -> None:
    write_set(
        tmp_path,
        documents=[document("d1", "a", status="superseded"), document("d2", "b")],
        queries=[query("q1", "one"), query("q2", "two", slice=["superseded"])],
        labels=[("q1", "d2", 1), ("q1", "d1", 1), ("q2", "d1", 1), ("q2", "d2", 0)],
    )
    assert found(tmp_path) == [("error", "superseded-label", "test.tsv", 3)]


def test_what_two_splits_have_in_common_is_found(tmp_path: Path) -> None:
    documents = [
        document("d1", "Backups run at two", scope="x"),
        document("d2", "backups run at two.", scope="y"),
        document("d3", "The user likes short answers", scope="x", layer="global"),
        document("d4", "The user likes short answers", scope="y", layer="global"),
    ]
    queries = [
        query("q1", "when do backups run", scope="x"),
        query("q2", "When do backups run?", scope="y"),
        query("q3", "hello", scope="x", answerable=False, split="dev"),
        query("q4", "hello", scope="y", answerable=False, split="test"),
        query("q5", "short answers", scope="x"),
    ]
    write_set(
        tmp_path,
        documents=documents,
        queries=queries,
        labels=[("q1", "d1", 1), ("q5", "d3", 1)],
        split="dev",
    )
    write_set(tmp_path, documents=documents, queries=queries, labels=[("q2", "d2", 1)])
    assert found(tmp_path) == [
        ("error", "split-leak", "queries.jsonl", 2),
        ("error", "split-leak", "corpus.jsonl", 2),
    ]


def test_a_scope_belongs_to_one_split(tmp_path: Path) -> None:
    documents = [document("d1", "a", scope="x")]
    queries = [query("q1", "one", scope="x"), query("q2", "two", scope="x")]
    write_set(tmp_path, documents=documents, queries=queries, labels=[("q1", "d1", 1)], split="dev")
    write_set(tmp_path, documents=documents, queries=queries, labels=[("q2", "d1", 1)])
    (problem,) = check_dataset(tmp_path)
    assert (problem.kind, problem.severity) == ("split-leak", "error")
    assert "scope 'x' is searched in dev and test" in str(problem)


@pytest.mark.parametrize("name", NAMES)
def test_our_own_sets_have_no_errors_and_no_repeats(name: str) -> None:
    assert [str(problem) for problem in check_dataset(ROOT / "datasets" / name)] == []


TEXTS = st.lists(st.text("ab 字段端口 port", max_size=10), max_size=12)


@given(texts=TEXTS, threshold=st.sampled_from([0.3, 0.5, 0.9]))
def test_the_index_finds_what_comparing_all_with_all_finds(
    texts: list[str], threshold: float
) -> None:
    keyed = {str(place): text for place, text in enumerate(texts)}
    expected: list[tuple[str, float]] = []
    earlier: dict[str, frozenset[str]] = {}
    for key, text in keyed.items():
        if normalised(text) in {normalised(keyed[other]) for other in earlier}:
            expected.append((key, 1.0))
            continue
        words = frozenset(terms(text))
        shares = [len(words & other) / len(words | other) for other in earlier.values() if words]
        if shares and max(shares) >= threshold:
            expected.append((key, max(shares)))
        earlier[key] = words
    found = near_duplicates(keyed, threshold=threshold)
    assert [(pair.second, pair.similarity) for pair in found] == expected
