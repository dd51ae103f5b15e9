"""Promises about the labelled sets that come with the repository, checked on their files."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from own_sets import (
    HAN,
    NAMES,
    ROOT,
    OwnSet,
    body,
    content_words,
    data_files,
    label_files,
    norm,
    own,
    read_labels,
    shared_words,
    spoken_values,
)

from wsmem.evals.card import Card
from wsmem.evals.checking import check_dataset
from wsmem.records import MEMORY_TYPES

if TYPE_CHECKING:
    from pathlib import Path

SLICES_EVERYWHERE = frozenset(
    {"exact", "word", "identifier", "paraphrase", "tag", "typo", "long-question"}
    | {"conflict", "superseded", "hard-negative", "several", "partial", "none"}
)
SLICES_OF_CHINESE = frozenset({"bigram", "single-char", "full-width", "traditional"})
SLICES_OF_PARALLEL = frozenset(
    {"no-overlap", "misleading", "recency", "importance", "surfaced", "global", "decoy"}
    | {"description"}
)
SLICES_OF_MIXED = frozenset(
    {"everyday", "no-overlap", "cross-lingual", "variant", "trace", "shell", "commit", "voice"}
    | {"follow-up", "misleading", "recency", "importance", "surfaced", "global", "decoy"}
)
LEAST_QUERIES_PER_SLICE = {"workspace-zh": 10, "workspace-en": 10, "workspace-mixed": 6}
LEAST_SHARE_OF_NONE = 0.15

FULL_WIDTH = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u3000]")
IDENTIFIER = re.compile(
    r"""
    \w+_\w+                       # snake_case, KICK_IDLE
    | [a-z][A-Z]                  # camelCase
    | \w\.[a-zA-Z]\w              # file.ext, asr.final
    | \w/\w                       # a path
    | (?<!\w)--?[a-z]             # a flag
    | \d\.\d | [0-9]{4}           # a version, a port
    | [A-Za-z]+[- ]?[0-9]         # SF9, RX-9, Java 21
    | [a-z]+-[a-z]+               # sensevoice-small
    | \w+file\b                   # Caddyfile
    """,
    re.VERBOSE,
)
SECRETS = {
    "key": re.compile(r"\b(?:sk|pk|ghp|gho|xox[bp]|AKIA|AIza)(?=[-_A-Za-z]*\d)[-_A-Za-z0-9]{12,}"),
    "private key": re.compile(r"-----BEGIN"),
    "assignment": re.compile(r"(?i)(?:password|passwd|secret|token|密码|口令)\s*[:=：]\s*\S+"),
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+\.\w+"),
    "phone": re.compile(r"(?<!\d)1[3-9]\d{9}(?!\d)"),
    "long token": re.compile(r"\b(?=\w*\d)(?=\w*[a-zA-Z])[A-Za-z0-9]{24,}\b"),
}
HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|net|org|cn|io|dev|example|internal|local|ai)\b")
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")


@pytest.fixture(params=NAMES)
def labelled(request: pytest.FixtureRequest) -> OwnSet:
    return own(request.param)


# The files


def test_the_harness_finds_nothing_wrong(labelled: OwnSet) -> None:
    assert check_dataset(labelled.folder) == []


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl"])
def test_ids_are_unique_and_lines_compact(labelled: OwnSet, file: str) -> None:
    lines = (labelled.folder / file).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["_id"] for row in rows}) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert line == json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def test_every_label_joins_a_query_and_a_live_entry_of_its_workspace(labelled: OwnSet) -> None:
    lines = [line for file in label_files(labelled.folder) for line in read_labels(file)]
    assert len({(query, entry) for query, entry, _ in lines}) == len(lines)
    for query_id, entry_id, grade in lines:
        assert grade in {"0", "1", "2"}
        query, entry = labelled.queries[query_id], labelled.entries[entry_id]
        assert query["metadata"]["scope"] == entry["metadata"]["scope"]
        live = entry["metadata"]["status"] in {"active", "conflict"}
        assert live or grade == "0", "a stale fact answers nothing"


def test_a_workspace_is_in_one_split_only(labelled: OwnSet) -> None:
    homes: dict[str, set[str]] = {}
    for query in labelled.queries.values():
        homes.setdefault(query["metadata"]["scope"], set()).add(labelled.split_of(query))
    assert {scope: len(splits) for scope, splits in homes.items()} == dict.fromkeys(homes, 1)
    assert {split for splits in homes.values() for split in splits} == set(labelled.splits)


def test_the_sets_are_large_enough(labelled: OwnSet) -> None:
    assert len(labelled.entries) >= 300
    assert len(labelled.queries) >= 450
    assert len({entry["metadata"]["scope"] for entry in labelled.entries.values()}) >= 8


# The card


def test_the_card_counts_what_is_there(labelled: OwnSet) -> None:
    counts = Counter(name for row in labelled.queries.values() for name in row["metadata"]["slice"])
    said = {name: int(text.split()[0]) for name, text in labelled.card["slices"].items()}
    assert said == dict(counts)
    assert set(labelled.card["splits"]) == set(labelled.splits)
    for split, judged in labelled.splits.items():
        queries = [row for row in labelled.queries.values() if labelled.split_of(row) == split]
        none = sum("none" in query["metadata"]["slice"] for query in queries)
        grades = Counter(grade > 0 for labels in judged.values() for _, grade in labels)
        scopes = {query["metadata"]["scope"] for query in queries}
        entries = [row for row in labelled.entries.values() if row["metadata"]["scope"] in scopes]
        assert labelled.card["splits"][split].startswith(
            f"{len(queries)} queries, {none} of them without an answer, "
            f"{grades[True]} labels and {grades[False]} pairs judged not relevant, "
            f"{len(entries)} entries in {len(scopes)} workspaces: "
        )


def test_the_card_names_the_checksum_of_every_data_file(labelled: OwnSet) -> None:
    files = data_files(labelled.folder)
    assert labelled.card["checksums"] == {
        file: hashlib.sha256((labelled.folder / file).read_bytes()).hexdigest() for file in files
    }


def test_the_card_is_one_the_harness_reads(labelled: OwnSet) -> None:
    card = Card.model_validate(labelled.card)
    assert (card.name, card.licence) == (labelled.folder.name, "CC-BY-4.0")
    langs = {query["metadata"]["lang"] for query in labelled.queries.values()}
    assert set(card.language) == langs


def _refresh(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "benchmarks" / "dataset_card.py"
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_refreshing_the_cards_changes_nothing() -> None:
    cards = [str(own(name).folder / "card.json") for name in NAMES]
    done = _refresh("--check", *cards)
    assert (done.returncode, done.stdout.count("up to date"), done.stderr) == (0, 3, "")


def test_refreshing_a_card_mends_counts_and_keeps_prose(tmp_path: Path) -> None:
    source = own("workspace-en")
    folder = tmp_path / "workspace-en"
    (folder / "qrels").mkdir(parents=True)
    for file in data_files(source.folder):
        (folder / file).write_bytes((source.folder / file).read_bytes())
    stale = source.card | {"checksums": {}, "slices": dict(source.card["slices"])}
    stale["slices"]["exact"] = "99 queries: a phrase copied from an entry's title or text"
    card = folder / "card.json"
    card.write_text(json.dumps(stale), encoding="utf-8")
    assert _refresh("--check", str(card)).returncode == 1
    assert json.loads(card.read_text(encoding="utf-8")) == stale
    assert _refresh(str(card)).returncode == 0
    assert json.loads(card.read_text(encoding="utf-8")) == source.card


def test_a_slice_the_card_does_not_describe_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    entry = {"_id": "d", "title": "t", "text": "t", "metadata": {"scope": "s"}}
    meta = {"scope": "s", "lang": "en", "slice": ["new"]}
    (folder / "corpus.jsonl").write_text(json.dumps(entry), encoding="utf-8")
    query = json.dumps({"_id": "q", "text": "t", "metadata": meta})
    (folder / "queries.jsonl").write_text(query, encoding="utf-8")
    labels = "query-id\tcorpus-id\tscore\nq\td\t2\n"
    (folder / "qrels" / "test.tsv").write_text(labels, encoding="utf-8")
    card = own("workspace-en").card | {"name": "tiny"}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    done = _refresh(str(folder / "card.json"))
    assert done.returncode == 2
    assert "says nothing about new" in done.stderr


# Entries


def test_entries_have_the_fields_of_memory(labelled: OwnSet) -> None:
    for entry in labelled.entries.values():
        meta = entry["metadata"]
        assert entry["title"].strip()
        assert entry["text"].strip()
        assert meta["type"] in MEMORY_TYPES
        assert meta["importance"] in {0, 1, 2, 3}
        assert len(meta["tags"]) >= 1
        assert len(meta["retrievalTerms"]) >= 2
        created, updated = (
            datetime.strptime(meta[name], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            for name in ("createdAt", "updatedAt")
        )
        assert created.year == 2026
        assert created <= updated < datetime(2026, 11, 1, tzinfo=UTC)


def test_every_type_and_status_occurs(labelled: OwnSet) -> None:
    seen = [entry["metadata"] for entry in labelled.entries.values()]
    assert {meta["type"] for meta in seen} == set(MEMORY_TYPES)
    assert {meta["status"] for meta in seen} == {"active", "conflict", "superseded"}


def test_retrieval_terms_are_words_the_entry_does_not_use(labelled: OwnSet) -> None:
    for entry in labelled.entries.values():
        text, tags = body(entry), set(entry["metadata"]["tags"])
        for term in entry["metadata"]["retrievalTerms"]:
            wanted = norm(term)
            pattern = rf"\b{re.escape(wanted)}\b" if wanted.isascii() else re.escape(wanted)
            assert not re.search(pattern, text), (entry["_id"], term)
            assert term not in tags, (entry["_id"], term)


def test_a_superseded_entry_and_its_successor_name_each_other(labelled: OwnSet) -> None:
    chains = 0
    for entry in labelled.entries.values():
        meta = entry["metadata"]
        assert ("supersededBy" in meta) == (meta["status"] == "superseded")
        for newer in meta.get("supersededBy", ()):
            chains += 1
            assert labelled.entries[newer]["metadata"]["supersedes"] == [entry["_id"]]
            assert labelled.entries[newer]["metadata"]["createdAt"] > meta["createdAt"]
    assert chains >= 4


def test_rivals_of_a_conflict_are_always_labelled_together(labelled: OwnSet) -> None:
    groups: dict[str, set[str]] = {}
    for entry in labelled.entries.values():
        meta = entry["metadata"]
        assert ("conflictGroupId" in meta) == (meta["status"] == "conflict")
        if meta["status"] == "conflict":
            groups.setdefault(meta["conflictGroupId"], set()).add(entry["_id"])
    assert len(groups) >= 3
    for rivals in groups.values():
        assert len(rivals) >= 2
        for grades in labelled.grades.values():
            found = {grades.get(rival) for rival in rivals}
            assert len(found) == 1


# Queries and their slices


def test_every_slice_has_enough_queries(labelled: OwnSet) -> None:
    expected = set(SLICES_EVERYWHERE)
    name = labelled.folder.name
    expected |= SLICES_OF_MIXED if name == "workspace-mixed" else SLICES_OF_PARALLEL
    if name != "workspace-en":
        expected |= SLICES_OF_CHINESE
    counts = Counter(name for row in labelled.queries.values() for name in row["metadata"]["slice"])
    assert set(counts) == expected
    assert min(counts.values()) >= LEAST_QUERIES_PER_SLICE[name]


def test_queries_that_should_recall_nothing_are_marked_and_unlabelled(labelled: OwnSet) -> None:
    none = labelled.sliced("none")
    assert len(none) / len(labelled.queries) >= LEAST_SHARE_OF_NONE
    assert len({query["metadata"]["kind"] for query in none}) >= 7
    for query in labelled.queries.values():
        nothing = query in none
        assert query["metadata"].get("answerable", True) is not nothing
        assert (query["_id"] in labelled.grades) is not nothing
        assert bool(labelled.answers(query)) is not nothing, query["_id"]
        assert not nothing or query["metadata"]["slice"] == ["none"]


def test_no_question_is_asked_twice_in_a_workspace(labelled: OwnSet) -> None:
    asked = Counter(
        (query["metadata"]["scope"], re.sub(r"\W", "", norm(query["text"])) or query["text"])
        for query in labelled.queries.values()
    )
    assert [text for text, times in asked.items() if times > 1] == []


def test_exact_queries_are_substrings_of_an_answer(labelled: OwnSet) -> None:
    for query in labelled.sliced("exact"):
        assert any(norm(query["text"]) in body(entry) for entry in labelled.answers(query))


@pytest.mark.parametrize("name", ["word", "bigram", "single-char"])
def test_word_queries_occur_in_every_answer(labelled: OwnSet, name: str) -> None:
    for query in labelled.sliced(name):
        for entry in labelled.answers(query):
            missing = [word for word in norm(query["text"]).split() if word not in body(entry)]
            assert not missing, (query["_id"], entry["_id"])


def test_bigrams_and_single_characters_are_chinese_of_that_length(labelled: OwnSet) -> None:
    for name, length in (("bigram", 2), ("single-char", 1)):
        for query in labelled.sliced(name):
            assert len(HAN.findall(query["text"])) == len(query["text"]) == length


def test_identifier_queries_hold_an_identifier(labelled: OwnSet) -> None:
    for query in labelled.sliced("identifier"):
        assert IDENTIFIER.search(query["text"]), query["text"]


def test_paraphrases_share_retrieval_terms_and_nothing_else(labelled: OwnSet) -> None:
    for query in labelled.sliced("paraphrase"):
        for entry in labelled.answers(query):
            meta = entry["metadata"]
            said = "\n".join([entry["title"], entry["text"], *meta["tags"]])
            assert shared_words(query["text"], said) == set(), (query["_id"], entry["_id"])
            terms = "\n".join(meta["retrievalTerms"])
            assert shared_words(query["text"], terms), (query["_id"], entry["_id"])


def test_tag_queries_name_a_tag_and_miss_no_entry_that_has_it(labelled: OwnSet) -> None:
    for query in labelled.sliced("tag"):
        wanted = norm(query["text"]).replace(" ", ",")
        tags = {norm(query["text"]), *wanted.split(",")}
        tagged = {
            entry["_id"]
            for entry in labelled.neighbours(query)
            if tags & {norm(tag) for tag in entry["metadata"]["tags"]}
            and entry["metadata"]["status"] != "superseded"
        }
        assert tagged, query["text"]
        assert tagged == {entry["_id"] for entry in labelled.answers(query)}


def test_typos_are_typos(labelled: OwnSet) -> None:
    for query in labelled.sliced("typo"):
        known = " ".join(body(entry) for entry in labelled.neighbours(query))
        assert any(word not in known for word in content_words(query["text"])), query["text"]


def test_long_questions_are_long(labelled: OwnSet) -> None:
    for query in labelled.sliced("long-question"):
        text = query["text"]
        assert len(text.split()) >= 25 or len(HAN.findall(text)) >= 50


def test_superseded_queries_share_words_with_the_stale_entry(labelled: OwnSet) -> None:
    for query in labelled.sliced("superseded"):
        stale = [
            labelled.entries[old]
            for entry in labelled.answers(query)
            for old in entry["metadata"].get("supersedes", ())
        ]
        assert stale, query["_id"]
        said = " ".join(body(entry) + " ".join(entry["metadata"]["tags"]) for entry in stale)
        assert shared_words(query["text"], said)


def test_queries_for_several_entries_have_several(labelled: OwnSet) -> None:
    for query in labelled.sliced("several"):
        assert len(labelled.grades[query["_id"]]) >= 3


def test_conflict_queries_are_answered_by_rivals(labelled: OwnSet) -> None:
    for query in labelled.sliced("conflict"):
        statuses = [entry["metadata"]["status"] for entry in labelled.answers(query)]
        assert statuses.count("conflict") >= 2


# Languages


def test_full_width_forms_appear_only_where_they_are_tested(labelled: OwnSet) -> None:
    tested = {query["_id"] for query in labelled.sliced("full-width")}
    for query in labelled.queries.values():
        assert bool(FULL_WIDTH.search(query["text"])) == (query["_id"] in tested), query["_id"]
    for entry in labelled.entries.values():
        assert not FULL_WIDTH.search(json.dumps(entry, ensure_ascii=False)), entry["_id"]


def test_lang_says_what_the_characters_are(labelled: OwnSet) -> None:
    for query in labelled.queries.values():
        text, lang = unicodedata.normalize("NFKC", query["text"]), query["metadata"]["lang"]
        chinese, latin = bool(HAN.search(text)), bool(re.search(r"[A-Za-z]{2}", text))
        if chinese or latin:
            assert lang == ("mixed" if chinese and latin else "zh" if chinese else "en"), text


def test_the_english_set_holds_no_chinese() -> None:
    assert [text for text in spoken_values(own("workspace-en")) if HAN.search(text)] == []


def test_the_chinese_set_is_chinese() -> None:
    entries = own("workspace-zh").entries.values()
    for entry in entries:
        assert len(HAN.findall(entry["text"])) >= 6, entry["_id"]
    chinese = sum(len(HAN.findall(entry["text"])) for entry in entries)
    latin = sum(len(re.findall(r"[A-Za-z]", entry["text"])) for entry in entries)
    assert chinese > 2 * latin


def test_the_mixed_set_mixes_in_every_entry() -> None:
    for entry in own("workspace-mixed").entries.values():
        text = f"{entry['title']} {entry['text']}"
        assert HAN.search(text), entry["_id"]
        assert re.search(r"[A-Za-z]{2}", text), entry["_id"]


@pytest.mark.parametrize("kind", ["entries", "queries"])
def test_parallel_ids_match_in_both_directions(kind: str) -> None:
    chinese, english = (getattr(own(name), kind) for name in NAMES[:2])
    assert len(chinese) == len(english)
    for ours, theirs in ((chinese, english), (english, chinese)):
        for row in ours.values():
            other = theirs[row["metadata"]["parallel"]]
            assert other["metadata"]["parallel"] == row["_id"]
            assert other["metadata"]["scope"] == row["metadata"]["scope"]


def test_parallel_entries_are_the_same_memory() -> None:
    chinese, english = own("workspace-zh"), own("workspace-en")
    same = ("type", "importance", "status", "createdAt", "updatedAt", "conflictGroupId")
    for entry in chinese.entries.values():
        meta, other = entry["metadata"], english.entries[entry["metadata"]["parallel"]]["metadata"]
        assert [meta.get(name) for name in same] == [other.get(name) for name in same]


def test_parallel_queries_ask_the_same() -> None:
    chinese, english = own("workspace-zh"), own("workspace-en")
    for query in chinese.queries.values():
        other = english.queries[query["metadata"]["parallel"]]
        assert query["metadata"]["kind"] == other["metadata"]["kind"]
        assert chinese.split_of(query) == english.split_of(other)
        for field in ("surfaced", "decoys"):
            named = query["metadata"].get(field, [])
            translated = [chinese.entries[entry]["metadata"]["parallel"] for entry in named]
            assert other["metadata"].get(field, []) == translated


def test_parallel_queries_have_equal_grades() -> None:
    chinese, english = own("workspace-zh"), own("workspace-en")
    for query in chinese.queries.values():
        translated = {
            chinese.entries[entry]["metadata"]["parallel"]: grade
            for entry, grade in chinese.grades.get(query["_id"], {}).items()
        }
        assert english.grades.get(query["metadata"]["parallel"], {}) == translated


# Nothing that should not be public


@pytest.mark.parametrize("what", SECRETS)
def test_nothing_looks_like_a_secret(labelled: OwnSet, what: str) -> None:
    assert [text for text in spoken_values(labelled) if SECRETS[what].search(text)] == []


def test_hosts_and_addresses_are_reserved_for_examples(labelled: OwnSet) -> None:
    for text in spoken_values(labelled):
        for host in HOST.findall(text):
            assert re.search(r"(^|\.)example(\.|$)", host), host
        for address in ADDRESS.findall(text):
            assert address.startswith(("127.0.0.", "192.0.2.")), address
