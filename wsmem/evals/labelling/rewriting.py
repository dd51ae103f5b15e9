"""Lines of a labelled set as others may read them: secrets redacted, names replaced on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.evals.dataset import Document, texts_in
from wsmem.evals.labelling.folder import query_row
from wsmem.evals.labelling.pseudonyms import Pseudonyms
from wsmem.redaction.redact import redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.evals.dataset import Query
    from wsmem.evals.labelling.folder import LabellingFolder

_MOMENTS = frozenset({"date", "createdAt", "updatedAt"})
"""Fields that hold no names, whatever their digits look like."""


class Rewriting:
    """Lines as they are, secrets redacted once more."""

    told = ""
    """What the card says of it, after everything else."""

    @property
    def stand_ins(self) -> dict[str, dict[str, str]]:
        """What was replaced by what, by kind."""
        return {}

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


class Renaming(Rewriting):
    """Lines with stand-ins, and ids that say nothing."""

    told = " Names of people, hosts, addresses, users and folders are replaced by stand-ins."

    def __init__(self, folder: LabellingFolder, names: Iterable[str]) -> None:
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
            for text in (item.text, title, *texts_in(item.metadata)):
                self.pseudonyms.learn(text)

    @property
    def stand_ins(self) -> dict[str, dict[str, str]]:
        return self.pseudonyms.given

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
        dates = {name: item.metadata[name] for name in _MOMENTS & metadata.keys()}
        return metadata | dates
