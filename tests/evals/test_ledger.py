from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.errors import RunFolderError
from wsmem.evals.ledger import LEDGER, Ledger, unit_key

if TYPE_CHECKING:
    from pathlib import Path


def recorded(path: Path) -> dict[str, Any]:
    with Ledger(path) as ledger:
        return {key: ledger[key] for key in ("a", "b", "c") if key in ledger}


def test_what_is_recorded_is_found_by_whoever_opens_it_next(tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    with Ledger(path) as ledger:
        ledger.record("a", {"文": [1, None]})
        assert json.loads(path.read_bytes())["result"] == {"文": [1, None]}  # before it is closed
        ledger.record("b", 2)
    assert recorded(path) == {"a": {"文": [1, None]}, "b": 2}


def test_a_unit_is_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    with Ledger(path) as ledger:
        ledger.record("a", 1)
        ledger.record("a", 2)
        assert len(ledger) == 1
    assert recorded(path) == {"a": 1}
    assert len(path.read_text().splitlines()) == 1


@given(st.data())
def test_a_line_cut_short_anywhere_is_no_line_and_spoils_none(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / LEDGER
    with Ledger(path) as ledger:
        ledger.record("a", "甲")
        whole = path.stat().st_size
        ledger.record("b", "乙")
    cut = data.draw(st.integers(whole, path.stat().st_size - 1))
    with path.open("r+b") as file:
        file.truncate(cut)
    with Ledger(path) as ledger:
        assert "b" not in ledger
        ledger.record("c", "丙")
    assert recorded(path) == {"a": "甲", "c": "丙"}


@pytest.mark.parametrize("line", ["{", "[]", '{"key": "a"}', '{"result": 1}'])
def test_a_damaged_line_before_the_last_is_reported_and_kept(tmp_path: Path, line: str) -> None:
    path = tmp_path / LEDGER
    text = f'{line}\n{{"key": "b", "result": 2}}\n'
    path.write_text(text)
    with pytest.raises(RunFolderError, match="line 1 is damaged"):
        Ledger(path)
    assert path.read_text() == text


def test_a_ledger_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="cannot be used"):
        Ledger(tmp_path)


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.none())))
def test_a_unit_is_known_by_what_defines_it(definition: dict[str, Any]) -> None:
    again = json.loads(json.dumps(dict(reversed(definition.items()))))
    assert unit_key(again) == unit_key(definition)
    assert unit_key({**definition, "further": 1.5}) != unit_key(definition)


HOLDING = """
import sys, time
from pathlib import Path
from wsmem.evals.ledger import Ledger
with Ledger(Path(sys.argv[1])) as ledger:
    ledger.record("a", 1)
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks on this system")
def test_two_commands_cannot_work_on_one_run_until_one_of_them_is_gone(tmp_path: Path) -> None:
    path = tmp_path / LEDGER
    command = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(RunFolderError, match="another process works on this run"):
                Ledger(path, anew=True)
        finally:
            holder.kill()
    assert recorded(path) == {"a": 1}
    with Ledger(path, anew=True) as ledger:
        assert len(ledger) == 0
    assert path.read_bytes() == b""
