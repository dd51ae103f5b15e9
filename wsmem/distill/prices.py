"""What calls cost, from a table that says where each price was read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wsmem.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from wsmem.distill.completion import Usage

SHIPPED = Path(__file__).parent / "prices.json"

_PER = 1_000_000
"""Tokens that the prices are for."""

_BYTES_PER_TOKEN = 3.0
"""A Chinese letter is three bytes and about one token, an English word about one token to four
bytes: three errs a little towards too many tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of one model for a million tokens, and where they come from."""

    model: str
    currency: str
    input: float
    cached: float
    """Of input tokens that the provider had cached."""
    output: float
    source: str
    as_of: str
    """Year and month in which the source said so."""

    def cost(self, usage: Usage) -> float | None:
        """What a call cost; `None` when the endpoint did not count its tokens."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        fresh = usage.input_tokens - cached
        total = fresh * self.input + cached * self.cached + usage.output_tokens * self.output
        return total / _PER

    def most(self, *, request_bytes: int, output_tokens: int) -> float:
        """What a call may cost at most, by the size of its request and its length limit."""
        tokens = request_bytes / _BYTES_PER_TOKEN
        return (tokens * self.input + output_tokens * self.output) / _PER


class PriceTable:
    """Prices by model."""

    def __init__(self, prices: Iterable[Price] = ()) -> None:
        self._prices = {price.model: price for price in prices}

    def get(self, model: str) -> Price | None:
        """The price of a model, also of a dated or provider-prefixed name; `None` if unknown.

        `openai/gpt-4o-mini` and `gpt-4o-mini-2024-07-18` cost what `gpt-4o-mini` costs.
        """
        name = model.rpartition("/")[2]
        if name in self._prices:
            return self._prices[name]
        base, _, date = name.partition("-20")
        return self._prices.get(base) if date[:2].isdigit() else None


def load_prices(path: str | PathLike[str] | None = None) -> PriceTable:
    """The shipped table, or one of the same form from `path`.

    Raises:
        InvalidInputError: the file cannot be read or a row is not a price.
    """
    file = Path(path) if path is not None else SHIPPED
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))["models"]
        return PriceTable(_price(row) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"{file}: no table of prices ({error.__class__.__name__}: {error}); it needs "
            '"models", a list of model, currency, input, cached, output, source, as_of'
        ) from None


def _price(row: dict[str, Any]) -> Price:
    numbers = {name: float(row[name]) for name in ("input", "output")}
    return Price(
        model=str(row["model"]),
        currency=str(row["currency"]),
        cached=float(row.get("cached", numbers["input"])),
        source=str(row["source"]),
        as_of=str(row["as_of"]),
        **numbers,
    )
