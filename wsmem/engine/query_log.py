"""What was asked, kept on request: the raw material of a labelled set of one's own."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

from wsmem.redaction.redact import redact

# ruff: noqa: PTH103, PTH118  plain paths, as everywhere on the way of a recall

LOG_NAME = "queries.jsonl"
"""Beside the store's own files, where neither a host nor the public plugin looks."""


class QueryLog:
    """Appends one `{"query", "scope", "at"}` a line, credentials redacted; never leaves the store.

    Args:
        folder: The store's internal folder.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def note(self, query: str, scope: str, at_ms: int) -> None:
        """Keep one query. One write a line: those of several processes do not mix.

        Raises:
            OSError: it could not be written.
        """
        when = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        row = {"query": redact(query), "scope": scope, "at": when.replace("+00:00", "Z")}
        line = json.dumps(row, ensure_ascii=False) + "\n"
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        path = os.path.join(self._folder, LOG_NAME)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
