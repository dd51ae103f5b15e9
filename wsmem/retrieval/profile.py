"""Weight profiles: what each signal is worth, how matches are found, and where that came from.

A profile is a JSON file. `reference` and `default` ship with the package; any path works as well.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from wsmem.errors import WsmemError
from wsmem.retrieval.signals import FAMILY, NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

Matching = Literal["substring", "terms"]
"""Which entries are candidates: those that hold a query token as a substring, as the public plugin
has it, or those whose terms are evidence enough."""

_SHIPPED = os.path.join(os.path.dirname(__file__), "profiles")  # pathlib is slow to import


_SUFFIX = ".json"


class ProfileError(WsmemError, ValueError):
    """A profile cannot be used."""

    def __init__(self, profile: str, problem: str) -> None:
        super().__init__(profile, problem)  # args rebuild the error when unpickled
        self.profile, self.problem = profile, problem

    def __str__(self) -> str:
        return f"profile {self.profile}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Weights by signal name, and the rule for what counts as a match."""

    name: str
    weights: Mapping[str, float]
    """Only signals with a weight other than zero, in the order of `signals.SIGNALS`."""
    matching: Matching = "terms"
    evidence_share: float = 0.0
    """`terms` only: least share of the query's mass an entry must hold, 0 to 1 ..."""
    evidence_cap: float = 1.0
    """... of at most this many terms of the greatest rarity, so that a long question does not ask
    for more than a short one."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What set the weights, on which data, when, and with what gain."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.weights) - set(NAMES))
        if unknown:
            raise ProfileError(
                self.name, f"unknown signal {unknown[0]!r}; known: {', '.join(NAMES)}"
            )
        if self.matching not in get_args(Matching):
            raise ProfileError(self.name, f"matching is {self.matching!r}, not substring or terms")
        if not 0 <= self.evidence_share <= 1 or not self.evidence_cap > 0:
            raise ProfileError(self.name, "evidence_share must be 0 to 1 and evidence_cap above 0")
        weights = {name: float(self.weights[name]) for name in NAMES if self.weights.get(name)}
        object.__setattr__(self, "weights", MappingProxyType(weights))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy does not pickle; worker processes of the harness get profiles that way.
        return (_rebuild, (self.to_json(),))

    def uses(self, family: str) -> bool:
        """Whether any signal of a family has a weight."""
        return any(FAMILY[name] == family for name in self.weights)

    @property
    def by_terms_alone(self) -> bool:
        """Whether analysed terms are all it needs: postings in a file know no substrings."""
        return self.matching == "terms" and not self.uses("substring")

    def with_weights(self, **weights: float) -> Profile:
        """A copy with some weights replaced; zero removes a signal."""
        return replace(self, weights={**self.weights, **weights})

    def to_json(self) -> dict[str, Any]:
        """The profile as its file holds it."""
        return {
            "name": self.name,
            "matching": self.matching,
            "evidence_share": self.evidence_share,
            "evidence_cap": self.evidence_cap,
            "weights": dict(self.weights),
            "provenance": dict(self.provenance),
        }


def profile_names() -> tuple[str, ...]:
    """The profiles that ship with the package, sorted."""
    return tuple(sorted(name[:-5] for name in os.listdir(_SHIPPED) if name.endswith(_SUFFIX)))


def load_profile(name_or_path: str | os.PathLike[str]) -> Profile:
    """Read a shipped profile by name, or any profile by the path of its file.

    Raises:
        ProfileError: there is no such profile, or its file is not a valid one.
    """
    path = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and not path.endswith(_SUFFIX):
        path = os.path.join(_SHIPPED, name_or_path + _SUFFIX)
    try:
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
    except FileNotFoundError:
        shipped = ", ".join(profile_names())
        raise ProfileError(
            str(name_or_path), f"not found; shipped are {shipped}, others are given as a .json path"
        ) from None
    except (OSError, ValueError) as error:
        raise ProfileError(str(name_or_path), f"cannot be read: {error}") from error
    return _from_json(str(name_or_path), raw)


def _from_json(source: str, raw: object) -> Profile:
    if not isinstance(raw, dict):
        raise ProfileError(source, "a profile is a JSON object")
    unknown = sorted(set(raw) - set(Profile.__dataclass_fields__))
    if unknown:
        raise ProfileError(source, f"unknown field {unknown[0]!r}")
    weights = raw.get("weights")
    if not isinstance(weights, dict) or not all(_is_number(value) for value in weights.values()):
        raise ProfileError(source, "weights must map signal names to numbers")
    for bound in ("evidence_share", "evidence_cap"):
        if not _is_number(raw.get(bound, 0)):
            raise ProfileError(source, f"{bound} must be a number")
    return Profile(**{"name": source, **raw})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _rebuild(raw: dict[str, Any]) -> Profile:
    return Profile(**raw)
