"""Replay a recorded engine run on our engine, in the form in which it was recorded.

What is not compared, in any run: folders; the wording of headings, labels and reasons (recorded
words are translated to ours); the random part of file names; which target a refused operation named
in the audit; entry files that hold an empty list, and `scope.json` in scopes that were only read,
both of which reading creates there and not here; files that only wsmem has.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from fast_files import FastFiles
from operation_builders import CountedIds

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.engine.reports import RememberInput
from wsmem.engine.testing import DistillerError, ManualTime
from wsmem.errors import (
    ArchivedScopeError,
    InvalidInputError,
    MemoryIdError,
    RefusedMemoryError,
)
from wsmem.operations.contract import DistillOutput
from wsmem.operations.parsing import parse_output
from wsmem.records import CheckpointInput, MemoryMessage, RecallInput
from wsmem.settings import Settings
from wsmem.store.layout import ScopeRef
from wsmem.store.store import MemoryStore
from wsmem.store.wording import CHINESE

if TYPE_CHECKING:
    from pathlib import Path

    from wsmem.operations.contract import DistillRequest
    from wsmem.records import MemoryContext, MemoryMatch
    from wsmem.store.snapshot import ScopeSnapshot

WORDS = {
    "# 全局记忆": f"# {CHINESE.global_heading}",
    "# 项目记忆": f"# {CHINESE.workspace_heading}",
    "由 dsh-workspace-memory 维护的长期事实。": CHINESE.note,
    "# Memory checkpoint ": f"# {CHINESE.checkpoint} ",
    "Reason: ": f"{CHINESE.reason}: ",
    "## Conversation": f"## {CHINESE.conversation}",
    "## Durable facts": f"## {CHINESE.facts}",
    "## Operation audit": f"## {CHINESE.audit}",
    "- (none)": f"- {CHINESE.nothing}",
    "(invalid operation)": CHINESE.invalid,
    "- accepted: ": f"- {CHINESE.accepted}: ",
    "- rejected: ": f"- {CHINESE.refused}: ",
    "Result: ": f"{CHINESE.result}: ",
}
SETTINGS = {
    "checkpointTurns": "checkpoint_turns",
    "checkpointChars": "checkpoint_chars",
    "checkpointMaxChars": "checkpoint_max_chars",
    "idleCheckpointMs": "idle_checkpoint_ms",
    "consolidateEvery": "consolidate_every",
    "keepSummaryVersions": "keep_summary_versions",
    "summaryMaxBytes": "summary_max_bytes",
    "surfacedPenalty": "surfaced_penalty",
}


def in_our_words(text: str) -> str:
    """A recorded text with the plugin's fixed words replaced by ours."""
    for theirs, ours in WORDS.items():
        text = text.replace(theirs, ours)
    return text


class CountedUuids:
    """UUIDs that sort in the order they were made, so that file names of one moment do, too."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self) -> str:
        self._made += 1
        digits = f"{self._made:012x}"
        return f"{digits[:8]}-{digits[8:]}-4000-8000-000000000000"


class RecordedRun:
    """One case of `engine.json`, replayed under a folder."""

    def __init__(self, case: dict[str, Any], root: Path) -> None:
        self.given = case["input"]
        self.root = root
        self.time = ManualTime(self.given["startMs"])
        self._answers: list[dict[str, Any] | None] = []
        self._calls: list[list[dict[str, Any]]] = []
        self._during: list[list[dict[str, Any]]] = []

    async def replay(self) -> dict[str, Any]:
        """Run all steps; step results and files in the recorded form."""
        for path, text in self.given.get("seedFiles", {}).items():
            self._write(path, text)
        for path in self.given.get("seedDirs", ()):
            (self.root / path).mkdir(parents=True)
        config = {SETTINGS[name]: value for name, value in self.given.get("config", {}).items()}
        settings = Settings(memory_dir=str(self.root), profile="reference", language="zh", **config)
        store = MemoryStore(self.root, fs=FastFiles(), clock=self.time.now, new_id=CountedUuids())
        engine = WorkspaceMemoryEngine(
            settings,
            distiller=self._distil,
            store=store,
            clock=self.time.now,
            sleep=self.time.sleep,
            ids=CountedIds(),
        )
        try:
            steps = [await self._step(engine, step) for step in self.given["steps"]]
        finally:
            await engine.close()
        return {"steps": steps, "files": self._files()}

    async def _step(self, engine: WorkspaceMemoryEngine, step: dict[str, Any]) -> dict[str, Any]:
        operation = step["op"]
        if operation == "advance":
            self.time.ms += step["ms"]
            return {"op": operation}
        if operation == "writeFile":
            self._write(step["path"], step["text"])
            return {"op": operation}
        if operation == "checkpoint":
            return await self._checkpoint(engine, step)
        try:
            result = await getattr(self, f"_{operation}")(engine, step)
        except (RefusedMemoryError, ArchivedScopeError):
            return {"op": operation, "error": True}
        return {"op": operation, "result": result}

    async def _remember(self, engine: WorkspaceMemoryEngine, step: dict[str, Any]) -> Any:
        given = step["input"]
        (proposal,) = parse_output([{**given, "importance": None}])
        told = proposal.operation
        result = await engine.remember(
            RememberInput(
                content=told.content,
                cwd=given.get("cwd", ""),
                layer="global" if told.scope == "global" else "workspace",
                type=told.type,
                title=told.title,
                description=told.description,
                tags=told.tags,
                retrieval_terms=told.retrieval_terms,
                importance=given.get("importance"),
            )
        )
        return {"scope": result.scope, "added": result.added, "updated": result.updated,
                "ignored": result.ignored}  # fmt: skip

    async def _forget(self, engine: WorkspaceMemoryEngine, step: dict[str, Any]) -> Any:
        given = step["input"]
        try:
            result = await engine.forget(given["id"], cwd=given.get("cwd", ""))
        except MemoryIdError as error:
            return {"scope": error.scope, "deleted": False}
        return {"scope": result.scope, "deleted": True}

    async def _recall(self, engine: WorkspaceMemoryEngine, step: dict[str, Any]) -> Any:
        given = step["input"]
        context = await engine.recall(
            RecallInput(
                query=given["query"],
                cwd=given.get("cwd", ""),
                limit=given.get("limit"),
                max_bytes=given.get("maxBytes"),
                deadline_ms=math.inf,
                surfaced_ids=tuple(given.get("surfacedMemoryIds", ())),
            )
        )
        assert context.degraded is None
        return context_as_recorded(context)

    async def _checkpoint(
        self, engine: WorkspaceMemoryEngine, step: dict[str, Any]
    ) -> dict[str, Any]:
        given = step["input"]
        messages = given.get("messages")
        self._answers.append(step.get("distill"))
        self._calls.append([])
        self._during.append([])
        self._engine = engine
        result = await engine.checkpoint(
            CheckpointInput(
                reason=given["reason"],
                cwd=given.get("cwd", ""),
                force=given.get("force", False),
                messages=[
                    MemoryMessage(id=item["id"], role=item["role"], text=item.get("text", ""))
                    for item in (messages if isinstance(messages, list) else [])
                    if isinstance(item, dict)
                ],
            )
        )
        self._answers.pop()
        recorded: dict[str, Any] = {
            "status": result.status, "scope": result.scope, "accepted": result.accepted,
            "pending": result.pending, "added": result.added, "updated": result.updated,
            "ignored": result.ignored,
        }  # fmt: skip
        if result.status == "committed":
            recorded |= {"superseded": result.superseded, "conflicts": result.conflicts}
        if result.error is not None:
            recorded["error"] = True
        found = {"op": "checkpoint", "result": recorded, "distillCalls": self._calls.pop()}
        during = self._during.pop()
        return {**found, "during": during} if during else found

    async def _distil(self, request: DistillRequest) -> DistillOutput:
        answer = self._answers[-1]
        assert answer is not None, "the distiller must not be called"
        self._calls[-1].append(
            {
                "scope": request.scope,
                "cwd": request.cwd,
                "reason": request.reason,
                "messages": [
                    {"id": item.id, "role": item.role, "text": item.text}
                    for item in request.messages
                ],
                "existingEntryIds": [entry.id for entry in request.existing],
            }
        )
        for step in answer.get("during", ()):
            self._during[-1].append(await self._step(self._engine, step))
        if "throws" in answer:
            raise DistillerError(answer["throws"])
        return DistillOutput(answer=answer.get("returns"))

    async def _listScopes(self, engine: WorkspaceMemoryEngine, _: Any) -> Any:  # noqa: N802
        return [{"key": item.key, "cwd": item.cwd} for item in await engine.scopes()]

    async def _listArchivedScopes(self, engine: WorkspaceMemoryEngine, _: Any) -> Any:  # noqa: N802
        return [{"key": item.key, "cwd": item.cwd} for item in await engine.scopes(archived=True)]

    async def _archiveScope(self, engine: WorkspaceMemoryEngine, step: Any) -> Any:  # noqa: N802
        try:
            return await engine.archive(cwd=step["cwd"]) == "moved"
        except InvalidInputError:
            return False

    async def _purgeArchivedScope(self, engine: WorkspaceMemoryEngine, step: Any) -> Any:  # noqa: N802
        try:
            return await engine.purge_archived(cwd=step["cwd"])
        except InvalidInputError:
            return False

    async def _readSnapshot(self, engine: WorkspaceMemoryEngine, step: Any) -> Any:  # noqa: N802
        view = await engine.show(cwd=step["cwd"])
        return _snapshot(engine.store.read_scope(ScopeRef(view.scope)), view.scope, step["cwd"])

    async def _readArchivedSnapshot(self, engine: WorkspaceMemoryEngine, step: Any) -> Any:  # noqa: N802
        view = await engine.show(cwd=step["cwd"], archived=True)
        return _snapshot(engine.store.read_archived(view.scope), view.scope, step["cwd"])

    def _write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")

    def _files(self) -> dict[str, Any]:
        texts = {
            str(path.relative_to(self.root)): in_our_words(path.read_text(encoding="utf-8"))
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }
        return comparable_files(texts, self.given)


def recorded_form(case: dict[str, Any]) -> dict[str, Any]:
    """What was recorded, in the words and the form in which ours are compared."""
    expected = case["expected"]
    steps = [_recorded_step(step) for step in expected["steps"]]
    files = {path: in_our_words(text) for path, text in expected["files"].items()}
    return {"steps": steps, "files": comparable_files(files, case["input"])}


def comparable_files(texts: dict[str, str], given: dict[str, Any]) -> dict[str, Any]:
    """Files by path, random names numbered, JSON decoded where only its value counts."""
    kept = {
        path: text
        for path, text in texts.items()
        if not path.startswith(".wsmem/")
        and not path.endswith("/wsmem.json")
        and "/set-aside/" not in path
        and not (path.endswith("/memory_entries.json") and text.strip() == "[]")
    }
    seeds = {path: in_our_words(text) for path, text in given.get("seedFiles", {}).items()}
    found: dict[str, Any] = {}
    numbers: dict[str, int] = {}
    for path, text in sorted(kept.items()):
        folder, _, name = path.rpartition("/")
        if name == "scope.json":
            written = (
                other
                for other in kept
                if other.startswith(f"{folder}/") and kept[other] != seeds.get(other)
            )
            if path in seeds or any(other != path for other in written):
                found[path] = _decoded(text)
        elif folder.endswith(("/summary_history", "/checkpoints")):
            moment = re.sub(r"[-.][0-9a-f]{8}-[0-9a-f]{4}-.*", "", name)
            stem = f"{folder}/{moment}"
            numbers[stem] = numbers.get(stem, 0) + 1
            found[f"{stem}#{numbers[stem]}"] = (
                _audit(text) if folder.endswith("/checkpoints") else text
            )
        else:
            found[path] = text
    return found


def context_as_recorded(context: MemoryContext) -> dict[str, Any]:
    """A recall's answer in the recorded form."""
    return {
        "scope": context.scope,
        "summary": context.summary,
        "matches": [_match(match) for match in context.matches],
    }


def _match(match: MemoryMatch) -> dict[str, Any]:
    found = {
        "id": match.id, "scope": match.scope, "title": match.title,
        "description": match.description, "type": match.type, "content": match.content,
        "tags": list(match.tags), "importance": match.importance, "score": round(match.score, 9),
    }  # fmt: skip
    if match.status != "active":
        found |= {"status": match.status, "conflictWith": list(match.conflict_with)}
    return found


def _recorded_step(step: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in step.items() if key in {"op", "distillCalls", "during"}}
    if "during" in found:
        found["during"] = [_recorded_step(inner) for inner in found["during"]]
    if "error" in step:
        return {**found, "error": True}
    result = step.get("result")
    if step["op"] in {"writeFile", "advance"}:
        return {"op": step["op"]}
    if isinstance(result, dict):
        result = dict(result)
        if "error" in result:
            result["error"] = True
        if "summary" in result:
            result["summary"] = in_our_words(result["summary"])
        if "matches" in result:
            result["matches"] = [
                {**match, "score": round(match["score"], 9)}
                | ({"conflictWith": match.get("conflictWith", [])} if "status" in match else {})
                for match in result["matches"]
            ]
    return {**found, "result": result}


def _snapshot(snapshot: ScopeSnapshot, key: str, cwd: str) -> dict[str, Any]:
    state = snapshot.state
    return {
        "scope": {"key": key, "cwd": cwd},
        "summary": snapshot.summary,
        "entries": [dict(entry.stored) for entry in snapshot.entries],
        "state": {
            "version": state.version,
            "checkpointCount": state.checkpoint_count,
            "lastCheckpointAt": state.last_checkpoint_at,
            "lastBufferedAt": state.last_buffered_at,
            "pendingMessages": [
                {**item.stored, "id": item.id, "role": item.role, "text": item.text}
                for item in state.pending_messages
            ],
            "seenMessageIds": list(state.seen_message_ids),
        },
    }


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _audit(text: str) -> str:
    """A checkpoint file without the reasons for decisions, which are worded freely."""
    text = re.sub(rf"(?m)^(- {CHINESE.accepted}: .*?) \(.*\)$", r"\1", text)
    return re.sub(rf"(?m)^(- {CHINESE.refused}: \S+).*$", r"\1", text)
