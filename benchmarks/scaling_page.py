"""The tables of scaling.md: measured figures, and what follows from them by stated arithmetic."""

from __future__ import annotations

import json
import random
from bisect import bisect
from collections import OrderedDict
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.docs import markdown_table, with_part
from wsmem.engine.corpora import patience

FOLDER = Path(__file__).resolve().parent
PAGE, RESULTS = FOLDER / "scaling.md", FOLDER / "results" / "scaling.json"

SMALLEST, LARGEST = 20, 2000
"""Entries of a workspace."""
IN_GLOBAL = 100
"""Entries of the global scope, which takes part in every recall."""
COUNTS = (1, 100, 10_000)
_SIMULATED = 20_000
_SEED, _SIZES_SEED = 15, 11
_MB = 1 << 20


def sizes(count: int) -> list[int]:
    """Entries of each workspace: the quantiles of the law, in a seeded order."""
    spread = 1 - SMALLEST / LARGEST
    found = [round(SMALLEST / (1 - (k + 0.5) / count * spread)) for k in range(count)]
    random.Random(_SIZES_SEED).shuffle(found)
    return found


class Stream:
    """Which workspace is asked next: the k-th most popular 1/k as often as the first."""

    def __init__(self, count: int) -> None:
        self._cumulative = list(accumulate(1 / (k + 1) for k in range(count)))
        self._chance = random.Random(_SEED)

    def next(self) -> int:
        """A workspace's number."""
        return bisect(self._cumulative, self._chance.random() * self._cumulative[-1])


class Spent(NamedTuple):
    """What a recall of a stream does in the mean, after as many recalls to settle down."""

    shares: dict[str, float]
    """Of the recalls, how many do what. `read`: the workspace was not among the parsed ones and is
    read. `scan`: it has no index yet. `build`: it is asked the second time since it is among the
    indexed ones, which builds it. `warm`: the index answers."""
    seconds: float
    """Of the processor."""


@cache
def stream(
    count: int, kept: tuple[int, int], costs: tuple[tuple[str, float], ...], mean: float
) -> Spent:
    """Run a stream through the two lists.

    Args:
        count: Workspaces.
        kept: How many of them stay parsed and how many indexed, those asked last.
        costs: Seconds of each thing in a workspace of mean size. Reading takes longer in
            proportion to the workspace's entries, everything else with the global ones besides.
        mean: Entries of that workspace.
    """
    each, order = sizes(count), Stream(count)
    found, spent = dict.fromkeys((name for name, _ in costs), 0), 0.0
    parsed: OrderedDict[int, int] = OrderedDict()
    indexed: OrderedDict[int, int] = OrderedDict()
    for at in range(2 * _SIMULATED):
        number = order.next()
        uses = indexed.get(number, 0) + 1
        last = 1 + patience(each[number] + IN_GLOBAL)
        done = {"warm": uses > last, "scan": uses <= last, "build": uses == last}
        done["read"] = number not in parsed
        _touch(parsed, number, 1, kept[0])
        _touch(indexed, number, uses, kept[1])
        if at >= _SIMULATED:
            ranked = (each[number] + IN_GLOBAL) / (mean + IN_GLOBAL)
            for name, cost in costs:
                found[name] += done[name]
                spent += done[name] * cost * (each[number] / mean if name == "read" else ranked)
    shares = {name: times / _SIMULATED for name, times in found.items()}
    return Spent(shares, spent / _SIMULATED)


def streamed(count: int, saved: dict[str, Any]) -> Spent:
    """The same, by what was measured."""
    kept = (saved["kept"]["parsed"], saved["kept"]["indexed"])
    return stream(count, kept, tuple(saved["costs"].items()), saved["disk"]["entries"])


def _touch(kept: OrderedDict[int, int], number: int, value: int, most: int) -> None:
    kept[number] = value
    kept.move_to_end(number)
    if len(kept) > most:
        kept.popitem(last=False)


def write_page(*, check: bool) -> int:
    """Bring the page's tables up to the kept figures, or only see whether they are; 1 if not."""
    saved = json.loads(RESULTS.read_text(encoding="utf-8"))
    before = after = PAGE.read_text(encoding="utf-8")
    for name, part in tables(saved).items():
        after = with_part(after, name, part)
    if check:
        print("scaling.md is current" if before == after else "scaling.md is stale: --write")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


def tables(saved: dict[str, Any]) -> dict[str, str]:
    """The page's generated parts by name."""
    machine = saved["machine"]
    date = (
        f"{saved['measured']}, {machine['cores']} cores, Python {machine['python']}, "
        f"load {machine['load']} when it began.\n"
    )
    return {
        "date": date,
        "measured": _measured(saved),
        "streams": _streams(saved),
        "workspaces": _workspaces(saved),
        "users": _users(saved),
        "limits": _limits(saved),
    }


def _measured(saved: dict[str, Any]) -> str:
    disk, memory, costs, commits = (saved[k] for k in ("disk", "memory", "costs", "commits"))
    each = disk["entries"]
    rows = [
        ["a workspace on disk", f"{disk['bytes'] / 1024:.0f} kB in {disk['files']:.1f} files"],
        ["… as blocks of the disk", f"{disk['blocks'] / 1024:.0f} kB, {disk['inodes']:.1f} inodes"],
        ["an entry on disk", f"{disk['bytes'] / each:.0f} bytes"],
        ["the program, one workspace warm", _mb(memory["program"])],
        ["a parsed entry in memory", f"{memory['parsed_an_entry']:.0f} bytes"],
        ["… its index besides", f"{memory['indexed_an_entry']:.0f} bytes"],
        ["process after 64 workspaces", _mb(memory["after_64"])],
        ["process after 300 workspaces", _mb(memory["after_300"])],
        ["open files, threads", f"{memory['open_files']}, {memory['threads']}"],
        ["to read and parse a workspace", _ms(costs["read"])],
        ["to rank it by a scan", _ms(costs["scan"])],
        ["to build its index", _ms(costs["build"])],
        ["to rank it by its index", _ms(costs["warm"])],
        [
            f"a stage of {commits['operations']} adds",
            (
                f"{commits['syncs']:.1f} fsyncs, {commits['written'] / 1024:.0f} kB written, "
                f"{commits['grown'] / 1024:.1f} kB more on disk"
            ),
        ],
        ["… one scope, four scopes at once", f"{_rate(commits)} stages a second"],
    ]
    return markdown_table(["what", "measured"], [[name, text] for name, text in rows])


def _streams(saved: dict[str, Any]) -> str:
    head = ["workspaces", "read", "scan", "build", "warm", "computed", "measured", "p50", "p95"]
    rows = []
    for measured in saved["streams"]:
        computed = streamed(measured["scopes"], saved)
        rows.append(
            [
                f"{measured['scopes']:,}",
                *(f"{computed.shares[what]:.0%}" for what in ("read", "scan", "build", "warm")),
                _ms(computed.seconds),
                _ms(measured["seconds"]),
                f"{measured['p50_ms']:.1f} ms",
                f"{measured['p95_ms']:.1f} ms",
            ]
        )
    return markdown_table(head, rows)


def _workspaces(saved: dict[str, Any]) -> str:
    disk, memory, kept = saved["disk"], saved["memory"], saved["kept"]
    walk = _a_scope(saved)
    rows = []
    for count in COUNTS:
        parsed = min(count, kept["parsed"]) * disk["entries"]
        corpora = min(count, kept["indexed"])
        indexed = corpora * (disk["entries"] + IN_GLOBAL)
        held = (
            memory["program"]
            + parsed * memory["parsed_an_entry"]
            + indexed * memory["indexed_an_entry"]
        )
        spent = streamed(count, saved).seconds
        rows.append(
            [
                f"{count:,}",
                f"{count * disk['entries']:,.0f}",
                _size(count * disk["blocks"]),
                f"{count * disk['inodes']:,.0f}",
                _mb(held),
                f"{1 / spent:,.0f}",
                _s(count * walk["start"]),
                _s(count * walk["unknown_directory"]),
                f"{count * walk['registry'] / walk['every']:.1%}",
            ]
        )
    head = ["workspaces", "entries", "disk", "inodes", "memory", "recalls/s a core"]
    return markdown_table([*head, "start", "unknown directory", "registry, of a core"], rows)


def _users(saved: dict[str, Any]) -> str:
    users, disk, memory = saved["users"], saved["disk"], saved["memory"]
    rows = []
    for count in COUNTS:
        together = users["program"] + (count - 1) * users["resident"]
        rows.append(
            [
                f"{count:,}",
                _size(together),
                f"{count * users['threads'] + memory['threads'] - users['threads']:,.0f}",
                f"{count * users['open_files'] + memory['open_files']:,.0f}",
                _size(count * memory["program"]),
                _size(count * 10 * disk["blocks"]),
            ]
        )
    head = ["users", "memory, one process", "threads", "open files", "memory, a process each"]
    return markdown_table([*head, "disk at 10 workspaces"], rows)


def _limits(saved: dict[str, Any]) -> str:
    rows = [*_limits_of_recalls(saved), *_limits_of_a_machine(saved)]
    return markdown_table(["limit", "reached at", "arithmetic"], rows)


def _limits_of_recalls(saved: dict[str, Any]) -> list[list[str]]:
    """Where recalls and the walks over all workspaces become slow."""
    kept, costs, walk = saved["kept"], saved["costs"], _a_scope(saved)
    alone, busy = (1 / streamed(count, saved).seconds for count in (1, COUNTS[-1]))
    return [
        [
            "an index is worth its building",
            f"{costs['build'] / (costs['scan'] - costs['warm']):.0f} recalls",
            f"{_ms(costs['build'])} / ({_ms(costs['scan'])} - {_ms(costs['warm'])})",
        ],
        [
            f"more in use than {kept['indexed']} indexes and {kept['parsed']} parsed workspaces",
            f"{kept['indexed']} workspaces",
            f"recalls/s a core fall from {alone:,.0f} to {busy:,.0f} at {COUNTS[-1]:,}",
        ],
        [
            "first recall in a directory without memory, within 250 ms",
            f"{0.25 / walk['unknown_directory']:,.0f} workspaces",
            f"0.25 s / {walk['unknown_directory'] * 1000:.2f} ms a scope",
        ],
        [
            "the start of an engine, within 1 s",
            f"{1 / walk['start']:,.0f} workspaces",
            f"1 s / {walk['start'] * 1000:.2f} ms a scope",
        ],
        [
            "comparing with the registry, a tenth of a core",
            f"{0.1 * walk['every'] / walk['registry']:,.0f} workspaces",
            f"0.1 × {walk['every']:.0f} s / {walk['registry'] * 1000:.2f} ms a scope",
        ],
    ]


def _limits_of_a_machine(saved: dict[str, Any]) -> list[list[str]]:
    """Where writers, memory, threads and inodes run out."""
    commits, users = saved["commits"], saved["users"]
    disk, memory = saved["disk"], saved["memory"]
    return [
        [
            "stages of one scope: one writer",
            f"{commits['alone']:,.0f} a second",
            f"{commits['ms']:.0f} ms each, {commits['syncs']:.0f} fsyncs",
        ],
        [
            "users in one process with 8 GB",
            f"{(8192 * _MB - users['program']) / users['resident']:,.0f} users",
            f"(8 GB - {_mb(users['program'])}) / {users['resident'] / 1024:.0f} kB each",
        ],
        [
            "threads of one process, 32,000",
            f"{32_000 / users['threads']:,.0f} users",
            f"32,000 / {users['threads']:.1f} each",
        ],
        [
            "a process each, 64 GB",
            f"{65536 * _MB / memory['program']:,.0f} users",
            f"64 GB / {_mb(memory['program'])}",
        ],
        [
            "inodes of a disk with 10 million",
            f"{10_000_000 / disk['inodes']:,.0f} workspaces",
            f"10,000,000 / {disk['inodes']:.1f} each",
        ],
    ]


def _a_scope(saved: dict[str, Any]) -> dict[str, float]:
    """What each walk takes for one workspace more: between the most and the fewest measured."""
    few, many = saved["walks"][0], saved["walks"][-1]
    more = many["scopes"] - few["scopes"]
    found = {
        name: (many[name] - few[name]) / more for name in ("start", "unknown_directory", "registry")
    }
    return {**found, "every": many["registry_every"]}


def _rate(commits: dict[str, float]) -> str:
    return f"{commits['alone']:.0f}, {commits['four_scopes']:.0f}"


def _mb(count: float) -> str:
    return f"{count / _MB:,.0f} MB"


def _size(count: float) -> str:
    return f"{count / (_MB * 1024):,.1f} GB" if count >= _MB * 1024 else f"{count / _MB:,.1f} MB"


def _ms(spent: float) -> str:
    return f"{spent * 1000:.2f} ms"


def _s(spent: float) -> str:
    return f"{spent:.1f} s" if spent >= 1 else f"{spent * 1000:.0f} ms"
