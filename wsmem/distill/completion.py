"""What is asked of a model and what it gave; and which completions hold a usable answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from wsmem.distill.failures import (
    CutAnswerError,
    EmptyAnswerError,
    FilteredAnswerError,
    InterruptedAnswerError,
    ReasoningOnlyError,
    UnusableAnswerError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class ChatMessage(NamedTuple):
    """One message as a model is given it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model; two equal ones have one key."""

    prompt: str
    """Id of the prompt, `careful@1`."""
    model: str
    messages: tuple[ChatMessage, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters as the endpoint names them: `temperature`, `max_tokens` …"""

    @property
    def key(self) -> str:
        """SHA-256 over everything that decides the answer, in hexadecimal digits."""
        decisive = [self.prompt, self.model, self.wire_messages, dict(self.parameters)]
        return hashlib.sha256(canonical_json(decisive).encode()).hexdigest()

    @property
    def wire_messages(self) -> list[dict[str, str]]:
        """The messages as an endpoint takes them."""
        return [{"role": message.role, "content": message.content} for message in self.messages]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the endpoint counted them; `None` where it did not say."""

    input_tokens: int | None = None
    """All tokens of the request, those read from a cache included."""
    cached_tokens: int | None = None
    """How many of them the provider had cached."""
    output_tokens: int | None = None
    """All tokens generated, reasoning included."""
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an endpoint gave for one request."""

    text: str
    """The answer, byte for byte as it came; empty when there was none."""
    finish_reason: str | None
    model: str
    """The model as the endpoint names it, which may be more precise than what was asked for."""
    usage: Usage = Usage()
    has_reasoning: bool = False
    """Whether a reasoning part came with it; its text is not kept."""
    latency_ms: int = 0
    """From the first attempt to the answer, waiting included."""
    attempts: int = 1
    json_mode: bool = False
    """Whether the endpoint was held to JSON."""


_FILTERED = frozenset({"content_filter", "refusal", "safety", "prohibited_content"})
_CUT = frozenset({"length", "max_tokens", "max_length"})
_INTERRUPTED = frozenset(
    {"insufficient_system_resource", "error", "abort", "aborted", "cancelled", "overloaded"}
)
_CALLS = frozenset({"tool_calls", "function_call"})


def unusable(completion: Completion) -> UnusableAnswerError | None:
    """Why a completion must not be applied, although its text may well parse; `None` if it may.

    A finish reason that nobody here knows counts as a normal end: servers invent names for it.
    """
    model, reason = completion.model, (completion.finish_reason or "").lower()
    if reason in _CUT:
        return CutAnswerError(model, f"finish_reason {reason}")
    if reason in _FILTERED:
        return FilteredAnswerError(model, f"finish_reason {reason}")
    if reason in _INTERRUPTED:
        return InterruptedAnswerError(model, f"finish_reason {reason}")
    if not completion.text.strip():
        if completion.has_reasoning:
            return ReasoningOnlyError(model)
        return EmptyAnswerError(model, f"finish_reason {reason}" if reason in _CALLS else "")
    return None


def canonical_json(value: Any) -> str:
    """The one spelling of a JSON value that hashes are taken of."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
