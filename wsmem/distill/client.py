"""One call of an OpenAI-compatible endpoint: one deadline, bounded retries, errors with a cause.

The `openai` library sends; waiting, judging and naming failures happen here. Its exceptions hold
the request with its key, so none of them leaves `_exchange`, not even as the context of ours.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wsmem.distill.endpoint import Secret, cleaned, normal_base_url, shown_address, without_key
from wsmem.distill.failures import (
    ConnectionFailedError,
    DeadlineError,
    EndpointDownError,
    EndpointStatusError,
    KeyRefusedError,
    PaymentRequiredError,
    RateLimitedError,
)
from wsmem.distill.quirks import error_text, read_completion, refused_parameter, without
from wsmem.distill.retrying import RETRIED_STATUSES, RetryPolicy, asked_wait_s
from wsmem.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import openai

    from wsmem.distill.completion import Completion, ModelRequest
    from wsmem.distill.failures import DistillError
    from wsmem.distill.quirks import Refusal

_NO_KEY = "none"
"""Sent where there is no key: local servers want a header and do not read it."""

_INTERRUPTED = "insufficient_system_resource"
"""Finish reason of a provider that ran out of capacity in the middle of an answer."""


class ChatClient:
    """Asks models at one endpoint.

    Args:
        base_url: Of the endpoint, with or without `/v1`; the library's own when `None`.
        key: Of the account; `None` where the endpoint wants none.
        deadline_s: Time for one answer, every retry and wait included.
        policy: How failures that may pass are tried again.
        json_mode: Whether to hold the model to JSON where the endpoint can.
        dice: Gives numbers in 0..1 that spread waits.

    Raises:
        InvalidInputError: the address or the key cannot be used.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        key: str | None = None,
        deadline_s: float = 60.0,
        policy: RetryPolicy | None = None,
        json_mode: bool = True,
        dice: Callable[[], float] = random.random,
    ) -> None:
        key = key.strip() if key else None
        if key and (not key.isascii() or not key.isprintable() or " " in key):
            raise InvalidInputError("the key of the model holds characters that no key has")
        self._base_url = normal_base_url(base_url) if base_url else None
        self._key = Secret(key) if key else None
        self._deadline_s = deadline_s
        self._policy = policy or RetryPolicy()
        self._json_mode = json_mode
        self._dice = dice
        self._refused: set[Refusal] = set()

    def __repr__(self) -> str:
        return f"ChatClient({self.endpoint})"

    @property
    def endpoint(self) -> str:
        """Host and port, for people."""
        return shown_address(self._base_url) if self._base_url else "the default endpoint"

    async def complete(self, request: ModelRequest) -> Completion:
        """What the model answers; whether that may be applied is for `completion.unusable`.

        An empty answer is asked for once more, the second time without holding the model to JSON,
        which is what some providers answer emptily to.

        Raises:
            DistillError: there is no completion; the type says why.
            MissingExtraError: the `openai` library is not installed.
        """
        call = _Call(request)
        limit = asyncio.timeout(self._deadline_s)
        try:
            async with limit:
                return await self._complete(call)
        except TimeoutError:
            if not limit.expired():
                raise
        # Raised here, not above, so that no context hangs on it.
        raise DeadlineError(request.model, self._deadline_s, max(call.attempts, 1), call.last)

    async def _complete(self, call: _Call) -> Completion:
        # Importing the library takes a second, and reading certificates a tenth of one.
        library, sender = await asyncio.to_thread(self._open)
        async with sender:
            completion = await self._answered(library, sender, call)
            reason = completion.finish_reason
            if not completion.text.strip() and not completion.has_reasoning and reason != "length":
                call.plain = True
                completion = await self._answered(library, sender, call)
        return replace(
            completion,
            text=without_key(completion.text, self._key),
            latency_ms=round((time.monotonic() - call.started) * 1000),
            attempts=call.attempts,
        )

    def _open(self) -> tuple[Any, openai.AsyncOpenAI]:
        try:
            import openai as library  # noqa: PLC0415  an extra, and slow
        except ImportError:
            raise MissingExtraError("openai", "distill") from None
        sender = library.AsyncOpenAI(
            api_key=self._key.reveal() if self._key else _NO_KEY,
            base_url=self._base_url,
            timeout=self._deadline_s,
            max_retries=0,
        )
        return library, sender

    async def _answered(self, library: Any, sender: openai.AsyncOpenAI, call: _Call) -> Completion:
        """Send until there is a completion or nothing more to try."""
        while True:
            parameters = self._parameters(call)
            call.attempts += 1
            reply = await _exchange(library, sender, call.request, parameters)
            if isinstance(reply, _Reply) and reply.status < 300:
                completion = read_completion(reply.body, asked_model=call.request.model)
                again = completion.finish_reason == _INTERRUPTED and call.retries_left(self._policy)
                if not again:
                    return replace(completion, json_mode="response_format" in parameters)
                call.last = "the provider broke the answer off"
            elif isinstance(reply, _Reply) and self._adapts(reply, parameters):
                continue
            else:
                failure = self._failure(call, reply)
                if not failure.retryable or not call.retries_left(self._policy):
                    raise failure
                call.last = self._in_short(reply)
                self._check_wait(call, reply, failure)
            await asyncio.sleep(self._wait_s(call, reply))
            call.retries += 1

    def _parameters(self, call: _Call) -> dict[str, Any]:
        """Sampling parameters with the JSON mode, less what this endpoint is known to refuse."""
        parameters = dict(call.request.parameters)
        if self._json_mode and not call.plain and call.speaks_of_json:
            parameters["response_format"] = {"type": "json_object"}
        for refusal in self._refused:
            parameters = without(parameters, refusal)
        return parameters

    def _adapts(self, reply: _Reply, parameters: Mapping[str, Any]) -> bool:
        """Whether the endpoint refused a parameter that can be left out; it is remembered."""
        refusal = refused_parameter(reply.status, reply.body)
        if refusal is None or without(parameters, refusal) == parameters:
            return False
        self._refused.add(refusal)
        return True

    def _failure(self, call: _Call, reply: _Reply | _NoReply) -> DistillError:
        if isinstance(reply, _NoReply):
            return ConnectionFailedError(self.endpoint, call.attempts, reply.kind)
        kinds: dict[int, type[EndpointStatusError]] = {
            401: KeyRefusedError,
            402: PaymentRequiredError,
            403: KeyRefusedError,
            429: RateLimitedError,
        }
        transient = EndpointDownError if reply.status in RETRIED_STATUSES else EndpointStatusError
        kind = kinds.get(reply.status, transient)
        # A refusal of the key is where providers repeat it, masked in ways nobody can foresee.
        said = None if kind is KeyRefusedError else cleaned(error_text(reply.body), self._key)
        return kind(self.endpoint, reply.status, call.attempts, said or None)

    @staticmethod
    def _in_short(reply: _Reply | _NoReply) -> str:
        return reply.kind if isinstance(reply, _NoReply) else f"status {reply.status}"

    def _wait_s(self, call: _Call, reply: _Reply | _NoReply) -> float:
        asked = reply.asked_wait_s if isinstance(reply, _Reply) else None
        if asked is not None:
            return asked
        return self._policy.wait_s(call.retries, dice=self._dice())

    def _check_wait(self, call: _Call, reply: _Reply | _NoReply, failure: DistillError) -> None:
        """Fail at once when the endpoint asks for a longer wait than there is time."""
        asked = reply.asked_wait_s if isinstance(reply, _Reply) else None
        left = self._deadline_s - (time.monotonic() - call.started)
        if asked is not None and asked >= left:
            raise failure


class _Call:
    """What one `complete` has done so far."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        self.started = time.monotonic()
        self.attempts = 0
        self.retries = 0
        self.last: str | None = None
        self.plain = False
        """Not to be held to JSON any more."""
        self.speaks_of_json = any("json" in message.content for message in request.messages)

    def retries_left(self, policy: RetryPolicy) -> bool:
        return self.retries < policy.retries


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: str
    asked_wait_s: float | None


@dataclass(frozen=True, slots=True)
class _NoReply:
    kind: str
    """What went wrong, in two or three words."""


async def _exchange(
    library: Any,
    sender: openai.AsyncOpenAI,
    request: ModelRequest,
    parameters: Mapping[str, Any],
) -> _Reply | _NoReply:
    """Send one request; every answer and every failure becomes a value without secrets."""
    messages: Any = request.wire_messages
    create: Callable[..., Awaitable[Any]] = sender.chat.completions.with_raw_response.create
    try:
        raw = await create(model=request.model, messages=messages, extra_body=dict(parameters))
        response = raw.http_response
    except library.APIStatusError as error:
        response = error.response
    except library.APITimeoutError:
        return _NoReply("timed out")
    except library.APIConnectionError as error:
        return _NoReply(_connection_fault(error))
    body = response.content.decode("utf-8", "replace")
    headers = {name.lower(): value for name, value in response.headers.items()}
    return _Reply(response.status_code, body, asked_wait_s(headers, now_s=time.time()))


def _connection_fault(error: BaseException) -> str:
    """A name for what went wrong, never its text, which may hold headers."""
    names = {
        "ConnectError": "connection refused or host not found",
        "ReadError": "connection lost",
        "RemoteProtocolError": "connection closed in the middle of an answer",
        "ProxyError": "the proxy failed",
        "DecodingError": "garbled answer",
    }
    name = type(error.__cause__).__name__
    return names.get(name, name if error.__cause__ is not None else "connection failed")
