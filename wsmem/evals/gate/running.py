"""A fresh run of what a baseline holds: same sets, systems and measures, through public recall."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.errors import WsmemError
from wsmem.evals.evaluate import evaluate
from wsmem.evals.gate.record import Answer, RankingRecord, SetRecord, rounded
from wsmem.evals.measures import FALSE_RECALL
from wsmem.evals.plan import Plan
from wsmem.evals.reading import QRELS, load_dataset
from wsmem.evals.systems.wsmem import GROWN, PREFIX, profile_of
from wsmem.retrieval.profile import load_profile
from wsmem.text.analysis import analyze_query, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.results import DatasetResult, QueryFacts

SYSTEMS = tuple(f"{PREFIX}{name}{GROWN}" for name in ("default", "reference", "strict"))
"""What is gated: all profiles that ship, over stores whose index has followed changes."""
OWN = ("workspace-zh", "workspace-en", "workspace-mixed")
"""On which sets: those that come with the repository."""
MEASURES = ("nDCG@10", FALSE_RECALL)
MARGINS: Mapping[str, float] = {"nDCG@10": 0.01, FALSE_RECALL: 0.02}
"""Losses that are allowed: a hundredth of nDCG, one false recall of fifty."""

_FEW = 64
"""Resamples of intervals that nobody looks at here."""
_SAMPLE = """
我们的部署脚本在 deploy.sh，先放 5% 流量；数据库端口是 5432，备份在凌晨两点。桶 的 ＡＰＩ 網關
The services running billing exports were retried; getUserName, Node18, C++ and v2.3.1 (café).
データベースの設定 데이터베이스 설정 сервер src/store/fs.py:120 max_retry_count
"""


class RunFailedError(WsmemError):
    """The ranking could not be run for the gate, so nothing was judged."""

    def __init__(self, system: str, dataset: str, reason: str) -> None:
        super().__init__(system, dataset, reason)  # args rebuild the error when unpickled
        self.system, self.dataset, self.reason = system, dataset, reason

    def __str__(self) -> str:
        return f"{self.system} on {self.dataset} gave no figures: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRun:
    """What ranking gives now."""

    record: RankingRecord
    facts: Mapping[str, tuple[QueryFacts, ...]]
    """The queries of each set, with their groups."""
    sources: Mapping[str, Source]


def fresh_run(
    sources: Sequence[Source],
    *,
    systems: Sequence[str] = SYSTEMS,
    measures: Sequence[str] = MEASURES,
    margins: Mapping[str, float] = MARGINS,
    splits: Mapping[str, Sequence[str]] | None = None,
    jobs: int = 1,
) -> FreshRun:
    """Ask every query of these sets.

    Args:
        sources: The sets.
        systems: Names, as the board knows them.
        measures: Names.
        margins: To be recorded with the figures.
        splits: Of each set; all there are unless said otherwise.
        jobs: Processes; figures do not depend on it.

    Raises:
        RunFailedError: a set or a system gave no figures.
    """
    wanted = {
        source.name: tuple((splits or {}).get(source.name) or splits_of(source.path))
        for source in sources
    }
    results: dict[str, list[DatasetResult]] = {source.name: [] for source in sources}
    for split in dict.fromkeys(split for names in wanted.values() for split in names):
        group = [source for source in sources if split in wanted[source.name]]
        plan = Plan.of(group, systems=systems, measures=measures, split=split, jobs=jobs)
        evaluation = evaluate(replace(plan, resamples=_FEW))
        for item in evaluation.skipped:
            raise RunFailedError(item.system, item.dataset or "every set", item.reason)
        for result in evaluation.datasets:
            results[result.name].append(result)
    record = RankingRecord(
        measures=tuple(measures),
        margins={measure: margins.get(measure, 0.0) for measure in measures},
        profiles={name: shipped_rule(name) for name in systems},
        analysis=terms_name([_SAMPLE], [_SAMPLE]),
        sets={
            source.name: _set_record(source, results[source.name], wanted[source.name], measures)
            for source in sources
        },
    )
    return FreshRun(
        record=record,
        facts={
            name: tuple({fact.id: fact for result in found for fact in result.facts}.values())
            for name, found in results.items()
        },
        sources={source.name: source for source in sources},
    )


def fresh_run_of(
    baseline: RankingRecord, sources: Sequence[Source], *, system: str | None = None, jobs: int = 1
) -> FreshRun:
    """Ask again what a baseline holds: by the same measures, all its systems or another one.

    Raises:
        RunFailedError: a set or a system gave no figures.
    """
    return fresh_run(
        sources,
        systems=baseline.systems if system is None else (system,),
        measures=baseline.measures,
        margins=baseline.margins,
        jobs=jobs,
    )


def splits_of(folder: Path) -> tuple[str, ...]:
    """Names of the label files of a set, sorted."""
    return tuple(sorted(path.stem for path in (folder / QRELS).glob("*.tsv")))


def terms_name(texts: Iterable[str], queries: Iterable[str]) -> str:
    """A short name of the terms that texts and queries become, their weights and roles included."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(repr(terms(text)).encode())
    for query in queries:
        asked = analyze_query(query)
        # Logarithms may differ in their last digit from one machine to another.
        weighed = [(term.text, round(term.weight, 9), term.role) for term in asked.terms]
        digest.update(repr((weighed, asked.pairs, asked.letters)).encode())
    return digest.hexdigest()[:12]


def shipped_rule(system: str) -> dict[str, Any]:
    """The weight profile that ranks for a system, without where it comes from."""
    stored = load_profile(profile_of(system)).to_json()
    return {key: value for key, value in stored.items() if key != "provenance"}


def _set_record(
    source: Source,
    results: Sequence[DatasetResult],
    splits: tuple[str, ...],
    measures: Sequence[str],
) -> SetRecord:
    documents = load_dataset(source.path, name=source.name, split=splits[0]).documents
    facts = [fact for result in results for fact in result.facts]
    answers = {
        fact.id: {
            system.system: Answer(
                values=tuple(
                    rounded(system.queries[fact.id].scores[measure]) for measure in measures
                ),
                first=next(iter(system.queries[fact.id].ranked), None),
            )
            for system in result.systems
        }
        for result in results
        for fact in result.facts
    }
    return SetRecord(
        splits=splits,
        checksums=results[0].checksums,
        terms=terms_name(
            (f"{document.title}\n{document.text}" for document in documents),
            (fact.text for fact in facts),
        ),
        answers=answers,
    )
