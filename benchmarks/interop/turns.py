"""Both programs alive over one store, writing in turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.interop.checks import raw_entries, recall_ours
from benchmarks.interop.plugin import Plugin
from benchmarks.interop.stores import OTHER, PLACES, SHOP, contents, message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.interop.checks import Board
    from benchmarks.interop.stores import Ours
    from wsmem.records import MemoryEntry

SPARE_SEED = 99
"""For what stages add; unlike everything else, so that no program takes it for a new wording."""


def write_in_turn(
    board: Board,
    ours: Ours,
    plugin: Plugin,
    entries: Sequence[MemoryEntry],
    *,
    core: Path,
) -> None:
    """Let each program keep, forget, buffer and distil; the other must see it and lose nothing."""
    turns = _Turns(board, ours, plugin, core)
    spare = contents(len(entries), SPARE_SEED)
    for number in range(0, len(entries) - 1, 2):
        place = PLACES[number // 2 % len(PLACES)]
        turns.we_keep(entries[number], place, fresh=number % 8 == 0)
        turns.they_keep(entries[number + 1], place)
        if number % 6 == 0:
            turns.we_forget_theirs(entries[number + 1], place)
        if number % 6 == 2:
            turns.they_forget_ours(entries[number], place)
        if number % 8 == 4:
            turns.they_distil_what_we_buffered(number, spare.pop().content)
            turns.we_distil_what_they_buffered(number, spare.pop().content)
    turns.account()


class _Turns:
    def __init__(self, board: Board, ours: Ours, plugin: Plugin, core: Path) -> None:
        self._ours, self._plugin, self._core = ours, plugin, core
        self._root = Path(ours.store.layout.root)
        self._seen_by_us = board.check("in turn: their write in our next recall")
        self._seen_by_them = board.check("in turn: our write in theirs after they write")
        self._seen_fresh = board.check("in turn: our write in a fresh plugin")
        self._buffers = board.check("in turn: buffers shared, nothing distilled twice")
        self._forgotten = board.check("in turn: forgotten by either, found by neither")
        self._bytes = board.check("in turn: untouched entries keep their bytes")
        self._kept = board.check("in turn: nothing acknowledged is lost")
        self._written: dict[tuple[str, str], bytes] = {}
        """Bytes of every entry as its writer left it, by place and id."""
        self._gone: set[tuple[str, str]] = set()

    def we_keep(self, entry: MemoryEntry, place: str, *, fresh: bool) -> None:
        """We write; a plugin started now knows it at once."""
        entry_id = self._ours.remember(entry, place)
        self._note(place, entry_id)
        if fresh:
            with Plugin(self._core, self._root, self._ours.ticks) as newcomer:
                found = _ids_found(newcomer, entry.content, place)
            self._seen_fresh.holds(f"{entry_id} in {place!r}", entry_id in found)

    def they_keep(self, entry: MemoryEntry, place: str) -> None:
        """They write; we know it at the next recall, and they what we wrote before."""
        self._ours.ticks.step()
        before = raw_entries(self._root, place)
        self._plugin("remember", cwd=place, content=entry.content, tags=list(entry.tags))
        (entry_id,) = raw_entries(self._root, place).keys() - before.keys()
        self._note(place, entry_id)
        mine = {match.id for match in recall_ours(self._ours, entry.content, place).matches}
        self._seen_by_us.holds(f"{entry_id} in {place!r}", entry_id in mine)
        snapshot = {each["id"] for each in self._plugin("snapshot", cwd=place)["entries"]}
        self._seen_by_them.same(f"entries of {place!r}", snapshot, {*before, entry_id})

    def we_forget_theirs(self, entry: MemoryEntry, place: str) -> None:
        """We forget what they wrote."""
        entry_id = self._id_of(entry, place)
        self._ours.ticks.step()
        self._ours.memory.forget(entry_id, cwd=place)
        self._gone.add((place, entry_id))

    def they_forget_ours(self, entry: MemoryEntry, place: str) -> None:
        """They forget what we wrote."""
        entry_id = self._id_of(entry, place)
        self._ours.ticks.step()
        done = self._plugin("forget", cwd=place, id=entry_id)
        self._forgotten.holds(f"{entry_id} was not forgotten", done["deleted"])
        found = {match.id for match in recall_ours(self._ours, entry.content, place).matches}
        self._forgotten.holds(f"{entry_id} is still recalled", entry_id not in found)
        self._gone.add((place, entry_id))

    def they_distil_what_we_buffered(self, number: int, content: str) -> None:
        """Our messages wait in the store; their stage takes them, and we know them as seen."""
        waiting = message(f"ours-{number}", f"第 {number} 条消息：请记住发布流程")
        result = self._ours.stage(SHOP, waiting)
        self._buffers.same("accepted by us", result.accepted, 1)
        self._ours.ticks.step()
        before = raw_entries(self._root, SHOP)
        done = self._plugin(
            "checkpoint",
            cwd=SHOP,
            reason="explicit",
            messages=[waiting],
            operations=[{"op": "add", "content": content}],
        )
        distilled = [each["id"] for each in done["distilled"]]
        self._buffers.same("distilled by them", distilled, [waiting["id"]])
        self._buffers.same("known to them", done["result"]["accepted"], 0)
        for entry_id in raw_entries(self._root, SHOP).keys() - before.keys():
            self._note(SHOP, entry_id)
        again = self._ours.stage(SHOP, waiting, operations=[])
        self._buffers.same("seen by us", (again.accepted, again.status), (0, "empty"))

    def we_distil_what_they_buffered(self, number: int, content: str) -> None:
        """Their messages wait in the store; our stage takes them, and they know them as seen."""
        waiting = message(f"theirs-{number}", f"Note {number}: the release needs two reviews")
        self._ours.ticks.step()
        buffered = self._plugin("checkpoint", cwd=OTHER, reason="segment-end", messages=[waiting])
        self._buffers.same("accepted by them", buffered["result"]["accepted"], 1)
        before = raw_entries(self._root, OTHER)
        result = self._ours.stage(OTHER, waiting, operations=[{"op": "add", "content": content}])
        self._buffers.same("distilled by us", self._ours.distiller.distilled, [waiting["id"]])
        self._buffers.same("known to us", (result.accepted, result.added), (0, 1))
        for entry_id in raw_entries(self._root, OTHER).keys() - before.keys():
            self._note(OTHER, entry_id)
        again = self._plugin("checkpoint", cwd=OTHER, reason="explicit", messages=[waiting])
        self._buffers.same(
            "seen by them", (again["result"]["accepted"], again["distilled"]), (0, None)
        )

    def account(self) -> None:
        """Look for everything that was ever acknowledged."""
        for (place, entry_id), written in self._written.items():
            now = raw_entries(self._root, place).get(entry_id)
            self._kept.holds(f"{entry_id} in {place!r}", now is not None)
            if now is None:
                continue
            if (place, entry_id) in self._gone:
                self._forgotten.same(f"{entry_id} is", json.loads(now)["status"], "deleted")
            else:
                self._bytes.same(f"{entry_id} in {place!r}", now, written)

    def _note(self, place: str, entry_id: str) -> None:
        self._written[place, entry_id] = raw_entries(self._root, place)[entry_id]

    def _id_of(self, entry: MemoryEntry, place: str) -> str:
        raw = raw_entries(self._root, place)
        return next(i for i, data in raw.items() if json.loads(data)["content"] == entry.content)


def _ids_found(plugin: Plugin, query: str, place: str) -> list[Any]:
    answer = plugin("recall", query=query, cwd=place, limit=50, maxBytes=1_000_000_000)
    return [match["id"] for match in answer["matches"]]
