"""Where a secret stands in a text; a finding never carries the secret itself."""

from __future__ import annotations

from typing import Literal, NamedTuple

PLACEHOLDER = "[REDACTED]"

FindingKind = Literal[
    "label", "token", "web-token", "private-key", "url", "header", "cookie", "command"
]


class Finding(NamedTuple):
    """One stretch of a text that must not leave."""

    start: int
    end: int
    kind: FindingKind
