"""Answers that changed since a baseline, and what a reader needs to see of those that lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.gate.running import splits_of
from wsmem.evals.measures import Measure
from wsmem.evals.reading import load_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.catalogue import Source
    from wsmem.evals.gate.record import RankingRecord
    from wsmem.evals.gate.running import FreshRun

_EXCERPT = 90
"""Characters of an entry's text that are shown."""


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


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of one query that is no longer what it was."""

    dataset: str
    query: str
    system: str
    measure: str
    before: float
    after: float

    @property
    def lost(self) -> bool:
        """Whether it is worse now."""
        return worse_by(self.measure, self.before, self.after) > 0


def worse_by(measure: str, before: float, after: float) -> float:
    """By how much a figure is worse than before; below 0 where it is better."""
    return before - after if Measure.parse(measure).higher_is_better else after - before


def changed(baseline: RankingRecord, fresh: FreshRun) -> Iterable[Change]:
    """Every figure of a query that differs, in the order of sets, queries and systems."""
    for name, found in baseline.sets.items():
        for query, answers in found.answers.items():
            for system, old in answers.items():
                new = fresh.record.sets[name].answers[query][system]
                for place, measure in enumerate(baseline.measures):
                    before, after = old.values[place], new.values[place]
                    if before is not None and after is not None and before != after:
                        yield Change(name, query, system, measure, before, after)


def described(
    changes: Sequence[Change], baseline: RankingRecord, fresh: FreshRun
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


def _entry_json(entry: ShownEntry) -> dict[str, str]:
    return {"entry": entry.id, "text": entry.text}
