"""Carrying out cases: as the engine would, the same every time, whatever a distiller does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from distillation_cases import USER_SAID, a_case, answer, given, held, said
from engine_runs import recall, run

from wsmem.distill.failures import MissingRecordingError
from wsmem.distill.rules.distiller import RuleDistiller
from wsmem.engine.testing import FakeDistiller
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.execution import NOW_MS, carry_out, request_of
from wsmem.evals.distillation.judging import judge
from wsmem.operations.contract import DistillOutput
from wsmem.records import CheckpointInput
from wsmem.scopes import GLOBAL, workspace_scope
from wsmem.text.framing import frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime
    from wsmem.evals.distillation.cases import Case
    from wsmem.operations.contract import DistillRequest
    from wsmem.records import MemoryEntry
    from wsmem.scopes import Scope
    from wsmem.store.transaction import Transaction

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
TOKEN = "gh" + "p_Zx81kQ0pLm42vBn76TyUi90AsDfGhJkLqWe"  # in pieces, for scanners of repositories


def test_a_distiller_is_asked_what_the_engine_would_ask() -> None:
    fake = FakeDistiller()
    existing = [
        held("mem-000000000001", f"旧令牌是 {TOKEN}"),
        held("mem-000000000002", "测试库端口是 5432", status="superseded"),
    ]
    message = said(f"{frame('旧的记忆')} 令牌 {TOKEN} 已作废。")
    carry_out([a_case(messages=[message, said(frame("x"), "m2")], existing=existing)], fake)
    (asked,) = fake.requests
    assert TOKEN not in repr(asked)
    assert "旧的记忆" not in repr(asked.messages)
    assert [entry.id for entry in asked.existing] == ["mem-000000000001"]
    assert [spoken.id for spoken in asked.messages] == ["m1"]
    assert (asked.now, asked.cwd, asked.scope[:3]) == (NOW_MS, "/repo/app", "ws-")


@pytest.mark.parametrize(("language", "told"), [("zh", "zh"), ("mixed", "zh"), ("en", "en")])
def test_prompts_speak_the_language_of_the_case(language: str, told: str) -> None:
    assert request_of(a_case(language=language)).language == told


def test_a_conversation_outside_any_workspace_is_global() -> None:
    case = a_case(cwd=None)
    assert request_of(case).scope == "global"
    (trial,) = carry_out([case], FakeDistiller(answer(given("add", USER_SAID)))).done
    assert [entry.scope for entry in trial.after] == ["global"]


def test_nothing_but_the_proposals_changes_the_entries() -> None:
    case = a_case(existing=[held("mem-00000000000a", "x 值是 1"), held("mem-00000000000b", "y 值")])
    (trial,) = carry_out([case], FakeDistiller()).done
    assert trial.before == trial.after == case.entries()
    assert trial.audit == ()


def test_a_failing_case_is_a_result_and_the_next_one_goes_on() -> None:
    replies: tuple[Any, ...] = (
        RuntimeError("the model fell over"),
        "prose",
        DistillOutput(answer=answer(), incomplete="cut at the limit", details={"cost": 1}),
        answer(given("add", USER_SAID)),
    )
    cases = [a_case(f"c{number}") for number in range(len(replies))]
    trials = carry_out(cases, FakeDistiller(*replies)).done
    assert [trial.case.id for trial in trials] == ["c0", "c1", "c2", "c3"]
    assert [trial.failure for trial in trials] == [
        "RuntimeError: the model fell over",
        "the answer is unreadable (no complete JSON document of a known shape)",
        "the answer is unreadable (cut at the limit)",
        None,
    ]
    assert trials[2].details == {"cost": 1}
    assert [entry.content for entry in trials[3].after] == [USER_SAID]


def test_a_failure_never_repeats_a_credential() -> None:
    (trial,) = carry_out([a_case()], FakeDistiller(ValueError(f"bad key {TOKEN}"))).done
    assert TOKEN not in (trial.failure or "")


def test_a_case_without_a_recording_is_no_failure() -> None:
    async def replay(request: DistillRequest) -> DistillOutput:
        if "英文" in request.messages[0].text:
            return DistillOutput(answer=answer())
        raise MissingRecordingError("x.jsonl", "p@1", "m", ("k",))

    cases = [a_case("there"), a_case("missing", messages=[said("别的话")])]
    trials = carry_out(cases, replay)
    assert [trial.case.id for trial in trials.done] == ["there"]
    assert trials.unrecorded == ("missing",)


def test_equal_answers_give_equal_trials() -> None:
    cases = load_case_set(DATASETS / "distill-en").of_split("train")
    first, second = (carry_out(cases, RuleDistiller()) for _ in range(2))
    assert first == second


def test_cases_can_be_tried_inside_a_running_loop() -> None:
    """As a cell of a notebook is."""

    async def cell() -> int:
        return len(carry_out([a_case()], FakeDistiller()).done)

    assert asyncio.run(cell()) == 1


def test_progress_is_told_of_every_case() -> None:
    told: list[str] = []
    carry_out([a_case("a"), a_case("b")], FakeDistiller(), on_progress=told.append)
    assert told == ["a", "b"]


# The engine, for comparison


def told(entries: Iterable[MemoryEntry]) -> list[tuple[object, ...]]:
    """All that matters of entries: groups and links by whether they are there."""
    return sorted(
        (
            *(entry.scope, entry.status, entry.type, entry.title, entry.content, entry.tags),
            *(bool(entry.supersedes), bool(entry.superseded_by), bool(entry.conflict_group_id)),
            *(entry.created_at, entry.updated_at, entry.importance, len(entry.revisions)),
        )
        for entry in entries
    )


def through_the_engine(case: Case, root: Path) -> tuple[list[MemoryEntry], list[list[str]]]:
    """The entries after a real checkpoint in a real store, and what recall finds afterwards."""

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        own = workspace_scope(case.cwd)
        scopes = {"global": GLOBAL, "workspace": own}
        for layer, scope in scopes.items():
            entries = [entry for entry in case.entries() if entry.scope == layer]

            def fill(change: Transaction, at: Scope = scope, new: Any = entries) -> None:
                change.set_entries(at, new)

            if entries:
                engine.store.update([scope], fill)
        await engine.checkpoint(
            CheckpointInput(reason="task-end", cwd=case.cwd, messages=case.conversation())
        )
        after = [
            entry for scope in scopes.values() for entry in engine.store.read_scope(scope).entries
        ]
        firsts = []
        for question in case.questions:
            found = await recall(engine, question.query, case.cwd, max_bytes=100_000)
            firsts.append([match.content for match in found.matches[:5]])
        return after, firsts

    found: tuple[list[MemoryEntry], list[list[str]]] = run(
        root, steps, start_ms=NOW_MS, distiller=FakeDistiller(case.ideal_answer())
    )
    return found


IDEAL = [
    case
    for name in ("distill-zh", "distill-en", "distill-mixed")
    for case in load_case_set(DATASETS / name).of_split("train")
    if case.expected and case.cwd
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in IDEAL[::4]])
def test_entries_and_answers_are_those_of_the_engine(case: Case, tmp_path: Path) -> None:
    (trial,) = carry_out([case], FakeDistiller(case.ideal_answer())).done
    after, firsts = through_the_engine(case, tmp_path)
    assert told(trial.after) == told(after)
    contents = {entry.id: entry.content for entry in trial.after}
    mine = [[contents[entry] for entry in answer.first] for answer in judge(trial).answers]
    assert mine == firsts
