"""What a stage does when its endpoint misbehaves: nothing is written, nothing is lost or told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from engine_runs import hand_over, recall, run, said
from misbehaving_server import Reply, error, ok, serving

from wsmem.distill.client import ChatClient
from wsmem.distill.model import ModelDistiller
from wsmem.distill.prompting import load_prompt
from wsmem.distill.retrying import RetryPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.engine.testing import ManualTime

KEY = "sk-" + "test-" + "Zq81Lm44Xw07Bn"
TWO = json.dumps(
    {"version": 1, "operations": [{"op": "add", "content": f"记住的第 {n} 件事"} for n in (1, 2)]},
    ensure_ascii=False,
)
CUT = TWO[: TWO.index("第 2")]
QUICK = RetryPolicy(retries=1, first_wait_s=0.01, longest_wait_s=0.02)

FAILURES = [
    pytest.param(ok(CUT, finish="length"), "cut", id="cut-in-a-string"),
    pytest.param(ok(TWO, finish="length"), "cut", id="cut-but-valid"),
    pytest.param(ok(""), "empty", id="empty"),
    pytest.param(ok(None, reasoning_content=TWO), "reason", id="reasoning-only"),
    pytest.param(ok(TWO, finish="content_filter"), "filter", id="filtered"),
    pytest.param(Reply(body=b"{}"), "choices", id="no-choices"),
    pytest.param(error(401, f"no such key: {KEY}"), "401", id="echoed-key"),
    pytest.param(error(402, "balance"), "402", id="no-balance"),
    pytest.param(error(503, "busy"), "503", id="down"),
]


@pytest.mark.parametrize(("reply", "cause"), FAILURES)
def test_a_failed_stage_keeps_its_messages_and_writes_and_tells_nothing(
    tmp_path: Path, reply: Reply, cause: str
) -> None:
    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> Any:
        result = await hand_over(engine, said("m1", "记住的事有两件"), reason="explicit")
        assert result.status == "failed"
        assert cause in (result.error or "").lower()
        assert result.pending == 1
        assert (await recall(engine, "记住的事")).matches == ()
        return result

    with serving(reply) as server:
        client = ChatClient(base_url=server.url, key=KEY, policy=QUICK, deadline_s=10.0)
        model = ModelDistiller(load_prompt("concise@1"), model="m", ask=client.complete)
        result = run(tmp_path, steps, distiller=model)
    assert KEY not in f"{result}"
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(KEY[-10:].encode() in content for content in files)
    asked = {json.dumps(seen.body["messages"]) for seen in server.seen}
    assert len(asked) == 1, "a retry asks the same question"


def test_a_stage_that_failed_once_is_distilled_when_the_endpoint_recovers(tmp_path: Path) -> None:
    async def steps(engine: WorkspaceMemoryEngine, _: ManualTime) -> None:
        failed = await hand_over(engine, said("m1", "记住的事有两件"), reason="explicit")
        assert failed.status == "failed"
        done = await hand_over(engine, reason="explicit")
        assert (done.status, done.added, done.pending) == ("committed", 2, 0)

    with serving(ok(TWO, finish="length"), ok(TWO)) as server:
        client = ChatClient(base_url=server.url, key=KEY, policy=QUICK, deadline_s=10.0)
        model = ModelDistiller(load_prompt("concise@1"), model="m", ask=client.complete)
        run(tmp_path, steps, distiller=model)
