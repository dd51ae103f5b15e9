"""What the documents say is what the program does: examples run, generated parts are current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from wsmem.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_generated_parts_are_current() -> None:
    result = subprocess.run(
        [sys.executable, "benchmarks/docs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), {"__name__": "example"})
    if page.name == "README.md":
        assert capsys.readouterr().out == "灰度发布先放 5% 流量，观察半小时。\n"


def test_shell_examples_of_the_readme_run(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        line for block in blocks(PAGES[0], "sh") for line in block.splitlines() if "wsmem " in line
    ]
    assert len(commands) == 2
    for command in commands:
        words = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]
        assert main(words[1:]) == 0
    assert "port 8081" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_that_are_shown_exist(page: Path) -> None:
    reference = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    helps = dict(
        re.findall(r"^## (wsmem .+?)\n(.*?)(?=^## |\Z)", reference, re.DOTALL | re.MULTILINE)
    )
    shown = [
        line
        for kind in ("sh", "text")
        for block in blocks(page, kind)
        for line in block.splitlines()
    ]
    for line in shown if page.name != "cli.md" else ():
        if not line.startswith("wsmem "):
            continue
        command = next((name for name in helps if f"{line} ".startswith(f"{name} ")), None)
        assert command, f"{page.name}: there is no command {line!r}"
        for option in re.findall(r"(?<= )--[a-z-]+", line):
            assert re.search(rf"{option}\b", helps[command]), f"{page.name}: {line!r}: {option}"


def test_the_two_commands_stand_on_top() -> None:
    first = blocks(PAGES[0], "sh")[0]
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make eval", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_files_and_chores_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`((?:wsmem|benchmarks|datasets|docs)/[\w./-]*)`", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for chore in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
            assert re.search(rf"^{chore}:", makefile, re.MULTILINE), f"{page.name}: make {chore}"
