"""What ships and is bound to evidence: the weights of the profiles, and how texts become terms.

Scores alone cannot guard these. A good profile lies on a plateau: one of its weights may be halved
for two thousandths of nDCG, which no test on some thousand queries tells from chance. So whatever
the figures say, profiles and terms must be those that the baseline was made with, and a profile
that names a study as its origin must be what that study found. Anything else is a departure. It is
no loss, and it is not waved through either: whoever wants it shows evidence and accepts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from wsmem.evals.systems.wsmem import profile_of
from wsmem.evals.tuning.kept import FOLDER
from wsmem.evals.tuning.run import PROFILE
from wsmem.retrieval.profile import ProfileError, load_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from wsmem.evals.gate.record import RankingRecord

Kind = Literal["weights", "rule", "terms", "study"]
"""`weights` of a profile; its `rule` for what counts as a match; the `terms` that texts become; the
`study` that a profile says it is the result of."""

SAMPLE = "sample"
"""The text in many scripts that comes with the gate, beside those of the sets."""
SHIPPED = "default"
"""The profile that is tuned."""

_CLAIM = "wsmem tune"
"""How the origin of a profile begins that says it is the result of a study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """Something that ships and is not what the committed evidence is about."""

    kind: Kind
    subject: str
    """Name of the profile; of `terms`, the sets whose texts become others."""
    system: str | None
    """Whose answers may differ for it: one, or every system if `None`."""
    changes: tuple[str, ...] = ()
    """`NAME BEFORE -> AFTER`, or of a study `NAME FOUND -> SHIPPED`."""

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return {"kind": self.kind, "subject": self.subject, "changes": list(self.changes)}


def departures(baseline: RankingRecord, fresh: RankingRecord) -> tuple[Departure, ...]:
    """In what the fresh record was ranked otherwise than the baseline's."""
    found = []
    if others := tuple(_other_terms(baseline, fresh)):
        found.append(Departure(kind="terms", subject=", ".join(others), system=None))
    for system, old in baseline.profiles.items():
        found += profile_departures(system, old, fresh.profiles.get(system, {}))
    return tuple(found)


def study_departures(study: Path = FOLDER) -> tuple[Departure, ...]:
    """Where the shipped `default` is not what the committed study found, though it says so.

    A profile that gives another origin (weights set by hand, say) claims nothing. An installation
    without a checkout around it has no evidence to look at.

    Raises:
        ProfileError: the shipped profile cannot be read.
    """
    if not study.parents[1].is_dir():
        return ()
    shipped = load_profile(SHIPPED).to_json()
    if not str(shipped["provenance"].get("origin", "")).startswith(_CLAIM):
        return ()
    changes = tuple(_not_found(study / PROFILE, shipped))
    if not changes:
        return ()
    return (Departure(kind="study", subject=SHIPPED, system=None, changes=changes),)


def _not_found(result: Path, shipped: Mapping[str, Any]) -> Iterable[str]:
    """In what the result of a study differs from what ships."""
    if not result.is_file():
        yield f"there is no {result.name} of it"
        return
    try:
        found = load_profile(result).to_json()
    except ProfileError as error:
        yield error.problem
        return
    for key in [key for key in found if key != "name"]:
        yield from _changes(key, found, shipped)


def _other_terms(baseline: RankingRecord, fresh: RankingRecord) -> Iterable[str]:
    if baseline.analysis != fresh.analysis:
        yield SAMPLE
    for name, old in baseline.sets.items():
        new = fresh.sets.get(name)
        if new is not None and new.terms != old.terms and new.checksums == old.checksums:
            yield name


def profile_departures(
    system: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterable[Departure]:
    """In what the profile of a system ranks otherwise than it did.

    A field that this version does not know, or the older one did not, counts as well.
    """
    profile = profile_of(system)
    kinds: dict[Kind, list[str]] = {"weights": ["weights"]}
    kinds["rule"] = sorted((old.keys() | new.keys()) - {"weights", "name", "provenance"})
    for kind, keys in kinds.items():
        changes = tuple(change for key in keys for change in _changes(key, old, new))
        if changes:
            yield Departure(kind=kind, subject=profile, system=system, changes=changes)


def _changes(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    before, after = old.get(key), new.get(key)
    if before == after:
        return
    if key == "provenance":
        yield "its provenance reads otherwise"
    elif isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            if before.get(name) != after.get(name):
                yield f"{name} {_said(before.get(name, 0))} -> {_said(after.get(name, 0))}"
    else:
        yield f"{key} {_said(before)} -> {_said(after)}"


def _said(value: object) -> str:
    """Every digit of a number that it has, and no `.0`."""
    return repr(value).removesuffix(".0") if isinstance(value, int | float) else str(value)
