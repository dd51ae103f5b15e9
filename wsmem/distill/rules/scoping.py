"""Whether a statement holds for the user everywhere or for this project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from wsmem.distill.rules.gates import without_unchanged
from wsmem.distill.rules.lexicon import says

if TYPE_CHECKING:
    from wsmem.distill.rules.cues import Cue

Scope = Literal["global", "workspace"]


def scope_of(text: str, cue: Cue) -> Scope:
    """Where a statement of the user belongs; in doubt to the project."""
    text = without_unchanged(text)
    if says("everywhere", text) or (cue != "decision" and says("anywhere", text)):
        return "global"
    if says("here", text):
        return "workspace"
    if cue == "preference" or says("about_me", text):
        return "global"
    if cue in {"rule", "request"} and (says("manner", text) or says("preference", text)):
        return "global"
    return "workspace"
