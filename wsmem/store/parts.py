"""The records of an entries file told apart by their bytes, so that only new ones are parsed.

In the layout all programs write, records are separated by one seam, a line break in it. No text of
JSON contains a line break, so the seam never stands inside one; what stands between two seams is a
*part*: a record without its braces. A part that was there before gives the entry it gave before.
Parts are recognised by the interpreter's keyed 64-bit hash, 8 bytes an entry: that a changed
record keeps its entry by chance has odds of 1 in 10^15 for 10 000 entries.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from wsmem.store.codec import complete_entry, duplicate_problems, entry_of
from wsmem.store.jsontext import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wsmem.records import MemoryEntry
    from wsmem.store.codec import Problem

_BEGIN, _SEAM, _END = b"[\n  {", b"\n  },\n  {", b"\n  }\n]\n"
_OPEN, _CLOSE = b"{", b"\n  }"
_PROVENANCE = b'"provenance": {'
"""The one object in a plain record; it stands in no list."""

Marks = array
"""One number for the part of each entry, in file order."""


class EntriesAgain(NamedTuple):
    """The entries of a file of which most records were read before."""

    entries: tuple[MemoryEntry, ...]
    problems: tuple[Problem, ...]
    marks: Marks[int]
    parsed: int
    """How many records were parsed."""


def reread_entries(
    data: bytes,
    *,
    layer: str,
    known: Mapping[str, MemoryEntry],
    by_mark: Mapping[int, MemoryEntry],
) -> EntriesAgain | None:
    """What `codec.read_entries` gives, made by parsing only the records not known by their marks.

    If every part is a record by itself, the file is a valid list of just those. `None` when it has
    to be read as a whole: it has another layout, less than half of it is known, or something in it
    is not as it should be.

    Args:
        data: the file.
        layer: as for `read_entries`, the same as when the known entries were read.
        known: entries read before, by id.
        by_mark: the same, by their marks.
    """
    parts = split_parts(data)
    if parts is None:
        return None
    marks = marks_of(parts)
    found = list(map(by_mark.get, marks))
    unknown = [place for place, entry in enumerate(found) if entry is None]
    if 2 * len(unknown) > len(parts):
        return None
    for place in unknown:
        try:
            item = parse_part(parts[place])
        except ValueError:
            return None
        stored, _ = complete_entry(item, layer=layer)
        if stored is None or stored is not item:
            return None
        found[place] = entry_of(stored, known)
    entries = cast("tuple[MemoryEntry, ...]", tuple(found))
    return EntriesAgain(entries, duplicate_problems(entries), marks, len(unknown))


def split_parts(data: bytes) -> list[bytes] | None:
    """What stands between the seams; `None` for an empty list and for other layouts."""
    if not (data.startswith(_BEGIN) and data.endswith(_END)):
        return None
    parts = data.split(_SEAM)
    parts[0] = parts[0][len(_BEGIN) :]
    parts[-1] = parts[-1][: -len(_END)]
    return parts


def marks_of_file(data: bytes, count: int) -> Marks[int] | None:
    """The marks of a file known to be a valid list of `count` records; `None` if parts differ.

    A seam could also stand between two objects of a list inside a record, in a layout no program
    writes. The first such seam would end a part in which an object of that list begins; so a part
    with a brace other than that of the provenance is tried by itself. Without such seams there
    are as many parts as records only if each part is a record.
    """
    parts = split_parts(data)
    if parts is None or len(parts) != count or not all(map(_stands_alone, parts)):
        return None
    return marks_of(parts)


def marks_of(parts: Iterable[bytes]) -> Marks[int]:
    """The marks of these parts."""
    return array("q", map(hash, parts))


def marks_of_texts(texts: Iterable[bytes]) -> Marks[int]:
    """The marks that a file of these texts has."""
    return marks_of(text[len(_OPEN) : -len(_CLOSE)] for text in texts)


def texts_of_file(data: bytes, marks: Sequence[int]) -> tuple[bytes, ...] | None:
    """The texts of the records of a file with these marks; `None` when it is another file."""
    parts = split_parts(data)
    if parts is None or marks_of(parts) != marks:
        return None
    return tuple([b"%b%b%b" % (_OPEN, part, _CLOSE) for part in parts])


def parse_part(part: bytes) -> Any:
    """The record of a part.

    Raises:
        ValueError: it is none by itself.
    """
    return parse_json((_OPEN + part + _CLOSE).decode())


def _stands_alone(part: bytes) -> bool:
    if part.count(b"{") == part.count(_PROVENANCE):
        return True
    try:
        parse_part(part)
    except ValueError:
        return False
    return True
