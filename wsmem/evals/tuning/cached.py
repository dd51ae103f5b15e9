"""A dataset's candidates with all their signals, computed once, so that any weights can be tried.

The engine's own `candidates()` is asked for every query, over the pool and at the clock that
`wsmem eval` uses, with no evidence threshold. Scoring a cached set with a profile therefore gives
the figures of `wsmem eval`, and takes no text analysis.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from wsmem.errors import InvalidInputError
from wsmem.evals.card import checksums
from wsmem.evals.entries import pools, surfaced_ids
from wsmem.evals.reading import DEFAULT_SPLIT, QRELS, load_dataset
from wsmem.records import Match
from wsmem.retrieval.evidence import evidence_needed
from wsmem.retrieval.index import Index
from wsmem.retrieval.order import TIE_DIGITS, in_order
from wsmem.retrieval.profile import Profile
from wsmem.retrieval.ranking import candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from wsmem.evals.catalogue import Source
    from wsmem.evals.dataset import Dataset, Query
    from wsmem.evals.entries import Pool

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.bool_]

FORMAT = 1
DEVELOPMENT = "dev"
"""The label file that is tuned on where a set has it; `test` of such a set is for final figures."""

_ROOT = Path(__file__).resolve().parents[2]
_DECIDING = ("text", "retrieval", "records.py", "evals/entries.py", "evals/reading.py",
             "evals/tuning/cached.py", "evals/tuning/duels.py")  # fmt: skip
"""Source files and folders that decide what is cached; a change of any makes the cache anew."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CachedSet:
    """The scored queries of one split with their candidates. Queries are numbered by their place.

    Rows are candidates, query after query; a query's rows are `starts[q]` to `starts[q + 1]`.
    """

    name: str
    split: str
    checksums: Mapping[str, str]
    signals: tuple[str, ...]
    """Which were computed; one that is 0 in every row has no column."""
    queries: tuple[str, ...]
    scopes: tuple[str | None, ...]
    nothing: Bits
    """By query: whether nothing is relevant to it, so that nothing should be recalled."""
    totals: Floats
    """By query: summed mass of the terms that prove something."""
    greatest: Floats
    """By query: mass of one term of full weight and greatest rarity."""
    starts: Ints
    evidence: Floats
    ties: Ints
    """By row: place of the entry among its pool's when all scores are equal, the first 0."""
    grades: Ints
    columns: Mapping[str, Floats]
    label_starts: Ints
    labels: Ints
    """Grades of all relevant documents of each query, found or not, falling; as `starts`."""

    @property
    def judged(self) -> Bits:
        """By query: whether a document is relevant to it."""
        found: Bits = np.diff(self.label_starts) > 0
        return found

    @cached_property
    def row_queries(self) -> Ints:
        """The query of each row."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    def ideal(self, k: int) -> Floats:
        """By query: the greatest discounted gain that k ranks can hold; 0 where none is judged."""
        discounts, found = discount_table(k), np.zeros(len(self.queries))
        for query, (start, end) in enumerate(
            zip(self.label_starts[:-1].tolist(), self.label_starts[1:].tolist(), strict=True)
        ):
            best = self.labels[start : min(end, start + k)]
            found[query] = float(best @ discounts[: len(best)])
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SetScores:
    """What a profile gives on a cached set, query by query."""

    ndcg: Floats
    """NaN for a query without relevant documents."""
    recalled: Bits
    """Whether anything was recalled."""
    nothing: Bits

    @property
    def mean(self) -> float:
        """Mean nDCG over the judged queries; NaN without any."""
        known = self.ndcg[~np.isnan(self.ndcg)]
        return float(known.mean()) if len(known) else float("nan")

    @property
    def false_recall(self) -> float | None:
        """Share of the nothing-queries that recalled something; `None` without any."""
        return float(self.recalled[self.nothing].mean()) if self.nothing.any() else None


def discount_table(k: int) -> Floats:
    """1 / log2(1 + rank) for ranks 1 to k (Järvelin & Kekäläinen 2002, as trec_eval has it)."""
    found: Floats = 1.0 / np.log2(np.arange(k) + 2.0)
    return found


def score_set(cached: CachedSet, profile: Profile, *, k: int = 10) -> SetScores:
    """nDCG@k of every query, as `wsmem eval` finds it for this profile.

    Raises:
        InvalidInputError: the profile does not match by terms, or weighs a signal not cached.
    """
    if profile.matching != "terms":
        raise InvalidInputError(f"profile {profile.name}: only terms matching is cached")
    missing = sorted(set(profile.weights) - set(cached.signals))
    if missing:
        raise InvalidInputError(f"{cached.name}: signal {missing[0]!r} is not in the cache")
    scores = np.zeros(len(cached.evidence))
    for name, weight in profile.weights.items():
        if name in cached.columns:
            scores += weight * cached.columns[name]
    needed = np.array(
        [
            evidence_needed(profile, total, greatest)
            for total, greatest in zip(
                cached.totals.tolist(), cached.greatest.tolist(), strict=True
            )
        ]
    )
    matching = np.flatnonzero(cached.evidence >= needed[cached.row_queries])
    queries = cached.row_queries[matching]
    found = np.bincount(queries, minlength=len(cached.queries))
    rounded = np.round(scores[matching], TIE_DIGITS)
    order = np.lexsort((cached.ties[matching], -rounded, queries))
    ranks = np.arange(len(order)) - np.repeat(np.cumsum(found) - found, found)
    grades = cached.grades[matching[order]]
    counts = (ranks < k) & (grades > 0)
    gains = np.bincount(
        queries[counts],
        weights=grades[counts] * discount_table(k)[ranks[counts]],
        minlength=len(cached.queries),
    )
    ideal = cached.ideal(k)
    ndcg = np.divide(gains, ideal, out=np.full(len(ideal), np.nan), where=ideal > 0)
    return SetScores(ndcg=ndcg, recalled=found > 0, nothing=cached.nothing)


def tuning_split(folder: Path) -> str | None:
    """The split of a set that may be tuned on: `dev` where there is one, else its usual one."""
    return DEVELOPMENT if (folder / QRELS / f"{DEVELOPMENT}.tsv").is_file() else None


def final_split(folder: Path) -> str | None:
    """The split of a set that has `dev` beside it and is for final figures; `None` without."""
    both = tuning_split(folder) and (folder / QRELS / f"{DEFAULT_SPLIT}.tsv").is_file()
    return DEFAULT_SPLIT if both else None


def read_set(
    source: Source, *, split: str | None, signals: Sequence[str], limit: int | None = None
) -> CachedSet:
    """Compute what is cached: every signal of every candidate of every scored query."""
    dataset = load_dataset(source.path, name=source.name, split=split)
    asked = dataset.queries[:limit]
    scored = [query for query in asked if dataset.relevant(query.id) or not query.answerable]
    reading = _Reading(dataset, tuple(signals))
    for pool in pools(dataset, scored):
        reading.take(pool)
    return reading.finished(scored)


class _Reading:
    """Collects the candidates of a set pool by pool, and puts its queries in order at the end."""

    def __init__(self, dataset: Dataset, signals: tuple[str, ...]) -> None:
        self.dataset, self.signals = dataset, signals
        # Weights do not matter; without a threshold every entry with any evidence is a candidate.
        self._all = Profile(name="all candidates", weights={}, evidence_share=0.0)
        self._rows: dict[str, dict[str, npt.NDArray[Any]]] = {}
        self._masses: dict[str, tuple[float, float]] = {}

    def take(self, pool: Pool) -> None:
        index = Index.build(pool.entries)
        ties = _tie_places(index, self._all)
        for query in pool.queries:
            found = candidates(
                index,
                query.text,
                self._all,
                now=pool.now,
                surfaced=surfaced_ids(query),
                wanted=self.signals,
            )
            labels = self.dataset.labels.get(query.id, {})
            ids = [index.entry(at).id for at in found.documents.tolist()]
            self._masses[query.id] = (found.total_evidence, found.greatest_mass)
            self._rows[query.id] = {
                "evidence": found.evidence,
                "ties": ties[found.documents],
                "grades": np.array([max(0, labels.get(name, 0)) for name in ids], np.int64),
                # As in `weigh`: what is not a number counts as 0 under terms matching.
                **{name: np.nan_to_num(found.signals[name]) for name in self.signals},
            }

    def finished(self, queries: Sequence[Query]) -> CachedSet:
        rows = [self._rows[query.id] for query in queries]
        masses = np.array([self._masses[query.id] for query in queries]).reshape(-1, 2)
        labels = [
            sorted(self.dataset.relevant(query.id).values(), reverse=True) for query in queries
        ]
        columns = {name: _joined([row[name] for row in rows], np.float64) for name in self.signals}
        return CachedSet(
            name=self.dataset.name,
            split=self.dataset.split,
            checksums=self.dataset.checksums,
            signals=self.signals,
            queries=tuple(query.id for query in queries),
            scopes=tuple(query.scope for query in queries),
            nothing=np.array([not query.answerable for query in queries], dtype=np.bool_),
            totals=masses[:, 0],
            greatest=masses[:, 1],
            starts=_starts([len(row["evidence"]) for row in rows]),
            evidence=_joined([row["evidence"] for row in rows], np.float64),
            ties=_joined([row["ties"] for row in rows], np.int64),
            grades=_joined([row["grades"] for row in rows], np.int64),
            columns={name: column for name, column in columns.items() if column.any()},
            label_starts=_starts([len(grades) for grades in labels]),
            labels=np.array([grade for grades in labels for grade in grades], dtype=np.int64),
        )


def _tie_places(index: Index, profile: Profile) -> Ints:
    """Where each entry of an index stands when scores decide nothing: the engine's own order."""
    at = {id(entry): place for place, entry in enumerate(index.entries)}
    equal = [Match(entry=entry, score=0.0, matched=0) for entry in index.entries]
    places = np.empty(len(equal), dtype=np.int64)
    order = [at[id(match.entry)] for match in in_order(equal, profile)]
    places[order] = np.arange(len(order))
    return places


def _joined(parts: Iterable[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)


def _starts(sizes: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Hash of the source code that decides what is cached."""
    found = hashlib.sha256()
    for name in _DECIDING:
        place = _ROOT / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        for path in files:
            found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """Everything that decides what a cached set holds."""

    name: str
    split: str | None
    checksums: Mapping[str, str]
    signals: tuple[str, ...]
    limit: int | None

    @classmethod
    def of(
        cls, source: Source, *, split: str | None, signals: Sequence[str], limit: int | None
    ) -> CacheKey:
        """The key of a set as its files are now."""
        return cls(
            name=source.name,
            split=split,
            checksums=checksums(source.path),
            signals=tuple(signals),
            limit=limit,
        )

    def stem(self, **more: object) -> str:
        """A file name that is the same only for the same content, without its suffix."""
        said = asdict(self) | {"format": FORMAT, "code": fingerprint()} | more
        digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
        return f"{self.name}-{self.split or 'only'}-{digest[:16]}"


def cached_set(
    source: Source,
    *,
    split: str | None,
    signals: Sequence[str],
    cache: Path,
    limit: int | None = None,
) -> CachedSet:
    """A set from the cache folder, computed and put there if it is not in it yet."""
    key = CacheKey.of(source, split=split, signals=signals, limit=limit)
    path = cache / f"{key.stem()}.npz"
    stored = load_arrays(path)
    if stored is None:
        found = read_set(source, split=split, signals=signals, limit=limit)
        save_arrays(path, *_arrays_of(found))
        return found
    return _from_arrays(*stored)


_META = ("name", "split", "checksums", "signals", "queries", "scopes")
_COLUMN = "column:"


def _arrays_of(found: CachedSet) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    meta = {name: getattr(found, name) for name in _META}
    arrays = {
        name: getattr(found, name)
        for name in CachedSet.__dataclass_fields__
        if name not in (*_META, "columns")
    }
    return meta, arrays | {_COLUMN + name: column for name, column in found.columns.items()}


def _from_arrays(meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> CachedSet:
    columns = {
        name.removeprefix(_COLUMN): arrays.pop(name)
        for name in list(arrays)
        if name.startswith(_COLUMN)
    }
    lists = {name: tuple(meta[name]) for name in ("signals", "queries", "scopes")}
    fields: dict[str, Any] = meta | lists | arrays
    return CachedSet(**fields, columns=columns)


def save_arrays(
    path: Path, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write arrays with a few plain values; whole or not at all, whoever else writes the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(meta, default=dict).encode(), dtype=np.uint8)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            np.savez(file, meta=text, **arrays)  # type: ignore[arg-type]  # NumPy's stub knows no names
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load_arrays(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
    """What `save_arrays` wrote; `None` where there is no such file, or none that can be read."""
    try:
        # Opened here, because NumPy leaves a file open that turns out to be no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta: dict[str, Any] = json.loads(arrays.pop("meta").tobytes())
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    return meta, arrays
