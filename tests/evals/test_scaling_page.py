from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scaling_page import IN_GLOBAL, Stream, sizes, stream  # noqa: E402  found above

COSTS = (("read", 5.0), ("scan", 3.0), ("build", 2.0), ("warm", 0.5))


def test_the_page_says_what_was_measured() -> None:
    result = subprocess.run(
        [sys.executable, "benchmarks/scaling.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def shares(count: int, parsed: int = 63, indexed: int = 32) -> dict[str, float]:
    return stream(count, (parsed, indexed), COSTS, 93).shares


def test_one_workspace_is_always_warm() -> None:
    assert shares(1) == {"read": 0.0, "scan": 0.0, "build": 0.0, "warm": 1.0}


def test_a_workspace_is_read_when_too_many_others_were_asked_since() -> None:
    """Room for one of two that are asked 2 : 1; it is there when it was asked last."""
    found = shares(2, parsed=1, indexed=1)
    assert found["read"] == pytest.approx(2 * (2 / 3) * (1 / 3), abs=0.02)
    assert found["scan"] + found["warm"] == pytest.approx(1.0)


def test_more_workspaces_are_read_more_often() -> None:
    read = [shares(count)["read"] for count in (63, 200, 2000)]
    assert read[0] == 0.0
    assert read == sorted(read)


def test_sizes_are_those_of_zipfs_law() -> None:
    found = sizes(1000)
    assert min(found) == 20
    assert sum(size > 200 for size in found) / 1000 == pytest.approx(20 / 200, abs=0.01)
    assert 90 < sum(found) / 1000 < 95


def test_popularity_falls_as_one_over_the_rank() -> None:
    order = Stream(3)
    asked = [order.next() for _ in range(11_000)]
    counts = [asked.count(number) for number in range(3)]
    assert counts == pytest.approx([6000, 3000, 2000], rel=0.06)


def test_a_recall_costs_the_sum_of_its_parts_by_the_size_of_its_workspace() -> None:
    assert stream(1, (63, 32), COSTS, sizes(1)[0]).seconds == pytest.approx(0.5)
    half = stream(1, (63, 32), COSTS, 2 * sizes(1)[0] + IN_GLOBAL)
    assert half.seconds == pytest.approx(0.25)
