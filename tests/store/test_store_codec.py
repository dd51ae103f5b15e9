"""The shared file formats: written byte for byte, read leniently."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import SHARED, golden

from wsmem.records import MemoryEntry, MemoryMessage, MemoryState, Provenance, Revision
from wsmem.store.codec import (
    complete_entry,
    entry_text,
    entry_to_stored,
    join_entries,
    read_entries,
)
from wsmem.store.jsontext import json_bytes, replace_surrogates
from wsmem.store.scope_codec import read_extra, read_state, write_state


def as_file(records: list[Any]) -> bytes:
    return (json.dumps(records, indent=2, ensure_ascii=False) + "\n").encode()


def rewritten(data: bytes, layer: str = "workspace") -> bytes:
    entries, _ = read_entries(data, layer=layer)
    return join_entries([entry_text(entry_to_stored(entry)) for entry in entries])


FULL = {
    "id": "mem-1",
    "scope": "workspace",
    "type": "fact",
    "title": "端口",
    "description": "d",
    "retrievalTerms": [],
    "content": "端口是 8080。",
    "tags": ["net"],
    "importance": 1,
    "status": "active",
    "createdAt": "2026-08-01T00:00:00.000Z",
    "updatedAt": "2026-08-01T00:00:00.000Z",
}


# Writing


def test_every_file_of_the_recorded_store_is_rewritten_byte_for_byte() -> None:
    files = sorted((SHARED / "golden" / "store").glob("*/**/memory_entries.json"))
    if not files:
        pytest.skip("no recorded store beside this checkout")
    for file in files:
        layer = "global" if file.parent.name == "global" else "workspace"
        assert rewritten(file.read_bytes(), layer) == file.read_bytes()


def test_every_state_of_the_recorded_store_is_rewritten_byte_for_byte() -> None:
    files = sorted((SHARED / "golden" / "store").glob("*/*/state.json"))
    if not files:
        pytest.skip("no recorded store beside this checkout")
    for file in files:
        state, problems = read_state(file.read_bytes())
        assert not problems
        assert write_state(state) == file.read_bytes()


def test_a_new_entry_has_its_fields_in_the_usual_order() -> None:
    entry = MemoryEntry(
        id="mem-2",
        content="c",
        title="t",
        description="d",
        importance=3.0,
        supersedes=("mem-1",),
        provenance=Provenance(message_ids=("u1",), reason="explicit-user-correction"),
        created_at="2026-09-01T00:00:00.000Z",
        updated_at="2026-09-01T00:00:00.000Z",
    )
    assert list(entry_to_stored(entry)) == [
        *("id", "scope", "type", "title", "description", "retrievalTerms", "content", "tags"),
        *("importance", "status", "supersedes", "provenance", "createdAt", "updatedAt"),
    ]
    assert entry_to_stored(entry)["importance"] == 3


def recorded_new_entries() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for case in golden("engine.json")["cases"]:
        seeded = "".join((case["input"].get("seedFiles") or {}).values())
        for path, text in case["expected"]["files"].items():
            if path.endswith("memory_entries.json") and text.startswith("["):
                found += [
                    (case["name"], record)
                    for record in json.loads(text)
                    if isinstance(record, dict) and f'"{record["id"]}"' not in seeded
                ]
    return found


def test_entries_the_other_program_made_come_out_the_same_when_made_here() -> None:
    records = recorded_new_entries()
    assert len(records) > 100
    for name, record in records:
        entry = MemoryEntry.from_stored(record).with_changes(stored={})
        made = entry_to_stored(entry)
        assert made == record, name
        if not {"supersededBy", "revisions"} & record.keys():  # these came later, on an update
            assert list(made) == list(record), name


def test_a_changed_field_keeps_its_place_and_an_added_one_goes_last() -> None:
    record = {"extra": {"b": 1, "a": [None]}, **FULL, "later": "x"}
    (entry,), _ = read_entries(as_file([record]), layer="workspace")
    changed = entry.with_changes(status="superseded", superseded_by=("mem-9",))
    stored = entry_to_stored(changed)
    assert list(stored) == [*record, "supersededBy"]
    assert stored == {**record, "status": "superseded", "supersededBy": ["mem-9"]}


def test_a_field_that_became_empty_leaves_the_record() -> None:
    record = {**FULL, "status": "conflict", "conflictGroupId": "g", "supersedes": ["a"]}
    entry = MemoryEntry.from_stored(record)
    stored = entry_to_stored(
        entry.with_changes(status="active", conflict_group_id=None, supersedes=())
    )
    assert stored == FULL


def test_revisions_that_were_there_keep_fields_wsmem_does_not_know() -> None:
    old = {"content": "c", "title": "t", "description": "d", "at": "x", "by": "someone"}
    entry = MemoryEntry.from_stored({**FULL, "revisions": [old]})
    new = Revision(content="c2", title="t2", description="d2", at="y")
    stored = entry_to_stored(entry.with_changes(revisions=(*entry.revisions, new)))
    assert stored["revisions"] == [
        old,
        {"content": "c2", "title": "t2", "description": "d2", "at": "y"},
    ]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("\ud800", b'"\\ud800"', id="lone-high-surrogate"),
        pytest.param("x\udfff", b'"x\\udfff"', id="lone-low-surrogate"),
        pytest.param("\ud83d\ude00", '"😀"'.encode(), id="pair-of-halves-is-the-character"),
        pytest.param("中文\u2028\x7f", '"中文\u2028\x7f"'.encode(), id="non-ascii-kept"),
        pytest.param('\x01\b\t"\\', b'"\\u0001\\b\\t\\"\\\\"', id="controls-escaped"),
        pytest.param([], b"[]", id="empty-list"),
        pytest.param({"a": {}}, b'{\n  "a": {}\n}', id="empty-object"),
        pytest.param(float("nan"), b"null", id="nan-is-null"),
        pytest.param([1, 1.5, True, None], b"[\n  1,\n  1.5,\n  true,\n  null\n]", id="scalars"),
    ],
)
def test_json_text_is_what_the_other_program_writes(value: object, written: bytes) -> None:
    assert json_bytes(value) == written + b"\n"


def test_markdown_has_replacement_characters_for_halves_of_characters() -> None:
    assert replace_surrogates("a\ud800b\ud83d\ude00") == "a\ufffdb😀".encode()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_json_text_equals_the_standard_encoder(value: Any) -> None:
    expected = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert json_bytes(value) == expected.encode()


@given(
    st.lists(
        st.fixed_dictionaries(
            {"id": st.text(), "content": st.text()},
            optional={
                "unknown": json_values,
                "importance": json_values,
                "tags": st.lists(st.text()),
                "title": json_values,
                "supersedes": json_values,
                "revisions": json_values,
                "provenance": json_values,
                "updatedAt": json_values,
                "status": st.sampled_from(["active", "deleted", "odd", 3]),
            },
        ),
        max_size=4,
    )
)
def test_writing_twice_changes_nothing_the_second_time(records: list[dict[str, Any]]) -> None:
    once = rewritten(as_file(records))
    assert rewritten(once) == once
    assert len(json.loads(once)) == len(records)


# Reading


def test_old_entries_gain_their_defaults_as_recorded() -> None:
    case = next(c for c in golden("engine.json")["cases"] if c["name"] == "migrate/old-entries")
    path = next(iter(case["input"]["seedFiles"]))
    seeded = case["input"]["seedFiles"][path].encode()
    expected = json.loads(case["expected"]["files"][path])[:-1]  # the last was remembered later
    # One difference, on purpose: a field wsmem does not know inside a provenance stays.
    expected[3]["provenance"]["more"] = 1
    entries, problems = read_entries(seeded, layer="workspace")
    assert rewritten(seeded) == as_file(expected)
    assert [entry.id for entry in entries] == ["m1", "m2", "m3", "m4", "m7"]
    assert [str(problem) for problem in problems] == [
        "memory_entries.json: item 2: status 'archived' is unknown",
        "memory_entries.json: item 3: supersedes holds 1 item(s) that are not text",
        "memory_entries.json: item 4: 1 revision(s) are incomplete",
        "memory_entries.json: item 5 has no text id and content",
        "memory_entries.json: item 6 has no text id and content",
        "memory_entries.json: item 7 is null, not an object",
        "memory_entries.json: item 8 is a text, not an object",
        "memory_entries.json: item 9 has no text id and content",
        "memory_entries.json: 2 entries lack fields, which have their defaults",
    ]


@pytest.mark.parametrize("layer", ["global", "workspace", "session"])
def test_an_entry_without_a_scope_belongs_to_the_file_it_stands_in(layer: str) -> None:
    (entry,), _ = read_entries(b'[{"id": "a", "content": "b"}]', layer=layer)
    assert entry.scope == layer


def test_default_title_and_description_count_utf16_units() -> None:
    content = "😀" * 300
    record, _ = complete_entry({"id": "a", "content": content}, layer="workspace")
    assert record is not None
    assert record["title"] == "😀" * 40
    assert record["description"] == "😀" * 120


def test_a_complete_record_is_returned_as_the_same_object() -> None:
    assert complete_entry(FULL, layer="workspace")[0] is FULL


@pytest.mark.parametrize("key", ["memories", "entries"])
def test_the_old_shape_reads_as_entries_and_says_so(key: str) -> None:
    data = json.dumps({key: [FULL]}).encode()
    entries, problems = read_entries(data, layer="workspace")
    assert [entry.id for entry in entries] == ["mem-1"]
    assert [(p.kind, p.loses) for p in problems] == [("old-shape", True)]


def test_a_newer_format_is_neither_read_nor_taken_for_empty() -> None:
    entries, problems = read_entries(b'{"format": 2, "memories": []}', layer="workspace")
    assert entries == ()
    assert [problem.kind for problem in problems] == ["newer"]


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        pytest.param('{"id": "b", "content": }', "acde", id="syntax-error-in-one-item"),
        pytest.param('{"id": "b", "content": NaN}', "acde", id="not-a-json-number"),
        pytest.param('{"id": "b"', "acde", id="never-closed"),
        pytest.param('{"id": "b", "content": "x"}}', "abcde", id="one-brace-too-many"),
        pytest.param('{"id": "b", "content": "\xff"}', "acde", id="not-utf8"),
        pytest.param("[" * 100_000, "acde", id="nested-too-deeply"),
    ],
)
def test_one_broken_item_among_five_costs_only_itself(broken: str, found: str) -> None:
    items = [f'{{"id": "{name}", "content": "fact {name}"}}' for name in "abcde"]
    items[1] = broken
    data = ("[\n  " + ",\n  ".join(items) + "\n]\n").encode("latin-1")
    entries, problems = read_entries(data, layer="workspace")
    assert "".join(entry.id for entry in entries) == found
    assert [problem.kind for problem in problems] == ["damaged", "old-shape"]
    assert f"{len(found)} complete entries" in problems[0].detail


def test_a_truncated_file_gives_the_entries_before_the_cut() -> None:
    data = as_file([{**FULL, "id": f"m{n}"} for n in range(5)])
    for cut in range(len(data)):
        entries, _ = read_entries(data[:cut], layer="workspace")
        whole = data[:cut].count(b"\n  }")
        assert [entry.id for entry in entries] == [f"m{n}" for n in range(whole)]


def test_a_hopeless_file_is_given_up_quickly() -> None:
    entries, problems = read_entries(b'{"a"' * 500_000, layer="workspace")
    assert entries == ()
    assert problems[0].kind == "damaged"


def test_a_byte_order_mark_is_not_damage() -> None:
    entries, problems = read_entries(b"\xef\xbb\xbf" + as_file([FULL]), layer="workspace")
    assert len(entries) == 1
    assert problems == ()


def test_a_repeated_id_is_reported_and_both_entries_stay() -> None:
    entries, problems = read_entries(as_file([FULL, FULL]), layer="workspace")
    assert len(entries) == 2
    assert [(p.kind, p.loses) for p in problems] == [("duplicate", False)]


def test_entries_that_did_not_change_are_the_same_objects_after_reading_again() -> None:
    first, _ = read_entries(as_file([FULL, {**FULL, "id": "b"}]), layer="workspace")
    known = {entry.id: entry for entry in first}
    data = as_file([{**FULL, "title": "new"}, {**FULL, "id": "b"}])
    second, _ = read_entries(data, layer="workspace", known=known)
    assert second[0] is not first[0]
    assert second[1] is first[1]


def test_an_odd_state_reads_as_recorded() -> None:
    case = next(c for c in golden("engine.json")["cases"] if c["name"] == "migrate/odd-state")
    path = next(iter(case["input"]["seedFiles"]))
    state, problems = read_state(case["input"]["seedFiles"][path].encode())
    assert write_state(state).decode() == case["expected"]["files"][path]
    assert [problem.detail for problem in problems] == [
        "version is a text",
        "pending message 2 is not a message",
        "pending message 3 is not a message",
        "seen id 2 is a number",
        "seen id 3 is null",
    ]


@pytest.mark.parametrize("data", [b"", b"[1,2", b"[]", b"\xff{}", b'{"version": 1}}'], ids=repr)
def test_a_damaged_state_is_reported_and_reads_as_none(data: bytes) -> None:
    state, problems = read_state(data)
    assert state == MemoryState()
    assert [problem.kind for problem in problems] == ["damaged"]


messages = st.builds(
    MemoryMessage, id=st.text(), role=st.sampled_from(["user", "assistant"]), text=st.text()
)


@given(
    st.builds(
        MemoryState,
        version=st.integers(0, 9),
        checkpoint_count=st.integers(0, 9),
        last_checkpoint_at=st.integers(0, 2**53),
        last_buffered_at=st.integers(0, 2**53),
        pending_messages=st.lists(messages, max_size=3).map(tuple),
        seen_message_ids=st.lists(st.text(), max_size=3).map(tuple),
    )
)
def test_a_state_reads_back_as_it_was_written(state: MemoryState) -> None:
    data = write_state(state)
    assert read_state(data) == (state, ())
    assert data == (json.dumps(json.loads(data), indent=2, ensure_ascii=False) + "\n").encode()


def test_an_unknown_format_of_wsmems_own_file_is_newer_than_any_known() -> None:
    for found in (b"2", b'"1"', b"null", b"true", b"1.5"):
        extra, problems = read_extra(b'{"format": ' + found + b', "x": 1}')
        assert extra == {"x": 1}
        assert [problem.kind for problem in problems] == ["newer"]
    assert read_extra(b'{"format": 1, "x": 1}') == ({"x": 1}, ())


@given(st.data())
def test_a_whole_record_reads_the_same_either_way(data: st.DataObject) -> None:
    texts = st.text(max_size=5)
    record = {
        **{
            name: data.draw(texts)
            for name in ("id", "content", "scope", "type", "title", "description")
        },
        "retrievalTerms": data.draw(st.lists(texts, max_size=2)),
        "tags": data.draw(st.lists(texts, max_size=2)),
        "importance": data.draw(st.one_of(st.integers(-1, 9), st.floats(), texts)),
        "status": data.draw(st.sampled_from(["active", "conflict", "deleted"])),
    }
    for name in ("createdAt", "updatedAt", "conflictGroupId"):
        record |= {name: data.draw(texts)} if data.draw(st.booleans()) else {}
    for name in ("supersedes", "supersededBy"):
        record |= {name: data.draw(st.lists(texts, max_size=2))} if data.draw(st.booleans()) else {}
    read, whole = MemoryEntry.from_stored(record), MemoryEntry.from_complete(record)
    assert repr(whole) == repr(read)  # NaN is not equal to itself, but reads the same
    assert whole.stored is record
