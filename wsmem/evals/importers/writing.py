"""A public source written as a labelled set, checked while it is written.

The folder appears under its name only at the end; a source that turns out to be malformed leaves
nothing behind.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from wsmem.errors import DatasetError, InvalidInputError
from wsmem.evals.card import CARD_NAME, Card, checksum, checksums
from wsmem.evals.dataset import Document
from wsmem.evals.entries import field_problems
from wsmem.evals.importers.items import Passage, Question, Request
from wsmem.evals.language import language_of
from wsmem.evals.reading import CORPUS, QRELS, QRELS_HEADER, QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.evals.importers.items import Item, PublicSource

DANGLING = "labels of passages that are not there"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was written, and what was left out."""

    folder: Path
    documents: int
    queries: int
    unanswerable: int
    labels: int
    left_out: Mapping[str, int]
    """Counts by reason."""


def import_source(
    source: PublicSource,
    files: Sequence[Path],
    out: Path,
    *,
    options: Mapping[str, str] | None = None,
    limit: int | None = None,
    licence: str | None = None,
) -> ImportReport:
    """Convert the files of a public benchmark into a labelled set with a card.

    Args:
        source: Which benchmark.
        files: What the user downloaded.
        out: The new folder; its name is the set's.
        options: Choices of the source; its defaults for the others.
        limit: Only the first questions; passages are kept whole.
        licence: Replaces what is known of the source's licence.

    Raises:
        InputFileError: a file cannot be read or is not of the source's format; nothing was written.
        DatasetError: `out` is there already.
        UnknownNameError: an option or a choice does not exist.
        InvalidInputError: no file was given, or a wrong number of them.
    """
    if not files:
        raise InvalidInputError(f"{source.name} needs a file: {source.files}; nothing was imported")
    request = Request(files=tuple(files), options=source.with_defaults(options or {}))
    with new_folder(out) as folder:
        with Writer(folder, request.left_out) as writer:
            writer.write(source.read(request), limit=limit)
        if not writer.questions:
            found = ", ".join(f"{count} {why}" for why, count in request.left_out.items())
            raise InvalidInputError(
                f"{source.name}: no question could be used ({found or 'there is none'}); "
                "nothing was imported"
            )
        card = _card(source, request, writer, name=out.name, licence=licence)
        write_card(folder, card)
    return ImportReport(
        folder=out,
        documents=len(writer.passages),
        queries=sum(writer.questions.values()),
        unanswerable=writer.unanswerable,
        labels=writer.labels,
        left_out={why: count for why, count in request.left_out.items() if count},
    )


class new_folder:  # noqa: N801  used as a function, like contextlib's
    """A folder that gets its name when the block ends well, and is gone when it does not."""

    def __init__(self, out: Path, *, mode: int = 0o755) -> None:
        self._out, self._mode = out, mode
        self._draft: Path | None = None

    def __enter__(self) -> Path:
        if self._out.exists() and (not self._out.is_dir() or any(self._out.iterdir())):
            raise DatasetError(
                str(self._out), None, "it is there already", "choose another folder, or remove it"
            )
        try:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            draft = tempfile.mkdtemp(prefix=f".{self._out.name}.", dir=self._out.parent)
        except OSError as error:
            problem = f"cannot be made ({error.strerror})"
            raise DatasetError(str(self._out), None, problem, "choose another folder") from error
        self._draft = Path(draft)
        return self._draft

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._draft is None:
            return
        if kind is not None:
            shutil.rmtree(self._draft, ignore_errors=True)
            return
        self._draft.chmod(self._mode)
        if self._out.is_dir():
            self._out.rmdir()
        self._draft.rename(self._out)


@dataclass(slots=True)
class Writer:
    """Writes items as lines; holds ids only, so that sets larger than memory can be written."""

    folder: Path
    left_out: Counter[str]
    passages: set[str] = field(default_factory=set)
    questions: Counter[str] = field(default_factory=Counter)
    """How many, by split."""
    kinds: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    labels: int = 0
    unanswerable: int = 0
    _files: ExitStack = field(default_factory=ExitStack)
    _corpus: TextIO = field(init=False)
    _queries: TextIO = field(init=False)
    _qrels: dict[str, TextIO] = field(default_factory=dict)

    def __enter__(self) -> Self:
        (self.folder / QRELS).mkdir()
        self._corpus = self._open(self.folder / CORPUS)
        self._queries = self._open(self.folder / QUERIES)
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def write(self, items: Iterable[Item], *, limit: int | None = None) -> None:
        """Write all items; questions past the limit are passed over."""
        known: set[str] = set()
        for item in items:
            if isinstance(item, Passage):
                self._passage(item)
            elif item.id in known:
                raise InvalidInputError(f"two questions have the id {item.id!r}")
            elif limit is None or len(known) < limit:
                known.add(item.id)
                self._question(item)

    def _passage(self, passage: Passage) -> None:
        if passage.id in self.passages:
            raise InvalidInputError(f"two passages have the id {passage.id!r}")
        if not (passage.text.strip() or passage.title.strip()):
            self.left_out["passages without text"] += 1
            return
        self.passages.add(passage.id)
        row = {"_id": passage.id, "title": passage.title, "text": passage.text}
        _write(self._corpus, row | {"metadata": _metadata(passage)})

    def _question(self, question: Question) -> None:
        if not question.text.strip():
            self.left_out["questions without text"] += 1
            return
        labels = {name: grade for name, grade in question.labels.items() if name in self.passages}
        self.left_out[DANGLING] += len(question.labels) - len(labels)
        if question.labels and not labels:
            self.left_out["questions whose every passage is missing"] += 1
            return
        language = language_of(question.text)
        facts = {
            "lang": language,
            "kind": question.kind,
            "scope": question.scope,
            "date": question.date,
            "answerable": None if labels else False,
            "split": None if labels else question.split,
        }
        row = {"_id": question.id, "text": question.text}
        _write(self._queries, row | {"metadata": _present(facts | dict(question.metadata))})
        self._count(question, language, len(labels))
        for name, grade in labels.items():
            self._label_file(question.split).write(f"{question.id}\t{name}\t{grade}\n")

    def _count(self, question: Question, language: str | None, labels: int) -> None:
        self.questions[question.split] += 1
        self.languages[language or "en"] += 1
        if question.kind:
            self.kinds[question.kind] += 1
        self.labels += labels
        self.unanswerable += not labels
        self._label_file(question.split)

    def _label_file(self, split: str) -> TextIO:
        if split not in self._qrels:
            self._qrels[split] = self._open(self.folder / QRELS / f"{split}.tsv")
            self._qrels[split].write("\t".join(QRELS_HEADER) + "\n")
        return self._qrels[split]

    def _open(self, path: Path) -> TextIO:
        return self._files.enter_context(path.open("w", encoding="utf-8", newline="\n"))


def write_card(folder: Path, card: Card) -> None:
    """Write a card; fields that say nothing are left out."""
    said = card.model_dump(exclude_defaults=True)
    text = json.dumps(said, ensure_ascii=False, indent=2) + "\n"
    (folder / CARD_NAME).write_text(text, encoding="utf-8")


def _card(
    source: PublicSource, request: Request, writer: Writer, *, name: str, licence: str | None
) -> Card:
    chosen = ", ".join(f"{key}={value}" for key, value in request.options.items() if value)
    left_out = "; ".join(f"{count} {why}" for why, count in writer.left_out.items() if count)
    return Card(
        name=name,
        title=source.title,
        language=tuple(sorted(writer.languages)),
        licence=licence or source.licence,
        source=source.source,
        description=source.description
        + (f" Imported with {chosen}." if chosen else "")
        + (f" Left out: {left_out}." if left_out else ""),
        authors=source.authors,
        checksums=checksums(writer.folder),
        origins={name: checksum(path) for name, path in _plain_files(request.files).items()},
        slices={kind: f"{count} questions" for kind, count in sorted(writer.kinds.items())},
        splits={split: f"{count} questions" for split, count in sorted(writer.questions.items())},
        intended_use=f"{source.intended_use} Report {source.measures}.",
        limits=source.limits,
    )


def _plain_files(paths: Iterable[Path]) -> dict[str, Path]:
    """The files by name, and for a folder those inside it by their path there."""
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(item for item in path.rglob("*") if item.is_file())
            found |= {item.relative_to(path).as_posix(): item for item in inside}
        else:
            found[path.name] = path
    return found


def _metadata(passage: Passage) -> dict[str, Any]:
    """What a passage says beside its text.

    Words that mean something in a memory entry and are used otherwise by the source get a name of
    their own: a set with a card is held to the fields of entries.
    """
    places = {"scope": passage.scope, "date": passage.date}
    found = _present(places | dict(passage.metadata))
    document = Document(
        id=passage.id, title="", text="", scope=passage.scope, metadata=found, line=0
    )
    for name, _ in field_problems(document):
        found[f"original_{name}"] = found.pop(name)
    return found


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _write(file: TextIO, row: Mapping[str, Any]) -> None:
    # A lone half of a surrogate pair cannot be written as UTF-8; JSON has an escape for it.
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(row)
    file.write(text + "\n")
