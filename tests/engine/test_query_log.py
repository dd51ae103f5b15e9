"""Queries are kept only on request, redacted, and in the form the harness reads."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from wsmem.engine.query_log import QueryLog
from wsmem.engine.sync import SyncMemory
from wsmem.evals.labelling.candidates import logged
from wsmem.records import RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

CWD = "/srv/shop"


def asked(folder: Path, **settings: str) -> Path:
    arguments = {"memory_dir": str(folder), **settings}
    with SyncMemory(load_settings(env={}, arguments=arguments)) as memory:
        for query in ("网关端口", "密码：Kx7pQ2vL9z 是哪台的"):
            memory.recall(RecallInput(query=query, cwd=CWD))
    return folder / ".wsmem" / "queries.jsonl"


def test_nothing_is_kept_unless_asked_for(tmp_path: Path) -> None:
    assert not asked(tmp_path / "off").exists()
    assert not (tmp_path / "off").exists(), "a recall creates nothing"


def test_kept_queries_are_redacted_and_private_and_read_back(tmp_path: Path) -> None:
    log = asked(tmp_path / "on", query_log="on")
    kept = list(logged(log))
    assert [item.text for item in kept][:1] == ["网关端口"]
    assert {item.scope for item in kept} == {workspace_scope(CWD).key}
    assert "Kx7pQ2vL9z" not in log.read_text(encoding="utf-8")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_lone_surrogate_does_not_stop_the_log(tmp_path: Path) -> None:
    QueryLog(str(tmp_path)).note("a\ud800b", "global", 0)
    assert len(list(logged(tmp_path / "queries.jsonl"))) == 1
