"""How postings lie in a file, and the checks by which any damage to it is noticed.

    magic, size and checksum of the head | head, as JSON | checksums of the pages | pages

The head says where each section lies in the pages, and what the file was made of. A page has 4 KiB
and a CRC-32 of its own, checked when something on it is first wanted: to read the whole file would
take longer than to answer. A CRC of 32 bits notices every change of up to 32 bits in a row, so no
byte can turn into another unseen.

Sections are arrays in the machine's own byte order:

| section | items | one for each |
|---|---|---|
| `buckets` | first term of it | bucket, and one more |
| `texts`, `text_starts` | UTF-8 of a term | term, by bucket |
| `starts`, `place_starts` | first posting, first place of it | term, and one more |
| `documents`, `counts`, `fields` | entry, occurrences, field bits | posting, by term and entry |
| `places` | position in the entry; 0: beside the stream | occurrence, by posting |
| `letters`, `letter_starts`, `letter_documents` | entries with it | letter without blanks |
| `lengths`, `importances`, `changed` | UTF-8 bytes, as stored, ms (NaN: none) | entry |
| `record_starts`, `record_sizes`, `record_checks` | where its JSON is, CRC-32 of it | entry |
| `ids`, `id_starts`, `dates`, `date_starts` | UTF-8 of its id, of its date as text | entry |
| `groups` | JSON: ids of each conflict group's members | |

Places count the items of an entry's texts from 1, with a gap of one between two fields, so that two
terms stand together where the place of the second is one more.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zlib import crc32

from wsmem.errors import WsmemError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Read = Callable[[int, int], bytes]
    """The bytes from an offset on, at most so many; fewer only at the end of the file."""

FORMAT = 1
MAGIC = b"wsmem\x00p\x01"
PAGE = 4096
_PREFIX = struct.Struct("<8sII")
_ALIGNMENT = 8


ItemCode = Literal["B", "H", "I", "Q", "d"]


class PostingsUnusable(WsmemError):  # noqa: N818 - nothing went wrong: the texts are read instead
    """A postings file is not what it should be; whoever wants an answer reads the entries."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)  # args rebuild the error when unpickled
        self.problem = problem

    def __str__(self) -> str:
        return f"the postings file cannot be used: {self.problem}; delete it or write it anew"


class Section(NamedTuple):
    """Where an array lies in the pages."""

    start: int
    items: int
    code: ItemCode
    """Type of its items, as in the module `array`."""


def term_bucket(term: bytes, buckets: int) -> int:
    """The bucket of a term among so many, a power of two."""
    return crc32(term) & (buckets - 1)


def encoded(term: str) -> bytes:
    """A term in the file's encoding, which has halves of characters too."""
    return term.encode("utf-8", "surrogatepass")


def assembled(head: Mapping[str, Any], sections: Mapping[str, tuple[ItemCode, bytes]]) -> bytes:
    """A whole file: `sections` by name, each the type of its items and its bytes."""
    placed: dict[str, Section] = {}
    pieces: list[bytes] = []
    at = 0
    for name, (code, data) in sections.items():
        placed[name] = Section(at, len(data) // struct.calcsize(code), code)
        padding = -len(data) % _ALIGNMENT
        pieces += (data, bytes(padding))
        at += len(data) + padding
    pages = b"".join(pieces)
    whole = memoryview(pages)
    count = -(-at // PAGE)
    checks = struct.pack(
        f"={count}I", *(crc32(whole[n * PAGE : (n + 1) * PAGE]) for n in range(count))
    )
    body = json.dumps(
        {
            **head,
            "format": FORMAT,
            "order": sys.byteorder,
            "sections": placed,
            "size": at,
            "checks": crc32(checks),
        }
    ).encode()
    return _PREFIX.pack(MAGIC, len(body), crc32(body)) + body + checks + pages


class Pages:
    """The sections of one file, every page of them checked when it is first looked at."""

    def __init__(self, read: Read, size: int) -> None:
        """Read the head of a file of this size.

        Raises:
            PostingsUnusable: it is damaged, cut short, or of another format.
        """
        prefix = read(0, PAGE)
        if len(prefix) < _PREFIX.size:
            raise PostingsUnusable("it is cut short")
        magic, length, check = _PREFIX.unpack_from(prefix)
        if magic != MAGIC or length > size:
            raise PostingsUnusable("it is of another kind")
        start = _PREFIX.size + length
        body = prefix[_PREFIX.size : start] if start <= len(prefix) else read(_PREFIX.size, length)
        if len(body) != length or crc32(body) != check:
            raise PostingsUnusable("its head is damaged")
        self.head: dict[str, Any] = json.loads(body)
        if self.head["format"] != FORMAT or self.head["order"] != sys.byteorder:
            raise PostingsUnusable("it was written by another version or on another machine")
        self._sections = {name: Section(*place) for name, place in self.head["sections"].items()}
        self._size: int = self.head["size"]
        count = -(-self._size // PAGE)
        self._start = start + 4 * count
        if size != self._start + self._size:
            raise PostingsUnusable("it is cut short or longer than it was")
        checks = read(start, 4 * count)
        if len(checks) != 4 * count or crc32(checks) != self.head["checks"]:
            raise PostingsUnusable("its checksums are damaged")
        self._checks = memoryview(checks).cast("I")
        self._read = read
        self.bytes_read = len(prefix) + len(checks)
        """How much was read of the file so far."""

    def count(self, name: str) -> int:
        """How many items a section has."""
        return self._sections[name].items

    def items(self, name: str, first: int = 0, last: int | None = None) -> memoryview[Any]:
        """Items of a section, from `first` up to `last`, which is not among them.

        Raises:
            PostingsUnusable: the pages they lie on are damaged.
        """
        start, count, code = self._sections[name]
        last = count if last is None else last
        if not 0 <= first <= last <= count:
            raise PostingsUnusable(f"it has no items {first} to {last} of {name}")
        width = struct.calcsize(code)
        data = self._bytes(start + first * width, (last - first) * width)
        items: memoryview[Any] = data.cast(code)
        return items

    def intact(self) -> bool:
        """Whether every page is as it was written; reads all of them."""
        try:
            self._bytes(0, self._size)
        except PostingsUnusable:
            return False
        return True

    def _bytes(self, start: int, size: int) -> memoryview[int]:
        if not size:
            return memoryview(b"")
        page = start // PAGE
        begin, end = page * PAGE, min(-(-(start + size) // PAGE) * PAGE, self._size)
        data = self._read(self._start + begin, end - begin)
        self.bytes_read += len(data)
        view = memoryview(data)
        if len(data) != end - begin:
            raise PostingsUnusable("it is cut short")
        for number, check in enumerate(self._checks[page : -(-end // PAGE)]):
            if crc32(view[number * PAGE : (number + 1) * PAGE]) != check:
                raise PostingsUnusable("a page is damaged")
        return view[start - begin : start - begin + size]
