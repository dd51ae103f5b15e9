"""Reading what endpoints really send: bodies, errors and refusals of parameters; no network."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from wsmem.distill.completion import Completion, Usage
from wsmem.distill.failures import FilteredAnswerError, NoChoicesError, NotACompletionError

if TYPE_CHECKING:
    from collections.abc import Mapping

Refusal = Literal["json-mode", "max-tokens", "temperature"]
"""A parameter that some endpoints do not take, although others need it."""

_REFUSALS: tuple[tuple[Refusal, re.Pattern[str]], ...] = (
    (
        "json-mode",
        re.compile(r"response_format|json_object|json[ _-]?mode|json[ _-]?schema", re.IGNORECASE),
    ),
    ("max-tokens", re.compile(r"max_completion_tokens", re.IGNORECASE)),
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE)),
)
_REFUSING_STATUSES = frozenset({400, 404, 415, 422, 501})


def refused_parameter(status: int, body: str) -> Refusal | None:
    """Which parameter an error is about, when the request can be made without it."""
    if status not in _REFUSING_STATUSES:
        return None
    return next((name for name, pattern in _REFUSALS if pattern.search(body)), None)


def without(parameters: Mapping[str, Any], refusal: Refusal) -> dict[str, Any]:
    """The parameters of a request, changed to suit an endpoint that refused one of them."""
    changed = dict(parameters)
    if refusal == "json-mode":
        changed.pop("response_format", None)
    elif refusal == "temperature":
        changed.pop("temperature", None)
    elif "max_tokens" in changed:
        changed["max_completion_tokens"] = changed.pop("max_tokens")
    return changed


def error_text(body: str) -> str:
    """What an error body says, out of the shapes in use; the body itself when it has none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return body
    error = document.get("error", document) if isinstance(document, dict) else document
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("code", "type", "message", "detail")]
        return ", ".join(str(part) for part in parts if isinstance(part, (str, int)) and part)
    return error if isinstance(error, str) else body


def read_completion(body: str, *, asked_model: str) -> Completion:
    """The first choice of a response.

    Blank lines and comment lines (`: keep-alive`), which busy endpoints send to hold a connection
    open, are skipped. Reasoning is noticed and not kept.

    Raises:
        NotACompletionError: the body is no JSON object.
        NoChoicesError: it holds no choice; what the body says instead is named.
        FilteredAnswerError: the model refused in the field made for it.
    """
    document = _document(body)
    if not isinstance(document, dict):
        raise NotACompletionError(asked_model)
    named = document.get("model")
    model = named if isinstance(named, str) and named else asked_model
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        said = error_text(body) if "error" in document else ""
        raise NoChoicesError(asked_model, said)
    text = _text(message.get("content"))
    if not text.strip() and isinstance(message.get("refusal"), str) and message["refusal"]:
        raise FilteredAnswerError(asked_model, "the model refused")
    finish = choice.get("finish_reason")
    return Completion(
        text=text,
        finish_reason=finish if isinstance(finish, str) else None,
        model=model,
        usage=_usage(document.get("usage")),
        has_reasoning=any(message.get(name) for name in ("reasoning_content", "reasoning")),
    )


def _document(body: str) -> Any:
    lines = body.lstrip("\ufeff").splitlines()
    while lines and (not lines[0].strip() or lines[0].startswith(":")):
        del lines[0]
    try:
        return json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        return None


def _text(content: Any) -> str:
    """The text of a message, which a few gateways send in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _usage(raw: Any) -> Usage:
    if not isinstance(raw, dict):
        return Usage()
    into, out = raw.get("prompt_tokens_details"), raw.get("completion_tokens_details")
    cached = _count(into, "cached_tokens")
    return Usage(
        input_tokens=_count(raw, "prompt_tokens"),
        cached_tokens=_count(raw, "prompt_cache_hit_tokens") if cached is None else cached,
        output_tokens=_count(raw, "completion_tokens"),
        reasoning_tokens=_count(out, "reasoning_tokens"),
    )


def _count(raw: Any, name: str) -> int | None:
    value = raw.get(name) if isinstance(raw, dict) else None
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if fits else None
