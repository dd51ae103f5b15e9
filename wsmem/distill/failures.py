"""Every way in which asking a model can fail; each says what happened and that nothing was applied.

No error here holds a request, a header or a key: what an endpoint wrote is quoted only after it was
cleaned (`wsmem.distill.endpoint`).
"""

from __future__ import annotations

from wsmem.errors import WsmemError

_KEPT = "nothing was applied, the messages stay pending"


class DistillError(WsmemError):
    """A stage could not be distilled."""

    retryable = False
    """Whether the same request may succeed later without anybody changing anything."""


class PromptError(DistillError, ValueError):
    """A prompt's files cannot be used."""

    def __init__(self, prompt: str, problem: str, remedy: str) -> None:
        super().__init__(prompt, problem, remedy)  # args rebuild the error when unpickled
        self.prompt, self.problem, self.remedy = prompt, problem, remedy

    def __str__(self) -> str:
        return f"prompt {self.prompt}: {self.problem}; {self.remedy}"


class DeadlineError(DistillError, TimeoutError):
    """The one deadline of a call, its retries included, has passed."""

    retryable = True

    def __init__(self, model: str, limit_s: float, attempts: int, last: str | None = None) -> None:
        super().__init__(model, limit_s, attempts, last)  # args rebuild the error when unpickled
        self.model, self.limit_s, self.attempts, self.last = model, limit_s, attempts, last

    def __str__(self) -> str:
        times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
        before = f", before that: {self.last}" if self.last else ""
        return f"{self.model} gave no answer within {self.limit_s:g} s ({times}{before}); {_KEPT}"


class ConnectionFailedError(DistillError, ConnectionError):
    """The endpoint could not be reached, or broke off."""

    retryable = True

    def __init__(self, endpoint: str, attempts: int, kind: str) -> None:
        super().__init__(endpoint, attempts, kind)  # args rebuild the error when unpickled
        self.endpoint, self.attempts, self.kind = endpoint, attempts, kind

    def __str__(self) -> str:
        return (
            f"{self.endpoint} cannot be reached ({self.kind}, {self.attempts} attempts); {_KEPT}. "
            "Check the base URL and that the server runs"
        )


class EndpointStatusError(DistillError):
    """The endpoint answered with an error status."""

    advice = "the request was not accepted"

    def __init__(self, endpoint: str, status: int, attempts: int, said: str | None = None) -> None:
        super().__init__(endpoint, status, attempts, said)  # args rebuild the error when unpickled
        self.endpoint, self.status, self.attempts, self.said = endpoint, status, attempts, said

    def __str__(self) -> str:
        said = f": {self.said}" if self.said else ""
        times = "" if self.attempts == 1 else f" after {self.attempts} attempts"
        return f"{self.endpoint} answered {self.status}{times}, {self.advice}{said}; {_KEPT}"


class KeyRefusedError(EndpointStatusError):
    """Status 401 or 403: the key is missing, wrong, or may not use this model."""

    advice = "the key is missing or refused (what the endpoint wrote is withheld)"


class PaymentRequiredError(EndpointStatusError):
    """Status 402: the account has no balance."""

    advice = "the account has no balance left"


class RateLimitedError(EndpointStatusError):
    """Status 429: too many requests."""

    advice = "too many requests"
    retryable = True


class EndpointDownError(EndpointStatusError):
    """A status of 500 or above: the endpoint failed."""

    advice = "the endpoint itself failed"
    retryable = True


class UnusableAnswerError(DistillError, ValueError):
    """The endpoint answered, but there is no complete answer in it."""

    cause = "the answer cannot be used"

    def __init__(self, model: str, detail: str = "") -> None:
        super().__init__(model, detail)  # args rebuild the error when unpickled
        self.model, self.detail = model, detail

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.model}: {self.cause}{detail}; {_KEPT}"


class CutAnswerError(UnusableAnswerError):
    """`finish_reason` is `length`: what arrived is not all of it, even if it parses."""

    cause = "the answer was cut at the length limit"


class FilteredAnswerError(UnusableAnswerError):
    """The provider's content filter stopped the answer, or the model refused."""

    cause = "the answer was stopped by a content filter"


class InterruptedAnswerError(UnusableAnswerError):
    """The provider stopped generating for reasons of its own."""

    cause = "the provider broke the answer off"
    retryable = True


class EmptyAnswerError(UnusableAnswerError):
    """There is no text in the answer."""

    cause = "the answer is empty"


class ReasoningOnlyError(UnusableAnswerError):
    """Only the reasoning part arrived; reasoning is never applied."""

    cause = "only reasoning arrived and no answer"


class NoChoicesError(UnusableAnswerError):
    """The response has no `choices`."""

    cause = "the response holds no choices"


class NotACompletionError(UnusableAnswerError):
    """The response is not the JSON of a chat completion."""

    cause = "the response is not a chat completion"


class CassetteError(DistillError, ValueError):
    """A cassette cannot be read or written; what is on disk was left as it is."""

    def __init__(self, path: str, line: int | None, problem: str, remedy: str) -> None:
        super().__init__(path, line, problem, remedy)  # args rebuild the error when unpickled
        self.path, self.line, self.problem, self.remedy = path, line, problem, remedy

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}; {self.remedy}"


class MissingRecordingError(DistillError, LookupError):
    """Requests have no recorded completion: the prompt, the model or the cases have changed."""

    def __init__(self, cassette: str, prompt: str, model: str, cases: tuple[str, ...]) -> None:
        super().__init__(cassette, prompt, model, cases)  # args rebuild the error when unpickled
        self.cassette, self.prompt, self.model, self.cases = cassette, prompt, model, cases
        """`cases` are all of them; the text of the error shows the first twenty."""

    def __str__(self) -> str:
        shown = ", ".join(self.cases[:20]) + (", …" if len(self.cases) > 20 else "")
        return (
            f"{self.cassette} holds no completion of {self.model} under {self.prompt} for "
            f"{len(self.cases)} case(s): {shown}; record them with `wsmem distill record`"
        )


class BudgetError(DistillError):
    """Recording stopped, or did not start, because it would cost more than allowed."""

    def __init__(self, spent: float | None, cap: float, left: int) -> None:
        super().__init__(spent, cap, left)  # args rebuild the error when unpickled
        self.spent, self.cap, self.left = spent, cap, left

    def __str__(self) -> str:
        if self.spent is None:
            return (
                f"the price of this model is unknown, so a cap of {self.cap:g} cannot be kept; "
                "nothing was sent. Give prices with --prices, or leave --max-cost out"
            )
        return (
            f"the next request could pass the cap of {self.cap:g} ({self.spent:.4f} spent); "
            f"{self.left} case(s) are not recorded. Run again with a higher --max-cost to go on"
        )
