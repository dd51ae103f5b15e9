from __future__ import annotations

from shared_data import golden

from wsmem.engine.policy import stage_is_ready
from wsmem.records import MemoryMessage, MemoryState
from wsmem.settings import Settings


def test_all_recorded_decisions_are_made() -> None:
    wrong = []
    for case in golden("eligible.json")["cases"]:
        given, config = case["input"], case["input"]["config"]
        state = MemoryState(
            pending_messages=tuple(
                MemoryMessage(id=m["id"], role=m["role"], text=m["text"])
                for m in given["state"]["pendingMessages"]
            ),
            last_buffered_at=given["state"]["lastBufferedAt"],
        )
        settings = Settings(
            memory_dir="/nowhere",
            checkpoint_turns=config["checkpointTurns"],
            checkpoint_chars=config["checkpointChars"],
            idle_checkpoint_ms=config["idleCheckpointMs"],
        )
        if (
            stage_is_ready(state, reason=given["reason"], settings=settings, now=given["now"])
            != case["expected"]
        ):
            wrong.append(case["name"])
    assert wrong == []
