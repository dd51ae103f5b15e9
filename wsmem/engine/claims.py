"""Which messages running stages work on, so that no second stage takes the same ones.

A claim is kept in the scope's own file, where every process sees it. It ends with its stage; that
of a stage that died ends when its process is seen to be gone, at the latest when its lease is over.
Claims only save a second call of the model: whoever commits checks that the messages still wait.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wsmem.store.snapshot import ScopeSnapshot

_running: set[str] = set()
"""Owners of the claims whose stages run in this process, whichever engine runs them."""
_guard = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Messages a running stage works on, as kept in the scope's own file."""

    owner: str
    """Token of the engine that runs the stage."""
    process: int
    """Id of its process on this machine."""
    ids: tuple[str, ...]
    until: int
    """When the lease ends, ms since the epoch: an owner that hung is not waited for."""

    @classmethod
    def from_stored(cls, raw: Any) -> Claim | None:
        """Read a claim leniently; anything that is not one is none."""
        if not isinstance(raw, Mapping):
            return None
        owner, process, ids, until = (
            raw.get(key) for key in ("owner", "process", "messageIds", "until")
        )
        if (
            not isinstance(owner, str)
            or not isinstance(process, int)
            or not isinstance(until, int)
            or not isinstance(ids, list)
        ):
            return None
        return cls(owner=owner, process=process, until=until,
                   ids=tuple(item for item in ids if isinstance(item, str)))  # fmt: skip

    def to_stored(self) -> dict[str, Any]:
        """The claim as plain JSON."""
        return {
            "owner": self.owner,
            "process": self.process,
            "messageIds": list(self.ids),
            "until": self.until,
        }

    def is_live(self, now: int) -> bool:
        """Whether its stage may still be running."""
        if self.until <= now:
            return False
        if self.process == os.getpid():
            return self.owner in _running
        if os.name == "nt":  # signal 0 is Ctrl-C there; the lease has to do
            return True
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except OSError:  # it exists and is somebody else's
            return True
        return True


def started(owner: str) -> None:
    """Note that a stage of this process runs."""
    with _guard:
        _running.add(owner)


def ended(owner: str) -> None:
    """Note that a stage of this process does not run any more."""
    with _guard:
        _running.discard(owner)


def live_claims(snapshot: ScopeSnapshot, *, now: int) -> list[Claim]:
    """Claims of a scope whose stages may still be running."""
    raw = snapshot.extra.get("claims")
    found = map(Claim.from_stored, raw if isinstance(raw, list) else [])
    return [claim for claim in found if claim is not None and claim.is_live(now)]


def claimed_ids(snapshot: ScopeSnapshot, *, now: int) -> frozenset[str]:
    """Pending messages that running stages work on."""
    claims = live_claims(snapshot, now=now)
    return frozenset(message_id for claim in claims for message_id in claim.ids)


def with_claims(snapshot: ScopeSnapshot, claims: Iterable[Claim]) -> dict[str, Any]:
    """What is kept beside the scope, with these claims instead of the present ones."""
    extra = dict(snapshot.extra)
    extra.pop("claims", None)
    stored = [claim.to_stored() for claim in claims]
    return {**extra, "claims": stored} if stored else extra
