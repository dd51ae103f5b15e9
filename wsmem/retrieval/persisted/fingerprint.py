"""Which code made a postings file: another one may cut texts into other terms.

Nobody has to remember to count up a version: the mark is a checksum of the sources themselves, and
of the interpreter, whose tables of characters decide what a letter is.
"""

# ruff: noqa: PTH120, PTH123 - pathlib is slow to import
from __future__ import annotations

import os
import sys
import unicodedata
from zlib import crc32

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))

SOURCES = (
    "records.py",
    "retrieval/fields.py",
    "retrieval/signals.py",
    "retrieval/stream.py",
    "retrieval/unspaced.py",
    "retrieval/vocabulary.py",
    "retrieval/persisted/building.py",
    "retrieval/persisted/layout.py",
    "retrieval/persisted/postings.py",
    "store/codec.py",
    "store/jsontext.py",
    "text/analysis.py",
    "text/normalize.py",
    "text/scripts.py",
    "text/stemming.py",
    "text/stopwords.py",
    "text/utf16.py",
    "text/utf8.py",
    "text/variants.py",
)
"""Everything between the bytes of an entry and the numbers in the file; a test sees to the rest."""


def fingerprint(package: str = _PACKAGE) -> str | None:
    """The mark of this code; `None` where its sources cannot be read, which are not compared then.

    A megabyte of sources would take a quarter of a millisecond.
    """
    check = 0
    size = 0
    for name in SOURCES:
        try:
            with open(f"{package}/{name}", "rb") as source:
                data = source.read()
        except OSError:
            return None
        check = crc32(data, check)
        size += len(data)
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{check:08x}-{size}-{python}-{unicodedata.unidata_version}"
