"""`wsmem recall`: what it prints, what it leaves alone, and what it does without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wsmem.cli.main import main
from wsmem.cli.recall import DEGRADED
from wsmem.engine.reports import RememberInput
from wsmem.engine.sync import SyncMemory
from wsmem.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
CWD = "/srv/shop"
FACTS = ("网关监听 8081 端口。", "The nightly backup keeps thirty days.", "订单超时设置为 30 秒。")
HEAVY = {"numpy", "pydantic", "typer", "rich", "filelock", "asyncio", "pandas", "inspect"}


@pytest.fixture
def memory_dir(tmp_path: Path) -> str:
    folder = str(tmp_path / "memory")
    with SyncMemory(load_settings(arguments={"memory_dir": folder})) as memory:
        for fact in FACTS:
            memory.remember(RememberInput(content=fact, cwd=CWD))
    return folder


def ask(*arguments: str) -> int:
    return main(["recall", *arguments])


def test_matches_are_printed_with_ids_that_can_be_used(
    memory_dir: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("网关端口", "--cwd", CWD, "--memory-dir", memory_dir) == 0
    line = capsys.readouterr().out.splitlines()[0]
    assert FACTS[0] in line
    identifier = line.split()[0]
    assert main(["forget", identifier, "--cwd", CWD, "--memory-dir", memory_dir]) == 0
    assert ask("网关端口", "--cwd", CWD, "--memory-dir", memory_dir) == 0
    assert FACTS[0] not in capsys.readouterr().out.splitlines()[-1]


def test_json_is_one_object(memory_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("backup", "--cwd", CWD, "--memory-dir", memory_dir, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert [match["content"] for match in answer["matches"]] == [FACTS[1]]
    assert answer["degraded"] is None
    assert FACTS[1] in answer["text"]


def test_an_explanation_adds_up(memory_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("订单 超时", "--cwd", CWD, "--memory-dir", memory_dir, "--explain") == 0
    head, *lines = capsys.readouterr().out.split("\n\n")[1].strip().splitlines()
    total = sum(float(line.rpartition("=")[2]) for line in lines)
    assert total == pytest.approx(float(head.split()[1]), abs=0.01)
    assert any(line.strip().startswith("length_saturation") for line in lines)


def test_another_workspace_and_the_global_memory_are_not_answered_from(
    memory_dir: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for where in (["--cwd", "/srv/other"], ["--global"], []):
        assert ask("网关端口", *where, "--memory-dir", memory_dir) == 0
        assert capsys.readouterr().out == "nothing found\n"


def test_a_relative_directory_is_taken_from_here(
    memory_dir: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/srv")
    assert ask("网关端口", "--cwd", "shop", "--memory-dir", memory_dir) == 0
    assert FACTS[0] in capsys.readouterr().out


def test_reading_creates_nothing(tmp_path: Path) -> None:
    assert ask("anything", "--cwd", CWD, "--memory-dir", str(tmp_path / "none")) == 0
    assert not (tmp_path / "none").exists()


def test_memory_that_cannot_be_read_is_said_and_never_raises(
    memory_dir: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (entries,) = Path(memory_dir).glob("scopes/*/memory_entries.json")
    entries.write_text("[{ broken", encoding="utf-8")
    assert ask("网关端口", "--cwd", CWD, "--memory-dir", memory_dir) == DEGRADED
    assert "not whole" in capsys.readouterr().err


def test_an_unknown_profile_is_an_error_that_says_what_exists(
    memory_dir: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = ask("x", "--cwd", CWD, "--memory-dir", memory_dir, "--profile", "nope")
    assert status != 0
    assert "reference" in capsys.readouterr().err


def test_the_whole_path_is_the_standard_library(memory_dir: str) -> None:
    code = (
        "import sys; from wsmem.cli.main import main; status = main(sys.argv[1:]); "
        "print(*sorted(name for name in sys.modules), file=sys.stderr); sys.exit(status)"
    )
    arguments = ["recall", "网关", "--cwd", CWD, "--memory-dir", memory_dir]
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert FACTS[0] in result.stdout
    loaded = {name.partition(".")[0] for name in result.stderr.split()}
    # A stand-in for inspect is there; what it would import is not.
    assert not loaded & (HEAVY - {"inspect"} | {"ast", "dis", "tokenize"})
