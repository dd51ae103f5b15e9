"""The pinned versions can be installed on the oldest Python that is promised."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def pins() -> dict[str, str]:
    """Versions by package, as `constraints.txt` names them."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def oldest_python() -> str:
    """The first release of the promised series, as in `3.11.0`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['requires-python'].removeprefix('>=')}.0"


def test_every_pin_that_is_installed_admits_the_oldest_python() -> None:
    """A newer patch release of Python hides what an installer refuses on an older one."""
    wanted, oldest = pins(), oldest_python()
    refused = {}
    for found in metadata.distributions():
        admits = found.metadata.json.get("requires_python")
        pinned = wanted.get(canonicalize_name(found.name)) == found.version
        if pinned and admits and oldest not in SpecifierSet(admits):
            refused[found.name] = admits
    assert refused == {}


@pytest.mark.parametrize("name", ["numpy", "soupsieve", "distributed"])
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    assert metadata.version(name) == pins()[name]
