"""How fast ranking is: index and scan against the naive reading and bm25s, in one process.

    python benchmarks/ranking_speed.py [--entries 1000 10000] [--queries 200] [--save FILE]

Every engine answers the same queries in turn, interleaved, so that a busy machine slows them alike;
read the ratios. Rankings are compared before anything is timed. The naive reading is that of the
tests and answers only `--naive` queries, the same ones its ratio is taken over.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import bm25s
import numpy as np

from wsmem.evals.synthetic import synthetic_entries, synthetic_queries
from wsmem.retrieval.fields import searched_fields
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan
from wsmem.text.analysis import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wsmem.records import MemoryEntry

    Engine = Callable[[str], object]

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from naive_ranking import naive_rank

NOW = 1_790_000_000_000
TOP = 8
PROFILES = ("default", "reference")
Times = dict[str, dict[int, float]]
"""Milliseconds by engine and number of the query."""


def bm25s_engine(entries: Sequence[MemoryEntry]) -> Engine:
    """bm25s over the same terms; the query's terms are found inside the timed call, as ours are."""
    retriever = bm25s.BM25(backend="numpy")
    retriever.index(
        [terms("\n".join(searched_fields(entry)[1])) for entry in entries],
        show_progress=False,
    )
    known = retriever.vocab_dict

    def search(query: str) -> object:
        wanted = [term for term in dict.fromkeys(terms(query)) if term in known]
        if not wanted:
            return []
        return retriever.retrieve([wanted], k=min(TOP, len(entries)), show_progress=False)

    return search


def our_engines(entries: Sequence[MemoryEntry], index: Index, name: str) -> dict[str, Engine]:
    """The three ways to one ranking under one profile."""
    profile = load_profile(name)
    return {
        f"index {name}": lambda query: rank(index, query, profile, now=NOW, limit=TOP),
        f"scan {name}": lambda query: scan(entries, query, profile, now=NOW, limit=TOP),
        f"naive {name}": lambda query: naive_rank(entries, query, profile, now=NOW, limit=TOP),
    }


def measure(count: int, queries: int, naive: int, seed: int) -> dict[str, object]:
    """Build every engine over one synthetic store, compare their rankings, time their answers."""
    entries = synthetic_entries(count, seed=seed)
    asked = [query.text for query in synthetic_queries(entries, queries, seed=seed + 1)]
    started = time.perf_counter()
    index = Index.build(entries)
    built = time.perf_counter() - started
    engines = {"bm25s": bm25s_engine(entries)}
    for name in PROFILES:
        engines |= our_engines(entries, index, name)
    # The naive reading takes seconds a query at this size: it and the scan answer a spread of them.
    spread = {int(at) for at in np.linspace(0, len(asked) - 1, naive)}
    slow = {name for name in engines if name.split()[0] in ("naive", "scan")}
    for query in asked[:20]:  # warm: lazily built parts and memoised unions are the steady state
        for name in engines.keys() - slow:
            engines[name](query)
    times: Times = {name: {} for name in engines}
    different = 0
    for at, query in enumerate(asked):
        answers: dict[str, object] = {}
        for name, engine in engines.items():
            if name not in slow or at in spread:
                begin = time.perf_counter()
                answers[name] = engine(query)
                times[name][at] = (time.perf_counter() - begin) * 1000
        different += sum(differing(answers, name) for name in PROFILES)
    return {
        "entries": count,
        "index_build_us_an_entry": round(built / count * 1e6, 1),
        "rankings_that_differ": different,
        "milliseconds": {name: spread_of(timed) for name, timed in times.items()},
        "ratios": ratios(times),
    }


def differing(answers: dict[str, object], profile: str) -> int:
    """How many of index and scan did not give the naive ranking (0 where it was not asked)."""
    expected = answers.get(f"naive {profile}")
    if not isinstance(expected, list):
        return 0
    return sum(
        [(m.entry.id, round(m.score, 9)) for m in answer]
        != [(m.entry.id, round(m.score, 9)) for m in expected]
        for way in ("index", "scan")
        if isinstance(answer := answers[f"{way} {profile}"], list)
    )


def spread_of(timed: dict[int, float]) -> dict[str, float]:
    values = list(timed.values())
    return {
        "queries": len(values),
        "median": round(median(values), 3),
        "p95": round(float(np.percentile(values, 95)), 3),
    }


def ratios(times: Times) -> dict[str, float]:
    """Medians over the queries both answered, of one engine's time by the other's."""

    def paired(numerator: str, denominator: str) -> float:
        other = times[denominator]
        return round(
            median(ms / other[at] for at, ms in times[numerator].items() if at in other), 2
        )

    ours, theirs = spread_of(times["index default"]), spread_of(times["bm25s"])
    return {
        **{f"naive / index, {name}": paired(f"naive {name}", f"index {name}") for name in PROFILES},
        "index default / bm25s": paired("index default", "bm25s"),
        "index default / bm25s, of medians": round(ours["median"] / theirs["median"], 2),
        "index default / bm25s, of p95": round(ours["p95"] / theirs["p95"], 2),
    }


def show(result: dict[str, Any]) -> None:
    """Print one store size as a table."""
    print(f"\n{result['entries']} entries; {result['rankings_that_differ']} rankings differ")
    print(f"  index built in {result['index_build_us_an_entry']} us an entry")
    for name, row in sorted(result["milliseconds"].items()):
        print(f"  {name:16} median {row['median']:9.3f} ms  p95 {row['p95']:9.3f} ms")
    for name, ratio in result["ratios"].items():
        print(f"  {name:36} {ratio:8.2f}")


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time ranking against its peers.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--naive", type=int, default=12, help="queries the slow readings answer")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    results = []
    for count in given.entries:
        results.append(measure(count, given.queries, given.naive, given.seed))
        show(results[-1])
    if given.save:
        report = {
            "measured": datetime.now(UTC).date().isoformat(),
            "command": " ".join(["python", *sys.argv]),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
            "results": results,
        }
        given.save.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
