"""Coordinate ascent: one parameter at a time, the rest held.

It climbs faster than a sampler, and never leaves the hill it is on. The step is a share of the
parameter's range, widened where it led uphill and narrowed where it did not; parameters take turns
in a seeded order.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wsmem.evals.tuning.space import Parameters, Range

_FIRST, _LEAST, _WIDEST = 0.15, 0.004, 0.5
_WIDEN, _NARROW = 1.6, 0.6


class Ascent:
    """A search in progress.

    Args:
        ranges: What is searched.
        start: Where it begins; this is the first trial.
        value: The objective, to be as large as possible.
        seed: Of the order in which parameters take turns.
        known: The value of the start, where it has been tried before.
    """

    def __init__(
        self,
        ranges: Mapping[str, Range],
        start: Parameters,
        value: Callable[[Parameters], float],
        *,
        seed: int,
        known: float | None = None,
    ) -> None:
        self._ranges, self._evaluate = dict(ranges), value
        self._random = random.Random(seed)
        self._steps = dict.fromkeys(self._ranges, _FIRST)
        self.best = dict(start)
        self.value = value(self.best) if known is None else known
        self.history = [self.value] if known is None else []
        """The objective of every trial."""

    def step(self, most: int) -> None:
        """Give every parameter a turn, but play no more than `most` trials."""
        order = list(self._ranges)
        self._random.shuffle(order)
        limit = len(self.history) + most
        for name in order:
            for direction in self._random.sample((-1, 1), 2):
                if len(self.history) >= limit:
                    return
                if self._try(name, direction * self._steps[name]):
                    self._steps[name] = min(_WIDEST, self._steps[name] * _WIDEN)
                    break
            else:
                self._steps[name] *= _NARROW
        if max(self._steps.values(), default=0.0) < _LEAST:
            self._steps = dict.fromkeys(self._ranges, _FIRST)  # look further round once more
        if not order and len(self.history) < limit:
            self.history.append(self.value)

    def _try(self, name: str, step: float) -> bool:
        there = self.best | {name: _moved(self.best[name], step, self._ranges[name])}
        value = self._evaluate(there)
        self.history.append(value)
        if value <= self.value:
            return False
        self.best, self.value = there, value
        return True


def _moved(value: float, step: float, bounds: Range) -> float:
    """A value moved by a share of its range, held within it."""
    low, high = (math.log(bound) if bounds.log else bound for bound in bounds[:2])
    at = (math.log(value) if bounds.log else value) + step * (high - low)
    at = min(high, max(low, at))
    return min(bounds.high, max(bounds.low, math.exp(at))) if bounds.log else at
