"""A labelled set taken out of its private folder, on request with names replaced.

What goes along: documents, queries, labels, card. What stays: pool, judgements, who judged, when,
directories of workspaces, and which stand-in is whose.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError
from wsmem.evals.card import checksums
from wsmem.evals.dataset import Document
from wsmem.evals.importers.writing import new_folder, write_card
from wsmem.evals.labelling.folder import open_folder, query_row, write_folder, write_labels
from wsmem.evals.labelling.pseudonyms import Pseudonyms
from wsmem.evals.labelling.settling import compile_labels
from wsmem.redaction.redact import redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from wsmem.evals.dataset import Query
    from wsmem.evals.labelling.folder import LabellingFolder

_LEFT_OUT = frozenset({"date", "createdAt", "updatedAt"})


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
    compiled = compile_labels(open_folder(path))
    if not compiled.labels:
        raise InvalidInputError(f"{path}: nothing was judged yet; nothing was exported")
    folder = open_folder(path)
    stand_ins: dict[str, int] = {}
    rewrite = _Rewrite(folder)
    if pseudonymise:
        rewrite = _Renaming(folder, words)
    documents = [rewrite.document(item) for item in folder.dataset.documents]
    queries = [rewrite.query(item) for item in folder.dataset.queries]
    labels = [
        (rewrite.query_id(query), rewrite.document_id(document), grade)
        for query, grades in folder.dataset.labels.items()
        for document, grade in grades.items()
    ]
    with new_folder(out) as draft:
        write_folder(draft, documents=documents, queries=queries, split=folder.settings.split)
        (draft / ".gitignore").unlink()
        write_labels(draft, folder.settings.split, labels)
        _card(folder, draft, out.name, rewrite, licence)
        for file in (*draft.glob("*.json*"), *draft.glob("qrels/*")):
            file.chmod(0o644)
        (draft / "qrels").chmod(0o755)
    if isinstance(rewrite, _Renaming):
        given = rewrite.pseudonyms.given
        folder.save_settings(folder.settings.model_copy(update={"stand_ins": given}))
        stand_ins = dict(Counter({kind: len(found) for kind, found in given.items()}))
    return ExportReport(
        folder=out,
        documents=len(documents),
        queries=len(queries),
        labels=len(labels),
        stand_ins=stand_ins,
    )


class _Rewrite:
    """Lines as they are, secrets redacted once more."""

    def __init__(self, folder: LabellingFolder) -> None:
        self.folder = folder

    def text(self, text: str) -> str:
        return redact(text)

    def value(self, value: Any) -> Any:
        return redact_value(value)

    def scope(self, name: str) -> str:
        return name

    def document_id(self, name: str) -> str:
        return name

    def query_id(self, name: str) -> str:
        return name

    def document(self, item: Document) -> dict[str, Any]:
        return {
            "_id": self.document_id(item.id),
            "title": self.text(item.title),
            "text": self.text(item.text),
            "metadata": self._metadata(item),
        }

    def query(self, item: Query) -> dict[str, Any]:
        row = query_row(item, answerable=item.answerable)
        metadata = self._metadata(item) | ({} if item.answerable else {"answerable": False})
        return row | {
            "_id": self.query_id(item.id),
            "text": self.text(item.text),
            "metadata": metadata,
        }

    def _metadata(self, item: Document | Query) -> dict[str, Any]:
        metadata = {name: self.value(value) for name, value in item.metadata.items()}
        if item.scope is not None:
            metadata["scope"] = self.scope(item.scope)
        return metadata


class _Renaming(_Rewrite):
    """Lines with stand-ins, and ids that say nothing."""

    def __init__(self, folder: LabellingFolder, names: Iterable[str]) -> None:
        super().__init__(folder)
        dataset = folder.dataset
        self.pseudonyms = Pseudonyms(
            folder.settings.stand_ins, names=names, directories=folder.settings.scopes.values()
        )
        lines: list[Document | Query] = [*dataset.documents, *dataset.queries]
        scopes = dict.fromkeys(item.scope for item in lines if item.scope is not None)
        self._scopes = {name: f"scope-{number}" for number, name in enumerate(scopes, start=1)}
        self._documents = {item.id: f"d{n}" for n, item in enumerate(dataset.documents, start=1)}
        self._queries = {item.id: f"q{n}" for n, item in enumerate(dataset.queries, start=1)}
        for item in lines:
            title = item.title if isinstance(item, Document) else ""
            for text in (item.text, title, *_texts(item.metadata)):
                self.pseudonyms.learn(text)

    def text(self, text: str) -> str:
        return self.pseudonyms.replace(super().text(text))

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def scope(self, name: str) -> str:
        return self._scopes[name]

    def document_id(self, name: str) -> str:
        return self._documents[name]

    def query_id(self, name: str) -> str:
        return self._queries[name]

    def _metadata(self, item: Document | Query) -> dict[str, Any]:
        metadata = super()._metadata(item)
        dates = {name: item.metadata[name] for name in _LEFT_OUT & metadata.keys()}
        return metadata | dates


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _card(
    folder: LabellingFolder, draft: Path, name: str, rewrite: _Rewrite, licence: str | None
) -> None:
    """The card, with labellers numbered instead of named."""
    card = folder.dataset.card
    if card is None:
        return
    people = {judge: f"labeller {n}" for n, judge in enumerate(sorted(folder.ledgers()), start=1)}
    agreement = card.agreement
    for judge in sorted(people, key=len, reverse=True):
        agreement = agreement and agreement.replace(f"by {judge} and", f"by {people[judge]} and")
        agreement = agreement and agreement.replace(f"and {judge},", f"and {people[judge]},")
    replaced = isinstance(rewrite, _Renaming)
    description = card.description + (
        " Names of people, hosts, addresses, users and folders are replaced by stand-ins."
        if replaced
        else ""
    )
    write_card(
        draft,
        card.model_copy(
            update={
                "name": name,
                "licence": licence or card.licence,
                "agreement": agreement,
                "description": description,
                "checksums": checksums(draft),
            }
        ),
    )
