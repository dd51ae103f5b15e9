"""Whether ranking got worse than its baseline: by set, by group of queries, and over all sets.

A loss counts when it is both sure and large: significant by the paired test, corrected over every
comparison of all systems, and above the margin that the baseline states. What is neither is shown
for information and never fails the gate.

The queries are those of a few workspaces, so what is tested is whether these queries got worse
beyond the noise of single answers; see `wsmem.evals.comparing` for the unit of the test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.evals.comparing import pairings, row_json
from wsmem.evals.comparison import ALPHA, compare
from wsmem.evals.contestants import Contestant
from wsmem.evals.gate.running import splits_of
from wsmem.evals.measures import Measure
from wsmem.evals.reading import load_dataset
from wsmem.evals.results import MEAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.catalogue import Source
    from wsmem.evals.comparing import Subject
    from wsmem.evals.comparison import Comparison, Pairing
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.running import FreshRun

_EXCERPT = 90
"""Characters of an entry's text that are shown."""
_LOWERED = 5e-5
"""Figures that agree to four decimals are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
    """The entry that came first."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Worse:
    """A query that is answered worse than before."""

    dataset: str
    query: str
    text: str
    system: str
    measure: str
    before: float
    after: float
    first_before: ShownEntry | None
    """What came first before; `None` where nothing was recalled."""
    first_now: ShownEntry | None
    wanted: ShownEntry | None
    """The best of what is labelled relevant; `None` where nothing should be recalled."""

    @property
    def loss(self) -> float:
        """How much worse, above 0."""
        return abs(self.after - self.before)

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {
            name: _entry_json(value) if isinstance(value, ShownEntry) else value
            for name in self.__slots__
            for value in (getattr(self, name),)
        }


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
    changes: tuple[str, ...]
    """What is known to differ from when the baseline was made, in words."""
    alpha: float

    @property
    def losses(self) -> tuple[tuple[Subject, Comparison], ...]:
        """What fails the gate."""
        return tuple(row for row in self.rows if row[1].verdict == "worse")

    @property
    def gains(self) -> tuple[tuple[Subject, Comparison], ...]:
        """What is surely better."""
        return tuple(row for row in self.rows if row[1].verdict == "better")

    @property
    def passed(self) -> bool:
        """Whether nothing was lost that is both sure and large."""
        return not self.losses

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "passed": self.passed,
            "alpha": self.alpha,
            "compared": self.compared,
            "changes": list(self.changes),
            "losses": [_row(*row) for row in self.losses],
            "gains": [_row(*row) for row in self.gains],
            "worse": [query.to_json() for query in self.worse],
            "better": self.better,
            "rows": [_row(*row) for row in self.rows],
        }


def judge_ranking(
    baseline: RankingRecord, fresh: FreshRun, *, alpha: float = ALPHA, seed: int = 0
) -> RankingVerdict:
    """Compare a fresh run with the baseline of the same sets, systems and measures."""
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
    rows = [
        (subject, row if row.verdict == "inconclusive" else _with_interval(row, pairing, seed))
        for (subject, pairing), row in zip(found, compared, strict=True)
    ]
    changed = list(_changed(baseline, fresh))
    losing = [item for item in changed if item.lost]
    return RankingVerdict(
        rows=tuple(rows),
        worse=_described(losing, baseline, fresh),
        better=len(changed) - len(losing),
        compared=sum(
            value is not None
            for found in baseline.sets.values()
            for answers in found.answers.values()
            for answer in answers.values()
            for value in answer.values
        ),
        changes=tuple(_circumstances(baseline, fresh.record)),
        alpha=alpha,
    )


def _with_interval(row: Comparison, pairing: Pairing, seed: int) -> Comparison:
    """A finding with its interval, which takes longer than the test and only findings need."""
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
            elif _worse_by(measure, old, new) > _LOWERED:
                found.append(f"{system}: {measure} on {dataset} {old:.4f} -> {new:.4f}")
    return found


@dataclass(frozen=True, slots=True)
class _Change:
    dataset: str
    query: str
    system: str
    measure: str
    before: float
    after: float

    @property
    def lost(self) -> bool:
        return _worse_by(self.measure, self.before, self.after) > 0


def _worse_by(measure: str, before: float, after: float) -> float:
    return before - after if Measure.parse(measure).higher_is_better else after - before


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


def _changed(baseline: RankingRecord, fresh: FreshRun) -> Iterable[_Change]:
    for name, found in baseline.sets.items():
        for query, answers in found.answers.items():
            for system, old in answers.items():
                new = fresh.record.sets[name].answers[query][system]
                for place, measure in enumerate(baseline.measures):
                    before, after = old.values[place], new.values[place]
                    if before is not None and after is not None and before != after:
                        yield _Change(name, query, system, measure, before, after)


def _described(
    changes: Sequence[_Change], baseline: RankingRecord, fresh: FreshRun
) -> tuple[Worse, ...]:
    """What a reader needs to see of each, those that lost most first."""
    names = {change.dataset for change in changes}
    texts = {name: _texts(fresh.sources[name]) for name in names}
    facts = {(name, fact.id): fact for name in names for fact in fresh.facts[name]}
    found = []
    for change in changes:
        text, fact = texts[change.dataset], facts[change.dataset, change.query]
        best = min(fact.relevant, key=lambda e: (-fact.relevant[e], e), default=None)
        old, new = (
            record.sets[change.dataset].answers[change.query][change.system]
            for record in (baseline, fresh.record)
        )
        found.append(
            Worse(
                dataset=change.dataset,
                query=change.query,
                text=fact.text,
                system=change.system,
                measure=change.measure,
                before=change.before,
                after=change.after,
                first_before=_shown(old.first, text),
                first_now=_shown(new.first, text),
                wanted=_shown(best, text),
            )
        )
    return tuple(sorted(found, key=lambda item: -item.loss))  # stable: ties stay in order


def _texts(source: Source) -> dict[str, str]:
    """Of every entry its title and the beginning of its text."""
    split = splits_of(source.path)[0]  # any: entries are the same
    dataset = load_dataset(source.path, name=source.name, split=split)
    return {
        document.id: " ".join(f"{document.title} {document.text}".split())
        for document in dataset.documents
    }


def _shown(entry: str | None, texts: Mapping[str, str]) -> ShownEntry | None:
    if entry is None:
        return None
    text = texts.get(entry, "")
    return ShownEntry(id=entry, text=text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…")


def _circumstances(baseline: RankingRecord, fresh: RankingRecord) -> Iterable[str]:
    if baseline.analysis != fresh.analysis:
        yield f"texts become other terms: analysis {baseline.analysis} -> {fresh.analysis}"
    for system, old in baseline.profiles.items():
        new = fresh.profiles.get(system, {})
        for key in sorted((old.keys() | new.keys()) - {"weights", "name"}):
            if old.get(key) != new.get(key):
                yield f"{system}: {key} {old.get(key)} -> {new.get(key)}"
        before, after = old.get("weights", {}), new.get("weights", {})
        for signal in sorted(before.keys() | after.keys()):
            if before.get(signal) != after.get(signal):
                yield (
                    f"{system}: weight of {signal} "
                    f"{before.get(signal, 0.0):g} -> {after.get(signal, 0.0):g}"
                )


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


def _entry_json(entry: ShownEntry) -> dict[str, str]:
    return {"entry": entry.id, "text": entry.text}
