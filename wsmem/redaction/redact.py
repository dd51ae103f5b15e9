"""The public functions: redact a text, ask whether it holds a secret, redact a whole value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wsmem.redaction import commands, headers, labels, private_keys, tokens, urls, vocabulary
from wsmem.redaction.findings import PLACEHOLDER, Finding
from wsmem.redaction.folding import WIDE_HINTS, fold
from wsmem.redaction.gates import is_open
from wsmem.redaction.judgement import is_phrase_secret, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES = (
    (private_keys.GATES, private_keys.find),
    (tokens.GATES, tokens.find),
    (urls.GATES, urls.find),
    (headers.GATES, headers.find),
    (commands.GATES, commands.find),
    (vocabulary.GATES, labels.find),
)

_PASSES = 8
"""Texts settle after one or two; a text that does not was made to resist."""


def redact(text: str) -> str:
    """`text` with every secret replaced by `[REDACTED]`; the same object when there is none.

    What is left after a replacement may read as another secret, so this goes on until nothing is
    found; of a text that never settles nothing is let through.
    """
    for _ in range(_PASSES):
        findings = find_secrets(text)
        if not findings:
            return text
        text = _without(text, findings)
    return PLACEHOLDER if contains_secret(text) else text


def contains_secret(text: str) -> bool:
    """Whether `redact` would change `text`."""
    return next(_findings(text), None) is not None


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Where the secrets of `text` stand, in order; overlapping ones are one."""
    merged: list[Finding] = []
    for finding in sorted(_findings(text), key=lambda found: (found.start, -found.end)):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Finding(last.start, max(last.end, finding.end), last.kind)
        else:
            merged.append(finding)
    return tuple(merged)


def redact_value(value: Any) -> Any:
    """A JSON-like value with every text in it redacted, at any depth; keys are kept.

    A text under a key that names a secret (`{"password": "hunter2"}`) is judged as its value. What
    holds no secret comes back as the same object.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        changed = {key: _redact_field(key, item) for key, item in value.items()}
        return changed if any(changed[key] is not item for key, item in value.items()) else value
    if isinstance(value, (list, tuple)):
        items = [redact_value(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _redact_field(key: object, item: Any) -> Any:
    redacted = redact_value(item)
    if not isinstance(key, str) or not isinstance(redacted, str):
        return redacted
    name = fold(key)
    kind = labels.names_secret(name) if is_open(name.lower(), vocabulary.GATES) else None
    if kind is None or not redacted.strip():
        return redacted
    folded = fold(redacted.strip())
    if len(folded.split()) > 1:
        secret = is_phrase_secret(folded, kind=kind)
    else:
        secret = is_secret(folded, kind=kind, quoted=True)
    return PLACEHOLDER if secret else redacted


def _without(text: str, findings: tuple[Finding, ...]) -> str:
    parts: list[str] = []
    position = 0
    for finding in findings:
        parts += text[position : finding.start], PLACEHOLDER
        position = finding.end
    return "".join([*parts, text[position:]])


def _findings(text: str) -> Iterator[Finding]:
    """Findings of every rule whose marks occur at all, which in prose is none of them."""
    lowered = text.lower()
    if not text.isascii() and any(hint in lowered for hint in WIDE_HINTS):
        lowered = fold(text).lower()
    rules = [find for gates, find in _RULES if is_open(lowered, gates)]
    folded = fold(text) if rules else text
    for find in rules:
        yield from find(folded)
