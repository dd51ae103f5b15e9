"""How fast ranking is: index and scan against the naive reading and bm25s, in one process.

    python benchmarks/ranking_speed.py [--entries 1000 10000 100000] [--queries 200] [--save FILE]

Every engine answers the same queries in turn, interleaved, so that a busy machine slows them alike;
read the ratios. Times are of the processor: nothing here waits, and all engines keep to one thread.
The quick engines answer them `--rounds` times, and the median of a query's times is its time: one
that the system interrupted does not count. In the state `again` they answer each query that often
in a row; in the states `once`, every round asks an index just built, warmed by other queries, each
query a single time, and every other round begins with the other engine, since the words of a query
that one has stemmed are known to the next. `once` is of the same queries as `again`, of which one
in twenty is a prompt of a hundred terms or more; `once, many prompts` of those that `wsmem bench
latency` asks, of which one in three is.

Both engines are given the text and find its terms inside the timed call. Where the terms are
`found before`, their time (taken by itself in the same round) is left out on both sides.

Rankings are compared before anything is timed. The naive reading is that of the tests and answers
only `--naive` queries, the same ones its ratio is taken over; it and the reference profile, whose
index takes its time to build, are left out of large stores.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import bm25s
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from naive_ranking import naive_rank

from benchmarks.saving import circumstances, save
from wsmem.evals.synthetic import labelled_queries, synthetic_entries, synthetic_queries
from wsmem.retrieval.fields import searched_fields
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan
from wsmem.text.analysis import read_query, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wsmem.records import MemoryEntry

    Engine = Callable[[str], object]

NOW = 1_790_000_000_000
TOP = 8
LARGE = 20_000
"""Entries beyond which the naive reading and the reference profile are left out."""
PROFILES = ("default", "reference")
ONCE = ("index default", "bm25s", "analysis", "terms")
"""Timed where queries are asked once; the last two are what each does first."""
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


def measure(count: int, queries: int, *, naive: int, rounds: int, seed: int) -> dict[str, object]:
    """Build every engine over one synthetic store, compare their rankings, time their answers."""
    entries = synthetic_entries(count, seed=seed)
    asked = [query.text for query in synthetic_queries(entries, queries, seed=seed + 1)]
    started = time.perf_counter()
    index = Index.build(entries)
    built = time.perf_counter() - started
    profiles = PROFILES if count <= LARGE else PROFILES[:1]
    engines = {"bm25s": bm25s_engine(entries)}
    for name in profiles:
        engines |= our_engines(entries, index, name)
    if count > LARGE:
        del engines["naive default"]
    # The naive reading takes seconds a query at this size: it and the scan answer a spread of them.
    spread = sorted({int(at) for at in np.linspace(0, len(asked) - 1, naive)})
    times, different = compare(engines, {at: asked[at] for at in spread}, profiles)
    quick = {name: engine for name, engine in engines.items() if name not in times}
    times |= ask_again(quick, asked, rounds)
    many_prompts = labelled_queries(entries, each=queries // 9 + 1, seed=seed)
    once = {"once": asked, "once, many prompts": [query.text for query in many_prompts]}
    return {
        "entries": count,
        "index_build_us_an_entry": round(built / count * 1e6, 1),
        "rankings_that_differ": different,
        "milliseconds": {name: spread_of(timed) for name, timed in times.items()},
        "ratios": ratios(times),
        "asked_once": {
            state: once_figures(ask_once(entries, engines["bm25s"], texts, rounds, seed=seed))
            for state, texts in once.items()
        },
    }


def compare(
    engines: dict[str, Engine], asked: dict[int, str], profiles: Sequence[str]
) -> tuple[Times, int]:
    """Times of the slow engines, and how many rankings of any differ."""
    different = 0
    times: Times = {name: {} for name in engines if name.split()[0] in ("naive", "scan")}
    for at, query in asked.items():
        answers = {name: clocked(engine, query) for name, engine in engines.items()}
        for name, timed in times.items():
            timed[at] = answers[name][0]
        found = {name: answer for name, (_, answer) in answers.items()}
        different += sum(differing(found, name) for name in profiles)
    return times, different


def ask_again(engines: dict[str, Engine], asked: Sequence[str], rounds: int) -> Times:
    """Ask each query several times in a row; the median of each."""
    times: Times = {name: {} for name in engines}
    for query in asked[:20]:  # warm: lazily built parts are the steady state
        for engine in engines.values():
            engine(query)
    gc.collect()
    gc.freeze()  # the stores are old: the collector does not go through them for every query
    for at, query in enumerate(asked):
        runs = [
            {name: clocked(engine, query)[0] for name, engine in engines.items()}
            for _ in range(rounds)
        ]
        for name, timed in times.items():
            timed[at] = median(run[name] for run in runs)
    gc.unfreeze()
    return times


def clocked(engine: Engine, query: str) -> tuple[float, object]:
    """Milliseconds of the processor that an answer took, and the answer."""
    started = time.thread_time()
    answer = engine(query)
    return (time.thread_time() - started) * 1000, answer


def ask_once(
    entries: Sequence[MemoryEntry],
    bm25s: Engine,
    asked: Sequence[str],
    rounds: int,
    *,
    seed: int,
) -> Times:
    """Ask everything once an index, in indexes just built; the median of the rounds."""
    warming = [query.text for query in synthetic_queries(entries, 20, seed=seed + 2)]
    runs: dict[str, list[list[float]]] = {}
    for number in range(rounds):
        index = Index.build(entries)
        ours = our_engines(entries, index, "default")["index default"]
        engines = {"index default": ours, "bm25s": bm25s}
        order = list(engines) if number % 2 else list(reversed(engines))
        gc.collect()
        gc.freeze()
        for query in warming:  # after the collector, which leaves nothing else at hand
            for engine in engines.values():
                engine(query)
        for name in ONCE:
            runs.setdefault(name, []).append([])
        for at, query in enumerate(asked):
            for name in order if at % 2 else reversed(order):
                runs[name][-1].append(clocked(engines[name], query)[0])
        for query in asked:
            runs["analysis"][-1].append(clocked(read_query, query)[0])
            runs["terms"][-1].append(clocked(terms, query)[0])
        gc.unfreeze()
    return {name: dict(enumerate(np.median(each, axis=0).tolist())) for name, each in runs.items()}


def once_figures(times: Times) -> dict[str, Any]:
    """What was found about queries asked once, with and without finding their terms."""
    before = {
        name: {at: ms - times[finding][at] for at, ms in times[name].items()}
        for name, finding in (("index default", "analysis"), ("bm25s", "terms"))
    }
    spreads = {name: spread_of(times[name]) for name in ONCE} | {
        f"{name}, terms found before": spread_of(timed) for name, timed in before.items()
    }
    return {
        "milliseconds": spreads,
        "ratios": {
            f"index default / bm25s{state}, of {figure}": round(
                spreads[f"index default{state}"][measure] / spreads[f"bm25s{state}"][measure],
                2,
            )
            for state in ("", ", terms found before")
            for figure, measure in (("medians", "median"), ("p95", "p95"))
        },
    }


def differing(answers: dict[str, object], profile: str) -> int:
    """How many of index and scan did not give the naive ranking, or the scan's without one."""
    expected = answers.get(f"naive {profile}", answers.get(f"scan {profile}"))
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
        **{
            f"{way} / index, {name}": paired(f"{way} {name}", f"index {name}")
            for way in ("naive", "scan")
            for name in PROFILES
            if f"{way} {name}" in times
        },
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
    for state, found in result["asked_once"].items():
        print(f"  asked {state}")
        for name, row in found["milliseconds"].items():
            print(f"    {name:34} median {row['median']:9.3f} ms  p95 {row['p95']:9.3f} ms")
        for name, ratio in found["ratios"].items():
            print(f"    {name:58} {ratio:8.2f}")


def main() -> None:
    """Measure, print, and save when asked."""
    parser = argparse.ArgumentParser(description="Time ranking against its peers.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--naive", type=int, default=12, help="queries the slow readings answer")
    parser.add_argument("--rounds", type=int, default=5, help="times a quick engine is asked")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    results = []
    for count in given.entries:
        results.append(
            measure(count, given.queries, naive=given.naive, rounds=given.rounds, seed=given.seed)
        )
        show(results[-1])
    if given.save:
        save(given.save, circumstances() | {"results": results})


if __name__ == "__main__":
    main()
