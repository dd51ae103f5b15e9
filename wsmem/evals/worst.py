"""The queries that a profile of ours answers worst: what came first, what should have, and why.

They are explained while the set is at hand, so that a report needs nothing but the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from wsmem.evals.entries import pools, surfaced_ids
from wsmem.evals.explaining import finite
from wsmem.retrieval.explain import explain
from wsmem.retrieval.index import Index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from wsmem.evals.dataset import Dataset
    from wsmem.evals.entries import Pool
    from wsmem.evals.measures import Measure
    from wsmem.evals.results import QueryFacts, SystemResult
    from wsmem.records import MemoryEntry
    from wsmem.retrieval.explain import ExplainedMatch, Part
    from wsmem.retrieval.profile import Profile

WORST = 5
"""How many queries of each profile and set are explained."""
FALSE_RECALLS = 2
"""How many more, of those that should have recalled nothing."""

_EXCERPT = 400
"""Characters of a text that are kept."""
_DIGITS = 6

Failure = Literal["missed", "false-recall"]
Place = Literal["ranked", "below-evidence", "not-matched", "not-recallable"]
"""`below-evidence`: it shares terms with the query, but too few to be recalled; `not-recallable`:
its status keeps it from being recalled at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
    """An entry beside the query it was, or was not, recalled for."""

    entry: MemoryEntry
    grade: int
    """0 where it is not labelled relevant."""
    place: Place
    rank: int | None
    """From 1; `None` unless ranked."""
    match: ExplainedMatch | None
    """`None` where nothing matched."""

    def to_json(self) -> dict[str, Any]:
        """As stored; signals without a weight and a value are left out."""
        match = self.match
        parts: Mapping[str, Part] = match.parts if match else {}
        return {
            "entry": self.entry.id,
            "title": _excerpt(self.entry.title),
            "text": _excerpt(self.entry.content),
            "grade": self.grade,
            "place": self.place,
            "rank": self.rank,
            "score": None if match is None else _rounded(match.score),
            "matched": 0 if match is None else match.matched,
            "signals": {
                name: [_rounded(number) for number in part]
                for name, part in parts.items()
                if part.weight or part.value
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstQuery:
    """One badly answered query under one profile."""

    system: str
    facts: QueryFacts
    failure: Failure
    measure: str
    """By which it was found; `FalseRecall` for a false recall."""
    value: float
    shown: tuple[ShownEntry, ...]
    """What came first, unless nothing did; then the best relevant entry that came later."""

    def to_json(self) -> dict[str, Any]:
        """As stored, but for the dataset."""
        facts = self.facts
        return {
            "system": self.system,
            "query": facts.id,
            "text": _excerpt(facts.text),
            "scope": facts.scope,
            "slices": {name: list(values) for name, values in facts.slices.items()},
            "relevant": len(facts.relevant),
            "failure": self.failure,
            "measure": self.measure,
            "value": _rounded(self.value),
            "entries": [shown.to_json() for shown in self.shown],
        }


def explain_worst(
    dataset: Dataset,
    facts: Sequence[QueryFacts],
    results: Iterable[tuple[SystemResult, Profile]],
    measures: Sequence[Measure],
    *,
    count: int = WORST,
) -> tuple[WorstQuery, ...]:
    """The worst queries of each profile, worst first, explained as they were ranked.

    The first measure about relevant entries decides; equal values go by the order of the set. A
    query with the best possible value is never among them. False recalls follow, those that
    injected most bytes first.
    """
    chosen = [
        (result, profile, found)
        for result, profile in results
        for found in _choose(facts, result, measures, count)
    ]
    by_query: dict[tuple[str, str], tuple[ShownEntry, ...]] = {}
    wanted = {fact.id for _, _, (fact, *_) in chosen}
    for pool in pools(dataset, [query for query in dataset.queries if query.id in wanted]):
        surfaced = {query.id: surfaced_ids(query) for query in pool.queries}
        index = Index.build(pool.entries)
        for result, profile, (fact, *_) in chosen:
            if fact.id in surfaced:
                by_query[fact.id, result.system] = _shown(
                    pool, index, fact, profile, surfaced[fact.id]
                )
    return tuple(
        WorstQuery(
            system=result.system,
            facts=fact,
            failure=failure,
            measure=measure,
            value=value,
            shown=by_query[fact.id, result.system],
        )
        for result, _, (fact, failure, measure, value) in chosen
    )


def _choose(
    facts: Sequence[QueryFacts], result: SystemResult, measures: Sequence[Measure], count: int
) -> list[tuple[QueryFacts, Failure, str, float]]:
    found: list[tuple[QueryFacts, Failure, str, float]] = []
    leading = leading_measure(measures)
    if leading is not None:
        scored = [(result.queries[fact.id].scores[leading.text], fact) for fact in facts]
        missed = [(value, fact) for value, fact in scored if value is not None and value < 1]
        missed.sort(key=lambda item: item[0])  # stable: equal values keep the set's order
        found += [(fact, "missed", leading.text, value) for value, fact in missed[:count]]
    false = [fact for fact in facts if not fact.answerable and result.queries[fact.id].ranked]
    false.sort(key=lambda fact: -result.queries[fact.id].bytes)
    room = min(FALSE_RECALLS, count)
    return found + [(fact, "false-recall", "FalseRecall", 1.0) for fact in false[:room]]


def leading_measure(measures: Iterable[Measure]) -> Measure | None:
    """The first measure that says how well relevant entries were ranked."""
    return next((m for m in measures if m.population == "judged" and m.name != "Judged"), None)


def _shown(
    pool: Pool, index: Index, fact: QueryFacts, profile: Profile, surfaced: Collection[str]
) -> tuple[ShownEntry, ...]:
    rows = explain(index, fact.text, profile, now=pool.now, surfaced=surfaced).rows
    ranks = {row.entry.id: rank for rank, row in enumerate(rows, start=1)}
    first = rows[0].entry if rows else None
    shown = [] if first is None else [_ranked(rows, 1, fact)]
    others = [
        entry
        for entry in pool.entries
        if entry.id in fact.relevant and (first is None or entry.id != first.id)
    ]
    # The highest grade, and of those the one that came first; what is not ranked comes last.
    others.sort(key=lambda entry: (-fact.relevant[entry.id], ranks.get(entry.id, len(rows) + 1)))
    for entry in others[:1]:
        if entry.id in ranks:
            shown.append(_ranked(rows, ranks[entry.id], fact))
        else:
            lenient = replace(profile, evidence_share=0.0)
            found = explain(index, fact.text, lenient, now=pool.now, surfaced=surfaced).rows
            shown.append(_unranked(found, entry, fact))
    return tuple(shown)


def _ranked(rows: Sequence[ExplainedMatch], rank: int, fact: QueryFacts) -> ShownEntry:
    match = rows[rank - 1]
    grade = fact.relevant.get(match.entry.id, 0)
    return ShownEntry(entry=match.entry, grade=grade, place="ranked", rank=rank, match=match)


def _unranked(rows: Sequence[ExplainedMatch], entry: MemoryEntry, fact: QueryFacts) -> ShownEntry:
    """An entry that was not recalled, with what it would have earned if anything matched."""
    match = next((row for row in rows if row.entry.id == entry.id), None)
    place: Place = "not-matched" if match is None else "below-evidence"
    if not entry.recallable:
        place = "not-recallable"
    return ShownEntry(
        entry=entry, grade=fact.relevant[entry.id], place=place, rank=None, match=match
    )


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 1] + "…"


def _rounded(number: float) -> float | None:
    known = finite(number)
    return None if known is None else round(known, _DIGITS) + 0.0  # no negative zero
