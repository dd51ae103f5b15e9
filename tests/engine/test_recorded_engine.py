from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from recorded_runs import RecordedRun, recorded_form
from shared_data import SHARED, golden

if TYPE_CHECKING:
    from pathlib import Path

DIFFERENT: dict[str, str] = {
    "remember/utf16-cut": "a title is never cut inside a character: no file holds half of one",
    "remember/no-cwd": "an entry kept in the global scope says so in its own scope field",
    "remember/threshold-exact": "names that differ (left0, right0) make two facts",
    "revise/threshold-exact": "a title derived from a content is trimmed in a revision, too",
    "remember/best-duplicate-wins": "numbers that differ (seven, nine) make two facts",
    "remember/dedup-ignores-inactive": "an exact repeat of an entry leaves it as it is",
    "remember/no-token-text": "an exact repeat in another width leaves an entry as it is",
    "remember/secret-in-title-only": "every field is screened for credentials",
    "forget/basic": "what a recall shows can be forgotten from there, global entries too",
    "checkpoint/legacy-array": "a list inside a list of adds is not called an add",
    "checkpoint/rejected-operations": "a null target scope is an absent one: models write nulls",
    "scope/mixed-operations": "ids are given in the order of the operations, not layer by layer",
    "scope/wrong-side-target": "a layer in which nothing changed is not written",
    "seen/cap-1024": "ten thousand ids are remembered, so a replay is noticed much longer",
    "batch/char-cap": "what a cap cuts off a message stays pending and is distilled next",
    "batch/char-cap-surrogate": "the same, and no message is cut inside a character",
    "recall/creates-directories": "reading creates nothing",
    "recall/budget": "the budget covers the frame, matches come first, items stay whole",
    "recall/summary-join-and-cut": "a summary is cut behind a whole item",
    "recall/redaction": "every field is redacted on its way out, and the separator stays",
    "migrate/old-entries": "a scope with damaged entries can be read",
    "migrate/odd-state": "a call that takes no message writes nothing",
    "archive/lifecycle": "an archived workspace takes nothing until it is restored or purged",
    "secrets/in-conversation": "credentials are redacted before messages are written anywhere",
    "cache/outside-edit-not-seen": "a file that another program changed is read again at once",
}
"""Recorded runs that end differently here on purpose, and why."""


def recorded_names() -> list[str]:
    path = SHARED / "golden" / "engine.json"
    if not path.is_file():
        return ["absent"]  # the test itself skips
    return [case["name"] for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]


@cache
def recorded_case(name: str) -> dict[str, Any]:
    cases = golden("engine.json")["cases"]
    found: dict[str, Any] = next(case for case in cases if case["name"] == name)
    return found


@pytest.mark.parametrize("name", recorded_names())
def test_a_recorded_run_ends_as_recorded_unless_it_is_listed(name: str, tmp_path: Path) -> None:
    case = recorded_case(name)
    ours, theirs = asyncio.run(RecordedRun(case, tmp_path).replay()), recorded_form(case)
    if name in DIFFERENT:
        assert ours != theirs, "this run is reproduced: take it off the list"
    else:
        assert ours == theirs


def test_the_list_names_recorded_runs_only() -> None:
    names = {case["name"] for case in golden("engine.json")["cases"]}
    assert set(DIFFERENT) <= names
