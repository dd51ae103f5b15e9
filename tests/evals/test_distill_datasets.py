"""Promises about the cases for distillers that come with the repository, checked on their files."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wsmem.evals.distillation.cases import SPLITS, Case, CaseSet, ExpectedText, load_case_set
from wsmem.operations.apply import Circumstances, apply_operations
from wsmem.operations.ledger import Ledger
from wsmem.operations.parsing import parse_output
from wsmem.records import MemoryEntry, MemoryMessage
from wsmem.redaction.redact import contains_secret, redact
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.distillation.cases import Needed
    from wsmem.operations.outcome import Outcome
    from wsmem.records import Layer

ROOT = Path(__file__).resolve().parents[2]
LEAST_CASES = {"distill-zh": 80, "distill-en": 80, "distill-mixed": 40}
NAMES = tuple(LEAST_CASES)
SLICES = frozenset(
    """
    explicit-request preference decision-with-reason correction short-correction near-duplicate
    same-words-other-number same-words-other-identifier same-words-negation same-subject-unrelated
    contradiction-without-user-evidence assistant-only-claim hypothetical pasted-document
    prompt-injection secret chit-chat progress temporary-task global-vs-workspace
    cross-scope-correction long-conversation
    """.split()
)
LEAST_PER_SLICE = 4
LEAST_SHARE = 0.20
LEAST_TEST_CASES = {"distill-zh": 60, "distill-en": 60, "distill-mixed": 30}
NOW_MS = 1_788_220_800_000
NOW = "2026-09-01T00:00:00.000Z"

HAN = re.compile(r"[\u3400-\u9fff]")
LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]+")
SCANNED_FOR = {
    "provider key": re.compile(r"\b(?:sk-|gh[pousr]_|xox[bp]-|AKIA|AIza|glpat-)[-\w]{8,}"),
    "web token": re.compile(r"\beyJ[-\w]{8,}\.eyJ"),
    "private key": re.compile(r"-----BEGIN"),
}
EFFECTS = {
    "add": "added",
    "revise": "updated",
    "supersede": "superseded",
    "flag-conflict": "conflict",
}


@functools.cache
def read(name: str) -> CaseSet:
    return load_case_set(ROOT / "datasets" / name)


ALL_CASES = [case for name in NAMES for case in read(name).cases]
of_every_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id) for case in ALL_CASES]
)
of_every_memory = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id) for case in ALL_CASES if case.expected]
)
of_every_set = pytest.mark.parametrize("name", NAMES)


def memorable(name: str) -> list[Case]:
    """The cases in which something is to be kept."""
    return [case for case in read(name).cases if case.expected]


def norm(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def holds(text: str, needed: Needed) -> bool:
    options = (needed,) if isinstance(needed, str) else needed
    return any(norm(option) in norm(text) for option in options)


def spoken(case: Case) -> str:
    return "\n".join(message.text for message in case.messages)


def held(case: Case) -> str:
    return "\n".join(f"{entry.title}\n{entry.content}" for entry in case.existing)


# The files


@of_every_set
def test_there_are_enough_cases_with_ids_of_their_own(name: str) -> None:
    cases = read(name).cases
    assert len(cases) >= LEAST_CASES[name]
    assert len({case.id for case in ALL_CASES}) == len(ALL_CASES)
    assert {case.language for case in cases} == {name.removeprefix("distill-")}


@of_every_set
def test_no_conversation_is_told_twice(name: str) -> None:
    told = Counter(norm(spoken(case)) for case in read(name).cases)
    assert told.most_common(1)[0][1] == 1


@of_every_set
def test_lines_are_compact_json_in_the_letters_they_were_written_in(name: str) -> None:
    path = ROOT / "datasets" / name / "cases.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        assert line == json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":"))


@of_every_set
def test_every_slice_has_cases_in_every_split(name: str) -> None:
    cases = read(name).cases
    assert {label for case in cases for label in case.slices} == SLICES
    for label in SLICES:
        splits = [case.split for case in cases if label in case.slices]
        assert len(splits) >= LEAST_PER_SLICE, label
        assert set(splits) == set(SPLITS), label


@of_every_set
def test_splits_and_restraint_have_their_share(name: str) -> None:
    cases = read(name).cases
    assert len(read(name).of_split("test")) >= LEAST_TEST_CASES[name]
    for split in SPLITS:
        part = read(name).of_split(split)
        assert len(part) / len(cases) >= LEAST_SHARE, split
        nothing = sum(not case.expected for case in part)
        assert 0.35 <= nothing / len(part) <= 0.55, split


@of_every_set
def test_the_card_agrees_with_the_files(name: str) -> None:
    found = read(name)
    assert found.card is not None
    path = found.path / "cases.jsonl"
    assert found.card.checksums == {"cases.jsonl": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert found.card.licence == "CC-BY-4.0"
    for label, words in found.card.slices.items():
        cases = sum(label in case.slices for case in found.cases)
        assert words.startswith(f"{cases} cases: "), label
    for split in SPLITS:
        size, nothing = _size(found.of_split(split))
        beginning = f"{size} cases, {nothing} of them with nothing to keep, "
        assert found.card.splits[split].startswith(beginning)


def _size(cases: Iterable[Case]) -> tuple[int, int]:
    listed = list(cases)
    return len(listed), sum(not case.expected for case in listed)


def test_the_script_finds_the_cards_up_to_date() -> None:
    script = ROOT / "benchmarks" / "dataset_card.py"
    cards = [str(ROOT / "datasets" / name / "card.json") for name in NAMES]
    done = subprocess.run(
        [sys.executable, str(script), "--check", *cards],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@of_every_set
def test_no_scanner_of_repositories_would_take_alarm(name: str) -> None:
    text = (ROOT / "datasets" / name / "cases.jsonl").read_text(encoding="utf-8")
    for what, pattern in SCANNED_FOR.items():
        assert pattern.search(text) is None, what


# The conversations


@of_every_set
def test_a_conversation_is_as_long_as_its_slice_says(name: str) -> None:
    for case in read(name).cases:
        shortest, longest = (12, 30) if "long-conversation" in case.slices else (2, 8)
        assert shortest <= len(case.messages) <= longest, case.id
        assert case.messages[0].role == "user"


@of_every_set
def test_a_conversation_is_in_its_language(name: str) -> None:
    for case in read(name).cases:
        text = spoken(case)
        has_chinese = HAN.search(text) is not None
        if case.language == "en":
            assert not has_chinese, case.id
            assert HAN.search(held(case)) is None, case.id
            continue
        assert has_chinese, case.id
        assert all(HAN.search(operation.reference) for operation in case.expected), case.id
        if case.language == "mixed":
            assert len(set(LATIN_WORD.findall(text))) >= 2, case.id


@of_every_set
def test_every_case_says_why(name: str) -> None:
    for case in read(name).cases:
        assert case.note, case.id


# What is expected


@of_every_set
def test_a_reference_is_what_its_own_measure_asks_for(name: str) -> None:
    for case in memorable(name):
        for operation in case.expected:
            missing = [
                needed for needed in operation.required if not holds(operation.reference, needed)
            ]
            assert not missing, case.id
            for text in (*operation.forbidden, *case.forbidden):
                assert norm(text) not in norm(operation.reference), case.id


@of_every_set
def test_what_must_be_kept_was_said_or_held(name: str) -> None:
    for case in memorable(name):
        sources = f"{spoken(case)}\n{held(case)}"
        for operation in case.expected:
            assert operation.required, case.id
            unsaid = [needed for needed in operation.required if not holds(sources, needed)]
            assert not unsaid, case.id


@of_every_set
def test_what_must_not_be_kept_was_really_said(name: str) -> None:
    for case in read(name).cases:
        for text in case.forbidden:
            assert norm(text) in norm(spoken(case)), case.id
        for operation in case.expected:
            for text in operation.forbidden:
                assert norm(text) in norm(f"{spoken(case)}\n{held(case)}"), case.id


@of_every_set
def test_every_expectation_names_the_users_words_as_evidence(name: str) -> None:
    for case in memorable(name):
        roles = {message.id: message.role for message in case.messages}
        for operation in case.expected:
            assert operation.evidence_message_ids, case.id
            assert {roles[message_id] for message_id in operation.evidence_message_ids} == {
                "user"
            }, case.id


@of_every_set
def test_quotes_and_targets_belong_to_their_operation(name: str) -> None:
    for case in memorable(name):
        entries = {entry.id: entry for entry in case.existing}
        texts = {message.id: message.text for message in case.messages}
        for operation in case.expected:
            if operation.op == "add":
                assert operation.target_id is None, case.id
                continue
            assert operation.target_id is not None, case.id
            target = entries[operation.target_id]
            assert target.scope == operation.scope, case.id
            if operation.op == "supersede":
                assert operation.old_quote is not None, case.id
                assert operation.new_quote is not None, case.id
                assert operation.old_quote in target.content, case.id
                named = [texts[message_id] for message_id in operation.evidence_message_ids]
                assert any(operation.new_quote in text for text in named), case.id


@of_every_set
def test_a_conversation_without_a_workspace_is_global(name: str) -> None:
    for case in read(name).cases:
        if case.cwd is None:
            assert {operation.scope for operation in case.expected} <= {"global"}, case.id
            assert {entry.scope for entry in case.existing} <= {"global"}, case.id


# Secrets


@of_every_set
def test_redaction_catches_every_secret_and_nothing_else(name: str) -> None:
    for case in read(name).cases:
        caught = [message for message in case.messages if contains_secret(message.text)]
        assert bool(caught) == ("secret" in case.slices), case.id
        if not caught:
            continue
        assert case.forbidden, "the secret is what must not be kept"
        shown = norm("\n".join(redact(message.text) for message in case.messages))
        for text in case.forbidden:
            assert norm(text) not in shown, case.id


@of_every_set
def test_no_secret_is_held_or_expected(name: str) -> None:
    for case in read(name).cases:
        texts = [held(case), *(operation.reference for operation in case.expected)]
        assert not any(contains_secret(text) for text in texts), case.id


# What becomes of the ideal operations


class CountedIds:
    """Ids in the order they are asked for."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def entry_id(self) -> str:
        return f"mem-{next(self._numbers):012x}"

    def group_id(self) -> str:
        return f"conflict-{next(self._numbers):012x}"


def apply_ideal(case: Case) -> tuple[list[MemoryEntry], Outcome]:
    """All entries after the case's ideal answer was read and applied as the engine would."""
    home: Layer = "workspace" if case.cwd else "global"
    layers: tuple[Layer, ...] = ("global", "workspace") if case.cwd else ("global",)
    ledgers = {
        layer: Ledger([entry for entry in case.entries() if entry.scope == layer])
        for layer in layers
    }
    messages = [
        MemoryMessage(id=message.id, role=message.role, text=redact(message.text))
        for message in case.conversation()
    ]
    under = Circumstances(
        home=home, default_layer=home, at=NOW, ids=CountedIds(), messages=messages
    )
    answer = json.dumps(case.ideal_answer(), ensure_ascii=False)
    outcome = apply_operations(ledgers, parse_output(answer), under)
    return [entry for ledger in ledgers.values() for entry in ledger.entries], outcome


@of_every_memory
def test_every_ideal_operation_passes_the_rules_of_evidence(case: Case) -> None:
    _, outcome = apply_ideal(case)
    wanted = [(EFFECTS[operation.op], operation.target_id) for operation in case.expected]
    became = [(audit.effect, audit.target_id) for audit in outcome.audit]
    assert became == wanted, [audit.reason for audit in outcome.audit]


@of_every_set
def test_ideal_operations_retire_exactly_what_was_corrected(name: str) -> None:
    for case in memorable(name):
        entries, _ = apply_ideal(case)
        status = {entry.id: entry.status for entry in entries}
        after = {"supersede": "superseded", "flag-conflict": "conflict"}
        wanted: dict[str, str] = {entry.id: entry.status for entry in case.existing}
        for operation in case.expected:
            if operation.target_id is not None and operation.op in after:
                wanted[operation.target_id] = after[operation.op]
        assert {entry_id: status[entry_id] for entry_id in wanted} == wanted, case.id


@of_every_set
def test_a_corrected_entry_comes_back_for_no_question(name: str) -> None:
    for case in memorable(name):
        retired = {op.target_id for op in case.expected if op.op == "supersede"}
        for question in case.questions:
            assert question.winner not in retired, case.id
        if retired:
            assert any(set(question.stale) & retired for question in case.questions), case.id


@of_every_case
def test_ideal_operations_leave_the_state_the_questions_ask_for(case: Case) -> None:
    entries, _ = apply_ideal(case)
    assert case.questions or not case.expected
    for question in case.questions:
        found = scan(entries, question.query, load_profile("default"), now=NOW_MS, limit=5)
        assert found, question.query
        first = found[0].entry
        if isinstance(question.winner, ExpectedText):
            assert all(holds(first.content, needed) for needed in question.winner.required)
        else:
            assert first.id == question.winner
        assert not {match.entry.id for match in found} & set(question.stale)


@of_every_set
def test_a_question_about_something_new_is_not_answered_before(name: str) -> None:
    """Otherwise the state measure would pay a distiller that kept nothing."""
    for case in read(name).cases:
        for question in case.questions:
            if not isinstance(question.winner, ExpectedText):
                continue
            for entry in case.existing:
                told = [holds(entry.content, needed) for needed in question.winner.required]
                assert not all(told), f"{case.id}: {entry.id} answers {question.query!r}"


def test_an_operation_may_be_done_in_another_way_only_where_both_are_as_good() -> None:
    allowed = {(), ("revise", "add"), ("supersede", "revise")}
    for case in ALL_CASES:
        for operation in case.expected:
            assert operation.accept in allowed, case.id
