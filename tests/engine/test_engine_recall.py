"""Recall: what is returned, within which bounds, and that it never fails or is late."""

from __future__ import annotations

import asyncio
import json
import time as wall
from typing import TYPE_CHECKING, Any

import pytest
from engine_runs import A, B, adds, engine_at, hand_over, recall, run, said

from wsmem.engine.protocol import WorkspaceMemory
from wsmem.engine.recalling import LATE
from wsmem.engine.reports import RememberInput
from wsmem.engine.sync import SyncMemory
from wsmem.engine.testing import FakeDistiller, FakeMemory, ManualTime
from wsmem.errors import (
    AlreadyDeletedError,
    EngineClosedError,
    EntryNotFoundError,
    InvalidIdError,
    InvalidInputError,
    OtherWorkspaceError,
    RefusedMemoryError,
    SessionLookupError,
    ShortIdError,
)
from wsmem.records import CheckpointInput, RecallInput
from wsmem.redaction.redact import redact
from wsmem.scopes import InMemoryRegistry, SessionInfo
from wsmem.settings import Settings
from wsmem.text.framing import CLOSING, OPENING

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.engine.memory import WorkspaceMemoryEngine


async def keep(
    engine: WorkspaceMemoryEngine, *contents: str, cwd: str | None = A, **more: Any
) -> None:
    for content in contents:
        await engine.remember(RememberInput(content=content, cwd=cwd, **more))


class TestLayers:
    def test_a_workspace_sees_itself_the_user_and_its_own_conversation(
        self, tmp_path: Path
    ) -> None:
        registry = InMemoryRegistry(
            [
                SessionInfo(id="s1", cwd=A),
                SessionInfo(id="child", cwd=A, parent_id="s1", is_subagent=True),
                SessionInfo(id="s2", cwd=A),
            ]
        )

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 全局甲", layer="global")
            await keep(engine, "标记词 项目乙")
            await keep(engine, "标记词 会话丙", layer="session", session_id="s1")
            await keep(engine, "标记词 别处丁", cwd=B)

            async def seen(**where: Any) -> set[str]:
                context = await recall(engine, "标记词", **where)
                return {match.content[-2:] for match in context.matches}

            assert await seen(cwd=A) == {"局甲", "目乙"}
            assert await seen(cwd=None, session_id="s1") == {"局甲", "目乙", "话丙"}
            assert await seen(cwd=None, session_id="child") == {"局甲", "目乙", "话丙"}
            assert await seen(cwd=None, session_id="s2") == {"局甲", "目乙"}
            assert await seen(cwd=None) == await seen(cwd="") == {"局甲"}

        run(tmp_path, steps, registry=registry)

    def test_nothing_of_another_workspace_is_in_any_answer(self, tmp_path: Path) -> None:
        sentinel = "哨兵乙 zebra-7741"
        distiller = FakeDistiller(adds("甲项目的一件事"))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, sentinel, cwd=B)
            await keep(engine, "哨兵甲在此")
            context = await recall(engine, "哨兵 zebra-7741")
            await hand_over(engine, said("m1", "哨兵 zebra-7741 是什么"))
            shown = repr((context, await engine.show(cwd=A), await engine.status(cwd=A)))
            assert "zebra" not in shown
            assert all("zebra" not in repr(request.existing) for request in distiller.requests)

        run(tmp_path, steps, distiller=distiller)

    def test_the_session_layer_needs_a_session(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            with pytest.raises(InvalidInputError, match="session"):
                await keep(engine, "一条会话记忆", layer="session")

        run(tmp_path, steps)

    def test_a_conversation_with_its_own_layer_ranks_as_any_other(self, tmp_path: Path) -> None:
        registry = InMemoryRegistry([SessionInfo(id="s1", cwd=A)])

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, *(f"共同词 第{n}号 facts" for n in "甲乙丙丁"), layer="global")
            await keep(engine, *(f"共同词 第{n}号 things" for n in "戊己庚辛"))
            await keep(engine, "共同词 会话里的事", layer="session", session_id="s1")
            cold = await recall(engine, "共同词 facts", cwd=A)
            with_session = [await recall(engine, "共同词 facts", cwd=None, session_id="s1")]
            await engine.warm(cwd=A)
            assert await recall(engine, "共同词 facts", cwd=A) == cold
            again = await recall(engine, "共同词 facts", cwd=A, session_id="s1", surfaced_ids=())
            assert {match.id for match in again.matches} == {
                match.id for match in with_session[0].matches
            }

        run(tmp_path, steps, registry=registry, settings={"recall_limit": 50})


class TestBounds:
    @pytest.mark.parametrize("budget", [0, 1, 300, 10**12])
    def test_the_budget_covers_what_a_host_injects(self, budget: int, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "预算事实" + "很长" * 200)
            for number in "一二三":
                await keep(engine, f"预算事实{number}" + "字" * 15)
            await keep(engine, "🚀" * 10, retrieval_terms=("预算事实",))
            context = await recall(engine, "预算事实", max_bytes=budget)
            assert len(context.text.encode("utf-8", "strict")) <= budget
            assert context.text.count(OPENING) == context.text.count(CLOSING)
            shown = len(context.matches)
            assert shown == {0: 0, 1: 0, 300: 2}.get(budget, shown)
            if budget > 300:
                assert shown >= 4

        run(tmp_path, steps)

    def test_the_limit_is_kept_within_reason(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "共同词 甲甲甲", "共同词 乙乙乙", "共同词 丙丙丙")
            for limit, found in ((0, 1), (-3, 1), (2, 2), (10**9, 3)):
                assert len((await recall(engine, "共同词", limit=limit)).matches) == found

        run(tmp_path, steps)

    def test_the_same_question_gets_the_same_bytes(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, *(f"第{n}号事实 alpha beta" for n in "甲乙丙丁戊己庚"))
            first = await recall(engine, "alpha 事实")
            await engine.warm(cwd=A)
            assert await recall(engine, "alpha 事实") == first
            assert first.matches

        run(tmp_path, steps)


class TestNeverFailing:
    @pytest.mark.parametrize(
        "query", ["", "   ", "？！", "\ud800", "x" * 100_000, "<workspace_memory>"]
    )
    def test_any_query_is_answered(self, query: str, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "一条记忆")
            assert (await recall(engine, query)).degraded is None

        run(tmp_path, steps)

    def test_reading_creates_nothing(self, tmp_path: Path) -> None:
        root = tmp_path / "store"

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await engine.start()
            await recall(engine, "任何问题")
            await engine.warm(cwd=A)
            await engine.status(cwd=A)
            await engine.show(cwd=A)
            await engine.scopes()
            await hand_over(engine, reason="session-close", force=True)

        run(root, steps, distiller=FakeDistiller(), registry=InMemoryRegistry())
        assert not root.exists()

    @pytest.mark.parametrize(
        ("request_", "why"),
        [
            pytest.param(RecallInput(query="x", cwd="relative"), "relative", id="relative"),
            pytest.param(RecallInput(query="x", session_id="s1"), "registry", id="registry"),
        ],
    )
    def test_trouble_is_named_and_not_raised(
        self, request_: RecallInput, why: str, tmp_path: Path
    ) -> None:
        class Broken(InMemoryRegistry):
            def session(self, session_id: str) -> SessionInfo | None:
                raise OSError(session_id)

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            context = await engine.recall(request_)
            assert why in (context.degraded or "")
            assert context.text == ""

        run(tmp_path, steps, registry=Broken())

    def test_an_unreadable_layer_leaves_the_others(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 全局", layer="global")
            await keep(engine, "标记词 项目")
            entries = tmp_path / "global" / "memory_entries.json"
            entries.unlink()
            entries.mkdir()
            context = await recall(engine, "标记词")
            assert [match.content for match in context.matches] == ["标记词 项目"]
            assert context.degraded

        run(tmp_path, steps)

    def test_a_ring_of_successors_is_reported_and_retires_what_is_in_it(
        self, tmp_path: Path
    ) -> None:
        retired = {"status": "superseded", "title": "标记词", "createdAt": "", "updatedAt": ""}
        chain = [
            {
                "id": f"mem-{n}",
                "content": f"标记词 第 {n} 版",
                **retired,
                "supersededBy": [f"mem-{n + 1}"],
            }
            for n in range(50)
        ]
        entries = [
            {"id": "mem-a", "content": "标记词 甲说法", **retired, "supersededBy": ["mem-b"]},
            {"id": "mem-b", "content": "标记词 乙说法", **retired, "supersededBy": ["mem-a"]},
            {"id": "mem-c", "content": "标记词 丙说法", **retired, "supersededBy": ["mem-none"]},
            *chain,
            {"id": "mem-50", "content": "标记词 第 50 版", "status": "active"},
        ]
        folder = tmp_path / "global"
        folder.mkdir()
        (folder / "memory_entries.json").write_text(json.dumps(entries), encoding="utf-8")

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            started = wall.monotonic()
            context = await recall(engine, "标记词", cwd=None)
            assert wall.monotonic() - started < 1
            assert [match.id for match in context.matches] == ["mem-50"]
            assert "mem-a, mem-b" in (context.degraded or "")
            problems = " ".join((await engine.status(cwd="")).problems)
            assert all(entry_id in problems for entry_id in ("mem-a", "mem-b", "mem-c"))
            assert "mem-0" not in problems

        run(tmp_path, steps)

    def test_a_view_is_redacted_down_to_its_history(self, tmp_path: Path) -> None:
        secret = "token=ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
        texts = {"content": secret, "title": secret, "description": secret}
        entry = {"id": "mem-1", **texts, "tags": [secret], "retrievalTerms": [secret],
                 "revisions": [{**texts, "at": "2026-08-01T00:00:00.000Z"}]}  # fmt: skip
        folder = tmp_path / "global"
        folder.mkdir()
        (folder / "memory_entries.json").write_text(json.dumps([entry]), encoding="utf-8")
        (folder / "memory_summary.md").write_text(f"# 全局记忆\n\n- {secret}\n", encoding="utf-8")

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            shown = repr((await engine.show(cwd=""), await recall(engine, "token", cwd="")))
            assert "a1B2c3" not in shown

        run(tmp_path, steps)

    def test_what_cannot_be_redacted_is_not_shown(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(text: str) -> str:
            raise RuntimeError(text)

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 一条")
            monkeypatch.setattr("wsmem.engine.recalling.redact", broken)
            monkeypatch.setattr(engine._recaller, "_shown", broken)
            context = await recall(engine, "标记词")
            assert (context.text, context.degraded) == ("", "RuntimeError")

        run(tmp_path, steps)

    def test_a_text_is_redacted_once_however_often_it_is_recalled(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []

        def counting(text: str) -> str:
            asked.append(text)
            return redact(text)

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 一条")
            first = await recall(engine, "标记词")
            assert await recall(engine, "标记词") == first
            assert asked.count("标记词 一条") == 1

        monkeypatch.setattr("wsmem.engine.recalling.redact", counting)
        run(tmp_path, steps)

    def test_a_closed_engine_still_answers_recalls_with_nothing(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await engine.close()
            assert "closed" in ((await recall(engine, "x")).degraded or "")
            assert (await hand_over(engine, said("m1", "x"))).status == "failed"
            with pytest.raises(EngineClosedError):
                await engine.remember(RememberInput(content="一条记忆"))

        run(tmp_path, steps)


class TestDeadline:
    def test_an_answer_comes_in_time_with_what_there_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 一条", title="标题")
            ranked = engine._recaller._rank

            def rank_slowly(*arguments: Any) -> Any:
                wall.sleep(0.5)
                return ranked(*arguments)

            monkeypatch.setattr(engine._recaller, "_rank", rank_slowly)
            started = wall.monotonic()
            context = await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=100))
            assert wall.monotonic() - started < 0.3
            assert context.degraded == LATE
            assert "标题" in context.summary
            assert context.matches == ()

        run(tmp_path, steps)

    def test_where_time_is_short_the_newest_entries_are_ranked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("wsmem.engine.recalling.PREVIEW_FROM", 2)
        monkeypatch.setattr("wsmem.engine.recalling.PREVIEW_SIZE", 1)

        async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
            for content in ("标记词 第一条", "标记词 第二条", "标记词 第三条"):
                await keep(engine, content)
                time.ms += 1_000
            ranked = engine._recaller._rank

            def rank_slowly(*arguments: Any) -> Any:
                wall.sleep(0.1)
                return ranked(*arguments)

            monkeypatch.setattr(engine._recaller, "_rank", rank_slowly)
            started = wall.monotonic()
            context = await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=250))
            assert wall.monotonic() - started < 0.25
            assert context.degraded == LATE
            assert [match.content for match in context.matches] == ["标记词 第三条"]
            whole = await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=5_000))
            assert (whole.degraded, len(whole.matches)) == (None, 3)

        run(tmp_path, steps)

    def test_a_deadline_of_nothing_gives_nothing(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "标记词 一条")
            started = wall.monotonic()
            context = await engine.recall(RecallInput(query="标记词", cwd=A, deadline_ms=0))
            assert wall.monotonic() - started < 0.2
            assert context.degraded in {LATE, None}

        run(tmp_path, steps)

    def test_the_event_loop_goes_on_meanwhile(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, *(f"第{n}条 事实 {n * 7919}" for n in range(60)))
            gaps, asking = [], True

            async def tick() -> None:
                last = wall.monotonic()
                while asking:
                    await asyncio.sleep(0.001)
                    gaps.append(wall.monotonic() - last)
                    last = wall.monotonic()

            ticking = asyncio.create_task(tick())
            for _number in range(20):
                await recall(engine, "事实 7919")
            asking = False
            await ticking
            assert max(gaps) < 0.25

        run(tmp_path, steps)


class TestForget:
    def test_the_id_a_recall_shows_works_and_every_other_outcome_has_its_own_error(
        self, tmp_path: Path
    ) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "端口是 8080 号", "超时是 30 秒钟")
            await keep(engine, "别处的记忆", cwd=B)
            with pytest.raises(ShortIdError, match="shortened"):
                await engine.forget("mem-0000", cwd=B)
            await keep(engine, "用户的偏好", layer="global")
            text = (await recall(engine, "端口")).text
            entry_id = text.split("[")[1].split("]")[0]
            assert (await engine.forget(entry_id, cwd=A)).entry_id == entry_id
            assert "8080" not in (await recall(engine, "端口")).text
            with pytest.raises(AlreadyDeletedError, match="already"):
                await engine.forget(entry_id, cwd=A)
            with pytest.raises(ShortIdError, match="ambiguous"):
                await engine.forget("mem-0000", cwd=A)
            with pytest.raises(EntryNotFoundError, match="no entry"):
                await engine.forget("mem-ffffffffffff", cwd=A)
            with pytest.raises(OtherWorkspaceError, match="another workspace"):
                await engine.forget("mem-000000000003", cwd=A)
            for bad in ("", " mem-000000000002", "x" * 500):
                with pytest.raises(InvalidIdError):
                    await engine.forget(bad, cwd=A)
            assert (await engine.forget("mem-000000000004", cwd=A)).scope == "global"

        run(tmp_path, steps)

    def test_a_purge_leaves_no_word_behind(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await keep(engine, "机密项目代号 Bluebird-42", "另一条记忆")
            await engine.forget("mem-000000000001", cwd=A)
            report = await engine.purge("mem-000000000001", cwd=A)
            assert report.found
            with pytest.raises(EntryNotFoundError):
                await engine.purge("mem-000000000001", cwd=A)

        run(tmp_path, steps)
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert b"Bluebird" not in stored

    def test_a_registry_that_fails_guesses_no_workspace(self, tmp_path: Path) -> None:
        class Broken(InMemoryRegistry):
            def session(self, session_id: str) -> SessionInfo | None:
                raise OSError(session_id)

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            with pytest.raises(SessionLookupError):
                await engine.remember(RememberInput(content="一条记忆", session_id="s1"))
            taken = await hand_over(engine, said("m1", "一条"), cwd=None, session_id="s1")
            assert taken.status == "failed"

        run(tmp_path, steps, registry=Broken(), distiller=FakeDistiller())

    @pytest.mark.parametrize("field", ["title", "description", "tags", "retrieval_terms"])
    def test_a_credential_is_refused_in_every_field(self, field: str, tmp_path: Path) -> None:
        secret = "密码：Kx7pQ2vL9z"
        value: Any = (secret,) if field in {"tags", "retrieval_terms"} else secret

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            with pytest.raises(RefusedMemoryError) as caught:
                await engine.remember(
                    RememberInput(content="登录流程说明", cwd=A, **{field: value})
                )
            assert "Kx7" not in str(caught.value)

        run(tmp_path, steps)


class TestFacade:
    def test_it_works_inside_a_running_event_loop(self, tmp_path: Path) -> None:
        async def notebook() -> None:
            with SyncMemory(
                Settings(memory_dir=str(tmp_path)), distiller=FakeDistiller()
            ) as memory:
                kept = memory.remember(RememberInput(content="记事本里的记忆", cwd=A))
                context = memory.recall(RecallInput(query="记事本", cwd=A, deadline_ms=5_000))
                assert [match.id for match in context.matches] == [kept.entry_id]
                assert memory.checkpoint(CheckpointInput(reason="idle", cwd=A)).status == "empty"
                memory.forget(kept.entry_id, cwd=A)
                assert memory.status(cwd=A).entries == {"deleted": 1}
                assert memory.archive(cwd=A) == "moved"
                assert [item.cwd for item in memory.scopes(archived=True)] == [A]
                assert memory.restore(cwd=A) == "moved"
                memory.archive(cwd=A)
                assert memory.purge_archived(cwd=A)
            with pytest.raises(EngineClosedError):
                memory.recall(RecallInput(query="x"))

        asyncio.run(notebook())

    def test_the_fakes_keep_to_the_seam(self, tmp_path: Path) -> None:
        async def main() -> None:
            engine = engine_at(tmp_path, ManualTime())
            assert isinstance(engine, WorkspaceMemory)
            fake = FakeMemory(delay_s=0.001)
            assert isinstance(fake, WorkspaceMemory)
            assert (await fake.recall(RecallInput(query="x"))).text == ""
            assert (await fake.checkpoint(CheckpointInput(reason="idle"))).status == "buffered"
            assert len(fake.recalls) == len(fake.checkpoints) == 1
            with pytest.raises(OSError, match="down"):
                await FakeMemory(OSError("down")).recall(RecallInput(query="x"))
            await engine.close()

        asyncio.run(main())
