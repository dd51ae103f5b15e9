"""Files that another program changed: only new records are parsed, the outcome is the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_kit import PROJECT, add, fact, quick

from wsmem.store.codec import entry_text, read_entries
from wsmem.store.fs import FileStamp
from wsmem.store.jsontext import json_bytes
from wsmem.store.parts import marks_of_file
from wsmem.store.snapshot import EMPTY_GENERATION, FileReading, ScopeSnapshot, assemble
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = f"scopes/{PROJECT.key}/memory_entries.json"


def record(name: str, content: str = "", **fields: Any) -> dict[str, Any]:
    """A record as the other program writes it."""
    texts = {"scope": "workspace", "type": "fact", "title": name, "description": ""}
    lists: dict[str, Any] = {"retrievalTerms": [], "content": content or name, "tags": ["t"]}
    return {"id": name, **texts, **lists, "importance": 1, "status": "active", **fields}


REVISION = {"content": "old", "title": "", "description": "", "at": "2026-01-01T00:00:00.000Z"}
REVISED = record("revised", revisions=[REVISION, {**REVISION, "content": "older"}])
NESTED_SEAM = '[\n  {\n    "id": "a", "content": "a", "more": [{\n  },\n  {}]\n  }\n]\n'
"""What looks like two records is one."""
HIDDEN_SEAM = (
    '[\n  {"id": "a", "content": "a", "tags": [], "x": [{\n  },\n  {}]}, {"id": "b",'
    ' "content": "b"\n  }\n]\n'
)
"""Two records, and what looks like two, but others."""


def as_file(records: object) -> bytes:
    return json_bytes(records)


class Reader:
    """Reads one version of a file after another, as a living process does."""

    def __init__(self) -> None:
        self.snapshot: ScopeSnapshot | None = None
        self._version = 0

    def read(self, data: bytes | None) -> ScopeSnapshot:
        self._version += 1
        stamp = None if data is None else FileStamp(self._version, len(data), self._version)
        generation = EMPTY_GENERATION._replace(entries=stamp)
        reading = FileReading(generation, (data, None, None, None, None))
        self.snapshot = assemble(PROJECT.key, reading, self.snapshot, marked=True)
        return self.snapshot


def kept(before: ScopeSnapshot, after: ScopeSnapshot) -> int:
    """How many entries are the same objects in both."""
    known = set(map(id, before.entries))
    return sum(id(entry) in known for entry in after.entries)


RECORDS = [record(f"m{number}", f"事实 {number}\u2028 {{ [") for number in range(100)]


@pytest.mark.parametrize(
    ("changed", "parsed"),
    [
        pytest.param([*RECORDS[:50], record("m50", "新"), *RECORDS[51:]], 1, id="one-changed"),
        pytest.param([record("new"), *RECORDS], 1, id="one-put-in-front"),
        pytest.param(RECORDS[:30] + RECORDS[31:], 0, id="one-removed"),
        pytest.param(RECORDS[::-1], 0, id="turned-round"),
        pytest.param([*RECORDS, record("new"), REVISED], 2, id="two-appended"),
    ],
)
def test_only_records_that_are_new_are_parsed(changed: list[dict[str, Any]], parsed: int) -> None:
    reader = Reader()
    before = reader.read(as_file(RECORDS))
    after = reader.read(as_file(changed))
    assert (before.entry_set.parsed, after.entry_set.parsed) == (100, parsed)
    assert kept(before, after) == len(changed) - parsed
    assert [entry.stored for entry in after.entries] == changed


def test_so_it_is_again_after_that_and_after_a_commit_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "memory" / ENTRIES
    path.parent.mkdir(parents=True)
    path.write_bytes(as_file(RECORDS))
    store, other = quick(tmp_path / "memory"), quick(tmp_path / "memory")
    assert store.read_scope(PROJECT).entry_set.parsed == 100
    for number in range(3):
        add(other, PROJECT, f"theirs-{number}")
        assert store.read_scope(PROJECT).entry_set.parsed == 1
        add(store, PROJECT, f"ours-{number}")
        assert store.read_scope(PROJECT).entry_set.parsed == 0  # in memory as it was written
    assert len(store.read_scope(PROJECT).entries) == 106


def test_a_process_for_one_question_does_not_prepare_for_a_second_reading(tmp_path: Path) -> None:
    add(quick(tmp_path), PROJECT, "a", "b")
    store = MemoryStore(tmp_path, lasting=False)
    store.read_scope(PROJECT)
    add(quick(tmp_path), PROJECT, "c")
    assert store.read_scope(PROJECT).entry_set.parsed == 3


def test_a_mark_is_eight_bytes_an_entry() -> None:
    marks = marks_of_file(as_file(RECORDS), 100)
    assert marks is not None
    assert (marks.itemsize, len(marks)) == (8, 100)


# The same outcome

DAMAGED = as_file(RECORDS[:3])[:-40]
ODD = st.sampled_from(
    (
        b"[]\n",
        b"",
        b"{}",
        DAMAGED,
        as_file(RECORDS[:2]).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + as_file(RECORDS[:2]),
        as_file(RECORDS[:2]).replace("事".encode(), b"\xff"),
        as_file(RECORDS[:3]).replace(b'"id": "m1"', b'"id": "m1", "id": "m1b"'),
        as_file(RECORDS[:3]).replace(b'"importance": 1', b'"importance": NaN', 1),
        as_file(RECORDS[:3]).replace(b'"importance": 1,\n', b'"importance": 1\n', 1),
        as_file([*RECORDS[:3], 7]),
        as_file({"memories": RECORDS[:2]}),
        NESTED_SEAM.encode(),
        HIDDEN_SEAM.encode(),
        json.dumps(RECORDS[:2]).encode(),
    )
)
NAMES = st.sampled_from("abcdef")
TEXTS = st.text(st.sampled_from('xy{}[],:"\\\n 中\u2028\ud83d\ude00'), max_size=6)
PARTS = st.one_of(
    st.builds(record, NAMES, TEXTS),
    st.builds(record, NAMES, TEXTS, importance=st.sampled_from([0, 1, 1.0, 2.5, None])),
    st.builds(record, NAMES, TEXTS, more=st.sampled_from([[{}, {}], [[{}]], {"b": {}}, None])),
    st.builds(record, NAMES, revisions=st.lists(st.just(REVISION), max_size=3)),
    st.builds(record, NAMES, provenance=st.just({"messageIds": ["m"], "reason": "r"})),
    st.fixed_dictionaries({"id": NAMES, "content": TEXTS}),
    st.sampled_from([7, None, {"id": 7}, []]),
)  # fmt: skip


@st.composite
def versions(draw: st.DrawFn) -> list[bytes]:
    """Versions of a file, each some edits away from the one before, odd ones among them."""
    records = draw(st.lists(PARTS, max_size=6))
    found = [as_file(records)]
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.integers(0, 4)) == 0:
            found.append(draw(ODD))
            continue
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(records)))
            records[at : at + draw(st.integers(0, 1))] = draw(st.lists(PARTS, max_size=2))
        found.append(as_file(draw(st.permutations(records)) if draw(st.booleans()) else records))
    return found


@given(versions())
def test_reading_what_changed_gives_what_reading_everything_gives(files: list[bytes]) -> None:
    reader = Reader()
    for data in files:
        again = reader.read(data)
        entries, problems = read_entries(data, layer="workspace")
        assert list(map(repr, again.entries)) == list(map(repr, entries))
        assert [dict(entry.stored) for entry in again.entries] == [e.stored for e in entries]
        assert again.problems == problems


@given(st.lists(PARTS.filter(lambda part: isinstance(part, dict)), min_size=1, max_size=8))
def test_every_list_of_records_in_the_usual_layout_has_marks(records: list[Any]) -> None:
    marks = marks_of_file(as_file(records), len(records))
    assert marks is not None
    assert len(marks) == len(records)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(NESTED_SEAM, 1, id="within-a-record"),
        pytest.param(NESTED_SEAM, 2, id="within-a-record-counted-with-it"),
        pytest.param(HIDDEN_SEAM, 2, id="made-up-for-by-records-without-a-seam"),
    ],
)
def test_a_seam_inside_a_record_separates_nothing(text: str, count: int) -> None:
    json.loads(text)
    assert marks_of_file(text.encode(), count) is None


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(DAMAGED, id="cut-short"),
        pytest.param(b"", id="emptied"),
        pytest.param(None, id="removed"),
    ],
)
def test_a_damaged_version_in_between_costs_a_whole_reading_and_nothing_else(
    between: bytes | None,
) -> None:
    reader = Reader()
    first = reader.read(as_file(RECORDS))
    damaged = reader.read(between)
    assert bool(damaged.problems) == (between is not None)
    last = reader.read(as_file([*RECORDS, record("new")]))
    assert last.problems == ()
    assert [entry.id for entry in last.entries] == [*(e.id for e in first.entries), "new"]


# Writing


def test_the_first_commit_encodes_only_what_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ENTRIES
    path.parent.mkdir(parents=True)
    path.write_bytes(as_file(RECORDS))
    encoded: list[str] = []

    def counted(stored: Any) -> bytes:
        encoded.append(stored["id"])
        return entry_text(stored)

    monkeypatch.setattr("wsmem.store.entry_set.entry_text", counted)
    monkeypatch.setattr("wsmem.store.changes.entry_text", counted)
    store = quick(tmp_path)
    store.read_scope(PROJECT)
    with store.transaction(PROJECT) as tx:
        entries = tx.snapshot(PROJECT).entries
        tx.set_entries(PROJECT, [*entries[:5], fact("new"), *entries[6:]])
    assert encoded == ["new"]
    expected = [*RECORDS[:5], dict(store.read_scope(PROJECT).entries[5].stored), *RECORDS[6:]]
    assert path.read_bytes() == as_file(expected)


@pytest.mark.parametrize(
    "order",
    [
        pytest.param([4, 3, 2, 1, 0], id="turned-round"),
        pytest.param([1, 2, 3, 4], id="one-removed"),
        pytest.param([None, 0, 1, 2, 3, 4], id="one-put-in-front"),
        pytest.param([0, 1, None, 4, 3], id="all-of-it"),
    ],
)
def test_entries_that_are_only_moved_are_not_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: list[int | None]
) -> None:
    store = quick(tmp_path)
    add(store, PROJECT, *"abcde")
    before = store.read_scope(PROJECT).entries
    encoded = []

    def counted(stored: Any) -> bytes:
        encoded.append(stored["id"])
        return entry_text(stored)

    monkeypatch.setattr("wsmem.store.changes.entry_text", counted)
    with store.transaction(PROJECT) as tx:
        tx.set_entries(PROJECT, [fact("new") if at is None else before[at] for at in order])
    after = store.read_scope(PROJECT)
    assert encoded == ["new"] * order.count(None)
    for entry, at in zip(after.entries, order, strict=True):
        assert at is None or entry is before[at]
    fresh = MemoryStore(tmp_path).read_scope(PROJECT)
    assert (after.entries, after.entry_set.texts) == (fresh.entries, fresh.entry_set.texts)


def test_a_file_in_another_layout_is_written_in_the_usual_one(tmp_path: Path) -> None:
    path = tmp_path / ENTRIES
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(RECORDS[:3], indent=4), encoding="utf-8")
    store = quick(tmp_path)
    add(store, PROJECT, "new")
    added = dict(store.read_scope(PROJECT).entries[-1].stored)
    assert path.read_bytes() == as_file([*RECORDS[:3], added])
