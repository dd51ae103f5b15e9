"""From sets to a tuned profile: caches, searches, exact scores, comparisons, the run folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import process_time
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.evals.ledger import LEDGER, Ledger
from wsmem.evals.manifest import circumstances, commit
from wsmem.evals.reading import DEFAULT_SPLIT
from wsmem.evals.tuning.abstention import ALLOWED, abstention, strict_profile
from wsmem.evals.tuning.assess import HELD_OUT, MEAN, TUNED, best_variant, gains, set_figures
from wsmem.evals.tuning.candidates import DEVELOPMENT, final_split, tuning_split
from wsmem.evals.tuning.duels import stacked
from wsmem.evals.tuning.files import cached_duels, cached_set, fingerprint
from wsmem.evals.tuning.findings import ablation, learning_curve
from wsmem.evals.tuning.objective import Objective
from wsmem.evals.tuning.peers import REFERENCE, VARIANTS, score_peers
from wsmem.evals.tuning.planning import FIT, FOLD, STEPS, group_by_set, units
from wsmem.evals.tuning.run import CACHE, JOURNAL, KIND, write_run
from wsmem.evals.tuning.search import Search
from wsmem.evals.tuning.study import Unit, carry_out, write_duels
from wsmem.evals.workers import open_workers
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.signals import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from wsmem.evals.catalogue import Source
    from wsmem.evals.tuning.abstention import Point, Where
    from wsmem.evals.tuning.assess import Gain, Part, SetFigures
    from wsmem.evals.tuning.cached import CachedSet
    from wsmem.evals.tuning.duels import Duels
    from wsmem.evals.tuning.peers import PeerScores
    from wsmem.evals.tuning.planning import Step
    from wsmem.evals.tuning.run import TuningRun
    from wsmem.evals.tuning.space import Space
    from wsmem.evals.tuning.study import Result
    from wsmem.retrieval.profile import Profile

    OnProgress = Callable[[str, float], None]
    """Called with the name of a task and which further part of it, 0 to 1, is done."""
    Peers = dict[tuple[str, Part], dict[str, PeerScores]]
    """By set and part, what each peer got."""

DEFAULT_PROFILE, START = "default", "start"
WORTH = 0.0001
"""What a signal must add to the objective to keep a weight, unless told otherwise."""
_TIMED = 100
"""Trials played to tell how many there are a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What a study is to do; every name in it exists."""

    sources: tuple[Source, ...]
    space: Space
    out: Path
    objective: Objective = field(default_factory=Objective)
    search: Search = field(default_factory=Search)
    worth: float = WORTH
    steps: tuple[Step, ...] = STEPS
    variants: tuple[str, ...] = VARIANTS
    open_test: bool = False
    """Whether sets with a split for tuning are scored on their test split, too."""
    cache: Path | None = None
    """Where signals are kept; in the run folder when `None`."""
    storage: str | None = None
    """A database shared by several workers; a journal in the run folder when `None`."""
    name: str = TUNED
    """Of the profile."""
    jobs: int = 2
    cluster: str | None = None
    limit: int | None = None
    """Only the first queries of each set."""

    def __post_init__(self) -> None:
        if not self.sources:
            raise InvalidInputError("there is no labelled set to tune on")
        if self.limit is not None and self.limit < 1:
            raise InvalidInputError(f"a limit of {self.limit} queries leaves nothing to tune on")
        if self.storage is not None and self.search.sampler == "ascent":
            raise InvalidInputError(
                "the ascent keeps no trials in a storage; choose another sampler"
            )
        if self.storage is not None and _is_file(self.storage) and _is_far(self.cluster):
            problem = f"the storage {self.storage} is a file, another one on every machine"
            raise InvalidInputError(f"{problem}; name a database server, or leave --cluster out")

    @property
    def cache_folder(self) -> Path:
        """Where signals are kept."""
        return self.cache or self.out / CACHE


def _is_file(storage: str) -> bool:
    return "://" not in storage or storage.startswith("sqlite")


def _is_far(cluster: str | None) -> bool:
    return cluster is not None and not cluster.startswith("local:")


def tune(tuning: Tuning, *, on_progress: OnProgress | None = None) -> TuningRun:
    """Carry out a study and write its run folder.

    Equal studies over equal files find the same, whoever works on them, as long as one storage
    serves one study at a time. A study that was broken off goes on where it was.

    Raises:
        RunFolderError: the folder cannot be used.
        DatasetError: a set cannot be read.
        MissingExtraError: Optuna is not installed.
    """
    started = datetime.now(UTC)
    report = on_progress or (lambda _task, _part: None)
    KIND.claim(tuning.out)
    duels = all_duels(tuning, report)
    facts = _facts(tuning)
    sets = sorted((name, each["split"], each["checksums"]) for name, each in facts.items())
    data = f"{sets} {tuning.limit} {fingerprint()}"
    with Ledger(tuning.out / LEDGER) as ledger:
        results = _searched(tuning, duels, ledger, report, data=data)
        peers = _peers(tuning, ledger, report) if "peers" in tuning.steps else {}
    figures = _figures(tuning, results, peers)
    found = _gains(tuning, figures)
    profile = tuned_profile(tuning, results[FIT], found, facts=facts, when=started)
    thresholds = _thresholds(tuning, profile) if "abstention" in tuning.steps else []
    speed = {
        "trials_per_second": round(trials_per_second(duels, profile), 1),
        "sets": len(duels.sets),
        "duels": len(duels),
    }
    return write_run(
        tuning.out,
        manifest={
            **circumstances(started=started, finished=datetime.now(UTC)),
            "settings": _settings(tuning),
            "datasets": facts,
            "speed": speed,
        },
        profile=profile,
        strict=strict_profile(profile, thresholds, allowed=tuning.objective.allowed or ALLOWED),
        searches=results.values(),
        figures=figures,
        gains=found,
        ablation=ablation(duels, tuning.objective, tuning.space.signals, results),
        curve=learning_curve(duels, tuning.objective, results, tuning.space.start),
        thresholds=thresholds,
    )


def _searched(
    tuning: Tuning, duels: Duels, ledger: Ledger, report: OnProgress, *, data: str
) -> dict[str, Result]:
    """Every search of the study by name; what the ledger holds is not searched again."""
    path = write_duels(duels, tuning.cache_folder, data=data)
    with open_workers(jobs=tuning.jobs, cluster=tuning.cluster) as workers:
        base = Unit(
            name=FIT,
            sets=duels.sets,
            space=tuning.space,
            search=tuning.search,
            objective=tuning.objective,
            worth=tuning.worth,
            duels=workers.share(path),
        )
        todo = units(
            base,
            steps=tuning.steps,
            data=data,
            storage=_storage(tuning),
            shared=tuning.storage is not None,
        )
        return carry_out(
            todo,
            workers,
            ledger=ledger,
            data=data,
            on_trials=lambda name, count: report(name, count / tuning.search.trials),
        )


def _storage(tuning: Tuning) -> str | None:
    """Where trials are kept: in a file of ours only where all workers can write it."""
    if tuning.search.sampler == "ascent" or tuning.storage or tuning.cluster:
        return tuning.storage
    return str(tuning.out / JOURNAL)


def all_duels(tuning: Tuning, report: OnProgress) -> Duels:
    """The duels of all sets, from the cache or made anew."""
    found = []
    for source in tuning.sources:
        found.append(
            cached_duels(
                source,
                tuning.space.signs,
                split=tuning_split(source.path),
                signals=NAMES,
                cache=tuning.cache_folder,
                k=tuning.objective.k,
                limit=tuning.limit,
            )
        )
        report("signals", 1 / len(tuning.sources))
    return stacked(found)


def trials_per_second(duels: Duels, profile: Profile) -> float:
    """How many trials one core plays in a second: of its own time, whatever else is running."""
    begun = process_time()
    for _ in range(_TIMED):
        duels.play(profile.weights, share=profile.evidence_share, cap=profile.evidence_cap)
    return _TIMED / (process_time() - begun)


def _facts(tuning: Tuning) -> dict[str, dict[str, Any]]:
    found = {}
    group = group_by_set(source.name for source in tuning.sources)
    for source in tuning.sources:
        cached = _cached(tuning, source, tuning_split(source.path))
        found[source.name] = {
            "path": str(source.path),
            "split": cached.split,
            "checksums": dict(cached.checksums),
            "group": group[source.name],
            "judged": int(cached.judged.sum()),
            "nothing": int(cached.nothing.sum()),
            "candidates": len(cached.evidence),
        }
    return found


def _cached(tuning: Tuning, source: Source, split: str | None) -> CachedSet:
    return cached_set(
        source, split=split, signals=NAMES, cache=tuning.cache_folder, limit=tuning.limit
    )


def _peers(tuning: Tuning, ledger: Ledger, report: OnProgress) -> Peers:
    """Other profiles and BM25 on the splits that are tuned on, and on test splits if opened."""
    rounds: list[tuple[Part, str | None, list[Source]]] = [
        ("validation", None, [s for s in tuning.sources if tuning_split(s.path) is None]),
        ("validation", DEVELOPMENT, [s for s in tuning.sources if tuning_split(s.path)]),
    ]
    if tuning.open_test:
        rounds.append(("final", DEFAULT_SPLIT, [s for s in tuning.sources if final_split(s.path)]))
    found: Peers = {}
    for part, split, sources in rounds:
        if sources:
            scores = score_peers(
                sources,
                systems=(REFERENCE, *tuning.variants),
                split=split,
                k=tuning.objective.k,
                jobs=tuning.jobs,
                cluster=tuning.cluster,
                limit=tuning.limit,
                ledger=ledger,
                on_progress=lambda name, done: report(f"peers: {name}", done),
            )
            found |= {(name, part): systems for name, systems in scores.items()}
    return found


def _figures(tuning: Tuning, results: Mapping[str, Result], peers: Peers) -> list[SetFigures]:
    """Exact scores of every set by what was found without it, by the whole fit, and by others."""
    fit = tuning.space.as_profile(results[FIT].parameters, name=TUNED)
    group = group_by_set(source.name for source in tuning.sources)
    found = []
    for source in tuning.sources:
        parts: list[tuple[Part, str | None]] = [("validation", tuning_split(source.path))]
        if tuning.open_test and (final := final_split(source.path)):
            parts.append(("final", final))
        fold = results.get(f"{FOLD}:{group[source.name]}")
        profiles = {**_unfitted(tuning), TUNED: fit}
        if fold is not None:
            profiles[HELD_OUT] = tuning.space.as_profile(fold.parameters, name=HELD_OUT)
        for part, split in parts:
            cached = _cached(tuning, source, split)
            found.append(
                set_figures(
                    cached,
                    profiles,
                    peers.get((source.name, part), {}),
                    part=part,
                    k=tuning.objective.k,
                )
            )
    return found


def _unfitted(tuning: Tuning) -> dict[str, Profile]:
    """Profiles that this study did not fit: the one that ships, and where it began, if another."""
    default, start = load_profile(DEFAULT_PROFILE), tuning.space.start
    found = {DEFAULT_PROFILE: default}
    if replace(start, name=default.name, provenance=default.provenance) != default:
        found[START] = start
    return found


def _thresholds(tuning: Tuning, profile: Profile) -> list[Point]:
    """What other thresholds cost: chosen on sets with a test split, where there are any."""
    named = [source for source in tuning.sources if final_split(source.path)]
    choosing = named or list(tuning.sources)
    others = [source for source in tuning.sources if source not in choosing]
    sets: dict[Where, list[CachedSet]] = {
        "chosen on": [_cached(tuning, each, tuning_split(each.path)) for each in choosing],
        "unseen": [_cached(tuning, each, tuning_split(each.path)) for each in others],
    }
    if tuning.open_test:
        sets["test"] = [_cached(tuning, each, final_split(each.path)) for each in named]
    return abstention(profile, sets, k=tuning.objective.k)


def _gains(tuning: Tuning, figures: Sequence[SetFigures]) -> list[Gain]:
    """The held-out weights against everybody; on test splits the whole fit, which saw no test."""
    best = best_variant(figures)
    over = [*_unfitted(tuning), REFERENCE, *([] if best is None else [best])]
    rounds: tuple[tuple[str, Part], ...] = ((HELD_OUT, "validation"), (TUNED, "final"))
    found = []
    for system, part in rounds:
        found += gains(figures, system=system, over=over, part=part, seed=tuning.search.seed)
    return found


def tuned_profile(
    tuning: Tuning,
    fit: Result,
    found: Sequence[Gain],
    *,
    facts: Mapping[str, Mapping[str, Any]],
    when: datetime,
) -> Profile:
    """The profile of the fit, with where it comes from."""
    means = [gain for gain in found if gain.dataset == MEAN and gain.part == "validation"]
    provenance = {
        "origin": f"wsmem tune from {tuning.space.start.name}, {when.date().isoformat()}",
        "commit": commit(),
        "objective": str(tuning.objective),
        "search": f"{tuning.search.sampler}, {fit.trials} trials, seed {tuning.search.seed}",
        "value": {"start": round(fit.start_value, 4), "found": round(fit.value, 4)},
        "gain": {
            gain.over: {
                name: value if value is None or isinstance(value, str) else round(value, 4)
                for name, value in gain.to_json().items()
                if name in ("first", "second", "difference", "low", "high", "verdict")
            }
            for gain in means
        },
        "gain_is": "mean nDCG over sets, each by weights of a search without its group of sets",
        "tuned_on": {
            name: f"{each['split']} {_digest(each['checksums'])}" for name, each in facts.items()
        },
        "digests": "first 16 digits of the SHA-256 over names and SHA-256 of a set's files",
    }
    return tuning.space.as_profile(fit.parameters, name=tuning.name, provenance=provenance)


def _digest(checksums: Mapping[str, str]) -> str:
    text = "".join(f"{name} {value}\n" for name, value in sorted(checksums.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _settings(tuning: Tuning) -> dict[str, Any]:
    space, search = tuning.space, tuning.search
    return {
        "objective": str(tuning.objective),
        "sampler": search.sampler,
        "trials": search.trials,
        "seed": search.seed,
        "start": space.start.name,
        "signals": list(space.signals),
        "anchor": space.anchor,
        "held": dict(space.held),
        "ranges": {name: list(range_[:2]) for name, range_ in space.free.items()},
        "worth": tuning.worth,
        "steps": list(tuning.steps),
        "variants": list(tuning.variants),
        "open_test": tuning.open_test,
        "limit": tuning.limit,
        "jobs": tuning.jobs,
        "cluster": tuning.cluster,
        "shared_storage": tuning.storage is not None,
    }
