"""A labelled set that others label again: its own labels become those of one labeller more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError
from wsmem.evals.card import Card
from wsmem.evals.importers.writing import new_folder
from wsmem.evals.labelling.folder import PUBLISHED, query_row, write_folder
from wsmem.evals.labelling.judgements import Ledger, PairKey, ledger_path
from wsmem.evals.labelling.making import MadeReport, finish, sample, settings_of
from wsmem.evals.labelling.pooling import Pooling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wsmem.evals.dataset import Dataset


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
    queries = sample(source.queries, wanted, seed=pooling.seed)
    labels = {query.id: source.labels.get(query.id, {}) for query in queries}
    settings = settings_of(
        pooling,
        split=source.split,
        unanswerable=tuple(query.id for query in queries if not query.answerable),
    )
    card = (source.card or _card(source)).model_copy(
        update={"name": out.name, "splits": {source.split: f"{len(queries)} queries"}}
    )
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
        _publish(folder, labels)
        pairs, skipped = finish(folder, settings, card, pooling, labels)
    return MadeReport(
        folder=out,
        documents=len(source.documents),
        queries=len(queries),
        pairs=pairs,
        origins={source.name: len(queries)},
        passed_over={},
        skipped_systems=skipped,
    )


def _publish(folder: Path, labels: Mapping[str, Mapping[str, int]]) -> None:
    """Record the set's labels as judgements; the grades of labellers end at 2."""
    ledger = Ledger(ledger_path(folder, PUBLISHED))
    for query, grades in labels.items():
        for document, grade in grades.items():
            ledger.record(PairKey(query, document), min(grade, 2))


def _card(source: Dataset) -> Card:
    return Card(
        name=source.name,
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
