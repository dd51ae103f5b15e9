"""A distiller that asks a model: live through a client, or recorded through a cassette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wsmem.distill.completion import Completion, ModelRequest, unusable
from wsmem.distill.conversation import Bounds
from wsmem.distill.prompting import render
from wsmem.operations.contract import DistillOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wsmem.distill.prices import PriceTable
    from wsmem.distill.prompting import Prompt
    from wsmem.operations.contract import DistillRequest

Ask = Callable[[ModelRequest], Awaitable[Completion]]
"""Where completions come from: `ChatClient.complete`, or the replay of a cassette."""

NOTHING = {"version": 1, "operations": []}


class ModelDistiller:
    """Renders a prompt, asks, and hands on an answer that is complete.

    Args:
        prompt: What the model is told.
        model: Its name.
        ask: Where completions come from.
        parameters: Sampling parameters in place of the prompt's own, name by name; one that is
            `None` is not sent.
        bounds: How much of a request is shown.
        prices: For the cost in `details`; unknown without.
        language: Of the prompt, when it is not to follow the request.
    """

    def __init__(
        self,
        prompt: Prompt,
        *,
        model: str,
        ask: Ask,
        parameters: Mapping[str, Any] | None = None,
        bounds: Bounds | None = None,
        prices: PriceTable | None = None,
        language: str | None = None,
    ) -> None:
        self.prompt, self.model = prompt, model
        self._ask = ask
        self._parameters = parameters or {}
        self._bounds = bounds or Bounds()
        self._prices = prices
        self._language = language

    def __repr__(self) -> str:
        return f"ModelDistiller({self.prompt.id}, {self.model})"

    def asks(self, request: DistillRequest) -> ModelRequest:
        """What the model is asked about `request`; the same every time."""
        return model_request(
            self.prompt,
            request,
            model=self.model,
            parameters=self._parameters,
            bounds=self._bounds,
            language=self._language,
        )

    async def __call__(self, request: DistillRequest) -> DistillOutput:
        """Distil one stage.

        A conversation that holds nothing once injected memory is taken out is not sent.

        Raises:
            DistillError: there is no complete answer; nothing of it may be applied.
        """
        language = self._language or request.language
        rendered = render(self.prompt, request, bounds=self._bounds, language=language)
        if not rendered.shown.messages:
            return DistillOutput(answer=NOTHING, details={"prompt": self.prompt.id})
        question = self.asks(request)
        completion = await self._ask(question)
        failure = unusable(completion)
        if failure is not None:
            raise failure
        return DistillOutput(
            answer=completion.text,
            instructions=self.prompt.instructions(language),
            details=self._details(question, completion, rendered.shown.omitted),
        )

    def _details(
        self, question: ModelRequest, completion: Completion, omitted: int
    ) -> Mapping[str, Any]:
        price = self._prices.get(completion.model) if self._prices else None
        if price is None and self._prices is not None:
            price = self._prices.get(question.model)
        return {
            "prompt": self.prompt.id,
            "model": completion.model,
            "key": question.key,
            "finish_reason": completion.finish_reason,
            "latency_ms": completion.latency_ms,
            "attempts": completion.attempts,
            "omitted_messages": omitted,
            **asdict(completion.usage),
            "cost": price.cost(completion.usage) if price else None,
            "currency": price.currency if price else None,
        }


def model_request(
    prompt: Prompt,
    request: DistillRequest,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    bounds: Bounds | None = None,
    language: str | None = None,
) -> ModelRequest:
    """What a model is asked about `request` under `prompt`."""
    rendered = render(prompt, request, bounds=bounds, language=language)
    merged = {**prompt.parameters, **(parameters or {})}
    sent = {name: value for name, value in merged.items() if value is not None}
    return ModelRequest(prompt=prompt.id, model=model, messages=rendered.messages, parameters=sent)
