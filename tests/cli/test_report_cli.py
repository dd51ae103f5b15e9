from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

import pytest
from labelled_sets import write_set

from wsmem.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run as `wsmem eval --out` leaves it."""
    folder = write_set(tmp_path / "tiny")
    out = tmp_path / "run"
    arguments = ["eval", "--dataset", str(folder), "--datasets-dir", str(tmp_path)]
    assert main([*arguments, "--system", "wsmem:default", "--out", str(out)]) == 0
    return out


def test_report_writes_the_page_and_prints_where(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["report", str(run)]) == 0
    assert capsys.readouterr().out == f"{run / 'report.html'}\n"
    assert (run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_report_writes_to_another_file(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["report", str(run), "--out", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert page.is_file()
    assert not (run / "report.html").exists()


def test_report_opens_the_page_when_asked(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert main(["report", str(run)]) == 0
    assert opened == []
    assert main(["report", str(run), "--open"]) == 0
    assert opened == [(run / "report.html").resolve().as_uri()]


def test_a_folder_without_a_run_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path / "nothing")]) == 2
    error = capsys.readouterr().err
    assert "nothing: holds no manifest.json; give a folder that wsmem eval --out wrote" in error
    assert error.count("\n") == 1


def test_a_run_of_a_newer_wsmem_is_an_error(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = run / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"format": 1', '"format": 99'), encoding="utf-8")
    assert main(["report", str(run)]) == 2
    assert "format 99" in capsys.readouterr().err


def test_a_run_can_be_written_again_over_its_report(run: Path, tmp_path: Path) -> None:
    assert main(["report", str(run)]) == 0
    arguments = ["eval", "--dataset", str(tmp_path / "tiny"), "--datasets-dir", str(tmp_path)]
    assert main([*arguments, "--system", "bm25", "--out", str(run)]) == 0
    assert main(["report", str(run)]) == 0
