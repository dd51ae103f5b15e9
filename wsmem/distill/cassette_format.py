"""The lines of a cassette and of the OpenAI Batch files, checked with Pydantic as they come in."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _Line(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True, extra="forbid"
    )


class CompletionPart(_Line):
    """What the endpoint gave."""

    text: str
    finish_reason: str | None
    model: str
    has_reasoning: bool = False
    attempts: int = 1
    json_mode: bool = False


class UsagePart(_Line):
    """Tokens as the endpoint counted them."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class CassetteLine(_Line):
    """One recorded completion."""

    version: Literal[1]
    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    case: str
    prompt: str
    model: str
    parameters: dict[str, Any]
    completion: CompletionPart
    usage: UsagePart
    latency_ms: int
    recorded_at: str


class BatchResponse(BaseModel):
    """The response inside a line of a batch's output; other fields are ignored."""

    status_code: int
    body: dict[str, Any]


class BatchLine(BaseModel):
    """One line of a batch's output; other fields are ignored."""

    custom_id: str
    response: BatchResponse | None = None
    error: dict[str, Any] | None = None
