"""What the public plugin's runtime does above its engine, replayed on our engine."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from engine_runs import A, run
from recorded_runs import context_as_recorded, in_our_words
from shared_data import SHARED, golden

from wsmem.engine.reports import RememberInput
from wsmem.engine.testing import DistillerError, FakeDistiller
from wsmem.errors import ArchivedScopeError
from wsmem.records import CheckpointInput, MemoryMessage, RecallInput
from wsmem.scopes import InMemoryRegistry, SessionInfo, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime
    from wsmem.records import Reason

A_KEY = "ws-8d26a3233b5832695aac"

REFERENCE = {"profile": "reference"}


def case_of(file: str, name: str) -> dict[str, Any]:
    cases = golden(file)["cases"]
    found: dict[str, Any] = next(case for case in cases if case["name"] == name)
    return found


def said(number: int) -> MemoryMessage:
    return MemoryMessage(id=f"m{number}", role="user", text=f"第 {number} 条消息")


DIFFERENT_RECALLS = {
    "budget": "the budget covers the frame and the summary gives way to matches",
}
DIFFERENT_TIMERS = {
    "retry-backoff": "a success ends the back-off: the next failure waits one second again",
    "buffering-resets-backoff": "new messages do not put off a retry that waits",
}
DIFFERENT_RUNTIME = {
    "orphan-sync-every-30s": "only a workspace that was once registered can be unregistered",
}
"""Recorded behaviour we leave on purpose, and why."""


def check(name: str, ours: Any, theirs: Any, different: dict[str, str]) -> None:
    if name in different:
        assert ours != theirs, f"{name} is reproduced: take it off the list"
    else:
        assert ours == theirs


def names_in(file: str) -> list[str]:
    if not (SHARED / "golden" / file).is_file():
        return ["absent"]
    return [case["name"] for case in golden(file)["cases"]]


@pytest.mark.parametrize("name", names_in("store_recall.json"))
def test_recalls_over_a_store_the_plugin_wrote(name: str, tmp_path: Path) -> None:
    case = case_of("store_recall.json", name)
    given = case["input"]
    root = tmp_path / "store"
    shutil.copytree(SHARED / "golden" / "store", root)
    root.chmod(0o700)

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        return await engine.recall(
            RecallInput(
                query=given["query"],
                cwd=given["cwd"],
                limit=given.get("limit"),
                max_bytes=given.get("maxBytes"),
                surfaced_ids=tuple(given.get("surfacedMemoryIds", ())),
                deadline_ms=math.inf,
            )
        )

    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    ours = context_as_recorded(run(root, steps, start_ms=given["nowMs"], settings=REFERENCE))
    theirs = case["expected"] | {"summary": in_our_words(case["expected"]["summary"])}
    theirs["matches"] = [
        {**match, "score": round(match["score"], 9)} for match in theirs["matches"]
    ]
    check(name, ours, theirs, DIFFERENT_RECALLS)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_lists_of_a_store_the_plugin_wrote(tmp_path: Path) -> None:
    recorded = golden("store_recall.json")["lists"]
    root = tmp_path / "store"
    shutil.copytree(SHARED / "golden" / "store", root)

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        return await engine.scopes(), await engine.scopes(archived=True)

    live, archived = run(root, steps)
    assert [{"key": item.key, "cwd": item.cwd} for item in live] == recorded["scopes"]
    assert [{"key": item.key, "cwd": item.cwd} for item in archived] == recorded["archived"]


def test_what_a_session_was_shown_ranks_lower_in_it(tmp_path: Path) -> None:
    case = case_of("runtime.json", "surfaced-per-session")

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        for content in case["input"]["remembered"]:
            await engine.remember(RememberInput(content=content, cwd=A))
        found = []
        for session, limit in (("s-1", 1), ("s-1", None), (None, None), ("s-2", None)):
            context = await engine.recall(
                RecallInput(
                    query=case["input"]["query"],
                    cwd=A,
                    session_id=session,
                    limit=limit,
                    deadline_ms=math.inf,
                )
            )
            found.append([{"id": item.id, "score": item.score} for item in context.matches])
        return found

    assert run(tmp_path, steps, settings=REFERENCE) == case["expected"]


def test_a_session_names_its_workspace_and_an_empty_directory_the_global_scope(
    tmp_path: Path,
) -> None:
    case = case_of("runtime.json", "scope-from-session")
    registry = InMemoryRegistry([SessionInfo(id="s-1", cwd=case["input"]["sessionCwd"])])

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        results = [
            await engine.remember(
                RememberInput(content=f"第 {n} 件完全不同的事", session_id=session, cwd=cwd)
            )
            for n, (session, cwd) in enumerate([("s-1", None), ("s-9", None), ("s-1", "")])
        ]
        return [
            {"scope": r.scope, "added": r.added, "updated": r.updated, "ignored": r.ignored}
            for r in results
        ]

    # The third is nearly the second, and so an entry of its own only because a number differs.
    assert run(tmp_path, steps, registry=registry) == list(case["expected"].values())


def test_an_archived_workspace_is_out_of_recall_and_takes_nothing(tmp_path: Path) -> None:
    case = case_of("runtime.json", "archived-directory")
    expected = case["expected"]
    for path, text in case["input"]["seedFiles"].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
        context = await engine.recall(
            RecallInput(query="fact about ports", cwd=A, deadline_ms=math.inf)
        )
        assert context.scope == expected["recall"]["scope"]
        assert [match.id for match in context.matches] == expected["recall"]["ids"]
        taken = await engine.checkpoint(
            CheckpointInput(reason="task-end", cwd=A, messages=[said(1)])
        )
        assert (taken.status, taken.scope) == ("empty", expected["checkpoint"]["scope"])
        assert "archived" in (taken.error or "")
        # The plugin answers "ignored" and "not deleted"; saying why costs nothing.
        with pytest.raises(ArchivedScopeError):
            await engine.remember(RememberInput(content="再记一件事情", cwd=A))
        with pytest.raises(ArchivedScopeError):
            await engine.forget("mem-a", cwd=A)

    run(tmp_path, steps)
    assert (tmp_path / "scopes").exists() == expected["scopesDirExists"]


@pytest.mark.parametrize("once_registered", [True, False])
def test_an_unregistered_workspace_is_archived_within_half_a_minute(
    tmp_path: Path, *, once_registered: bool
) -> None:
    case = case_of("runtime.json", "orphan-sync-every-30s")
    registry = InMemoryRegistry(workspaces=[Workspace(path=case["input"]["registry"][0])])

    def scopes() -> list[str]:
        return sorted(
            str(path.relative_to(tmp_path))
            for folder in ("scopes", "archived")
            for path in (tmp_path / folder).glob("ws-*")
        )

    async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> Any:
        for cwd in case["input"]["cwds"]:
            await engine.remember(RememberInput(content="这里记了一件事", cwd=cwd))
        if once_registered:
            registry.register(Workspace(path=A))
        await engine.start()
        registry.unregister(A)
        found = {"before": scopes()}
        await time.advance(29_999, idle=engine.idle)
        found["after29999ms"] = scopes()
        await time.advance(1, idle=engine.idle)
        found["after30000ms"] = scopes()
        return found

    ours = run(tmp_path, steps, registry=registry)
    different = {} if once_registered else DIFFERENT_RUNTIME
    check(case["name"], ours, case["expected"], different)


def test_a_registry_that_cannot_be_read_archives_nothing(tmp_path: Path) -> None:
    class Flaky(InMemoryRegistry):
        broken: str | None = None

        def workspaces(self) -> Any:
            if self.broken == "raises":
                raise OSError(self.broken)
            return None if self.broken == "unknown" else super().workspaces()

    registry = Flaky(workspaces=[Workspace(path=A)])

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
        await engine.remember(RememberInput(content="这里记了一件事", cwd=A))
        assert await engine.sync_registry() == ()
        for registry.broken in ("raises", "unknown"):
            assert await engine.sync_registry() == ()
        registry.broken = None
        registry.unregister(A)
        assert await engine.sync_registry() == (A_KEY,)
        assert await engine.restore(cwd=A) == "moved"
        assert len((await engine.show(cwd=A)).entries) == 1

    run(tmp_path, steps, registry=registry)


async def timer_after(engine: WorkspaceMemoryEngine, kind: str, number: int) -> list[int]:
    reason: Reason = "segment-end" if kind.startswith("segment-end") else "explicit"
    await engine.checkpoint(CheckpointInput(reason=reason, cwd=A, messages=[said(number)]))
    return list(engine.timers.delays().values())


@pytest.mark.parametrize("name", ["retry-backoff", "buffering-resets-backoff"])
def test_timers_after_failures(name: str, tmp_path: Path) -> None:
    case = case_of("timers.json", name)
    if name == "retry-backoff":
        kinds = ["fails"] * case["input"]["failures"] + ["succeeds", "fails"]
    else:
        kinds = case["input"]["calls"]
    failure = DistillerError("no route")
    nothing = {"version": 1, "operations": []}
    answers = [
        nothing if kind == "succeeds" else failure
        for kind in kinds
        if not kind.startswith("segment-end")
    ]

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        return [await timer_after(engine, kind, number) for number, kind in enumerate(kinds)]

    ours = run(tmp_path, steps, distiller=FakeDistiller(*answers))
    check(name, ours, case["expected"]["liveTimerMsAfterEachCall"], DIFFERENT_TIMERS)


@pytest.mark.parametrize("name", [n for n in names_in("timers.json") if "startup" in n])
def test_timers_at_the_start(name: str, tmp_path: Path) -> None:
    case = case_of("timers.json", name)
    given = {"bufferedMsAgo": 1_000, "pending": 1, "idleCheckpointMs": 300_000} | case["input"]
    now = 1_788_220_800_000
    stamp = 0 if given["bufferedMsAgo"] is None else now - given["bufferedMsAgo"]
    folders = ["scopes/" + A_KEY]
    if name.endswith("global-yes-archived-no"):
        folders = ["global", "archived/" + A_KEY]
    for folder in folders:
        seed_pending(tmp_path / folder, stamp, given["pending"])

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        await engine.start()
        return sorted(engine.timers.delays().values())

    assert run(tmp_path, steps, start_ms=now) == case["expected"]["timersMs"]


def seed_pending(folder: Path, stamp: int, pending: int) -> None:
    folder.mkdir(parents=True)
    key = folder.name
    descriptor = {"key": key, "cwd": "" if key == "global" else A}
    state = {
        "version": 0,
        "checkpointCount": 0,
        "lastCheckpointAt": 0,
        "lastBufferedAt": stamp,
        "pendingMessages": [
            {"id": f"m{n}", "role": "user", "text": f"消息 {n}"} for n in range(pending)
        ],
        "seenMessageIds": [],
    }
    (folder / "scope.json").write_text(json.dumps(descriptor), encoding="utf-8")
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")


READ_BY_US = frozenset({"bare-array-two", "bare-array-one", "bare-array-empty", "think-then-json"})
"""Answers the plugin cannot read; why we do is beside the parser's test."""


@pytest.mark.parametrize("name", names_in("model_output.json"))
def test_what_becomes_of_a_models_answer(name: str, tmp_path: Path) -> None:
    case = case_of("model_output.json", name)
    given, expected = case["input"], case["expected"]
    failure = given.get("modelFailure", {})
    answer: Any = given.get("modelText")
    if failure:
        answer = DistillerError(failure.get("throws") or failure.get("finishError"))
    distiller = None if given.get("noDefaultModel") else FakeDistiller(answer)

    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        result = await engine.checkpoint(
            CheckpointInput(reason="task-end", cwd=A, messages=[said(1)])
        )
        view = await engine.show(cwd=A)
        status = await engine.status(cwd=A)
        return result, view, status, list(engine.timers.delays().values())

    result, view, status, timers = run(tmp_path, steps, distiller=distiller)
    if name in READ_BY_US:
        assert expected["status"] == "failed"
        assert (result.status, result.pending, timers) == ("committed", 0, [])
        return
    assert result.status == expected["status"]
    assert result.pending == status.pending == expected["pending"]
    assert timers == expected["retryTimersMs"]
    assert bool(status.last_error) == expected["failed"]
    assert result.error == status.last_error
    if expected.get("error"):
        assert expected["error"] in (result.error or "")
    if not expected["failed"]:
        assert result.added == expected["added"]
        assert [entry.content for entry in view.entries] == expected["contents"]
