"""What a search maximises, as a value that prints as its formula and parses back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM = re.compile(
    r"nDCG@(?P<k>[1-9]\d*)"
    r"(-(?P<penalty>\d+(\.\d+)?)\*"
    r"(FalseRecall|max\(0,FalseRecall-(?P<allowed>\d+(\.\d+)?)\)))?"
)
_EXAMPLE = "nDCG@10 - 0.2 * max(0, FalseRecall - 0.05)"


@dataclass(frozen=True, slots=True, order=True)
class Objective:
    """Mean nDCG@k over the sets, less a penalty for recalling what should not be.

    Each set counts the same. FalseRecall is the mean share over the sets that have queries to which
    nothing is relevant; what it exceeds `allowed` by is charged `penalty` times.
    """

    k: int = 10
    penalty: float = 0.2
    allowed: float = 0.05

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Read a formula: `nDCG@10`, `nDCG@10 - 0.2 * FalseRecall`, or with `max(0, … - 0.05)`.

        Raises:
            InvalidInputError: it has another form.
        """
        form = _FORM.fullmatch("".join(text.split()))
        if form is None:
            raise InvalidInputError(f"{text!r} is no objective; write it as in {_EXAMPLE!r}")
        return cls(
            k=int(form["k"]),
            penalty=float(form["penalty"] or 0.0),
            allowed=float(form["allowed"] or 0.0),
        )

    def __str__(self) -> str:
        if not self.penalty:
            return f"nDCG@{self.k}"
        if not self.allowed:
            return f"nDCG@{self.k} - {self.penalty:g} * FalseRecall"
        return f"nDCG@{self.k} - {self.penalty:g} * max(0, FalseRecall - {self.allowed:g})"

    def value(self, ndcg: Iterable[float], false_recall: Iterable[float | None]) -> float:
        """The objective over sets.

        Args:
            ndcg: The mean of each set; at least one.
            false_recall: The share of each set; `None` or NaN for one without such queries.
        """
        means = list(ndcg)
        shares = [share for share in false_recall if share is not None and share == share]  # noqa: PLR0124  NaN differs from itself
        recalled = sum(shares) / len(shares) if shares else 0.0
        return sum(means) / len(means) - self.penalty * max(0.0, recalled - self.allowed)
