"""What a measurement of latency is to do: sizes, states, peers, deadlines. Nothing has run yet."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import InvalidInputError, UnknownNameError
from wsmem.evals.systems.registry import PEERS

if TYPE_CHECKING:
    from collections.abc import Sequence

State = Literal[
    "warm",
    "committing",
    "writers",
    "snapshot",
    "fresh",
    "fresh-unfiled",
    "process",
    "process-unfiled",
]
"""Of the memory that is asked.

`warm`: one engine, its index built, nobody else at work. `committing`: while checkpoints commit in
the same engine, one after another. `writers`: while other processes commit to the same store.
`snapshot`: an engine whose index is built, and another process has changed the files since.
`fresh`: the first recall of an engine. `process`: `wsmem recall` as a whole process. Both find
postings where the memory is large enough to have them; `-unfiled`: the same without postings.
"""
STATES: tuple[State, ...] = get_args(State)

WSMEM, RANKING, BM25S, PLUGIN, BARE = "wsmem", "wsmem ranking", "bm25s", "plugin", "python"
"""Beside the systems that are scored: the public recall; the ranking in it alone; the bm25s library
asked as it wants to be asked, over the very terms of that ranking; the public plugin's recall; an
interpreter that is started to do nothing."""

OTHERS = (BM25S, *PEERS, PLUGIN)
"""Who may answer the same queries. `bm25` and its kind see no function words."""

SIZES = (100, 1_000, 2_000, 10_000)
PADDED = (1_000, 10_000)
CUTS = (5.0, 25.0, 50.0, 100.0, 250.0)
DEADLINE_MS = 250.0
"""What a host waits for."""
SMALLEST = 20
"""Entries of the smallest store: of each language a few, so that every query has one to ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyPlan:
    """The definition of a measurement.

    Raises:
        InvalidInputError: a number is out of range.
        UnknownNameError: there is no such state or peer.
    """

    sizes: tuple[int, ...] = SIZES
    """Entries of the stores that are timed."""
    states: tuple[State, ...] = STATES
    peers: tuple[str, ...] = OTHERS
    """Who answers the same queries in turn with a warm engine."""
    plugin: str | None = None
    """The folder the public plugin is installed in."""
    each: int = 20
    """Queries of every pair of language and length, while an engine is warm."""
    cold: int = 2
    """The same where every recall needs a process, an engine or a commit of its own."""
    budget_s: float = 3.0
    """How long a peer may take over all queries of a store; a slow one answers a spread of them."""
    commits: int = 10
    """Commits that must have happened before a recall beside them has been measured enough."""
    writers: int = 2
    """Processes that write."""
    pause_ms: float = 50.0
    """What each of them waits after a commit."""
    deadline_ms: float = DEADLINE_MS
    padded: tuple[int, ...] = PADDED
    """Entries of the stores in which the quality under a deadline is measured."""
    cuts: tuple[float, ...] = CUTS
    """Deadlines under which it is, in milliseconds."""
    asked: int = 24
    """Labelled queries of each workspace with a warm engine; a third of them with a fresh one."""
    split: str | None = None
    """Which labels of the sets; `None` is `test`, or the only ones."""
    seed: int = 7

    def __post_init__(self) -> None:
        for name in ("sizes", "padded"):
            for size in getattr(self, name):
                if size < SMALLEST:
                    raise InvalidInputError(f"a store of {size} entries is too small to be timed; "
                                            f"ask for {SMALLEST} or more")  # fmt: skip
        for name in ("each", "cold", "commits", "writers", "asked"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is 1 or more, not {getattr(self, name)}")
        for name in ("budget_s", "deadline_ms"):
            if not getattr(self, name) > 0:
                raise InvalidInputError(f"{name} is above 0, not {getattr(self, name)}")
        if self.seed < 0 or self.pause_ms < 0 or any(not cut >= 0 for cut in self.cuts):
            raise InvalidInputError("seed, pause and deadlines are 0 or more")
        for state in self.states:
            check_name("state", state, STATES)
        for peer in self.peers:
            check_name("peer", peer, OTHERS)

    def to_json(self) -> dict[str, Any]:
        """As a manifest keeps it; where the plugin is installed is nobody's concern."""
        told = {key: value for key, value in asdict(self).items() if key != "plugin"}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in told.items()}


def check_name(kind: str, name: str, known: Sequence[str]) -> None:
    """See that a name is known.

    Raises:
        UnknownNameError: it is not.
    """
    if name not in known:
        raise UnknownNameError(kind, name, tuple(known))
