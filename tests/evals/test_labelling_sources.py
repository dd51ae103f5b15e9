from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set
from labelling_kit import CLINIC, SHOP, TOKEN, all_pairs, files_under, key, shop_folder, write_store

from wsmem.errors import DatasetError, InputFileError, InvalidInputError, UnknownNameError
from wsmem.evals.checking import check_dataset
from wsmem.evals.labelling.candidates import query_file, typed, user_messages
from wsmem.evals.labelling.folder import PUBLISHED, open_folder
from wsmem.evals.labelling.pooling import Pooling
from wsmem.evals.labelling.relabelling import from_dataset
from wsmem.evals.labelling.sources import from_store
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from pathlib import Path

LEXICAL = Pooling(systems=("wsmem:default", "bm25"))


def test_a_store_is_left_exactly_as_it_is(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    before = files_under(tmp_path / "memory")
    from_store(tmp_path / "memory", tmp_path / "mine", pooling=LEXICAL)
    assert files_under(tmp_path / "memory") == before


def test_a_folder_that_is_no_store_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    with pytest.raises(DatasetError, match="give queries by --queries or --typed"):
        from_store(tmp_path / "memory", tmp_path / "mine", pooling=LEXICAL)
    with pytest.raises(DatasetError, match="there is no such folder"):
        from_store(tmp_path / "elsewhere", tmp_path / "mine", pooling=LEXICAL)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["memory"]


def test_a_workspace_holds_its_entries_and_copies_of_the_global_ones(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path)
    found = {document.id: document for document in folder.dataset.documents}
    shop = key(SHOP)
    assert list(found) == [
        f"{shop}/mem-a",
        f"{shop}/mem-b",
        f"{shop}/mem-c",
        f"{shop}/mem-e",
        f"{shop}/global/mem-g",
    ]
    assert {document.scope for document in found.values()} == {shop}
    assert found[f"{shop}/global/mem-g"].metadata["layer"] == "global"
    assert found[f"{shop}/mem-c"].metadata["status"] == "superseded"


def test_secrets_are_redacted_in_entries_and_queries(tmp_path: Path) -> None:
    shop_folder(tmp_path)
    assert TOKEN.encode() not in b"".join(
        content for content in files_under(tmp_path / "mine").values() if content
    )
    assert "[REDACTED]" in (tmp_path / "mine" / "queries.jsonl").read_text(encoding="utf-8")


def test_queries_are_what_the_user_said_once_and_asked(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    report = from_store(tmp_path / "memory", tmp_path / "mine", pooling=LEXICAL)
    folder = open_folder(tmp_path / "mine")
    assert [(query.text, query.kind) for query in folder.dataset.queries] == [
        ("which port does the database use", "pending"),
        ("is [REDACTED] still valid", "pending"),
        ("怎么部署？\n## 不是标题\n第二行", "checkpoint"),
    ]
    assert folder.dataset.queries[2].metadata["date"] == "2026-09-21T14:13:20Z"
    assert report.passed_over == {
        "said before": 1,
        "longer than 600 characters": 1,
        "what an entry came from": 1,
    }


def test_the_folder_is_private_and_kept_out_of_version_control(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert (folder.path / ".gitignore").read_text(encoding="utf-8") == "*\n"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.path.rglob("*.json*")}
    assert modes == {0o600}
    assert folder.dataset.card is not None
    assert folder.dataset.card.licence == "private: not for publication"


def test_a_new_folder_is_a_set_without_errors(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path)
    assert {item.kind for item in check_dataset(folder.path)} == {"unlabelled-query"}


def test_the_pool_is_the_union_in_an_order_that_a_seed_decides(tmp_path: Path) -> None:
    folder = shop_folder(tmp_path / "a")
    same = shop_folder(tmp_path / "b")
    assert all_pairs(folder) == all_pairs(same)
    other = shop_folder(tmp_path / "c", seed=1)
    assert {query: set(names) for query, names in other.pool.items()} == {
        query: set(names) for query, names in folder.pool.items()
    }
    text = (folder.path / "pool.jsonl").read_text(encoding="utf-8")
    assert "bm25" not in text
    assert "wsmem" not in text
    superseded = f"{key(SHOP)}/mem-c"
    assert all(superseded not in names for names in folder.pool.values())


def test_given_queries_go_to_the_scope_they_name(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    rows = [
        {"query": "how long are results kept", "scope": CLINIC},
        {"query": "部署", "scope": SHOP},
    ]
    file = tmp_path / "asked.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    from_store(
        tmp_path / "memory",
        tmp_path / "mine",
        further=query_file(file),
        messages=False,
        pooling=LEXICAL,
    )
    queries = open_folder(tmp_path / "mine").dataset.queries
    assert [query.scope for query in queries] == [key(CLINIC), key(SHOP)]


def test_queries_without_a_scope_need_a_single_workspace(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    asked = list(typed(["how do we deploy\n", "\n"]))
    with pytest.raises(InvalidInputError, match="which of 2 scopes"):
        from_store(tmp_path / "memory", tmp_path / "mine", further=asked, pooling=LEXICAL)
    report = from_store(
        tmp_path / "memory", tmp_path / "mine", scopes=[SHOP], further=asked, pooling=LEXICAL
    )
    assert report.origins == {"typed": 1, "pending": 2, "checkpoint": 2}


def test_an_unknown_scope_names_those_there_are(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    with pytest.raises(UnknownNameError, match=key(CLINIC)):
        from_store(tmp_path / "memory", tmp_path / "mine", scopes=["/nowhere"], pooling=LEXICAL)


def test_a_query_log_is_read_where_there_is_one(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    log = tmp_path / "memory" / ".wsmem" / "queries.jsonl"
    row = {"query": "results", "scope": key(CLINIC), "at": "2026-09-01T00:00:00Z"}
    log.write_text(json.dumps(row) + "\n", encoding="utf-8")
    report = from_store(tmp_path / "memory", tmp_path / "mine", scopes=[CLINIC], pooling=LEXICAL)
    assert report.origins == {"log": 1}
    log.write_text('{"query": 1}\n', encoding="utf-8")
    with pytest.raises(InputFileError, match=r"queries\.jsonl:1: 'query' and 'scope'"):
        from_store(tmp_path / "memory", tmp_path / "more", scopes=[CLINIC], pooling=LEXICAL)


def test_a_limit_takes_a_sample_that_a_seed_decides(tmp_path: Path) -> None:
    write_store(tmp_path / "memory")
    for name in ("a", "b"):
        from_store(tmp_path / "memory", tmp_path / name, limit=1, pooling=LEXICAL)
    assert (
        files_under(tmp_path / "a")["queries.jsonl"] == files_under(tmp_path / "b")["queries.jsonl"]
    )


HEADINGS = [
    pytest.param("## Conversation\n\n{}\n\n## Durable facts\n\n- add: x", id="plugin"),
    pytest.param("## 消息\n\n{}\n\n## 提议\n\n- **user**: no message", id="chinese"),
    pytest.param("## Messages\n\n{}\n\n## Proposed\n", id="english"),
]


@pytest.mark.parametrize("form", HEADINGS)
def test_messages_of_a_checkpoint_end_where_the_facts_begin(form: str) -> None:
    messages = "- **user**: one\n  more\n- **assistant**: two\n- **user**: three"
    assert user_messages(form.format(messages)) == ["one\n  more", "three"]


def test_a_labelled_set_is_pooled_with_its_labels_as_a_hidden_labeller(tmp_path: Path) -> None:
    source = load_dataset(write_set(tmp_path / "tiny"))
    from_dataset(source, tmp_path / "again", pooling=LEXICAL)
    folder = open_folder(tmp_path / "again")
    published = folder.ledger(PUBLISHED).grades
    assert {tuple(pair): grade for pair, grade in published.items()} == {
        ("q1", "d1"): 2,
        ("q2", "d2"): 1,
        ("q3", "d3"): 2,
        ("q3", "d4"): 1,
    }
    assert set(published) <= set(all_pairs(folder))
    assert folder.settings.unanswerable == ("q4",)
    assert {item.severity for item in check_dataset(folder.path)} == {"warning"}
    assert folder.dataset.labels == {}


def test_a_share_of_a_labelled_set_is_enough_for_agreement(tmp_path: Path) -> None:
    source = load_dataset(write_set(tmp_path / "tiny"))
    report = from_dataset(source, tmp_path / "again", share=0.5, pooling=LEXICAL)
    assert report.queries == 2
    with pytest.raises(InvalidInputError, match="at most 1"):
        from_dataset(source, tmp_path / "more", share=1.5)
