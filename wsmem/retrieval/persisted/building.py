"""Make a postings file from entries; needs NumPy, and as long as building an index does."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from wsmem.errors import WsmemError
from wsmem.retrieval.fields import changed_ms
from wsmem.retrieval.persisted.layout import assembled, encoded, term_bucket
from wsmem.retrieval.stream import BARRIER, TermStream
from wsmem.retrieval.vocabulary import Vocabulary
from wsmem.text.analysis import is_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from wsmem.records import MemoryEntry
    from wsmem.retrieval.persisted.layout import ItemCode

    Ints = npt.NDArray[Any]
    Sections = dict[str, tuple[ItemCode, bytes]]

_LARGEST = 2**32 - 1
"""Of what is counted in four bytes."""


class BuildStoppedError(WsmemError):
    """Whoever wanted the file does not want it any more; nothing was written."""

    def __str__(self) -> str:
        return "the postings were not finished; nothing was written, write them again"


class Record(NamedTuple):
    """An entry and where its JSON stands in the file it comes from."""

    entry: MemoryEntry
    start: int
    data: bytes


def build_postings(
    records: Iterable[Record],
    head: Mapping[str, Any],
    *,
    pause: Callable[[], bool] = lambda: True,
) -> bytes:
    """The file for these entries; those that no recall returns are left out.

    Args:
        records: In the order of the store.
        head: What the file's head is to say beside what the reader itself needs.
        pause: Called before each entry is read, and later between steps; `False` stops the work.

    Raises:
        ValueError: there is more than the format can count.
        BuildStoppedError: `pause` said so.
    """
    kept = [record for record in records if record.entry.recallable]
    vocabulary = Vocabulary()
    stream = TermStream.read(_until_stopped(kept, pause), vocabulary)
    terms, numbers, sections = _dictionary(list(vocabulary.numbers))
    _stop_unless(pause())
    postings = _sorted(stream, numbers, len(kept))
    _stop_unless(pause())
    sections |= _postings(postings, len(terms)) | _letters(postings, terms, len(kept))
    _stop_unless(pause())
    sections |= _columns(kept, stream.lengths)
    groups = json.dumps(_groups(record.entry for record in kept)).encode()
    sections["groups"] = ("B", groups)
    lengths = stream.lengths
    counts = {
        "entries": len(kept),
        "length": int(lengths.sum()),
        "shortest": int(lengths.min()) if kept else 0,
    }
    return assembled({**head, **counts}, sections)


def _until_stopped(records: Iterable[Record], pause: Callable[[], bool]) -> Iterator[MemoryEntry]:
    for record in records:
        _stop_unless(pause())
        yield record.entry


def _stop_unless(wanted: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if not wanted:
        raise BuildStoppedError


def _dictionary(vocabulary: list[str]) -> tuple[list[str], Ints, Sections]:
    """Terms by bucket, the new number of each old one, and their sections."""
    buckets = 1 << max(0, len(vocabulary) - 1).bit_length()
    texts = list(map(encoded, vocabulary))
    bucket = np.fromiter((term_bucket(text, buckets) for text in texts), np.int64, len(texts))
    order = np.argsort(bucket, kind="stable")
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order))
    ordered = order.tolist()
    sections = {
        "buckets": _section("I", np.searchsorted(bucket[order], np.arange(buckets + 1))),
        **_texts("text", [texts[at] for at in ordered]),
    }
    return [vocabulary[at] for at in ordered], numbers, sections


class _Sorted(NamedTuple):
    """Postings by term and entry."""

    terms: Ints
    documents: Ints
    fields: Ints
    begins: Ints
    """The first place of each."""
    places: Ints


def _sorted(stream: TermStream, numbers: Ints, entries: int) -> _Sorted:
    """The stream sorted by term and entry; identifiers as a whole have place 0."""
    items = np.flatnonzero(stream.terms != BARRIER)
    ends = stream.ends.astype(np.int64)
    first = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
    documents = np.repeat(np.arange(entries), np.diff(ends, prepend=0))[items]
    places = items - first[documents] + 1
    extras = stream.extras
    term = numbers[np.concatenate([extras[:, 0], stream.terms[items]])]
    document = np.concatenate([extras[:, 1], documents])
    field = np.concatenate([extras[:, 2].astype(np.uint8), stream.fields[items]])
    place = np.concatenate([np.zeros(len(extras), dtype=np.int64), places])
    key = term * max(1, entries) + document
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    fields = np.bitwise_or.reduceat(field[order], begins) if len(begins) else field
    return _Sorted(term[order][begins], document[order][begins], fields, begins, place[order])


def _postings(postings: _Sorted, terms: int) -> Sections:
    starts = np.searchsorted(postings.terms, np.arange(terms + 1))
    ends = np.append(postings.begins, len(postings.places))
    return {
        "starts": _section("I", starts),
        "place_starts": _section("I", ends[starts]),
        "documents": _narrowest(postings.documents, "H", "I"),
        "counts": _narrowest(np.diff(ends), "B", "H", "I"),
        "fields": _section("B", postings.fields),
        "places": _narrowest(postings.places, "H", "I"),
    }


def _letters(postings: _Sorted, terms: Sequence[str], entries: int) -> Sections:
    """For each letter of a script without blanks the entries that hold it, alone or in a pair."""
    codes = np.zeros((len(terms), 2), dtype=np.int64)
    for number, term in enumerate(terms):
        if len(term) <= 2 and is_unspaced(term):
            codes[number] = ord(term[0]), ord(term[-1])
    keys = [
        code[held] * max(1, entries) + postings.documents[held]
        for code in codes[postings.terms].T
        for held in [np.flatnonzero(code)]
    ]
    letters, documents = np.divmod(np.unique(np.concatenate(keys)), max(1, entries))
    begins = np.flatnonzero(np.diff(letters, prepend=-1))
    return {
        "letters": _section("I", letters[begins]),
        "letter_starts": _section("I", np.append(begins, len(letters))),
        "letter_documents": _narrowest(documents, "H", "I"),
    }


def _columns(records: Sequence[Record], lengths: Ints) -> Sections:
    """What is known of each entry beside its terms."""
    entries = [record.entry for record in records]
    changed = [np.nan if (ms := changed_ms(entry)) is None else ms for entry in entries]
    return {
        "lengths": _section("I", lengths),
        "importances": _section(
            "d", np.array([entry.importance for entry in entries], dtype=float)
        ),
        "changed": _section("d", np.array(changed, dtype=float)),
        "record_starts": _section("Q", np.array([r.start for r in records], dtype=np.int64)),
        "record_sizes": _section("I", np.array([len(r.data) for r in records], dtype=np.int64)),
        "record_checks": _section("I", np.array([crc32(r.data) for r in records], dtype=np.int64)),
        **_texts("id", [encoded(entry.id) for entry in entries]),
        **_texts("date", [encoded(entry.updated_at or "") for entry in entries]),
    }


def _groups(entries: Iterable[MemoryEntry]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for entry in entries:
        if entry.conflict_group_id:
            groups.setdefault(entry.conflict_group_id, []).append(entry.id)
    return groups


def _texts(name: str, texts: Sequence[bytes]) -> Sections:
    starts = np.array(list(accumulate(map(len, texts), initial=0)), dtype=np.int64)
    return {f"{name}s": ("B", b"".join(texts)), f"{name}_starts": _section("I", starts)}


def _narrowest(values: Ints, *codes: ItemCode) -> tuple[ItemCode, bytes]:
    """The values in the narrowest of these types that holds all of them."""
    top = int(values.max()) if len(values) else 0
    return _section(next((code for code in codes if top <= _top(code)), codes[-1]), values)


def _section(code: ItemCode, values: Ints) -> tuple[ItemCode, bytes]:
    if code == "I" and len(values) and int(values.max()) > _LARGEST:
        raise ValueError("more than a postings file can count")
    return code, values.astype(np.dtype(code)).tobytes()


def _top(code: str) -> int:
    return int(np.iinfo(np.dtype(code)).max)
