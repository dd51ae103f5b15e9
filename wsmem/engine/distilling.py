"""Ask a distiller about one batch and read what it says."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING

from wsmem.errors import UnreadableOutputError, WsmemError
from wsmem.operations.contract import DistillOutput
from wsmem.operations.parsing import parse_output

if TYPE_CHECKING:
    from wsmem.operations.contract import Distiller, DistillRequest
    from wsmem.operations.parsing import Proposal


class NoDistillerError(WsmemError, RuntimeError):
    """Messages are ready to be distilled and nobody is there to do it; they stay pending."""

    def __str__(self) -> str:
        return "no distiller is configured; the messages stay pending"


class DistillTimeoutError(WsmemError, TimeoutError):
    """A distiller took longer than a stage may; the messages stay pending."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(limit_s)  # args rebuild the error when unpickled
        self.limit_s = limit_s

    def __str__(self) -> str:
        return f"the distiller gave no answer within {self.limit_s:g} s; the messages stay pending"


async def distil(
    distiller: Distiller | None, request: DistillRequest, *, limit_s: float
) -> tuple[tuple[Proposal, ...], tuple[str, ...]]:
    """The operations a distiller proposes, and the instructions it may have been given.

    Raises:
        NoDistillerError: there is none.
        DistillTimeoutError: it took too long; it was cancelled.
        UnreadableOutputError: its answer holds no operations, or says itself that it is cut.
        Exception: whatever the distiller raised.
    """
    if distiller is None:
        raise NoDistillerError
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            answer = await distiller(request)
    except TimeoutError as error:
        if limit.expired():
            raise DistillTimeoutError(limit_s) from error
        raise  # the distiller's own
    output = answer if isinstance(answer, DistillOutput) else DistillOutput(answer=answer)
    if output.incomplete:
        raise UnreadableOutputError(output.incomplete)
    return parse_output(output.answer), (*output.instructions, *shipped_instructions())


@cache
def shipped_instructions() -> tuple[str, ...]:
    """What the prompts of this package tell a model, whoever used them for the answer at hand."""
    from wsmem.distill.prompting import load_prompt, prompt_ids  # noqa: PLC0415 - read when needed

    prompts = map(load_prompt, prompt_ids())
    return tuple(
        text
        for prompt in prompts
        for language in prompt.variants
        for text in prompt.instructions(language)
    )
