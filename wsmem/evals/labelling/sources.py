"""A set to be labelled, made of scopes of one's own store.

A store is only read: nothing is written, locked or created in it. Deleted entries are left out,
secrets are redacted in every field, and a workspace holds the user's global entries too, as a
recall from it would.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.engine.redacting import redacted_entry
from wsmem.errors import DatasetError, InvalidInputError, UnknownNameError
from wsmem.evals.card import Card
from wsmem.evals.dataset import Document
from wsmem.evals.entries import field_problems
from wsmem.evals.importers.writing import new_folder
from wsmem.evals.labelling.candidates import ANY_SCOPE, candidates, choose
from wsmem.evals.labelling.folder import write_folder
from wsmem.evals.labelling.making import MadeReport, finish, sample, settings_of
from wsmem.evals.labelling.pooling import Pooling
from wsmem.evals.language import language_of
from wsmem.scopes import GLOBAL_KEY, candidate_keys
from wsmem.store.layout import SCOPE_KEY, ScopeRef
from wsmem.store.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.labelling.candidates import Candidate
    from wsmem.records import MemoryEntry
    from wsmem.store.snapshot import ScopeSnapshot

SPLIT = "test"
QUERIES_WANTED = 200
_PRIVATE = "private: not for publication"


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
    chosen = sample(chosen, limit, seed=pooling.seed)
    directories = {key: item.cwd for key, item in snapshots.items()}
    documents = list(_documents(store, snapshots))
    with new_folder(out, mode=0o700) as folder:
        write_folder(folder, documents=documents, queries=_query_rows(chosen), split=SPLIT)
        pairs, skipped = finish(
            folder,
            settings_of(pooling, split=SPLIT, scopes=directories),
            _card(out.name, snapshots, chosen),
            pooling,
        )
    return MadeReport(
        folder=out,
        documents=len(documents),
        queries=len(chosen),
        pairs=pairs,
        origins=dict(Counter(candidate.origin for candidate in chosen)),
        passed_over=passed,
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
