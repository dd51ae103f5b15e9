"""What can be wrong with a set whose files are in order: secrets, leaks, repeats, languages.

Nothing here stops an evaluation; each finding has its file and line.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from wsmem.evals.dataset import Problem, texts_in
from wsmem.evals.language import contradicts, language_of
from wsmem.evals.near_duplicates import near_duplicates, normalised
from wsmem.evals.reading import CORPUS, QRELS, QUERIES, queries_of_split
from wsmem.records import RECALLABLE
from wsmem.redaction.redact import contains_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wsmem.evals.dataset import Document, ProblemKind, Query
    from wsmem.evals.reading import Folder

TRAP_SLICE = "superseded"
"""Queries of this slice are about entries that have been replaced."""
GLOBAL_LAYER = "global"
"""`metadata.layer` of an entry of the user that is copied into each of his workspaces."""


def hygiene_problems(folder: Folder) -> Iterator[Problem]:
    """Everything this module looks for."""
    yield from _secrets(folder)
    yield from _wrong_languages(folder)
    yield from _near_duplicate_queries(folder)
    yield from _duplicate_texts(folder)
    yield from _superseded_labels(folder)
    yield from _split_leaks(folder)


def _secrets(folder: Folder) -> Iterator[Problem]:
    lines: list[tuple[str, Document | Query, list[str]]] = [
        *((CORPUS, item, [item.title, item.text]) for item in folder.documents.values()),
        *((QUERIES, item, [item.text]) for item in folder.queries.values()),
    ]
    remedy = "replace it by a placeholder; if it is a real one, change it where it is used"
    for file, item, said in lines:
        texts = [*said, *texts_in(item.metadata)]
        text = f"{item.id!r} holds what looks like a credential"
        if any(map(contains_secret, texts)):
            yield _problem(
                folder,
                "secret",
                file,
                item.line,
                (text, remedy),
            )


def _wrong_languages(folder: Folder) -> Iterator[Problem]:
    remedy = "correct metadata.lang or the text"
    promised = set(folder.card.language) if folder.card else None
    for query in folder.queries.values():
        if query.lang is None:
            continue
        if contradicts(query.lang, query.text):
            found = language_of(query.text)
            text = f"query {query.id!r} is said to be {query.lang!r} and is written in {found!r}"
            yield _problem(folder, "wrong-language", QUERIES, query.line, (text, remedy))
        elif promised is not None and not _covers(promised, query.lang):
            text = f"query {query.id!r} is {query.lang!r}, which the card does not list"
            yield _problem(folder, "wrong-language", QUERIES, query.line, (text, remedy))


def _covers(promised: set[str], language: str) -> bool:
    return language in promised or (language == "mixed" and {"zh", "en"} <= promised)


def _near_duplicate_queries(folder: Folder) -> Iterator[Problem]:
    """Among queries that search the same documents in the same circumstances."""
    groups: defaultdict[tuple[str | None, str], dict[str, str]] = defaultdict(dict)
    for query in folder.queries.values():
        groups[query.scope, str(query.metadata.get("surfaced"))][query.id] = query.text
    for texts in groups.values():
        for pair in near_duplicates(texts):
            first, second = folder.queries[pair.first], folder.queries[pair.second]
            how = "repeats" if pair.similarity == 1 else f"nearly repeats ({pair.similarity:.2f})"
            same = _answers(folder, first) == _answers(folder, second)
            labelled = "" if same else ", and is labelled differently"
            text = f"query {second.id!r} {how} {first.id!r} of line {first.line}{labelled}"
            remedy = "keep one of the two, or say what tells them apart"
            yield _problem(folder, "near-duplicate", QUERIES, second.line, (text, remedy))


def _answers(folder: Folder, query: Query) -> set[str]:
    judged = (labels.get(query.id, {}) for labels in folder.labels.values())
    return {document for grades in judged for document, grade in grades.items() if grade > 0}


def _duplicate_texts(folder: Folder) -> Iterator[Problem]:
    """Among documents that are searched together; a superseded one may be said again."""
    seen: dict[tuple[str | None, str], Document] = {}
    for document in folder.documents.values():
        if not _recallable(document):
            continue
        place = document.scope, normalised(f"{document.title}\n{document.text}")
        first = seen.setdefault(place, document)
        if first is not document:
            text = f"{document.id!r} has the text of {first.id!r} on line {first.line}"
            remedy = "keep one of the two: only one of them may be labelled"
            yield _problem(folder, "duplicate-text", CORPUS, document.line, (text, remedy))


def _superseded_labels(folder: Folder) -> Iterator[Problem]:
    for split, labels in folder.labels.items():
        for query_id, grades in labels.items():
            query = folder.queries[query_id]
            for document_id, grade in grades.items():
                document = folder.documents[document_id]
                if grade == 0 or _recallable(document) or TRAP_SLICE in query.slices:
                    continue
                status = document.metadata.get("status")
                text = (
                    f"query {query_id!r} is answered by {document_id!r}, which is {status}: no "
                    "system can return it"
                )
                remedy = f"label its successor, or put the query into the slice {TRAP_SLICE!r}"
                line = _label_line(folder, split, query_id, document_id)
                file = f"{QRELS}/{split}.tsv"
                yield _problem(folder, "superseded-label", file, line, (text, remedy))


def _recallable(document: Document) -> bool:
    return document.metadata.get("status", "active") in RECALLABLE


def _label_line(folder: Folder, split: str, query: str, document: str) -> int | None:
    path = folder.path / QRELS / f"{split}.tsv"
    wanted = f"{query}\t{document}\t"
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return next((n for n, line in enumerate(lines, start=1) if line.startswith(wanted)), None)


def _split_leaks(folder: Folder) -> Iterator[Problem]:
    """The same query or text on both sides of a border between splits.

    A corpus without scopes belongs to all splits, as in most public sets: only queries can leak
    there. Entries of the user's (layer global) are copied on purpose, within one split.
    """
    if len(folder.labels) < 2:
        return
    splits = {split: queries_of_split(folder, split) for split in folder.labels}
    homes: defaultdict[str, set[str]] = defaultdict(set)
    """Splits by scope."""
    for split, queries in splits.items():
        for query in queries:
            if query.scope is not None:
                homes[query.scope].add(split)
    yield from _shared_scopes(folder, splits, homes)
    yield from _leaks(folder, QUERIES, _asked(splits), "query")
    yield from _leaks(folder, CORPUS, _searched(folder, homes), "text")


def _shared_scopes(
    folder: Folder, splits: Mapping[str, Iterable[Query]], homes: Mapping[str, set[str]]
) -> Iterator[Problem]:
    reported: set[str] = set()
    for split, queries in splits.items():
        for query in queries:
            others = homes.get(query.scope or "", {split}) - {split}
            if query.scope is None or not others or query.scope in reported:
                continue
            reported.add(query.scope)
            text = f"scope {query.scope!r} is searched in {' and '.join(sorted({split} | others))}"
            remedy = "give every scope to one split, so that tuning never sees a test scope"
            yield _problem(folder, "split-leak", QUERIES, query.line, (text, remedy))


def _asked(splits: Mapping[str, Iterable[Query]]) -> Iterator[tuple[str, Query, str]]:
    """Queries that ask for something; chatter and nonsense may be the same everywhere."""
    for split, queries in splits.items():
        for query in queries:
            if query.answerable:
                yield split, query, normalised(query.text)


def _searched(folder: Folder, homes: Mapping[str, set[str]]) -> Iterator[tuple[str, Document, str]]:
    for document in folder.documents.values():
        if document.metadata.get("layer") == GLOBAL_LAYER:
            continue
        for split in sorted(homes.get(document.scope or "", ())):
            yield split, document, normalised(f"{document.title}\n{document.text}")


def _leaks(
    folder: Folder,
    file: str,
    lines: Iterable[tuple[str, Document | Query, str]],
    noun: str,
) -> Iterator[Problem]:
    first_of: dict[str, tuple[str, Document | Query]] = {}
    for split, item, text in lines:
        home, first = first_of.setdefault(text, (split, item))
        if home == split or first is item or not text:
            continue
        said = f"{noun} {item.id!r} of {split} is {first.id!r} of {home} (line {first.line}) again"
        yield _problem(folder, "split-leak", file, item.line, (said, "keep it in one split"))


def _problem(
    folder: Folder, kind: ProblemKind, file: str, line: int | None, said: tuple[str, str]
) -> Problem:
    text, remedy = said
    return Problem(kind=kind, path=folder.path / file, line=line, text=text, remedy=remedy)
