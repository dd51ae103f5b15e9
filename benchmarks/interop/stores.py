"""Two stores with the same kinds of memory in them, one made by each program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.interop.plugin import InteropError
from wsmem.engine.reports import RememberInput
from wsmem.engine.sync import SyncMemory
from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.operations.contract import DistillOutput, DistillRequest
from wsmem.records import CheckpointInput, MemoryEntry, MemoryMessage
from wsmem.scopes import scope_key
from wsmem.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.interop.plugin import Plugin
    from wsmem.records import Layer

SHOP, OTHER, OLD = "/srv/interop/商店", "/srv/interop/other", "/srv/interop/old"
PLACES = (SHOP, OTHER, "")
"""Where memory is; the empty one is global."""

SESSION, SESSION_MARK = "session-1", "quartzmark"
"""A conversation and a word that only its own layer holds."""

START_MS = 1_788_220_800_000
HOUR_MS = 3_600_000

PORT, PORT_NOW = "订单服务监听端口 8443", "订单服务监听端口 9443"
CACHE, CACHE_RIVAL = "The session cache lives in Redis 7", "The session cache lives in Valkey 8"
CORRECTION = "不对，订单服务监听端口 9443，8443 那个早就不用了。"
UNKNOWN = {"x-origin": {"tool": "手写", "lines": [1, 2.5, None, True]}, "note": "keep me 🚀"}

_SPECIAL_QUERIES = (
    *(PORT, PORT_NOW, CACHE, "端口", "9443", "redis", "cache lives", "Valkey 8", SESSION_MARK),
    *("的", "a", "！？", "🚀", "  ", "C++", "src/", "token", "ＲＥＤＩＳ", "订单 cache 端口"),
)


class Ticks:
    """The common clock; every step is another hour, so that no two writes share a time."""

    def __init__(self) -> None:
        self._now = START_MS

    def __call__(self) -> int:
        return self._now

    def step(self) -> None:
        """Let an hour and a bit pass."""
        self._now += HOUR_MS + 1


class Prepared:
    """A distiller that proposes what it was told to, and notes what it was given."""

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.distilled: list[str] | None = None
        """Ids of the messages of the last stage."""

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        self.distilled = [each.id for each in request.messages]
        return DistillOutput(answer={"version": 1, "operations": self.operations})


class Ours:
    """wsmem over one store, with the `reference` profile and answers prepared for its stages."""

    def __init__(self, root: Path, ticks: Ticks) -> None:
        self.ticks = ticks
        self.distiller = Prepared()
        self.memory = SyncMemory(
            Settings(memory_dir=str(root), profile="reference", deadline_ms=HOUR_MS),
            distiller=self.distiller,
            clock=ticks,
        )
        self.store = self.memory.engine.store

    def remember(self, entry: MemoryEntry, cwd: str, layer: Layer = "workspace") -> str:
        """Keep what an entry says; the id it got."""
        self.ticks.step()
        request = RememberInput(
            content=entry.content,
            cwd=cwd,
            session_id=SESSION if layer == "session" else None,
            layer=layer,
            type=entry.type,
            title=entry.title or None,
            description=entry.description or None,
            tags=entry.tags,
            retrieval_terms=entry.retrieval_terms,
            importance=entry.importance,
        )
        return self.memory.remember(request).entry_id

    def stage(
        self,
        cwd: str,
        *messages: dict[str, str],
        operations: Sequence[Any] | None = None,
    ) -> Any:
        """Hand over messages; distil them at once into `operations`, if any are given."""
        self.ticks.step()
        self.distiller.operations = list(operations or ())
        self.distiller.distilled = None
        result = self.memory.checkpoint(
            CheckpointInput(
                reason="segment-end" if operations is None else "explicit",
                cwd=cwd,
                messages=[MemoryMessage(**message) for message in messages],  # type: ignore[arg-type]  # roles are literals below
            )
        )
        if result.error:
            raise InteropError(f"our checkpoint failed: {result.error}")
        return result


def contents(count: int, seed: int) -> list[MemoryEntry]:
    """What a grown store says: Chinese, English and mixed."""
    return synthetic_entries(count, seed=seed)


def queries(entries: Sequence[MemoryEntry], count: int, seed: int) -> list[str]:
    """Questions about these entries, and some that are odd."""
    asked = synthetic_queries(entries, count, seed=seed)
    return [*(query.text for query in asked), *_SPECIAL_QUERIES]


def message(number: str, text: str, role: str = "user") -> dict[str, str]:
    """One message of a conversation."""
    return {"id": f"message-{number}", "role": role, "text": text}


def place_of(number: int) -> str:
    """Which scope an entry goes to: mostly the workspace, every fifth is global."""
    return "" if number % 5 == 0 else OTHER if number % 7 == 0 else SHOP


def fill_ours(ours: Ours, entries: Sequence[MemoryEntry]) -> None:
    """Fill a store through our public calls, with every status and layer."""
    kept = [ours.remember(entry, place_of(n)) for n, entry in enumerate(entries)]
    port = ours.remember(MemoryEntry(id="", content=PORT, importance=2), SHOP)
    cache = ours.remember(MemoryEntry(id="", content=CACHE), SHOP)
    ours.remember(MemoryEntry(id="", content=f"{CACHE} today"), SHOP)  # a revision of the same
    operations = _operations(port, cache)
    result = ours.stage(SHOP, message("1", CORRECTION), operations=operations)
    _expect("our stage", (result.superseded, result.conflicts), (1, 1))
    ours.memory.forget(kept[1], cwd=SHOP)
    ours.remember(MemoryEntry(id="", content=f"只在本次会话 {SESSION_MARK}"), SHOP, "session")
    ours.stage(OTHER, message("2", "等一下再说"), message("3", "All right.", "assistant"))
    ours.remember(MemoryEntry(id="", content="旧项目使用 SVN 保存源码"), OLD)
    ours.memory.archive(cwd=OLD)
    key = scope_key(SHOP)
    scope = next(each for each in ours.memory.scopes() if each.key == key)
    first, *others = ours.store.read_scope(scope).entries
    strange = MemoryEntry.from_stored({**first.stored, **UNKNOWN})
    ours.store.update([scope], lambda tx: tx.set_entries(scope, [strange, *others]))


def fill_theirs(plugin: Plugin, ticks: Ticks, root: Path, entries: Sequence[MemoryEntry]) -> None:
    """The same through the plugin's calls; it has to be started afresh afterwards."""

    def remember(entry: MemoryEntry, cwd: str) -> None:
        ticks.step()
        fields = {
            "content": entry.content,
            "type": entry.type,
            "title": entry.title,
            "description": entry.description,
            "tags": entry.tags,
            "retrievalTerms": entry.retrieval_terms,
            "importance": entry.importance,
        }
        plugin("remember", cwd=cwd, **fields)

    for number, entry in enumerate(entries):
        remember(entry, place_of(number))
    for content in (PORT, CACHE, f"{CACHE} today"):
        remember(MemoryEntry(id="", content=content), SHOP)
    by_content = {
        entry["content"]: entry["id"] for entry in plugin("snapshot", cwd=SHOP)["entries"]
    }
    operations = _operations(by_content[PORT], by_content[f"{CACHE} today"])
    ticks.step()
    staged = [message("1", CORRECTION)]
    done = plugin(
        "checkpoint", cwd=SHOP, reason="explicit", messages=staged, operations=operations
    )["result"]
    _expect("the plugin's stage", (done["superseded"], done["conflicts"]), (1, 1))
    plugin("forget", cwd=SHOP, id=by_content[entries[1].content])
    waiting = [message("2", "等一下再说"), message("3", "All right.", "assistant")]
    plugin("checkpoint", cwd=OTHER, reason="segment-end", messages=waiting)
    remember(MemoryEntry(id="", content="旧项目使用 SVN 保存源码"), OLD)
    plugin("archive", cwd=OLD)
    path = root / "scopes" / scope_key(SHOP) / "memory_entries.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored[0] |= UNKNOWN
    path.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _operations(port: str, cache: str) -> list[dict[str, Any]]:
    """A correction with its evidence, and a contradiction nobody has settled."""
    return [
        {
            "op": "supersede",
            "scope": "workspace",
            "targetId": port,
            "oldQuote": PORT,
            "newQuote": PORT_NOW,
            "evidenceMessageIds": ["message-1"],
            "content": PORT_NOW,
        },
        {"op": "flag-conflict", "scope": "workspace", "targetId": cache, "content": CACHE_RIVAL},
    ]


def _expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise InteropError(f"{what} did {found}, not {wanted}: the store lacks what is compared")
