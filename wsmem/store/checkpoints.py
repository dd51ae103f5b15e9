"""`checkpoints/*.md`: the audit of one stage, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wsmem.store.layout import stage_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wsmem.records import MemoryMessage
    from wsmem.store.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """What became of one proposed operation."""

    op: str
    """What the distiller called it."""
    content: str = ""
    """What it proposed to remember; empty when it had no usable text."""
    accepted: bool
    target_id: str = ""
    detail: str = ""
    """Why it was refused, or what it did."""


def render_checkpoint(
    *,
    at_ms: int,
    reason: str,
    messages: Iterable[MemoryMessage],
    audit: Iterable[AuditLine],
    counts: Mapping[str, int],
    wording: Wording,
) -> str:
    """The Markdown of a stage: messages as they were said, proposals, decisions, totals.

    Callers redact `messages` and `audit` first; nothing is altered here.
    """
    audit = tuple(audit)
    spoken = [f"- **{message.role}**: {message.text}" for message in messages]
    proposed = [f"- {line.op}: {line.content or wording.invalid}" for line in audit]
    decided = [_decision(line, wording) for line in audit]
    totals = ", ".join(f"{name}={count}" for name, count in counts.items())
    return "\n".join(
        [
            f"# {wording.checkpoint} {stage_time(at_ms)}",
            "",
            f"{wording.reason}: {reason}",
            *_section(wording.conversation, spoken, wording),
            *_section(wording.facts, proposed, wording),
            *_section(wording.audit, decided, wording),
            "",
            f"{wording.result}: {totals}",
            "",
        ]
    )


def _section(title: str, lines: list[str], wording: Wording) -> list[str]:
    return ["", f"## {title}", "", *(lines or [f"- {wording.nothing}"])]


def _decision(line: AuditLine, wording: Wording) -> str:
    verdict = wording.accepted if line.accepted else wording.refused
    target = f" {line.target_id}" if line.target_id else ""
    return f"- {verdict}: {line.op}{target} ({line.detail})"
