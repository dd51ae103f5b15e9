"""A fresh run of what a baseline holds: same sets, systems and measures, through public recall."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.errors import WsmemError
from wsmem.evals.card import checksums
from wsmem.evals.evaluate import evaluate
from wsmem.evals.gate.record import Answer, BaselineError, RankingRecord, SetRecord, rounded
from wsmem.evals.measures import FALSE_RECALL
from wsmem.evals.plan import Plan
from wsmem.evals.reading import QRELS
from wsmem.evals.systems.wsmem import GROWN, PREFIX, profile_of
from wsmem.retrieval.profile import load_profile
from wsmem.text.analysis import analyze_query, terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.results import DatasetResult, QueryFacts

SYSTEMS = (f"{PREFIX}default{GROWN}", f"{PREFIX}reference{GROWN}")
"""What is gated: both profiles that ship, over stores whose index has followed changes."""
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
        profiles={name: _profile(name) for name in systems},
        analysis=analysis_name(),
        sets={name: _set_record(found, wanted[name], measures) for name, found in results.items()},
    )
    return FreshRun(
        record=record,
        facts={
            name: tuple({fact.id: fact for result in found for fact in result.facts}.values())
            for name, found in results.items()
        },
        sources={source.name: source for source in sources},
    )


def splits_of(folder: Path) -> tuple[str, ...]:
    """Names of the label files of a set, sorted."""
    return tuple(sorted(path.stem for path in (folder / QRELS).glob("*.tsv")))


def check_sets(baseline: RankingRecord, known: Mapping[str, Source], path: Path) -> list[Source]:
    """The sets that a baseline is about, seen to be the very files it was made from.

    Raises:
        BaselineError: a set is missing, or one of its files differs.
    """
    found = []
    for name, stored in baseline.sets.items():
        if name not in known:
            there = ", ".join(known) or "none"
            remedy = f"there are: {there}; name their folder by --datasets-dir"
            raise BaselineError(str(path), f"is about a set {name!r} that is not here", remedy)
        present = checksums(known[name].path)
        files = sorted(stored.checksums.keys() | present.keys())
        other = [file for file in files if present.get(file) != stored.checksums.get(file)]
        if other:
            problem = f"was made from other files of {name}: {', '.join(other)} differ"
            remedy = (
                "restore them, or, where the set was meant to change, make the baseline anew "
                "with wsmem gate --update --accept-lower"
            )
            raise BaselineError(str(path), problem, remedy)
        found.append(known[name])
    return found


def analysis_name() -> str:
    """A short name of how texts become terms, from what becomes of a sample in many scripts."""
    said = repr((terms(_SAMPLE), analyze_query(_SAMPLE)))
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _profile(system: str) -> dict[str, Any]:
    stored = load_profile(profile_of(system)).to_json()
    return {key: value for key, value in stored.items() if key != "provenance"}


def _set_record(
    results: Sequence[DatasetResult], splits: tuple[str, ...], measures: Sequence[str]
) -> SetRecord:
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
    return SetRecord(splits=splits, checksums=results[0].checksums, answers=answers)
