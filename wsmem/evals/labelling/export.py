"""A labelled set taken out of its private folder, on request with names replaced.

What goes along: documents, queries, labels, card. What stays: pool, judgements, who judged, when,
directories of workspaces, and which stand-in is whose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError
from wsmem.evals.card import checksums
from wsmem.evals.importers.writing import new_folder, write_card
from wsmem.evals.labelling.folder import open_folder, write_folder, write_labels
from wsmem.evals.labelling.rewriting import Renaming, Rewriting
from wsmem.evals.labelling.settling import compile_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from wsmem.evals.labelling.folder import LabellingFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written."""

    folder: Path
    documents: int
    queries: int
    labels: int
    stand_ins: Mapping[str, int]
    """How many names of each kind were replaced; empty when none were to be."""


def export(
    path: Path,
    out: Path,
    *,
    pseudonymise: bool = False,
    names: Iterable[str] = (),
    licence: str | None = None,
) -> ExportReport:
    """Write the labelled set of a labelling folder to a folder of its own.

    Args:
        path: The labelling folder; its labels are brought up to date first.
        out: The new folder.
        pseudonymise: Replace names of people, machines and folders; scopes and ids are numbered,
            because a scope's key can be found from a guessed path.
        names: Further words to replace: of people, companies, products.
        licence: What the card says about who may do what with it.

    Raises:
        DatasetError: it is no labelling folder, or `out` is there already.
        InvalidInputError: nothing was judged yet, or names were given without being replaced.
    """
    words = tuple(names)
    if words and not pseudonymise:
        raise InvalidInputError("names are replaced only when pseudonyms are asked for")
    if not compile_labels(open_folder(path)).labels:
        raise InvalidInputError(f"{path}: nothing was judged yet; nothing was exported")
    folder = open_folder(path)  # with the labels just compiled
    rewriting = Renaming(folder, words) if pseudonymise else Rewriting()
    documents = [rewriting.document(item) for item in folder.dataset.documents]
    queries = [rewriting.query(item) for item in folder.dataset.queries]
    labels = [
        (rewriting.query_id(query), rewriting.document_id(document), grade)
        for query, grades in folder.dataset.labels.items()
        for document, grade in grades.items()
    ]
    with new_folder(out) as draft:
        write_folder(draft, documents=documents, queries=queries, split=folder.settings.split)
        write_labels(draft, folder.settings.split, labels)
        _write_card(folder, draft, out.name, licence, told=rewriting.told)
        _open_up(draft)
    if pseudonymise:
        settings = folder.settings.model_copy(update={"stand_ins": rewriting.stand_ins})
        folder.save_settings(settings)
    return ExportReport(
        folder=out,
        documents=len(documents),
        queries=len(queries),
        labels=len(labels),
        stand_ins={kind: len(found) for kind, found in rewriting.stand_ins.items()},
    )


def _open_up(draft: Path) -> None:
    """Let everybody read what a labelling folder keeps to its owner, and git see it."""
    (draft / ".gitignore").unlink()
    for file in (*draft.glob("*.json*"), *draft.glob("qrels/*")):
        file.chmod(0o644)
    (draft / "qrels").chmod(0o755)


def _write_card(
    folder: LabellingFolder, draft: Path, name: str, licence: str | None, *, told: str
) -> None:
    """Write the card if there is one, with labellers numbered instead of named."""
    card = folder.dataset.card
    if card is None:
        return
    people = {judge: f"labeller {n}" for n, judge in enumerate(sorted(folder.ledgers()), start=1)}
    agreement = card.agreement
    for judge in sorted(people, key=len, reverse=True):
        agreement = agreement and agreement.replace(f"by {judge} and", f"by {people[judge]} and")
        agreement = agreement and agreement.replace(f"and {judge},", f"and {people[judge]},")
    changes = {
        "name": name,
        "licence": licence or card.licence,
        "agreement": agreement,
        "description": card.description + told,
        "checksums": checksums(draft),
    }
    write_card(draft, card.model_copy(update=changes))
