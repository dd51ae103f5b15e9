"""What several labellers say together, and the label files that come of it.

A pair's grade is the one all its labellers gave; where they differ, the word of the labeller
`settled` counts. Until then the pair has no label: it is unjudged, not averaged.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from wsmem.evals.labelling.agreement import agreements, in_words
from wsmem.evals.labelling.folder import (
    PUBLISHED,
    SETTLED,
    open_folder,
    query_row,
    write_card_of,
    write_labels,
    write_queries,
)
from wsmem.evals.labelling.judgements import PairKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.evals.dataset import Query
    from wsmem.evals.labelling.folder import LabellingFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The grades that stand, and the pairs that wait for a word."""

    grades: Mapping[PairKey, int]
    disputed: tuple[PairKey, ...]
    """In the order of the pool."""
    by_judge: Mapping[str, Mapping[PairKey, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What was written into the label file."""

    labels: int
    judged: int
    """Pairs of the pool with a label."""
    pairs: int
    """Pairs of the pool."""
    disputed: int
    unanswerable: int
    """Queries whose whole pool was judged and holds nothing relevant."""
    unfinished: int
    """Queries with a part of their pool unjudged and nothing relevant yet: they score nowhere."""


def verdicts(folder: LabellingFolder) -> Verdicts:
    """What all labellers of a folder say together."""
    by_judge = {name: dict(ledger.grades) for name, ledger in folder.ledgers().items()}
    said: defaultdict[PairKey, set[int]] = defaultdict(set)
    for name, grades in by_judge.items():
        if name != SETTLED:
            for pair, grade in grades.items():
                said[pair].add(grade)
    final = {pair: min(grades) for pair, grades in said.items() if len(grades) == 1}
    final |= by_judge.get(SETTLED, {})
    disputed = tuple(
        pair
        for query, documents in folder.pool.items()
        for document in documents
        if (pair := PairKey(query, document)) in said and pair not in final
    )
    return Verdicts(grades=final, disputed=disputed, by_judge=by_judge)


def compile_labels(folder: LabellingFolder) -> Compiled:
    """Write labels, marks of unanswerable queries and the card from all judgements.

    Running it again with the same judgements writes the same files.
    """
    found = verdicts(folder)
    order = [
        PairKey(query, document)
        for query, documents in folder.pool.items()
        for document in documents
    ]
    labels = [(*pair, found.grades[pair]) for pair in order if pair in found.grades]
    answerable = {query.id: _answerable(query, folder, found) for query in folder.dataset.queries}
    split = folder.settings.split
    marked = {name for name, mark in answerable.items() if mark is False}
    before = {query.id for query in folder.dataset.queries if not query.answerable}
    # A query marked as unanswerable must not have a relevant label at any moment: first the marks
    # that go, then the labels, then the marks that come.
    _mark(folder, marked & before)
    write_labels(folder.path, split, labels)
    _mark(folder, marked)
    _update_card(folder, found)
    return Compiled(
        labels=len(labels),
        judged=len(labels),
        pairs=len(order),
        disputed=len(found.disputed),
        unanswerable=len(marked),
        unfinished=sum(mark is None for mark in answerable.values()),
    )


def _answerable(query: Query, folder: LabellingFolder, found: Verdicts) -> bool | None:
    """True: something is relevant. False: nothing in the pool is. `None`: not known yet."""
    pairs = [PairKey(query.id, document) for document in folder.pool.get(query.id, ())]
    grades = [found.grades.get(pair) for pair in pairs]
    if any(grade is not None and grade > 0 for grade in grades):
        return True
    if pairs and None not in grades:
        return False
    return False if query.id in folder.settings.unanswerable else None


def _mark(folder: LabellingFolder, unanswerable: set[str]) -> None:
    """Write the queries, these marked as having no answer."""
    rows = [
        query_row(query, answerable=query.id not in unanswerable)
        for query in folder.dataset.queries
    ]
    write_queries(folder.path, rows)


def _update_card(folder: LabellingFolder, found: Verdicts) -> None:
    card = open_folder(folder.path).dataset.card
    if card is None:
        return
    people = sorted(name for name in found.by_judge if name not in {SETTLED, PUBLISHED})
    depth, systems = folder.settings.depth, ", ".join(folder.settings.systems)
    labelling = (
        f"The first {depth} of {systems} were pooled and judged one pair at a time, blind to who "
        f"returned what, by {len(people)} labellers: {len(found.grades)} pairs have a grade"
        + (f", {len(found.disputed)} are disputed and have none." if found.disputed else ".")
    )
    said = card.model_copy(
        update={"labelling": labelling, "agreement": agreement_in_words(folder, found)}
    )
    write_card_of(folder.path, said)


def agreement_in_words(folder: LabellingFolder, found: Verdicts) -> str | None:
    """Agreement of the two labellers with most pairs in common, as a card says it."""
    people = sorted(name for name in found.by_judge if name != SETTLED)
    shared = {
        pair: len(found.by_judge[pair[0]].keys() & found.by_judge[pair[1]].keys())
        for pair in combinations(people, 2)
    }
    best = max(shared, key=lambda pair: shared[pair], default=None)
    if best is None or not shared[best]:
        return None
    first, second = best
    judged = agreements(found.by_judge[first], found.by_judge[second], folder.queries)
    return in_words(judged, first, second)
