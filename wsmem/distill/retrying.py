"""How long to wait before a request is made again; pure, the clock and the dice are arguments."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses that another try may mend; of those below 500 only "too many requests"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how fast a call is repeated."""

    retries: int = 3
    """Tries after the first one."""
    first_wait_s: float = 0.5
    """Doubles with every try."""
    longest_wait_s: float = 8.0
    """Bound of our own waits; what the endpoint asks for is bounded by the deadline alone."""

    def wait_s(self, retry: int, *, dice: float = 0.0) -> float:
        """Seconds before retry number `retry` (from 0); `dice` in 0..1 shortens it by a quarter.

        The spread keeps many callers that failed together from coming back together.
        """
        doubled: float = self.first_wait_s * 2**retry
        return min(doubled, self.longest_wait_s) * (1 - dice / 4)


def asked_wait_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Seconds the endpoint asks to wait: `retry-after-ms`, or `Retry-After` in seconds or a date.

    `None` when it does not say, or says nothing readable.

    Args:
        headers: By lower-case name.
        now_s: Seconds since the epoch, for dates.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
