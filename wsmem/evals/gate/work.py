"""Counted work: what recalls on a fixed store touch, in numbers that no busy machine can change.

Timing never gates anything, because it depends on who else works on the machine. Counts do not: a
recall that suddenly reads a file again, analyses every entry, or loops over all of them is seen by
its count. They are taken from outside, by watching which functions of wsmem are entered and which
lines are executed, so that the ranking carries no counters.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import math
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.engine.memory import WorkspaceMemoryEngine
from wsmem.errors import WsmemError
from wsmem.evals.synthetic import NEWEST, synthetic_entries, synthetic_queries
from wsmem.evals.systems.pool_store import UnsyncedFiles
from wsmem.records import RecallInput
from wsmem.scopes import workspace_scope
from wsmem.settings import Settings
from wsmem.store.codec import entry_to_stored
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType

    from wsmem.records import MemoryEntry
    from wsmem.store.fs import FileStamp

    Hook = Callable[[FrameType, str, Any], Any]

Counted = Literal["postings", "candidates", "analysed", "steps", "bytes", "files", "looks"]
COUNTED: Mapping[Counted, str] = {
    "postings": "places of query terms in entries, gathered from the index",
    "candidates": "entries that were scored",
    "analysed": "entries whose texts were taken apart",
    "steps": "lines of wsmem that were executed",
    "bytes": "bytes read from files",
    "files": "files read",
    "looks": "files and folders looked at without being read",
}
State = Literal["first", "warm", "changed"]
"""`first`: a new engine without an index. `warm`: one that has it. `changed`: a warm one whose
store another process has just written to."""
STATES: tuple[State, ...] = get_args(State)

ENTRIES, SEED = 400, 6
RECALLS: Mapping[State, int] = {"first": 4, "warm": 24, "changed": 4}
"""How many are counted together."""

_NOW = round(NEWEST.timestamp() * 1000)
_CWD = "/counted/work"
_PACKAGE = str(Path(__file__).resolve().parents[2])
_RECALLING = "wsmem-recall"
"""Threads in which the engine answers begin their name so; others may work whenever they like."""

_ENTERED: tuple[tuple[Counted, str, str, str], ...] = (
    ("analysed", "wsmem.retrieval.fields", "searched_fields", ""),
    ("postings", "wsmem.retrieval.terms_query", "term_evidence", "question.documents"),
    ("candidates", "wsmem.retrieval.ranking", "_best", "scores"),
)
"""Functions that are watched. A call counts 1, or as many as an argument, or a field of it, has
items."""


class CountingError(WsmemError):
    """What the gate counts is no longer there to be counted; nothing was judged."""

    def __init__(self, function: str, problem: str) -> None:
        super().__init__(function, problem)  # args rebuild the error when unpickled
        self.function, self.problem = function, problem

    def __str__(self) -> str:
        return f"{self.function} {self.problem}; say in wsmem/evals/gate/work.py what to count now"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRecord:
    """What was counted, by state and kind: sums over its recalls."""

    store: str
    """Names the entries and queries: equal counts need equal ones."""
    python: str
    """Version of the interpreter, `3.11`: others execute other lines."""
    counts: Mapping[State, Mapping[Counted, int]]


def count_work(*, entries: int = ENTRIES, seed: int = SEED) -> WorkRecord:
    """Count recalls in every state, under the settings that hosts have by default.

    Raises:
        CountingError: a function that is watched does not exist or takes other arguments.
    """
    held = synthetic_entries(entries, seed=seed)
    queries = [query.text for query in synthetic_queries(held, max(RECALLS.values()), seed=seed)]
    # Recalls remember texts and terms they saw; a first round makes every count a second one.
    asyncio.run(_counts(held, queries, watched=False))
    return WorkRecord(
        store=_named(held, queries),
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        counts=asyncio.run(_counts(held, queries, watched=True)),
    )


async def _counts(
    entries: Sequence[MemoryEntry], queries: Sequence[str], *, watched: bool
) -> dict[State, dict[Counted, int]]:
    with tempfile.TemporaryDirectory(prefix="wsmem-work-") as folder:
        trial = _Trial(folder, entries)
        found = {}
        for state in STATES:
            tally = _Tally()
            with tally.watching() if watched else nullcontext():
                await trial.ask(state, queries[: RECALLS[state]], tally)
            found[state] = {kind: tally.counts[kind] for kind in COUNTED}
    return found


class _Trial:
    """A store with engines over it."""

    def __init__(self, folder: str, entries: Sequence[MemoryEntry]) -> None:
        self._folder = folder
        self._scope = workspace_scope(_CWD)
        self._entries = tuple(entries)
        self._writer = MemoryStore(folder, fs=UnsyncedFiles(), clock=lambda: _NOW)
        self._write(self._entries)

    def _write(self, entries: Sequence[MemoryEntry]) -> None:
        with self._writer.transaction(self._scope) as transaction:
            transaction.set_entries(self._scope, tuple(entries))

    def _engine(self, tally: _Tally) -> WorkspaceMemoryEngine:
        store = MemoryStore(self._folder, fs=_CountedFiles(tally), clock=lambda: _NOW)
        settings = Settings(memory_dir=self._folder)
        return WorkspaceMemoryEngine(settings, store=store, clock=lambda: _NOW)

    async def ask(self, state: State, queries: Sequence[str], tally: _Tally) -> None:
        """Ask every query in this state; only the recalls themselves are tallied."""
        engine = self._engine(tally)
        if state != "first":
            await engine.warm(cwd=_CWD)
            for query in queries:
                await self._recall(engine, query, tally, counted=False)
        for number, query in enumerate(queries):
            if state == "first" and number:
                await engine.close()
                engine = self._engine(tally)
            if state == "changed":
                self._write(self._with_change(number))
            await self._recall(engine, query, tally, counted=True)
        await engine.close()

    async def _recall(
        self, engine: WorkspaceMemoryEngine, query: str, tally: _Tally, *, counted: bool
    ) -> None:
        tally.on = counted
        await engine.recall(RecallInput(query=query, cwd=_CWD, deadline_ms=math.inf))
        tally.on = False

    def _with_change(self, number: int) -> list[MemoryEntry]:
        """The entries, one of them with the text of another."""
        from dataclasses import replace  # noqa: PLC0415

        changed = list(self._entries)
        changed[number] = replace(changed[number], content=changed[-1 - number].content)
        return changed


class _Tally:
    """Counts while it is on and somebody watches."""

    def __init__(self) -> None:
        self.on = False
        self.counts: Counter[Counted] = Counter()
        self._entered = {
            _code(module, function, counted): (kind, counted, f"{module}.{function}")
            for kind, module, function, counted in _ENTERED
        }

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread, and all that begin meanwhile."""
        before, before_others = sys.gettrace(), threading.gettrace()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before_others)

    def add(self, kind: Counted, number: int) -> None:
        """Count something that happened in the thread that answers."""
        if self.on and threading.current_thread().name.startswith(_RECALLING):
            self.counts[kind] += number

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Hook | None:
        """A function was entered; says who is told what becomes of it."""
        code = frame.f_code
        if not self.on or not code.co_filename.startswith(_PACKAGE):
            return None
        if code in self._entered:
            kind, counted, name = self._entered[code]
            self.add(kind, _items(frame, counted, name) if counted else 1)
        return self._within

    def _within(self, _frame: FrameType, event: str, _argument: Any) -> Hook:
        if event == "line":
            self.add("steps", 1)
        return self._within


class _CountedFiles(UnsyncedFiles):
    """Files as they are, with what is read of them counted."""

    def __init__(self, tally: _Tally) -> None:
        self._tally = tally

    def read(self, path: str) -> tuple[bytes, FileStamp] | None:
        """Read a file."""
        found = super().read(path)
        if found is not None:
            self._tally.add("files", 1)
            self._tally.add("bytes", len(found[0]))
        return found

    def stamp(self, path: str) -> FileStamp | None:
        """Look at a file."""
        self._tally.add("looks", 1)
        return super().stamp(path)

    def names(self, path: str) -> list[str]:
        """Look into a folder."""
        self._tally.add("looks", 1)
        return super().names(path)


def _code(module: str, function: str, counted: str) -> CodeType:
    found = getattr(importlib.import_module(module), function, None)
    code: CodeType | None = getattr(found, "__code__", None)
    if code is None:
        raise CountingError(f"{module}.{function}", "does not exist")
    argument = counted.partition(".")[0]
    if argument and argument not in code.co_varnames[: code.co_argcount]:
        raise CountingError(f"{module}.{function}", f"takes no {argument}")
    return code


def _items(frame: FrameType, counted: str, name: str) -> int:
    """How many items an argument, or a field of it, has."""
    argument, _, field = counted.partition(".")
    found = frame.f_locals[argument]
    if field:
        found = getattr(found, field, None)
    if found is None:
        raise CountingError(name, f"is given no {counted}")
    return len(found)


def _named(entries: Sequence[MemoryEntry], queries: Sequence[str]) -> str:
    """A checksum of the fixed store."""
    said = repr(([entry_to_stored(entry) for entry in entries], list(queries)))
    return hashlib.sha256(said.encode()).hexdigest()[:16]
