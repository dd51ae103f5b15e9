"""Run folders of tuning: written once a study is whole, read by the page and by notebooks.

    manifest.json           circumstances: versions, commit, settings, checksums, trials a second
    profile.json            what was found: a weight profile, ready for `wsmem eval --profile`
    strict.json             the same weights, with a threshold that recalls less that does not fit
    results.json            searches, figures by set, gains with their verdicts, ablation, curve,
                            and what thresholds cost
    queries/DATASET.jsonl   nDCG of every query by system
    report.html             all of it for people
    ledger.jsonl            finished searches; a study that was broken off goes on from there
    studies.journal         trials, as Optuna keeps them
    cache/                  signals and duels; may be removed, and is made again

Equal studies over equal files give equal results and weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.evals.ledger import LEDGER
from wsmem.evals.pages import FILE
from wsmem.evals.run_folder import (
    MANIFEST,
    RunKind,
    drop_earlier,
    write_json,
    write_lines,
    write_tables,
)
from wsmem.evals.tuning.study import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.tuning.abstention import Point
    from wsmem.evals.tuning.assess import Gain, SetFigures
    from wsmem.retrieval.profile import Profile

PROFILE, RESULTS, QUERIES = "profile.json", "results.json", "queries"
STRICT_PROFILE = "strict.json"
JOURNAL, CACHE = "studies.journal", "cache"

KIND = RunKind(
    name="tuning",
    called="run of wsmem tune",
    format=1,
    written=frozenset({MANIFEST, PROFILE, STRICT_PROFILE, RESULTS, QUERIES, LEDGER, CACHE, FILE}),
    begun=(JOURNAL,),
    command="wsmem tune",
    again="tune again",
)


def write_run(
    folder: Path,
    *,
    manifest: Mapping[str, Any],
    profile: Profile,
    strict: Profile | None,
    searches: Iterable[Result],
    figures: Sequence[SetFigures],
    gains: Iterable[Gain],
    ablation: Sequence[Mapping[str, Any]],
    curve: Sequence[Mapping[str, Any]],
    thresholds: Sequence[Point],
) -> TuningRun:
    """Write a finished study; the files of an earlier one in the folder are replaced."""
    drop_earlier(folder, QUERIES)
    (folder / QUERIES).mkdir(exist_ok=True)
    for item in figures:
        write_lines(folder / QUERIES / f"{item.dataset}-{item.split}.jsonl", _query_rows(item))
    results = {
        "searches": [result.to_json() for result in searches],
        "figures": [figures_json(item) for item in figures],
        "gains": [gain.to_json() for gain in gains],
        "ablation": [dict(row) for row in ablation],
        "curve": [dict(row) for row in curve],
        "abstention": [point.to_json() for point in thresholds],
    }
    write_tables(folder / RESULTS, results)
    write_json(folder / PROFILE, profile.to_json())
    (folder / STRICT_PROFILE).unlink(missing_ok=True)
    if strict is not None:
        write_json(folder / STRICT_PROFILE, strict.to_json())
    write_json(folder / MANIFEST, {"format": KIND.format, "kind": KIND.name, **manifest})
    return TuningRun.load(folder)


def figures_json(item: SetFigures) -> dict[str, Any]:
    """Means by system, as stored."""
    means = {system: item.mean(system) for system in item.ndcg}
    return {
        "dataset": item.dataset,
        "split": item.split,
        "part": item.part,
        "queries": len(item.queries),
        "nothing": item.nothing,
        "ndcg": {name: None if mean is None else round(mean, 6) for name, mean in means.items()},
        "false_recall": {
            name: None if share is None else round(share, 6)
            for name, share in item.false_recall.items()
        },
    }


def _query_rows(item: SetFigures) -> Iterable[dict[str, Any]]:
    for at, (query, scope) in enumerate(zip(item.queries, item.scopes, strict=True)):
        yield {
            "query": query,
            "scope": scope,
            "ndcg": {system: round(values[at], 6) for system, values in item.ndcg.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningRun:
    """A finished study, read from its folder."""

    path: Path
    manifest: Mapping[str, Any]
    profile: Mapping[str, Any]
    results: Mapping[str, list[dict[str, Any]]]

    @classmethod
    def load(cls, path: Path) -> TuningRun:
        """Read a run folder.

        Raises:
            RunFolderError: there is no such run in it, it is damaged, or a newer wsmem wrote it.
        """
        return cls(
            path=path,
            manifest=KIND.manifest(path),
            profile=KIND.read(path / PROFILE),
            results=KIND.read(path / RESULTS),
        )

    @property
    def strict(self) -> Mapping[str, Any] | None:
        """The profile that recalls less that does not fit, where the study could choose one."""
        path = self.path / STRICT_PROFILE
        return KIND.read(path) if path.is_file() else None

    @property
    def searches(self) -> dict[str, Result]:
        """What every search found, by its name."""
        return {raw["name"]: Result.from_json(raw) for raw in self.results["searches"]}
