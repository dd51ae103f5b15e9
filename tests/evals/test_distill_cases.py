"""Reading labelled conversations: what is accepted, what is refused and where, the public form."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from shared_data import SHARED

from wsmem.errors import DatasetError
from wsmem.evals.distillation.cases import ExpectedText, is_case_set, load_case_set

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.evals.distillation.cases import CaseSet

Row = dict[str, Any]


def entry(entry_id: str, content: str, scope: str = "workspace") -> Row:
    return {
        "id": entry_id,
        "scope": scope,
        "type": "fact",
        "title": "queue",
        "content": content,
        "tags": ["mq"],
        "importance": 2,
        "status": "active",
        "updatedAt": "2026-05-01T08:00:00Z",
    }


def correction() -> Row:
    """A whole case, as it stands in a file."""
    return {
        "_id": "one",
        "language": "en",
        "split": "dev",
        "slice": ["correction"],
        "cwd": "/repo/a",
        "messages": [
            {"id": "m1", "role": "user", "text": "I was wrong, the queue is Kafka"},
            {"id": "m2", "role": "assistant", "text": "The queue is Kafka, noted."},
        ],
        "existing": [entry("mem-a", "The queue is RabbitMQ"), entry("mem-b", "Cache is Redis")],
        "expected": [
            {
                "op": "supersede",
                "scope": "workspace",
                "type": "fact",
                "targetId": "mem-a",
                "required": [["kafka", "Apache Kafka"]],
                "forbidden": [],
                "oldQuote": "queue is RabbitMQ",
                "newQuote": "the queue is Kafka",
                "evidenceMessageIds": ["m1"],
                "reference": "The queue is Kafka.",
            }
        ],
        "forbidden": [],
        "questions": [
            {"query": "queue", "winner": {"required": ["kafka"]}, "stale": ["mem-a"]},
            {"query": "cache", "winner": "mem-b", "stale": []},
        ],
        "note": "said by the user",
    }


def write(folder: Path, *rows: Row | str) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def changed(path: str, value: Any) -> Row:
    """The case with one field, named by its path, set to something else."""
    row = correction()
    at: Any = row
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    at[last] = value
    return row


def fault(folder: Path) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        load_case_set(folder)
    return caught.value


# Reading


def test_a_case_is_read_as_the_engine_would_see_it(tmp_path: Path) -> None:
    (case,) = load_case_set(write(tmp_path, correction())).cases
    assert (case.id, case.language, case.split, case.slices) == (
        "one",
        "en",
        "dev",
        ("correction",),
    )
    first, second = case.conversation()
    assert (first.id, first.role, second.role) == ("m1", "user", "assistant")
    known = case.entries()[0]
    assert (known.id, known.scope, known.tags, known.importance) == (
        "mem-a",
        "workspace",
        ("mq",),
        2.0,
    )
    assert known.updated_at == "2026-05-01T08:00:00Z"
    (operation,) = case.expected
    assert operation.required == (("kafka", "Apache Kafka"),)
    assert operation.kinds == ("supersede",)
    assert operation.targets == ("mem-a",)
    new, old = case.questions
    assert new.winner == ExpectedText(required=("kafka",))
    assert new.stale == ("mem-a",)
    assert old.winner == "mem-b"


def test_the_ideal_answer_is_what_a_distiller_would_write(tmp_path: Path) -> None:
    (case,) = load_case_set(write(tmp_path, correction())).cases
    assert case.ideal_answer() == {
        "version": 1,
        "operations": [
            {
                "op": "supersede",
                "scope": "workspace",
                "targetId": "mem-a",
                "targetScope": "workspace",
                "oldQuote": "queue is RabbitMQ",
                "newQuote": "the queue is Kafka",
                "evidenceMessageIds": ["m1"],
                "type": "fact",
                "content": "The queue is Kafka.",
            }
        ],
    }


def test_every_kind_that_is_as_good_counts(tmp_path: Path) -> None:
    row = changed("expected.0.accept", ["supersede", "revise"])
    (case,) = load_case_set(write(tmp_path, row)).cases
    assert case.expected[0].kinds == ("supersede", "revise")


def test_a_case_may_have_neither_workspace_nor_questions_nor_note(tmp_path: Path) -> None:
    row = correction()
    for field in ("cwd", "questions", "note", "forbidden"):
        del row[field]
    (case,) = load_case_set(write(tmp_path, row)).cases
    assert (case.cwd, case.questions, case.note, case.forbidden) == (None, (), "", ())


def test_secrets_are_put_together_where_they_are_named(tmp_path: Path) -> None:
    row = changed("messages.1.text", "use {{TOKEN}} and {{OTHER}}")
    row |= {"secrets": {"TOKEN": ["gh", "p_", "abc"]}, "forbidden": ["{{TOKEN}}"]}
    (case,) = load_case_set(write(tmp_path, row)).cases
    assert case.messages[1].text == "use ghp_abc and {{OTHER}}", "an unknown name stays as it is"
    assert case.forbidden == ("ghp_abc",)


def test_splits_can_be_taken_apart(tmp_path: Path) -> None:
    found = load_case_set(
        write(tmp_path, correction(), correction() | {"_id": "2", "split": "test"})
    )
    assert [case.id for case in found.of_split("test")] == ["2"]
    assert [case.id for case in found.of_split(None)] == ["one", "2"]


def test_a_set_carries_its_name_checksum_and_card(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    found = load_case_set(write(folder, correction()))
    assert found.name == "mine"
    assert len(found.checksum) == 64
    assert found.card is None


def test_blank_lines_windows_line_ends_and_a_byte_order_mark_are_no_data(tmp_path: Path) -> None:
    line = json.dumps(correction())
    (tmp_path / "cases.jsonl").write_bytes(b"\xef\xbb\xbf" + line.encode() + b"\r\n\r\n\n")
    assert len(load_case_set(tmp_path).cases) == 1


def test_only_a_folder_of_cases_is_one(tmp_path: Path) -> None:
    assert not is_case_set(tmp_path)
    assert is_case_set(write(tmp_path, correction()))


# Refusing


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        pytest.param("language", "fr", "field language", id="unknown-language"),
        pytest.param("split", "valid", "field split", id="unknown-split"),
        pytest.param("slice", [], "field slice", id="no-slice"),
        pytest.param("messages", [], "field messages", id="no-messages"),
        pytest.param("messages.0.role", "system", "messages.0.role", id="unknown-role"),
        pytest.param("messages.0.text", "  ", "messages.0.text", id="blank-message"),
        pytest.param("existing.0.importance", 9, "existing.0.importance", id="importance"),
        pytest.param("existing.0.importance", "2", "existing.0.importance", id="number-as-text"),
        pytest.param("existing.0.status", "gone", "existing.0.status", id="unknown-status"),
        pytest.param("existing.1.id", "mem-a", "share an id", id="two-entries-one-id"),
        pytest.param("messages.1.id", "m1", "share an id", id="two-messages-one-id"),
        pytest.param("expected.0.op", "delete", "expected.0.op", id="unknown-operation"),
        pytest.param("expected.0.scope", "session", "expected.0.scope", id="session-scope"),
        pytest.param("expected.0.targetId", "mem-x", "unknown target", id="unknown-target"),
        pytest.param("expected.0.targetId", None, "an add has no target", id="no-target"),
        pytest.param("expected.0.oldQuote", "Kafka", "old quote", id="old-quote-elsewhere"),
        pytest.param("expected.0.newQuote", "is Pulsar", "new quote", id="new-quote-nowhere"),
        pytest.param("expected.0.newQuote", "Kafka, noted", "new quote", id="not-the-users"),
        pytest.param("expected.0.evidenceMessageIds", ["m9"], "unknown message", id="evidence"),
        pytest.param("expected.0.required", [["kafka"]], "required.0", id="one-alternative"),
        pytest.param("expected.0.accept", ["add"], "accept leaves it out", id="accept-without-op"),
        pytest.param("expected.0.colour", "red", "expected.0.colour", id="unknown-field"),
        pytest.param("questions.1.winner", "mem-x", "unknown 'mem-x'", id="unknown-winner"),
        pytest.param("questions.0.stale", ["mem-x"], "unknown 'mem-x'", id="unknown-stale"),
        pytest.param("questions.0.winner", {"required": []}, "winner", id="empty-winner"),
        pytest.param("secrets", ["a"], "wrong shape", id="secrets-as-list"),
        pytest.param("secrets", {"KEY": [1]}, "wrong shape", id="secret-of-numbers"),
    ],
)
def test_a_faulty_case_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, problem: str
) -> None:
    error = fault(write(tmp_path, changed("_id", "fine"), changed(path, value)))
    assert error.line == 2
    assert error.path.endswith("cases.jsonl")
    assert problem in error.problem
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param("{", "not JSON", id="cut"),
        pytest.param("[1]", "not a JSON object", id="list"),
        pytest.param('{"_id": "x"}', "field language is missing", id="fields-missing"),
    ],
)
def test_a_line_that_is_no_case_is_refused(tmp_path: Path, line: str, problem: str) -> None:
    error = fault(write(tmp_path, correction(), "", line))
    assert error.line == 3
    assert problem in error.problem


def test_letters_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_bytes(b'{"_id": "\xff"}\n')
    assert fault(tmp_path).line == 1


def test_two_cases_cannot_share_an_id(tmp_path: Path) -> None:
    error = fault(write(tmp_path, correction(), correction()))
    assert (error.line, "used twice" in error.problem) == (2, True)


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    error = fault(tmp_path)
    assert (error.line, error.problem) == (None, "there is no such file")


def test_a_faulty_card_is_refused(tmp_path: Path) -> None:
    write(tmp_path, correction())
    (tmp_path / "card.json").write_text('{"name": "x"}', encoding="utf-8")
    assert fault(tmp_path).path.endswith("card.json")


# The public form


def public_row() -> Row:
    return {
        "_id": "user1/s1",
        "scope": "user1",
        "lang": "en",
        "date_end": "2029-01-15T16:15:20",
        "persona": "not used",
        "messages": [
            {"role": "user", "content": "I moved to Oslo", "date": "2029-01-15"},
            {"role": "assistant", "content": " ", "date": "2029-01-15"},
            {"role": "assistant", "content": "How is Oslo?", "date": "2029-01-15"},
        ],
        "existing": [
            {"id": "u/1", "text": "Lives in Rome", "date": "2028-03-01", "target": True},
            {"id": "u/2", "text": "Owns a flat in Rome", "target": False},
        ],
        "gold": [
            {"kind": "add", "text": "Likes snow", "type": "Persona"},
            {"kind": "update", "text": "Lives in Oslo", "supersedes": ["u/1", "u/2"]},
            {"kind": "update", "text": "Works in Oslo", "supersedes": []},
            {"kind": "conflict", "text": "Said both", "question": "?", "supersedes": ["u/2"]},
        ],
        "forbidden": [{"text": "Lives in Bergen", "instead_of": "Lives in Oslo"}],
    }


def test_a_public_case_is_read_in_our_terms(tmp_path: Path) -> None:
    (case,) = load_case_set(write(tmp_path, public_row())).cases
    assert (case.id, case.language, case.split, case.cwd) == (
        "user1/s1",
        "en",
        "test",
        "/imported/user1",
    )
    assert case.slices == ("add", "conflict", "update")
    assert [(m.id, m.role) for m in case.messages] == [("m1", "user"), ("m3", "assistant")]
    assert [entry.updated_at for entry in case.existing] == ["2028-03-01", "2029-01-15T16:15:20"]
    assert case.forbidden == ("Lives in Bergen",)
    added, updated, unfounded, conflict = case.expected
    assert (added.op, added.targets, added.reference) == ("add", (), "Likes snow")
    assert (updated.kinds, updated.targets) == (("supersede", "revise"), ("u/1", "u/2"))
    assert (unfounded.op, unfounded.targets) == ("add", ()), "it replaces nothing that is held"
    assert (conflict.kinds, conflict.targets) == (("flag-conflict",), ("u/2",))
    assert all(operation.required == () for operation in case.expected)


def test_a_public_case_without_gold_asks_for_nothing(tmp_path: Path) -> None:
    (case,) = load_case_set(write(tmp_path, public_row() | {"gold": []})).cases
    assert (case.expected, case.slices) == ((), ("nothing",))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"gold": [{"kind": "merge", "text": "a", "supersedes": ["u/1"]}]}, "'merge'",
                     id="unknown-kind"),
        pytest.param({"gold": [{"kind": "add"}]}, "'text'", id="no-text"),
        pytest.param({"messages": "hello"}, "wrong shape", id="messages-as-text"),
        pytest.param({"gold": [{"kind": "update", "text": "a", "supersedes": ["u/9"]}]},
                     "unknown target", id="unknown-target"),
    ],
)  # fmt: skip
def test_a_faulty_public_case_is_refused_with_its_line(
    tmp_path: Path, change: Row, problem: str
) -> None:
    error = fault(write(tmp_path, public_row() | change))
    assert error.line == 1
    assert problem in error.problem


def recorded(name: str) -> CaseSet:
    folder = SHARED / "data" / name
    if not is_case_set(folder):
        pytest.skip(f"{name} is not beside this checkout")
    return load_case_set(folder)


def test_the_public_sessions_are_read_whole() -> None:
    cases = recorded("distill-halumem").cases
    operations = [operation for case in cases for operation in case.expected]
    assert len(cases) == 116
    assert sum(len(case.messages) for case in cases) == 5074
    assert len(operations) == 798 + 272
    assert sum(len(case.forbidden) for case in cases) == 227
    assert sum(len(operation.targets) for operation in operations) == 336


def test_the_public_pairs_of_statements_are_read_whole() -> None:
    cases = recorded("distill-beam").cases
    kinds = [operation.op for case in cases for operation in case.expected]
    assert len(cases) == 74
    assert (kinds.count("supersede"), kinds.count("flag-conflict")) == (37, 37)
