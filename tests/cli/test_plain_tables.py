from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.cli.tables import print_table

if TYPE_CHECKING:
    import pytest


def test_a_table_shows_no_terminal_codes_markup_stays_and_wide_letters_line_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    print_table(["set", "n", "说明"], [["[b]记忆[/b]", "7", "x"], ["ab", "10", "好"]], left=(0, 2))
    assert capsys.readouterr().out.splitlines() == [
        "set           n  说明",
        "[b]记忆[/b]   7  x",
        "ab           10  好",
    ]
