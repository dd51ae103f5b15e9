"""Checkpoints: what is buffered, what is distilled, what a failure leaves behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from engine_runs import A, B, adds, engine_at, hand_over, proposes, recall, run, said

from wsmem.engine.reports import RememberInput
from wsmem.engine.testing import DistillerError, EchoDistiller, FakeDistiller, ManualTime
from wsmem.operations.contract import DistillOutput
from wsmem.records import CheckpointInput
from wsmem.scopes import InMemoryRegistry, SessionInfo

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.operations.contract import DistillRequest


async def contents(engine: WorkspaceMemoryEngine, cwd: str | None = A) -> list[str]:
    view = await engine.show(cwd=cwd)
    return [entry.content for entry in view.entries if entry.recallable]


class TestFailure:
    """A stage that fails keeps its messages, says why, and is tried again."""

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param("没有值得记住的内容。", id="prose"),
            pytest.param("", id="empty"),
            pytest.param('{"version": 1, "operations": [{"op": "add", "con', id="cut"),
            pytest.param(
                DistillOutput(answer=adds("读得出来的内容"), incomplete="cut at its limit"),
                id="cut-but-readable",
            ),
            pytest.param(DistillOutput(answer=None), id="reasoning-only"),
            pytest.param(DistillerError("quota exceeded"), id="raised"),
            pytest.param(RuntimeError(), id="raised-without-words"),
            pytest.param(TimeoutError("read timed out"), id="its-own-timeout"),
        ],
    )
    def test_nothing_is_applied_and_nothing_is_lost(self, answer: Any, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await engine.remember(RememberInput(content="早先记住的一件事", cwd=A))
            before = (tmp_path / "scopes").rglob("memory_entries.json").__next__().read_bytes()
            result = await hand_over(engine, said("m1", "第一条"), said("m2", "第二条"))
            assert (result.status, result.accepted, result.pending) == ("failed", 2, 2)
            status = await engine.status(cwd=A)
            assert status.last_error == result.error
            assert result.error
            assert (status.pending, status.checkpoint_count, status.failures) == (2, 0, 1)
            after = (tmp_path / "scopes").rglob("memory_entries.json").__next__().read_bytes()
            assert after == before
            state = engine.store.read_scope(await key_of(engine, A)).state
            assert state.seen_message_ids == ()

        run(tmp_path, steps, distiller=FakeDistiller(answer))

    def test_an_empty_answer_is_a_success_and_prose_is_not(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            assert (await hand_over(engine, said("m1", "你好"))).status == "failed"
            settled = await hand_over(engine)
            assert (settled.status, settled.added, settled.pending) == ("committed", 0, 0)
            status = await engine.status(cwd=A)
            assert (status.last_error, status.retry_at, status.checkpoint_count) == (None, None, 1)

        run(tmp_path, steps, distiller=FakeDistiller("抱歉", proposes()))

    def test_twenty_failures_back_off_and_every_message_gets_its_turn(self, tmp_path: Path) -> None:
        failures = [DistillerError("down")] * 20
        distiller = FakeDistiller(*failures, adds("终于记住的事情"))

        async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> list[int]:
            started: list[int] = []
            distiller.answer_with()
            await hand_over(engine, said("m0", "开头"))
            for number in range(1, 300):
                await time.advance(2_000, idle=engine.idle)
                await hand_over(engine, said(f"m{number}", f"第 {number} 条"), reason="segment-end")
                started.append(len(distiller.requests))
                if len(distiller.requests) > 20:
                    break
            assert (await engine.status(cwd=A)).last_error is None
            return started

        run(
            tmp_path,
            steps,
            distiller=distiller,
            settings={"checkpoint_turns": 10_000, "checkpoint_chars": 1_000_000},
        )
        retried = [request.messages[0].id for request in distiller.requests]
        assert set(retried) == {"m0"}
        gaps = [
            b.now - a.now for a, b in zip(distiller.requests, distiller.requests[1:], strict=False)
        ]
        assert gaps[:5] == [1_000, 2_000, 4_000, 8_000, 16_000]
        assert set(gaps[5:]) == {30_000}
        assert len(distiller.requests[-1].messages) > 100

    def test_a_distiller_that_hangs_is_given_up(self, tmp_path: Path) -> None:
        async def hang(_: DistillRequest) -> DistillOutput:
            await asyncio.sleep(3600)
            raise AssertionError

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "一条"))
            assert result.status == "failed"
            assert "0.05 s" in (result.error or "")

        run(tmp_path, steps, distiller=hang, settings={"model_timeout_ms": 50})

    def test_without_a_distiller_messages_wait(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "一条"))
            assert (result.status, result.pending) == ("failed", 1)

        run(tmp_path, steps)

    def test_a_key_in_an_error_is_repeated_nowhere(self, tmp_path: Path) -> None:
        key = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
        failure = DistillerError(f"401: Authorization: Bearer {key}")

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "一条"))
            assert key not in repr(result) + repr(await engine.status(cwd=A))

        run(tmp_path, steps, distiller=FakeDistiller(failure))
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert key.encode() not in stored


class TestRecovery:
    """What an engine leaves behind, the next one picks up."""

    def test_what_waits_is_distilled_without_a_new_message(self, tmp_path: Path) -> None:
        distiller = FakeDistiller(adds("重启之后记住的事情"))

        async def main() -> None:
            time = ManualTime()
            first = engine_at(tmp_path, time, distiller=distiller)
            for number in range(3):
                await hand_over(first, said(f"m{number}", f"第 {number} 条"), reason="segment-end")
            del first
            time.ms += 6 * 60_000
            async with engine_at(tmp_path, time, distiller=distiller) as second:
                await time.advance(0, idle=second.idle)
                assert await contents(second) == ["重启之后记住的事情"]
                assert (await second.status(cwd=A)).pending == 0

        asyncio.run(main())
        assert [len(request.messages) for request in distiller.requests] == [3]

    def test_what_is_not_due_yet_gets_the_time_left(self, tmp_path: Path) -> None:
        distiller = FakeDistiller(adds("按时记住的事情"))

        async def main() -> None:
            time = ManualTime()
            first = engine_at(tmp_path, time, distiller=distiller)
            await hand_over(first, said("m1", "一条"), reason="segment-end")
            await first.close()
            time.ms += 100_000
            async with engine_at(tmp_path, time, distiller=distiller) as second:
                await time.advance(199_999, idle=second.idle)
                assert distiller.requests == []
                await time.advance(1, idle=second.idle)
                assert len(distiller.requests) == 1

        asyncio.run(main())

    def test_a_stage_cut_off_by_closing_is_run_again(self, tmp_path: Path) -> None:
        started = asyncio.Event()

        async def slow(_: DistillRequest) -> DistillOutput:
            started.set()
            await asyncio.sleep(3600)
            raise AssertionError

        async def main() -> None:
            time = ManualTime()
            first = engine_at(tmp_path, time, distiller=slow)
            stage = asyncio.create_task(hand_over(first, said("m1", "一条")))
            await started.wait()
            await first.close(drain_s=0.01)
            result = await stage
            assert (result.status, result.pending) == ("failed", 1)
            assert "closed" in (result.error or "")
            async with engine_at(
                tmp_path, time, distiller=FakeDistiller(adds("后来的事"))
            ) as second:
                assert (await second.status(cwd=A)).claimed == 0
                assert (await hand_over(second)).added == 1

        asyncio.run(main())

    def test_a_claim_of_a_process_that_died_holds_nobody_up(self, tmp_path: Path) -> None:
        async def main() -> None:
            time = ManualTime()
            async with engine_at(tmp_path, time, distiller=FakeDistiller("抱歉")) as engine:
                await hand_over(engine, said("m1", "一条"))
                scope = await key_of(engine, A)
                claim = {"owner": "gone", "process": 2**22 + 1, "messageIds": ["m1"],
                         "until": time.ms + 10**9}  # fmt: skip
                with engine.store.transaction(scope) as transaction:
                    transaction.set_extra(scope, {"claims": [claim]})
            async with engine_at(
                tmp_path, time, distiller=FakeDistiller(adds("后来的事"))
            ) as engine:
                assert (await hand_over(engine)).status == "committed"

        asyncio.run(main())

    def test_a_caller_who_gives_up_waiting_does_not_end_the_stage(self, tmp_path: Path) -> None:
        entered, leave = asyncio.Event(), asyncio.Event()

        async def slow(_: DistillRequest) -> DistillOutput:
            entered.set()
            await leave.wait()
            return DistillOutput(answer=adds("还是记住的事情"))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            caller = asyncio.create_task(hand_over(engine, said("m1", "一条")))
            await entered.wait()
            caller.cancel()
            await asyncio.gather(caller, return_exceptions=True)
            assert caller.cancelled()
            leave.set()
            await engine.idle()
            assert await contents(engine) == ["还是记住的事情"]

        run(tmp_path, steps, distiller=slow)


class TestBuffering:
    def test_a_replay_of_the_first_of_ten_thousand_ids_is_ignored(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            many = [said(f"m{number}", "话") for number in range(10_000)]
            assert (await hand_over(engine, *many)).status == "committed"
            replay = await hand_over(engine, many[0])
            assert (replay.status, replay.accepted) == ("empty", 0)

        run(tmp_path, steps, distiller=FakeDistiller(proposes()))

    def test_a_message_over_the_cap_is_distilled_whole_over_several_stages(
        self, tmp_path: Path
    ) -> None:
        text = "".join(f"{number:06d}🚀" for number in range(25_000))  # 200 000 units and more
        distiller = FakeDistiller(proposes())

        async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
            result = await hand_over(engine, said("long", text), said("next", "后一条"))
            assert (result.status, result.pending) == ("committed", 2)
            state = engine.store.read_scope(await key_of(engine, A)).state
            assert state.seen_message_ids == ()
            again = await hand_over(engine, said("long", text), reason="segment-end")
            assert again.accepted == 0
            await time.advance(0, idle=engine.idle)
            state = engine.store.read_scope(await key_of(engine, A)).state
            assert (state.pending_messages, state.seen_message_ids) == ((), ("long", "next"))

        run(tmp_path, steps, distiller=distiller)
        parts = [message.text for request in distiller.requests for message in request.messages]
        assert "".join(parts) == text + "后一条"
        assert all(len(part.encode("utf-16-le")) <= 80_000 for part in parts)

    def test_sessions_of_sub_agents_are_taken_when_handed_over_only(self, tmp_path: Path) -> None:
        registry = InMemoryRegistry(
            [
                SessionInfo(id="root", cwd=A),
                SessionInfo(id="sub", parent_id="root", is_subagent=True),
            ]
        )
        distiller = FakeDistiller(adds("委托任务的结果"))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            for reason in ("segment-end", "session-close", "compaction"):
                skipped = await hand_over(
                    engine,
                    said("m1", "一条"),
                    reason=reason,
                    cwd=None,
                    session_id="sub",
                    force=True,
                )
                assert (skipped.status, skipped.accepted) == ("empty", 0)
            handed = await hand_over(engine, said("m1", "一条"), cwd=None, session_id="sub")
            assert handed.status == "committed"
            assert await contents(engine) == ["委托任务的结果"]

        run(tmp_path, steps, distiller=distiller, registry=registry)

    @pytest.mark.parametrize("bad", ["relative/dir", "~"])
    def test_a_relative_directory_is_a_failed_checkpoint_not_a_guess(
        self, bad: str, tmp_path: Path
    ) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "一条"), cwd=bad)
            assert result.status == "failed"
            assert "relative" in (result.error or "")

        run(tmp_path, steps, distiller=FakeDistiller())
        assert not any(tmp_path.iterdir())

    def test_a_full_disk_is_a_failed_checkpoint(self, tmp_path: Path) -> None:
        blocked = tmp_path / "file"
        blocked.write_text("not a folder")

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "一条"))
            assert result.status == "failed"
            assert result.error

        run(blocked / "store", steps, distiller=FakeDistiller())


class TestLocks:
    """The model is asked with nothing locked, and scopes lock in one order."""

    def test_the_global_scope_can_be_distilled_into_itself(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            async with asyncio.timeout(2):
                result = await hand_over(engine, said("m1", "一条"), cwd="")
            assert (result.status, result.scope, result.added) == ("committed", "global", 1)

        run(tmp_path, steps, distiller=FakeDistiller(adds("全局的一件事", scope="global")))

    def test_two_workspaces_can_both_commit_to_the_global_scope_at_once(
        self, tmp_path: Path
    ) -> None:
        meeting = asyncio.Barrier(2)

        async def together(request: DistillRequest) -> DistillOutput:
            await meeting.wait()
            return DistillOutput(answer=adds(f"来自 {request.cwd} 的偏好", scope="global"))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            results = await asyncio.gather(
                hand_over(engine, said("m1", "一条"), cwd=A),
                hand_over(engine, said("m1", "一条"), cwd=B),
            )
            assert [result.status for result in results] == ["committed", "committed"]
            assert len(await contents(engine, "")) == 2

        run(tmp_path, steps, distiller=together)

    def test_recall_answers_while_the_model_thinks(self, tmp_path: Path) -> None:
        async def ask(_: DistillRequest) -> DistillOutput:
            context = await asyncio.wait_for(recall(engines[0], "早先"), 2)
            assert [match.content for match in context.matches] == ["早先记住的一件事"]
            await asyncio.wait_for(
                engines[0].remember(RememberInput(content="同时记住的", cwd=A)), 2
            )
            return DistillOutput(answer=adds("模型想出来的事"))

        engines: list[WorkspaceMemoryEngine] = []

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            engines.append(engine)
            await engine.remember(RememberInput(content="早先记住的一件事", cwd=A))
            assert (await hand_over(engine, said("m1", "一条"))).added == 1
            assert len(await contents(engine)) == 3

        run(tmp_path, steps, distiller=ask)

    def test_two_engines_do_not_distil_the_same_messages(self, tmp_path: Path) -> None:
        async def main() -> list[str]:
            time = ManualTime()
            entered, leave = asyncio.Event(), asyncio.Event()

            async def slow(_: DistillRequest) -> DistillOutput:
                entered.set()
                await leave.wait()
                return DistillOutput(answer=adds("只记一次的事"))

            other = FakeDistiller(adds("记了两次的事"))
            one, two = (
                engine_at(tmp_path, time, distiller=slow),
                engine_at(tmp_path, time, distiller=other),
            )
            stage = asyncio.create_task(hand_over(one, said("m1", "一条")))
            await entered.wait()
            waiting = await hand_over(two)
            assert (waiting.status, waiting.pending) == ("buffered", 1)
            leave.set()
            assert (await stage).status == "committed"
            assert (await hand_over(two)).status == "empty"
            found = await contents(two)
            await one.close()
            await two.close()
            assert other.requests == []
            return found

        assert asyncio.run(main()) == ["只记一次的事"]


class TestTrust:
    """What must not become memory."""

    def test_recalled_memory_is_not_learned_again(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, time: ManualTime) -> None:
            await engine.remember(
                RememberInput(content="部署脚本在 scripts 目录", cwd=A, importance=2)
            )
            await engine.remember(RememberInput(content="日志写到 D 盘", cwd=A))
            before = (await engine.show(cwd=A)).entries
            for round_ in range(5):
                await time.advance(60_000)
                context = await recall(engine, "部署脚本 日志")
                turn = f"{context.text}\n缓存预热由夜间任务负责"
                await hand_over(
                    engine, said(f"m{round_}", turn), said(f"a{round_}", "好的", "assistant")
                )
            after = (await engine.show(cwd=A)).entries
            assert after[:2] == before
            assert [entry.content for entry in after[2:]] == ["缓存预热由夜间任务负责"]

        run(tmp_path, steps, distiller=EchoDistiller())

    def test_instructions_to_the_distiller_are_not_learned(self, tmp_path: Path) -> None:
        prompt = "Only keep facts that will still hold next week."
        answer = DistillOutput(answer=adds(prompt), instructions=(f"You distil. {prompt}",))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            result = await hand_over(engine, said("m1", "你好"), said("a1", "你好！", "assistant"))
            assert (result.status, result.added, result.ignored) == ("committed", 0, 1)

        run(tmp_path, steps, distiller=FakeDistiller(answer))

    def test_a_credential_in_a_conversation_reaches_no_file_and_no_model(
        self, tmp_path: Path
    ) -> None:
        value = "Kx7pQ2vL9z"
        distiller = FakeDistiller(adds(f"测试环境口令：{value}"))

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            await hand_over(engine, said("m1", f"测试环境口令：{value}，别忘了"))
            assert (await recall(engine, "口令")).matches == ()

        run(tmp_path, steps, distiller=distiller)
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert value.encode() not in stored
        assert value not in repr(distiller.requests)

    def test_a_correction_shows_at_once(self, tmp_path: Path) -> None:
        correction = {
            "op": "supersede", "targetId": "mem-000000000001", "content": "队列是 Kafka",
            "oldQuote": "采用 RabbitMQ", "newQuote": "队列是 Kafka", "evidenceMessageIds": ["m9"],
        }  # fmt: skip

        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            old = "消息队列采用 RabbitMQ 三节点镜像集群，由平台组维护"
            await engine.remember(RememberInput(content=old, cwd=A))
            result = await hand_over(engine, said("m9", "刚才说错了，队列是 Kafka"))
            assert (result.superseded, result.added) == (1, 1)
            context = await recall(engine, "队列")
            assert "Kafka" in context.text
            assert "RabbitMQ" not in context.text

        run(tmp_path, steps, distiller=FakeDistiller(proposes(correction)))

    def test_what_is_quoted_is_rendered_with_its_source(self, tmp_path: Path) -> None:
        async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
            text = "这是 README：\n# Widget\n\n网关监听端口 8080\n\n许可证 MIT\n\n作者三人"
            await hand_over(engine, said("m1", text))
            assert "出自引用的材料" in (await recall(engine, "网关端口")).text

        run(
            tmp_path,
            steps,
            distiller=FakeDistiller(adds("网关监听端口 8080", evidenceMessageIds=["m1"])),
        )


def test_automatic_writes_go_to_the_layer_the_settings_name(tmp_path: Path) -> None:
    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
        await hand_over(engine, said("m1", "一条"))
        assert await contents(engine, "") == ["没有写明层的事情"]
        assert await contents(engine, A) == []

    answer = FakeDistiller(adds("没有写明层的事情"))
    run(tmp_path, steps, distiller=answer, settings={"write_layer": "global"})


def test_an_unknown_reason_waits_like_the_end_of_a_segment(tmp_path: Path) -> None:
    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
        odd: Any = "whatever"
        request = CheckpointInput(reason=odd, cwd=A, messages=[said("m1", "一条")])
        assert (await engine.checkpoint(request)).status == "buffered"

    run(tmp_path, steps, distiller=FakeDistiller())


async def key_of(engine: WorkspaceMemoryEngine, cwd: str) -> Any:
    from wsmem.store.layout import ScopeRef  # noqa: PLC0415 - a scope by its key

    return ScopeRef((await engine.status(cwd=cwd)).scope, cwd)
