"""Who answers the queries: our recall, our ranking alone, and peers over the same entries."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from wsmem.errors import SystemUnavailableError
from wsmem.evals.latency.figures import Sample
from wsmem.evals.latency.plan import BM25S, PLUGIN, RANKING
from wsmem.evals.latency.stores import CWD
from wsmem.evals.systems.registry import make_system
from wsmem.evals.systems.shared import library
from wsmem.records import RecallInput
from wsmem.store.access import system_clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wsmem.engine.memory import WorkspaceMemoryEngine
    from wsmem.evals.latency.figures import Outcome
    from wsmem.evals.latency.plan import LatencyPlan
    from wsmem.evals.latency.stores import TimedStore
    from wsmem.evals.synthetic import LabelledQuery
    from wsmem.records import MemoryContext

LIMIT = 8
"""Entries that each is asked for, as many as a host is given by default."""
PACKAGE = "@flowingspring/dsh-workspace-memory"

_SCRIPT = Path(__file__).with_name("plugin.mjs")


class Contestant(Protocol):
    """Somebody who answers queries, timed."""

    @property
    def name(self) -> str:
        """As in every table."""

    @property
    def build_s(self) -> float:
        """Seconds it took to take in the store."""

    def ask(self, query: str) -> float:
        """Answer; the milliseconds it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """A peer, or our ranking without the engine around it, in this process."""

    name: str
    build_s: float
    search: Callable[[str], object]

    def ask(self, query: str) -> float:
        """The time of one search."""
        started = time.perf_counter()
        self.search(query)
        return (time.perf_counter() - started) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginProcess:
    """The public plugin's engine in Node; it times itself, so the pipe costs it nothing."""

    process: subprocess.Popen[str]
    build_s: float
    name: str = PLUGIN

    def ask(self, query: str) -> float:
        """The time of one recall.

        Raises:
            SystemUnavailableError: the process has ended.
        """
        orders, news = self.process.stdin, self.process.stdout
        if orders is None or news is None:
            raise SystemUnavailableError(PLUGIN, "there is no pipe to it")
        try:
            orders.write(json.dumps({"query": query}) + "\n")
            orders.flush()
            told: dict[str, Any] = json.loads(news.readline())
        except (OSError, ValueError) as error:
            raise SystemUnavailableError(PLUGIN, "its process has ended") from error
        return float(told["ms"])


async def recall(
    engine: WorkspaceMemoryEngine, query: LabelledQuery, number: int, *, deadline_ms: float
) -> Sample:
    """One recall through the public call, timed by who waits for it."""
    request = RecallInput(query=query.text, cwd=CWD, deadline_ms=deadline_ms)
    started = time.perf_counter()
    context = await engine.recall(request)
    spent = (time.perf_counter() - started) * 1000
    return Sample(
        query=number,
        ms=spent,
        outcome=outcome_of(context),
        language=query.language,
        length=query.length,
    )


def outcome_of(context: MemoryContext) -> Outcome:
    """What the caller was given."""
    if context.degraded is None:
        return "whole"
    return "partial" if context.matches else "empty"


@contextmanager
def contestants(
    plan: LatencyPlan, store: TimedStore
) -> Iterator[tuple[list[Contestant], dict[str, str]]]:
    """Our ranking and every peer that can run here; and why the others cannot, by name."""
    found: list[Contestant] = [_ranking(store)]
    missing: dict[str, str] = {}
    with ExitStack() as stack:
        for name in plan.peers:
            try:
                if name == PLUGIN:
                    found.append(stack.enter_context(_plugin(plan, store)))
                elif name == BM25S:
                    found.append(_bm25s(store))
                else:
                    found.append(_peer(name, store))
            except SystemUnavailableError as error:
                missing[name] = error.reason
        # What one of them holds must not be walked through while another is being timed.
        gc.collect()
        gc.freeze()
        try:
            yield found, missing
        finally:
            gc.unfreeze()


def _ranking(store: TimedStore) -> Searching:
    from wsmem.retrieval.index import Index  # noqa: PLC0415  NumPy
    from wsmem.retrieval.profile import load_profile  # noqa: PLC0415
    from wsmem.retrieval.ranking import rank  # noqa: PLC0415

    started = time.perf_counter()
    index = Index.build(store.entries)
    built = time.perf_counter() - started
    profile, now = load_profile("default"), system_clock()
    return Searching(
        name=RANKING,
        build_s=built,
        search=lambda query: rank(index, query, profile, now=now, limit=LIMIT),
    )


def _bm25s(store: TimedStore) -> Searching:
    """What the library itself answers with, terms found inside the timed call as ours are.

    Raises:
        SystemUnavailableError: it is not installed.
    """
    from wsmem.retrieval.fields import searched_fields  # noqa: PLC0415
    from wsmem.text.analysis import terms  # noqa: PLC0415

    bm25s = library("bm25s", system=BM25S, extra="eval")
    started = time.perf_counter()
    retriever = bm25s.BM25(backend="numpy")
    retriever.index(
        [terms("\n".join(searched_fields(entry)[1])) for entry in store.entries],
        show_progress=False,
    )
    known, most = retriever.vocab_dict, min(LIMIT, len(store.entries))

    def search(query: str) -> object:
        wanted = [term for term in dict.fromkeys(terms(query)) if term in known]
        return retriever.retrieve([wanted], k=most, show_progress=False) if wanted else ()

    return Searching(name=BM25S, build_s=time.perf_counter() - started, search=search)


def _peer(name: str, store: TimedStore) -> Searching:
    started = time.perf_counter()
    prepared = make_system(name).prepare(store.entries, now=system_clock())
    built = time.perf_counter() - started
    return Searching(
        name=name, build_s=built, search=lambda query: prepared.search(query, limit=LIMIT)
    )


@contextmanager
def _plugin(plan: LatencyPlan, store: TimedStore) -> Iterator[PluginProcess]:
    """The plugin over a copy of the store, since it makes folders when it reads.

    Raises:
        SystemUnavailableError: there is no Node, or no plugin.
    """
    node = shutil.which("node")
    if node is None:
        raise SystemUnavailableError(PLUGIN, "it needs Node, and there is none on the path")
    if plan.plugin is None:
        reason = f"run: npm install {PACKAGE}, and name the folder by --plugin"
        raise SystemUnavailableError(PLUGIN, reason)
    core = Path(plan.plugin) / "node_modules" / PACKAGE / "lib" / "core.js"
    if not core.is_file():
        raise SystemUnavailableError(PLUGIN, f"{plan.plugin} holds no {PACKAGE}")
    with store.copy() as copy:
        process = subprocess.Popen(  # noqa: S603  Node and our own script
            [node, str(_SCRIPT), str(core.resolve()), str(copy.root), CWD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # the interrupt key is for who measures, and that ends this
        )
        try:
            asked = PluginProcess(process=process, build_s=0.0)
            asked.ask("")  # it has started, and can read this store
            yield asked
        finally:
            process.kill()
            process.communicate()
