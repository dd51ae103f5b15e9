"""What a search may choose: a weight for each signal within bounds, and the evidence threshold.

Scores have no scale: twice all weights give the same ranking. So the weight of one signal, the
anchor, stays as it is, and the others are searched as multiples of it, evenly in the logarithm,
because a half and a double are equally far away.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.errors import InvalidInputError, UnknownNameError
from wsmem.retrieval.profile import Profile
from wsmem.retrieval.signals import FAMILY, NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEAST, MOST = 0.001, 4.0
"""Bounds of a weight as a multiple of the anchor's; at the least a signal hardly breaks a tie."""
NEGATIVE = frozenset({"surfaced"})
"""Signals whose weight is 0 or less: what was just shown is not shown again so soon."""
SHARE, CAP = "evidence_share", "evidence_cap"
THRESHOLD: Mapping[str, tuple[float, float]] = {SHARE: (0.0, 0.6), CAP: (0.1, 8.0)}

Parameters = dict[str, float]
"""Values by name: weights by signal, `evidence_share`, `evidence_cap`."""


class Range(NamedTuple):
    """The values a parameter may take; weights are sizes here, their sign is the signal's."""

    low: float
    high: float
    log: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Which parameters are searched, from where, and which are held."""

    start: Profile
    """Where a search begins; the anchor's weight and whatever is not searched stay as in it."""
    signals: tuple[str, ...]
    """Signals that may have a weight, in the order of `signals.SIGNALS`; the anchor is one."""
    anchor: str
    held: Mapping[str, float] = field(default_factory=dict)
    """Parameters that keep a value."""

    @classmethod
    def of(
        cls,
        start: Profile,
        *,
        signals: Iterable[str] = ("terms", "entry"),
        anchor: str | None = None,
        held: Mapping[str, float] | None = None,
    ) -> Space:
        """A space from names of signals or families.

        Args:
            start: A profile with terms matching.
            signals: Names, or families for all of theirs.
            anchor: The signal that keeps its weight; that of the greatest weight when `None`.
            held: Parameters to keep at a value.

        Raises:
            UnknownNameError: there is no such signal, family or parameter.
            InvalidInputError: the start cannot be searched from.
        """
        if start.matching != "terms":
            raise InvalidInputError(f"profile {start.name}: only terms matching can be tuned")
        families = tuple(dict.fromkeys(FAMILY.values()))
        wanted = set()
        for name in signals:
            if name not in (*NAMES, *families):
                raise UnknownNameError("signal", name, (*NAMES, *families))
            wanted |= {known for known in NAMES if name in (known, FAMILY[known])}
        chosen = tuple(name for name in NAMES if name in wanted)
        weights = {name: abs(w) for name, w in start.weights.items() if name in wanted}
        if anchor is None:
            anchor = max(weights, key=lambda name: weights[name], default=None)
        if anchor not in weights:
            named = "no signal that is searched" if anchor is None else f"{anchor!r}"
            raise InvalidInputError(
                f"profile {start.name}: {named} has a weight to measure the others by; "
                "name another by --anchor"
            )
        space = cls(start=start, signals=chosen, anchor=anchor, held=dict(held or {}))
        for name in space.held:
            if name not in (*chosen, *THRESHOLD) or name == anchor:
                raise UnknownNameError("parameter", name, tuple(space.free))
        return space

    @property
    def signs(self) -> dict[str, int]:
        """By signal: on which side of 0 its weight is."""
        return {name: -1 if name in NEGATIVE else 1 for name in self.signals}

    @property
    def scale(self) -> float:
        """The anchor's weight."""
        return abs(self.start.weights[self.anchor])

    @property
    def free(self) -> dict[str, Range]:
        """What is searched, by name."""
        weight = Range(LEAST * self.scale, MOST * self.scale, log=True)
        found = {name: weight for name in self.signals if name != self.anchor}
        found |= {name: Range(*bounds, log=name == CAP) for name, bounds in THRESHOLD.items()}
        return {name: range_ for name, range_ in found.items() if name not in self.held}

    def holding(self, signals: Iterable[str]) -> Space:
        """The same where these signals keep the weight they start with, the anchor aside."""
        weights = self.start.weights
        kept = {
            name: abs(weights.get(name, 0.0))
            for name in signals
            if name in self.signals and name != self.anchor
        }
        return replace(self, held=kept | dict(self.held))

    def without(self, signal: str) -> Space:
        """The same without a signal; another takes over as anchor where it was that one."""
        rest = tuple(name for name in self.signals if name != signal)
        held = {name: value for name, value in self.held.items() if name != signal}
        anchor = self.anchor
        if anchor == signal:
            anchor = Space.of(self.start, signals=rest).anchor
        return Space(start=self.start, signals=rest, anchor=anchor, held=held)

    def beginning(self) -> Parameters:
        """The start as values within the ranges."""
        given = {name: abs(weight) for name, weight in self.start.weights.items()}
        given |= {SHARE: self.start.evidence_share, CAP: self.start.evidence_cap}
        return {
            name: min(range_.high, max(range_.low, given.get(name, range_.low)))
            for name, range_ in self.free.items()
        }

    def all_of(self, found: Mapping[str, float]) -> Parameters:
        """Every parameter of a trial with its sign, from the sizes of those that are searched."""
        given = {self.anchor: self.scale} | dict(self.held) | dict(found)
        signs = self.signs
        return {name: signs.get(name, 1) * abs(value) for name, value in given.items()}

    def as_profile(
        self,
        parameters: Mapping[str, float],
        *,
        name: str,
        provenance: Mapping[str, Any] | None = None,
    ) -> Profile:
        """A profile of weights with their signs and a threshold, as `all_of` gives them."""
        return Profile(
            name=name,
            weights={name: size for name, size in parameters.items() if name not in THRESHOLD},
            evidence_share=parameters[SHARE],
            evidence_cap=parameters[CAP],
            provenance=provenance or {},
        )
