"""Whether ranking got worse than its baseline: by set, by group of queries, and over all sets.

A loss counts when it is both sure and large: significant by the paired test, corrected over every
comparison of all systems, and above the margin that the baseline states. What is neither is shown
for information and is no loss. Apart from that, what ships must be what the baseline's evidence is
about; see `wsmem.evals.gate.evidence`.

The queries are those of a few workspaces, so what is tested is whether these queries got worse
beyond the noise of single answers; see `wsmem.evals.comparing` for the unit of the test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.evals.comparing import pairings, row_json
from wsmem.evals.comparison import ALPHA, compare
from wsmem.evals.contestants import Contestant
from wsmem.evals.gate.evidence import departures
from wsmem.evals.gate.worse import changed, described, worse_by
from wsmem.evals.results import MEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.evals.comparing import Subject
    from wsmem.evals.comparison import Comparison, Pairing
    from wsmem.evals.gate.evidence import Departure
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.running import FreshRun
    from wsmem.evals.gate.worse import Worse

_LOWERED = 5e-5
"""Figures that agree to four decimals are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingVerdict:
    """What a fresh run says beside its baseline."""

    rows: tuple[tuple[Subject, Comparison], ...]
    """Every comparison, in the order of systems, measures and groups."""
    worse: tuple[Worse, ...]
    """Queries that lost, of all systems; those that lost most first."""
    better: int
    """How many answers gained."""
    compared: int
    """Answers with a value on both sides."""
    departures: tuple[Departure, ...]
    """Where what ranked is not what the committed evidence is about."""
    bound: bool
    """False where something was only tried, so that departures fail nothing."""
    alpha: float

    @property
    def losses(self) -> tuple[tuple[Subject, Comparison], ...]:
        """What is surely worse, and by more than the margin."""
        return tuple(row for row in self.rows if row[1].verdict == "worse")

    @property
    def gains(self) -> tuple[tuple[Subject, Comparison], ...]:
        """What is surely better."""
        return tuple(row for row in self.rows if row[1].verdict == "better")

    @property
    def unproven(self) -> tuple[Departure, ...]:
        """What ships without the evidence for it."""
        return self.departures if self.bound else ()

    @property
    def departed(self) -> tuple[tuple[Subject, Comparison], ...]:
        """Of every system that a departure may have changed, each measure over all there is."""
        systems = {item.system for item in self.departures if item.kind != "study"}
        first: dict[tuple[str, str], tuple[Subject, Comparison]] = {}
        for row in self.rows:
            about = row[0]
            if not about.dimension and (None in systems or about.system in systems):
                first.setdefault((about.system, about.measure), row)
        return tuple(first.values())

    @property
    def passed(self) -> bool:
        """Whether nothing was lost that is both sure and large, and what ships is proven."""
        return not self.losses and not self.unproven

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "passed": self.passed,
            "alpha": self.alpha,
            "compared": self.compared,
            "departures": [item.to_json() for item in self.departures],
            "unproven": bool(self.unproven),
            "losses": [_row(*row) for row in self.losses],
            "gains": [_row(*row) for row in self.gains],
            "worse": [query.to_json() for query in self.worse],
            "better": self.better,
            "rows": [_row(*row) for row in self.rows],
        }


def judge_ranking(
    baseline: RankingRecord,
    fresh: FreshRun,
    *,
    claims: Sequence[Departure] = (),
    bound: bool = True,
    alpha: float = ALPHA,
    seed: int = 0,
) -> RankingVerdict:
    """Compare a fresh run with the baseline of the same sets, systems and measures.

    Args:
        baseline: What was.
        fresh: What is.
        claims: Departures that records do not show: what a profile says and its study does not.
        bound: Whether departures fail it.
        alpha: Chance of any false loss or gain.
        seed: Of sampled swaps and intervals.
    """
    facts = fresh.facts
    found = []
    for system in baseline.systems:
        before, after = _contestants(baseline, fresh, system)
        found += pairings(
            before,
            after,
            facts,
            measures=baseline.measures,
            by="slice",
            units=dict.fromkeys(facts, "answer"),
            margin=baseline.margins,
        )
    compared = compare([pairing for _, pairing in found], alpha=alpha, seed=seed, resamples=0)
    departed = (*departures(baseline, fresh.record), *claims)
    rows = [
        (subject, _with_interval(row, pairing, seed) if _is_told(subject, row, departed) else row)
        for (subject, pairing), row in zip(found, compared, strict=True)
    ]
    answers = list(changed(baseline, fresh))
    losing = [item for item in answers if item.lost]
    return RankingVerdict(
        rows=tuple(rows),
        worse=described(losing, baseline, fresh),
        better=len(answers) - len(losing),
        compared=baseline.scored,
        departures=departed,
        bound=bound,
        alpha=alpha,
    )


def _is_told(subject: Subject, row: Comparison, departed: Sequence[Departure]) -> bool:
    return row.verdict != "inconclusive" or bool(departed and not subject.dimension)


def _with_interval(row: Comparison, pairing: Pairing, seed: int) -> Comparison:
    """A comparison with its interval, which takes longer than the test: for what is told of."""
    (alone,) = compare([pairing], seed=seed)
    return replace(row, low=alone.low, high=alone.high)


def lowered(baseline: RankingRecord, fresh: RankingRecord) -> list[str]:
    """Figures of whole sets, and means over them, that would be lower than in the baseline.

    Lower by anything: what a single update may lose unnoticed, many could.
    """
    found = []
    for system in baseline.systems:
        if system not in fresh.systems:
            found.append(f"{system} is no longer scored")
            continue
        before, after = _means(baseline, system), _means(fresh, system)
        for (dataset, measure), old in before.items():
            new = after.get((dataset, measure))
            if new is None:
                found.append(f"{system}: {measure} on {dataset} is no longer scored")
            elif worse_by(measure, old, new) > _LOWERED:
                found.append(f"{system}: {measure} on {dataset} {old:.4f} -> {new:.4f}")
    return found


def _contestants(
    baseline: RankingRecord, fresh: FreshRun, system: str
) -> tuple[Contestant, Contestant]:
    facts = {name: {fact.id: fact for fact in found} for name, found in fresh.facts.items()}
    before, after = (
        Contestant(
            name=system,
            facts=facts,
            scores=record.scores(system),
            checksums={name: found.checksums for name, found in record.sets.items()},
        )
        for record in (baseline, fresh.record)
    )
    return before, after


def _means(record: RankingRecord, system: str) -> dict[tuple[str, str], float]:
    """Of each set and measure, and over the sets."""
    found: dict[tuple[str, str], float] = {}
    scores = record.scores(system)
    for measure in record.measures:
        means = []
        for name, queries in scores.items():
            values = [v for each in queries.values() if (v := each[measure]) is not None]
            if values:
                means.append(sum(values) / len(values))
                found[name, measure] = means[-1]
        if len(means) > 1:
            found[MEAN, measure] = sum(means) / len(means)
    return found


def _row(subject: Subject, found: Comparison) -> dict[str, Any]:
    return {"system": subject.system} | row_json(subject, found)
