"""From where a set to be labelled comes: scopes of one's own store, or a set there is already.

A store is only read: nothing is written, locked or created in it. Deleted entries are left out,
secrets are redacted in every field, and a workspace holds the user's global entries too, as a
recall from it would.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.engine.redacting import redacted_entry
from wsmem.errors import DatasetError, InvalidInputError, UnknownNameError
from wsmem.evals.card import Card
from wsmem.evals.dataset import Document
from wsmem.evals.entries import field_problems
from wsmem.evals.importers.writing import new_folder
from wsmem.evals.labelling.candidates import ANY_SCOPE, candidates, choose
from wsmem.evals.labelling.folder import (
    PUBLISHED,
    SETTINGS,
    LabellingSettings,
    query_row,
    write_card_of,
    write_file,
    write_folder,
    write_pool,
)
from wsmem.evals.labelling.judgements import Ledger, PairKey, ledger_path
from wsmem.evals.labelling.pooling import DEPTH, SYSTEMS, pooled, rank_all
from wsmem.evals.language import language_of
from wsmem.evals.reading import load_dataset
from wsmem.scopes import GLOBAL_KEY, candidate_keys
from wsmem.store.layout import SCOPE_KEY, ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.dataset import Dataset
    from wsmem.evals.labelling.candidates import Candidate
    from wsmem.records import MemoryEntry
    from wsmem.store.snapshot import ScopeSnapshot

SPLIT = "test"
QUERIES_WANTED = 200
_PRIVATE = "private: not for publication"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """How a pool is made."""

    systems: tuple[str, ...] = SYSTEMS
    depth: int = DEPTH
    seed: int = 0

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InvalidInputError(f"a pool of depth {self.depth} is empty; ask for 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReport:
    """What a labelling folder was made of."""

    folder: Path
    documents: int
    queries: int
    pairs: int
    """How many judgements the whole pool takes."""
    origins: Mapping[str, int]
    """Queries by where they come from."""
    passed_over: Mapping[str, int]
    """Candidates that are no queries, by reason."""
    skipped_systems: Mapping[str, str]


def from_store(
    memory_dir: Path,
    out: Path,
    *,
    scopes: Sequence[str] = (),
    further: Iterable[Candidate] = (),
    messages: bool = True,
    limit: int = QUERIES_WANTED,
    pooling: Pooling | None = None,
) -> MadeReport:
    """Make a labelling folder from scopes of a store.

    Args:
        memory_dir: The store; it is left exactly as it is.
        out: The new folder.
        scopes: Keys or directories; the global scope and all live workspaces when empty.
        further: Candidate queries beside those of the store.
        messages: Whether the store's own messages and log are candidates.
        limit: Most queries; a seeded sample of more than that.
        pooling: Systems, depth and seed.

    Raises:
        DatasetError: there is no store, `out` is there already, or nothing can be asked.
        UnknownNameError: the store has no such scope, or there is no such system.
        StoreError: its files cannot be read.
    """
    if not memory_dir.is_dir():
        problem, remedy = "there is no such folder", "give the folder that holds the memory"
        raise DatasetError(str(memory_dir), None, problem, remedy)
    pooling = pooling or Pooling()
    store = MemoryStore(memory_dir)
    snapshots = _snapshots(store, scopes)
    given = [replace(item, scope=_home_of(item.scope, tuple(snapshots))) for item in further]
    chosen, passed = _questions(store, snapshots, given, messages=messages)
    chosen = _sample(chosen, limit, pooling.seed)
    settings = _settings(pooling, {key: item.cwd for key, item in snapshots.items()})
    documents = list(_documents(store, snapshots))
    with new_folder(out, mode=0o700) as folder:
        write_folder(folder, documents=documents, queries=_query_rows(chosen), split=SPLIT)
        pairs, skipped = _finish(folder, settings, _card(out.name, snapshots, chosen), pooling)
    return MadeReport(
        folder=out,
        documents=len(documents),
        queries=len(chosen),
        pairs=pairs,
        origins=_count(candidate.origin for candidate in chosen),
        passed_over=passed,
        skipped_systems=skipped,
    )


def from_dataset(
    source: Dataset, out: Path, *, share: float = 1.0, pooling: Pooling | None = None
) -> MadeReport:
    """Make a labelling folder from a labelled set, so that others label it again.

    Its labels become the judgements of the labeller `published`, whom nobody else sees.

    Args:
        source: The set, with one of its splits.
        out: The new folder.
        share: Part of its queries, a seeded sample; 0.2 is enough to measure agreement.
        pooling: Systems, depth and seed.

    Raises:
        DatasetError: `out` is there already.
        InvalidInputError: the share is not above 0 and at most 1.
        UnknownNameError: there is no such system.
    """
    if not 0 < share <= 1:
        raise InvalidInputError(f"a share is above 0 and at most 1, not {share}")
    pooling = pooling or Pooling()
    wanted = max(1, round(share * len(source.queries)))
    queries = _sample(source.queries, wanted, pooling.seed)
    settings = _settings(pooling, {}, split=source.split).model_copy(
        update={"unanswerable": tuple(query.id for query in queries if not query.answerable)}
    )
    card = source.card or _card_of_others(out.name, source)
    with new_folder(out, mode=0o700) as folder:
        write_folder(
            folder,
            documents=(
                {"_id": d.id, "title": d.title, "text": d.text, "metadata": d.metadata}
                for d in source.documents
            ),
            queries=[query_row(query, answerable=query.answerable) for query in queries],
            split=source.split,
        )
        labels = {query.id: source.labels.get(query.id, {}) for query in queries}
        ledger = Ledger(ledger_path(folder, PUBLISHED))
        for query_id, grades in labels.items():
            for document, grade in grades.items():
                ledger.record(PairKey(query_id, document), min(grade, 2))
        about = {"name": out.name, "splits": {source.split: f"{len(queries)} queries"}}
        pairs, skipped = _finish(folder, settings, card.model_copy(update=about), pooling, labels)
    return MadeReport(
        folder=out,
        documents=len(source.documents),
        queries=len(queries),
        pairs=pairs,
        origins={source.name: len(queries)},
        passed_over={},
        skipped_systems=skipped,
    )


def _questions(
    store: MemoryStore,
    snapshots: Mapping[str, ScopeSnapshot],
    given: Sequence[Candidate],
    *,
    messages: bool,
) -> tuple[list[Candidate], Mapping[str, int]]:
    """What can be asked, those given first, and how many candidates were passed over, by reason.

    Raises:
        DatasetError: nothing can be asked.
    """
    asked = snapshots.values() if messages else ()
    found = [candidate for snapshot in asked for candidate in candidates(store, snapshot)]
    entries = [entry for snapshot in snapshots.values() for entry in snapshot.entries]
    chosen, passed = choose([*given, *found], entries)
    if not chosen:
        reasons = ", ".join(f"{count} {why}" for why, count in passed.items()) or "there are none"
        problem = f"none of its messages can be asked ({reasons})"
        raise DatasetError(
            str(store.layout.root), None, problem, "give queries by --queries or --typed"
        )
    return chosen, passed


def _finish(
    folder: Path,
    settings: LabellingSettings,
    card: Card,
    pooling: Pooling,
    judged: Mapping[str, Iterable[str]] | None = None,
) -> tuple[int, dict[str, str]]:
    """Write pool, settings and card; the number of pairs and the systems that could not run."""
    write_card_of(folder, card)
    dataset = load_dataset(folder, split=settings.split)
    rankings = rank_all(dataset, dataset.queries, pooling.systems, depth=pooling.depth)
    if not rankings.by_system:
        raise InvalidInputError("none of the systems can run here; nothing was made")
    pool = pooled(rankings, dataset.queries, seed=pooling.seed, further=judged or {})
    write_pool(folder, pool)
    used = settings.model_copy(update={"systems": tuple(rankings.by_system)})
    write_file(folder / SETTINGS, used.model_dump_json(indent=2) + "\n")
    return sum(map(len, pool.values())), dict(rankings.skipped)


def _snapshots(store: MemoryStore, wanted: Sequence[str]) -> dict[str, ScopeSnapshot]:
    """The scopes asked for, by key; a workspace brings the global scope along."""
    live = {listing.key: listing for listing in store.list_scopes(sessions=True)}
    keys = [_key_of(name, tuple(live)) for name in wanted] or [
        key for key, listing in live.items() if listing.kind != "session"
    ]
    snapshots = {key: store.read_scope(ScopeRef(key)) for key in dict.fromkeys(keys)}
    return {key: item for key, item in snapshots.items() if item.exists}


def _key_of(name: str, live: tuple[str, ...]) -> str:
    keys = (name,) if SCOPE_KEY.match(name) else candidate_keys(str(Path(name).absolute()))
    for key in keys:
        if key in live:
            return key
    raise UnknownNameError("scope", name, live, "or give a workspace's directory")


def _home_of(scope: str, taken: tuple[str, ...]) -> str:
    """The scope a given query belongs to; without a word, the only workspace there is."""
    if scope != ANY_SCOPE:
        return _key_of(scope, taken)
    workspaces = [key for key in taken if key != GLOBAL_KEY] or list(taken)
    if len(workspaces) != 1:
        raise InvalidInputError(
            f"the queries do not say in which of {len(workspaces)} scopes they are asked; "
            "name one by --scope, or give a .jsonl file with query and scope. Nothing was made"
        )
    return workspaces[0]


def _documents(
    store: MemoryStore, snapshots: Mapping[str, ScopeSnapshot]
) -> Iterable[dict[str, Any]]:
    everywhere = store.read_scope(ScopeRef(GLOBAL_KEY)).entries
    for key, snapshot in snapshots.items():
        held: list[tuple[str, MemoryEntry]] = [(key, entry) for entry in snapshot.entries]
        if key != GLOBAL_KEY:
            held += [(GLOBAL_KEY, entry) for entry in everywhere]
        for layer, entry in held:
            if entry.status != "deleted":
                yield _document(redacted_entry(entry), key, layer)


def _document(entry: MemoryEntry, scope: str, layer: str) -> dict[str, Any]:
    copied = layer != scope
    metadata: dict[str, Any] = {
        "scope": scope,
        "type": entry.type,
        "description": entry.description,
        "tags": list(entry.tags),
        "retrievalTerms": list(entry.retrieval_terms),
        "importance": entry.importance,
        "status": entry.status,
        "createdAt": entry.created_at,
        "updatedAt": entry.updated_at,
        "layer": "global" if copied else None,
    }
    metadata = {name: value for name, value in metadata.items() if value not in (None, "", [])}
    identifier = f"{scope}/{'global/' if copied else ''}{entry.id}"
    line = Document(id=identifier, title="", text="", scope=scope, metadata=metadata, line=0)
    for name, _ in field_problems(line):  # written by another program, or by hand
        del metadata[name]
    return {"_id": identifier, "title": entry.title, "text": entry.content, "metadata": metadata}


def _query_rows(chosen: Sequence[Candidate]) -> list[dict[str, Any]]:
    rows = []
    for number, candidate in enumerate(chosen, start=1):
        metadata = {
            "lang": language_of(candidate.text),
            "kind": candidate.origin,
            "scope": candidate.scope,
            "date": candidate.date,
        }
        present = {name: value for name, value in metadata.items() if value is not None}
        rows.append({"_id": f"q{number:04d}", "text": candidate.text, "metadata": present})
    return rows


def _sample(items: Sequence[Any], limit: int, seed: int) -> list[Any]:
    """A seeded sample in the order of the whole."""
    if len(items) <= limit:
        return list(items)
    kept = sorted(random.Random(seed).sample(range(len(items)), limit))
    return [items[place] for place in kept]


def _settings(pooling: Pooling, scopes: dict[str, str], *, split: str = SPLIT) -> LabellingSettings:
    return LabellingSettings(
        seed=pooling.seed,
        depth=pooling.depth,
        systems=pooling.systems,
        split=split,
        scopes=scopes,
    )


def _card(name: str, snapshots: Mapping[str, ScopeSnapshot], chosen: Sequence[Candidate]) -> Card:
    languages = {language_of(candidate.text) for candidate in chosen} - {None}
    return Card(
        name=name,
        title="Memory of a store of one's own",
        language=tuple(sorted(filter(None, languages))) or ("en",),
        licence=_PRIVATE,
        source="A memory store on this machine, secrets redacted.",
        description=(
            f"Entries of {len(snapshots)} scopes and what was asked there. Each query searches "
            "the scope it was said in; a workspace holds copies of the global entries "
            "(metadata.layer global). metadata.kind says where a query comes from."
        ),
        authors=("the user of the store",),
        checksums={},
        splits={SPLIT: "all queries"},
        intended_use="Measuring recall on one's own memory. Private until it is exported.",
        limits=(
            "Messages are not all questions. Labels come from pools: what no pooled system found "
            "is unjudged, so report Judged@k beside every score."
        ),
    )


def _card_of_others(name: str, source: Dataset) -> Card:
    return Card(
        name=name,
        title=f"{source.name}, labelled again",
        language=tuple(sorted({query.lang for query in source.queries if query.lang})) or ("en",),
        licence="as stated by its source",
        source=f"The set {source.name}.",
        description=f"Queries of split {source.split} with a pool to be judged.",
        authors=("the authors of the set",),
        checksums={},
        intended_use="Measuring how far labellers agree.",
        limits="What its source says.",
    )


def _count(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts
