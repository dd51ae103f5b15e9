from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from wsmem.evals.manifest import circumstances
from wsmem.evals.surroundings import PACKAGE, Surroundings, code_fingerprint

if TYPE_CHECKING:
    from pathlib import Path

HERE = Surroundings(wsmem="1.0", code="a" * 64, python="3.12", packages={"numpy": "2.4", "x": "1"})

OTHERS: list[Any] = [
    pytest.param({}, None, id="the-same"),
    pytest.param(
        {"packages": {"numpy": "2.4"}}, "has no x; pip install 'x==1' there", id="missing-package"
    ),
    pytest.param({"packages": {"numpy": "2.4", "x": "1", "y": "3"}}, None, id="one-more-package"),
    pytest.param({"wsmem": "0.9"}, "has wsmem 0.9, not 1.0; install wsmem 1.0 there", id="version"),
    pytest.param(
        {"code": "b" * 64},
        "has other code of wsmem 1.0 (bbbbbbbbbbbb); "
        "install there the code that is here (aaaaaaaaaaaa)",
        id="code",
    ),
    pytest.param(
        {"python": "3.11"}, "runs Python 3.11, not 3.12; start it with Python 3.12", id="python"
    ),
    pytest.param(
        {"packages": {"numpy": "2.3", "x": "1"}},
        "has numpy 2.3, not 2.4; pip install 'numpy==2.4' there",
        id="package",
    ),
]


@pytest.mark.parametrize(("change", "expected"), OTHERS)
def test_what_is_wrong_with_a_worker_is_said_with_what_to_install(
    change: dict[str, Any], expected: str | None
) -> None:
    problem = HERE.problem(replace(HERE, **change))
    assert (None if problem is None else "; ".join(problem)) == expected


def test_equal_code_has_one_fingerprint_wherever_it_lies(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    installed = shutil.copytree(PACKAGE, tmp_path / "one" / "wsmem", ignore=ignored)
    checkout = shutil.copytree(installed, tmp_path / "two" / "wsmem")
    (checkout / "notes.swp").touch()
    found = {code_fingerprint(installed), code_fingerprint(checkout)}
    assert len(found) == 1
    source = min(installed.rglob("*.py"))
    source.write_text(source.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    code_fingerprint.cache_clear()
    found.add(code_fingerprint(installed))
    source.rename(source.with_name("renamed.py"))
    code_fingerprint.cache_clear()
    found.add(code_fingerprint(installed))
    assert len(found) == 3


def test_this_process_fits_itself() -> None:
    assert Surroundings.here().problem(Surroundings.here()) is None
    assert set(Surroundings.here().to_json()) == {"wsmem", "code", "python", "packages"}


def test_no_password_of_a_command_is_kept_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = "postgresql://tuner:Tr0ub4dor-3@10.0.0.5/trials"
    monkeypatch.setattr(sys, "argv", ["/bin/wsmem", "tune", "--storage", storage, "--trials", "9"])
    told = circumstances(started=datetime.now(UTC))["command"]
    kept = "postgresql://tuner:[REDACTED]@10.0.0.5/trials"
    assert told == ["wsmem", "tune", "--storage", kept, "--trials", "9"]
