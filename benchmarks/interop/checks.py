"""What must be alike when two programs look at one store."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from benchmarks.interop.plugin import Plugin
from benchmarks.interop.stores import PLACES, SESSION, SESSION_MARK, SHOP, Ours
from wsmem.records import RecallInput
from wsmem.scopes import scope_key
from wsmem.store.layout import ScopeRef, kind_of
from wsmem.store.summary import render_summary
from wsmem.store.wording import CHINESE, split_head
from wsmem.text.utf8 import truncate_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.interop.stores import Ticks
    from wsmem.records import MemoryContext

TOLERANCE = 1e-9
LIMIT, MAX_BYTES, SUMMARY_BYTES = 50, 1_000_000_000, 3_000
_SHOWN = 3
"""Differences of a check that are printed."""

_MATCH_FIELDS = ("scope", "type", "title", "description", "content", "tags", "importance")


@dataclass
class Check:
    """One promise: how often it was tried, and where it was not kept."""

    name: str
    compared: int = 0
    differences: list[str] = field(default_factory=list)
    furthest: float | None = None
    """How far two scores were apart at most, where scores were compared."""

    def same(self, what: str, ours: Any, theirs: Any) -> None:
        """Compare two values."""
        self.compared += 1
        if ours != theirs:
            self.differences.append(f"{what}: {_short(ours)} / {_short(theirs)}")

    def holds(self, what: str, kept: bool) -> None:  # noqa: FBT001 - a condition, as in an assertion
        """Note whether something is as it must be."""
        self.compared += 1
        if not kept:
            self.differences.append(what)


class Board:
    """All checks, in the order they were made."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def check(self, name: str) -> Check:
        """Begin a check."""
        self.checks.append(Check(name))
        return self.checks[-1]

    @property
    def failed(self) -> list[Check]:
        """Checks with differences, and those that compared nothing at all."""
        return [check for check in self.checks if check.differences or not check.compared]

    def lines(self) -> Iterator[str]:
        """The table, differences beneath it."""
        width = max(len(check.name) for check in self.checks)
        yield f"{'check':{width}}  compared  different"
        for check in self.checks:
            yield f"{check.name:{width}}  {check.compared:8}  {len(check.differences):9}"
        for check in self.failed:
            for text in check.differences[:_SHOWN] or ["nothing was compared"]:
                yield f"  {check.name}: {text}"


def look_alike(
    board: Board, title: str, ours: Ours, plugin: Plugin, root: Path, *, statuses: set[str]
) -> None:
    """Everything both programs say about a store that neither is writing.

    The plugin must have been started after the last write: it keeps what it has read until it
    writes itself.
    """
    scopes = plugin("scopes")
    listed = [{"key": each.key, "cwd": each.cwd} for each in ours.memory.scopes()]
    check = board.check(f"{title}: scopes listed")
    check.same("live", _sorted(listed), _sorted(scopes["live"]))
    archived = [{"key": each.key, "cwd": each.cwd} for each in ours.memory.scopes(archived=True)]
    check.same("archived", _sorted(archived), _sorted(scopes["archived"]))
    entries = board.check(f"{title}: entries read")
    states = board.check(f"{title}: state read")
    summaries = board.check(f"{title}: summary injected")
    found: set[str] = set()
    for cwd in PLACES:
        snapshot, theirs = ours.store.read_scope(_scope(cwd)), plugin("snapshot", cwd=cwd)
        for mine, other in zip_longest(snapshot.entries, theirs["entries"]):
            entries.same(f"an entry of {cwd!r}", mine and dict(mine.stored), other)
            if mine is not None:
                found.add(mine.status)
        pending = [each.stored for each in snapshot.state.pending_messages]
        states.same("pending", pending, theirs["state"]["pendingMessages"])
        seen = list(snapshot.state.seen_message_ids)
        states.same("seen", seen, theirs["state"]["seenMessageIds"])
        states.same("stages", snapshot.state.checkpoint_count, theirs["state"]["checkpointCount"])
        injected = plugin("recall", cwd=cwd, query="x", maxBytes=MAX_BYTES)["summary"]
        parts = [_summary(root, place) for place in dict.fromkeys(("", cwd))]
        joined = "\n\n".join(part for part in parts if part.strip())
        summaries.same(f"summary of {cwd!r}", truncate_utf8(joined, SUMMARY_BYTES), injected)
    board.check(f"{title}: statuses that occur").same("statuses", found, statuses)


def rank_alike(board: Board, title: str, ours: Ours, plugin: Plugin, asked: Sequence[str]) -> None:
    """The `reference` profile against the plugin's ranking, through both public recalls."""
    ranking = board.check(f"{title}: ranked alike")
    fields = board.check(f"{title}: matches alike")
    found = 0
    for cwd in PLACES:
        surfaced: list[str] = []
        for number, query in enumerate(asked):
            shown = surfaced if number % 4 == 0 else []
            mine = recall_ours(ours, query, cwd, shown)
            theirs = _recall_theirs(plugin, query, cwd, shown)
            _compare_rankings(ranking, fields, f"{query!r} in {cwd!r}", mine, theirs)
            surfaced = [match.id for match in mine.matches[:3]]
            found += bool(mine.matches)
    answered = board.check(f"{title}: most questions are answered")
    answered.holds("half of them or more were not", 2 * found > len(asked) * len(PLACES))


def rewrite_alike(board: Board, title: str, root: Path, *, core: Path, ticks: Ticks) -> None:
    """The plugin rewrites a copy of a store: not a byte of the entries changes."""
    copy = root.with_name(f"{root.name}-copy")
    shutil.copytree(root, copy)
    files = board.check(f"{title}: entries rewritten byte for byte")
    bodies = board.check(f"{title}: summary made alike")
    ours = Ours(root, ticks)
    with Plugin(core, copy, ticks) as plugin:
        for cwd in PLACES:
            plugin("rewrite", cwd=cwd, maxBytes=MAX_BYTES)
            files.same(f"entries of {cwd!r}", _entries_file(root, cwd), _entries_file(copy, cwd))
            key = scope_key(cwd)
            made = render_summary(
                ours.store.read_scope(_scope(cwd)).entries,
                kind=kind_of(key),
                max_bytes=MAX_BYTES,
                wording=CHINESE,
            )
            bodies.same(f"{cwd!r}", split_head(made)[1], split_head(_summary(copy, cwd))[1])
    ours.memory.close()


def session_stays_ours(board: Board, ours: Ours, plugin: Plugin) -> None:
    """What one conversation keeps is found in it and nowhere in the plugin."""
    check = board.check("ours: session layer unseen by the plugin")
    mine = ours.memory.recall(
        RecallInput(query=SESSION_MARK, cwd=SHOP, session_id=SESSION, limit=LIMIT)
    )
    found = any(SESSION_MARK in match.content for match in mine.matches)
    check.holds("not found in its own session", found)
    for cwd in PLACES:
        answers = [plugin("recall", cwd=cwd, query=SESSION_MARK), plugin("snapshot", cwd=cwd)]
        theirs = json.dumps(answers)
        check.holds(f"seen in {cwd!r}", SESSION_MARK not in theirs)


def raw_entries(root: Path, cwd: str) -> dict[str, bytes]:
    """The bytes of every entry in a file, by id."""
    text = _entries_file(root, cwd).decode()
    decoder, found, position = json.JSONDecoder(), {}, text.find("{")
    while position >= 0:
        entry, end = decoder.raw_decode(text, position)
        found[entry["id"]] = text[position:end].encode()
        position = text.find("{", end)
    return found


def recall_ours(ours: Ours, query: str, cwd: str, surfaced: Sequence[str] = ()) -> MemoryContext:
    """Our answer, as many matches as the plugin can give."""
    return ours.memory.recall(
        RecallInput(
            query=query,
            cwd=cwd,
            limit=LIMIT,
            max_bytes=MAX_BYTES,
            surfaced_ids=tuple(surfaced),
        )
    )


def _recall_theirs(plugin: Plugin, query: str, cwd: str, surfaced: Sequence[str]) -> list[Any]:
    matches: list[Any] = plugin(
        "recall",
        query=query,
        cwd=cwd,
        limit=LIMIT,
        maxBytes=MAX_BYTES,
        surfacedMemoryIds=list(surfaced),
    )["matches"]
    return matches


def _compare_rankings(
    ranking: Check, fields: Check, what: str, mine: MemoryContext, theirs: Sequence[Any]
) -> None:
    ours = [
        {
            "id": match.id,
            "score": match.score,
            "conflictWith": list(match.conflict_with),
            "status": match.status,
            **{name: getattr(match, name) for name in _MATCH_FIELDS},
            "tags": list(match.tags),
        }
        for match in mine.matches
    ]
    ids = [match["id"] for match in ours], [match["id"] for match in theirs]
    ranking.same(what, (mine.degraded, ids[0]), (None, ids[1]))
    for match, other in zip(ours, theirs, strict=False):
        apart = abs(match["score"] - other["score"])
        ranking.furthest = max(ranking.furthest or 0.0, apart)
        if apart > TOLERANCE:
            ranking.differences.append(f"{what}: {match['id']} scores {apart} apart")
    for match, other in zip(ours, theirs, strict=False):
        fields.same(f"{what}: {match['id']}", _comparable(match), _comparable(other))


def _comparable(match: Any) -> dict[str, Any]:
    shown = {name: match[name] for name in ("id", *_MATCH_FIELDS)}
    status, rivals = match.get("status", "active"), match.get("conflictWith", [])
    return {**shown, "status": status, "conflictWith": rivals}


def _scope(cwd: str) -> ScopeRef:
    return ScopeRef(scope_key(cwd), cwd)


def _folder(root: Path, cwd: str) -> Path:
    return root / "scopes" / scope_key(cwd) if cwd else root / "global"


def _entries_file(root: Path, cwd: str) -> bytes:
    return (_folder(root, cwd) / "memory_entries.json").read_bytes()


def _summary(root: Path, cwd: str) -> str:
    path = _folder(root, cwd) / "memory_summary.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _sorted(scopes: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """By key: the order of two directories depends on a collation."""
    return sorted(scopes, key=lambda scope: scope["key"])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
