"""The model client against a real server that misbehaves in every way endpoints are known to."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from misbehaving_server import Reply, Seen, error, ok, serving

from wsmem.distill.client import ChatClient
from wsmem.distill.completion import ChatMessage, ModelRequest, unusable
from wsmem.distill.failures import (
    ConnectionFailedError,
    CutAnswerError,
    DeadlineError,
    DistillError,
    EmptyAnswerError,
    EndpointDownError,
    EndpointStatusError,
    FilteredAnswerError,
    InterruptedAnswerError,
    KeyRefusedError,
    NoChoicesError,
    NotACompletionError,
    PaymentRequiredError,
    RateLimitedError,
    ReasoningOnlyError,
)
from wsmem.distill.model import ModelDistiller
from wsmem.distill.prices import load_prices
from wsmem.distill.prompting import load_prompt
from wsmem.distill.retrying import RetryPolicy
from wsmem.errors import InvalidInputError
from wsmem.operations.contract import DistillRequest
from wsmem.records import MemoryMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from misbehaving_server import MisbehavingServer

    from wsmem.distill.completion import Completion

KEY = "sk-test-Zq81Lm44Xv02Hn77Bd"
ANSWER = '{"version": 1, "operations": []}'
QUICK = RetryPolicy(first_wait_s=0.01, longest_wait_s=0.05)

REQUEST = ModelRequest(
    prompt="careful@1",
    model="deepseek-chat",
    messages=(ChatMessage("system", "Answer in json."), ChatMessage("user", "你好")),
    parameters={"temperature": 0, "max_tokens": 64},
)


def client(server: MisbehavingServer, **changes: Any) -> ChatClient:
    arguments = {"base_url": server.url, "key": KEY, "policy": QUICK, "deadline_s": 20.0, **changes}
    return ChatClient(**arguments)


def ask(server: MisbehavingServer, request: ModelRequest = REQUEST, **changes: Any) -> Completion:
    return asyncio.run(client(server, **changes).complete(request))


def failure_of(server: MisbehavingServer, **changes: Any) -> DistillError:
    with pytest.raises(DistillError) as caught:
        ask(server, **changes)
    return caught.value


def everything_said(failure: BaseException) -> str:
    """All that a log, a debugger or a status could show of an error, its relatives included."""
    parts: list[str] = []
    waiting: list[BaseException | None] = [failure]
    while waiting:
        current = waiting.pop()
        if current is None:
            continue
        parts += [str(current), repr(current), repr(vars(current)), repr(current.args)]
        parts += traceback.format_exception(current)
        waiting += [current.__cause__, current.__context__]
    return "\n".join(parts)


def test_a_complete_answer_comes_back_byte_for_byte_with_its_usage() -> None:
    text = ' {"version": 1,\r\n "operations": []} '
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 50,
        "prompt_cache_hit_tokens": 800,
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    with serving(ok(text, usage=usage)) as server:
        completion = ask(server)
    assert completion.text == text
    assert (completion.finish_reason, completion.model) == ("stop", "served-model")
    assert completion.usage.input_tokens == 900
    assert completion.usage.cached_tokens == 800
    assert completion.usage.output_tokens == 50
    assert completion.usage.reasoning_tokens == 7
    assert completion.attempts == 1
    assert unusable(completion) is None


def test_the_request_holds_what_was_asked_and_the_json_mode() -> None:
    with serving(ok(ANSWER)) as server:
        ask(server)
    seen = server.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "deepseek-chat",
        "messages": [
            {"role": "system", "content": "Answer in json."},
            {"role": "user", "content": "你好"},
        ],
        "temperature": 0,
        "max_tokens": 64,
        "response_format": {"type": "json_object"},
    }


@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        pytest.param("", "/v1/chat/completions", id="bare"),
        pytest.param("/", "/v1/chat/completions", id="bare-slash"),
        pytest.param("/v1", "/v1/chat/completions", id="v1"),
        pytest.param("/v1/", "/v1/chat/completions", id="v1-slash"),
        pytest.param("/v1//", "/v1/chat/completions", id="v1-slashes"),
        pytest.param("/v1/chat/completions", "/v1/chat/completions", id="whole-endpoint"),
        pytest.param("/v1beta/openai/", "/v1beta/openai/chat/completions", id="own-path"),
    ],
)
def test_base_urls_are_taken_as_people_write_them(suffix: str, path: str) -> None:
    with serving(ok(ANSWER)) as server:
        ask(server, base_url=server.url + suffix)
    assert [seen.path for seen in server.seen] == [path]


@pytest.mark.parametrize("url", ["ftp://host/v1", "host:8080", "http://", "http://u:p@host/v1"])
def test_addresses_that_cannot_be_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ChatClient(base_url=url)
    assert "u:p" not in str(caught.value)


def test_json_mode_needs_the_word_json_in_the_messages() -> None:
    silent = ModelRequest(prompt="p@1", model="m", messages=(ChatMessage("user", "hello"),))
    with serving(ok(ANSWER)) as server:
        ask(server, silent)
    assert "response_format" not in server.seen[0].body


def test_an_endpoint_that_refuses_json_mode_is_asked_without_it_and_remembered() -> None:
    def script(seen: Seen) -> Reply:
        if "response_format" in seen.body:
            return error(400, "Unsupported parameter: response_format")
        return ok(ANSWER)

    with serving(script) as server:
        asking = client(server)
        first = asyncio.run(asking.complete(REQUEST))
        second = asyncio.run(asking.complete(REQUEST))
    assert ["response_format" in seen.body for seen in server.seen] == [True, False, False]
    assert not first.json_mode
    assert second.attempts == 1


def test_newer_models_get_the_length_limit_under_its_newer_name() -> None:
    def script(seen: Seen) -> Reply:
        if "max_tokens" in seen.body:
            return error(400, "'max_tokens' is not supported, use 'max_completion_tokens' instead")
        return ok(ANSWER)

    with serving(script) as server:
        ask(server)
    assert server.seen[1].body["max_completion_tokens"] == 64


def test_no_schema_is_ever_sent() -> None:
    with serving(ok(ANSWER)) as server:
        ask(server)
    assert "json_schema" not in json.dumps(server.seen[0].body)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(ok('{"operations": [{"op": "ad', finish="length"), CutAnswerError, id="cut"),
        pytest.param(ok(ANSWER, finish="length"), CutAnswerError, id="cut-but-parses"),
        pytest.param(ok(ANSWER, finish="content_filter"), FilteredAnswerError, id="filtered"),
        pytest.param(ok(None, refusal="I will not"), FilteredAnswerError, id="refusal"),
        pytest.param(ok(""), EmptyAnswerError, id="empty"),
        pytest.param(ok(" \n\n "), EmptyAnswerError, id="blank"),
        pytest.param(ok(None, finish="tool_calls"), EmptyAnswerError, id="tool-call"),
        pytest.param(ok(None, reasoning_content=ANSWER), ReasoningOnlyError, id="reasoning-only"),
        pytest.param(ok("", reasoning=ANSWER), ReasoningOnlyError, id="reasoning-only-other-name"),
        pytest.param(
            ok(ANSWER, finish="insufficient_system_resource"),
            InterruptedAnswerError,
            id="broke-off",
        ),
        pytest.param(Reply(body=b"{}"), NoChoicesError, id="no-choices"),
        pytest.param(Reply(body=b'{"choices": []}'), NoChoicesError, id="empty-choices"),
        pytest.param(Reply(body=b'{"choices": [null]}'), NoChoicesError, id="null-choice"),
        pytest.param(Reply(body=b"<html>busy</html>"), NotACompletionError, id="html"),
        pytest.param(Reply(body=b"[1]"), NotACompletionError, id="list"),
        pytest.param(Reply(body=b""), NotACompletionError, id="nothing"),
    ],
)
def test_an_answer_that_is_not_whole_is_never_handed_on(
    reply: Reply, kind: type[DistillError]
) -> None:
    with serving(reply) as server, pytest.raises(kind) as caught:
        asyncio.run(distil(server))
    assert "nothing was applied" in str(caught.value)
    assert type(pickle.loads(pickle.dumps(caught.value))) is kind


def test_an_error_inside_a_success_is_named() -> None:
    body = b'{"error": {"message": "upstream model overloaded", "code": 502}}'
    with serving(Reply(body=body)) as server:
        failure = failure_of(server)
    assert isinstance(failure, NoChoicesError)
    assert "upstream model overloaded" in str(failure)


def test_an_empty_answer_is_asked_for_once_more_and_no_further() -> None:
    with serving(ok(""), ok(ANSWER)) as server:
        assert ask(server).text == ANSWER
    with serving(ok("")) as stubborn:
        assert ask(stubborn).text == ""
    assert (len(server.seen), len(stubborn.seen)) == (2, 2)


def test_retries_do_not_grow_the_prompt() -> None:
    with serving(ok(""), error(503, "busy"), ok(ANSWER)) as server:
        ask(server)
    sent = [seen.body["messages"] for seen in server.seen]
    assert len(sent) == 3
    assert sent[0] == sent[1] == sent[2]


def test_blank_keep_alive_lines_before_the_answer_are_skipped() -> None:
    whole = ok(ANSWER)
    for piece in (b"\n", b"\r\n", b": keep-alive\n\n"):
        with serving(Reply(body=whole.body, dribble=(piece, 0.01, 8))) as server:
            assert ask(server).text == ANSWER


def test_keep_alive_lines_do_not_extend_the_deadline() -> None:
    with serving(Reply(body=ok(ANSWER).body, dribble=(b"\n", 0.05, 400))) as server:
        started = time.monotonic()
        failure = failure_of(server, deadline_s=0.6)
        took = time.monotonic() - started
    assert isinstance(failure, DeadlineError)
    assert took < 3


def test_a_hanging_endpoint_fails_at_the_one_deadline() -> None:
    with serving(Reply(before=60)) as server:
        started = time.monotonic()
        failure = failure_of(server, deadline_s=0.6)
        took = time.monotonic() - started
    assert isinstance(failure, DeadlineError)
    assert 0.5 < took < 3
    assert len(server.seen) == 1
    assert "within 0.6 s (1 attempt)" in str(failure)


def test_the_deadline_covers_retries_and_names_what_came_before() -> None:
    slow = RetryPolicy(retries=50, first_wait_s=0.15, longest_wait_s=0.15)
    with serving(error(503, "busy")) as server:
        failure = failure_of(server, deadline_s=0.8, policy=slow)
    assert isinstance(failure, DeadlineError)
    assert "before that: status 503" in str(failure)


def test_three_times_503_and_then_an_answer() -> None:
    with serving(*[error(503, "busy")] * 3, ok(ANSWER)) as server:
        completion = ask(server)
    assert completion.attempts == 4
    assert len(server.seen) == 4


def test_an_endpoint_that_stays_down_is_given_up_and_named() -> None:
    with serving(error(503, "no capacity left")) as server:
        failure = failure_of(server)
    assert isinstance(failure, EndpointDownError)
    assert len(server.seen) == 4
    assert "503 after 4 attempts" in str(failure)
    assert "no capacity left" in str(failure)


def test_retry_after_is_kept_to() -> None:
    with serving(error(429, "slow down", Retry_After="1"), ok(ANSWER)) as server:
        ask(server)
    first, second = (seen.at for seen in server.seen)
    assert 0.95 < second - first < 3


def test_a_wait_beyond_the_deadline_fails_at_once() -> None:
    with serving(error(429, "slow down", Retry_After="3600")) as server:
        started = time.monotonic()
        failure = failure_of(server)
    assert isinstance(failure, RateLimitedError)
    assert time.monotonic() - started < 5
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        pytest.param(400, EndpointStatusError, id="bad-request"),
        pytest.param(401, KeyRefusedError, id="key"),
        pytest.param(402, PaymentRequiredError, id="balance"),
        pytest.param(403, KeyRefusedError, id="forbidden"),
        pytest.param(404, EndpointStatusError, id="no-such-model"),
        pytest.param(408, EndpointStatusError, id="their-timeout"),
        pytest.param(409, EndpointStatusError, id="conflict"),
        pytest.param(422, EndpointStatusError, id="unprocessable"),
    ],
)
def test_a_refusal_is_not_repeated(status: int, kind: type[EndpointStatusError]) -> None:
    with serving(error(status, "no")) as server:
        failure = failure_of(server)
    assert type(failure) is kind
    assert str(status) in str(failure)
    assert len(server.seen) == 1


def test_no_balance_is_named() -> None:
    with serving(error(402, "Insufficient Balance")) as server:
        assert "no balance left" in str(failure_of(server))


def test_a_connection_that_breaks_is_tried_again_and_then_named() -> None:
    broken = Reply(body=b'{"choices"', break_off=True)
    with serving(broken, ok(ANSWER)) as server:
        assert ask(server).text == ANSWER
    with serving(broken) as server:
        failure = failure_of(server)
    assert isinstance(failure, ConnectionFailedError)
    assert "cannot be reached" in str(failure)


def test_nobody_listening_is_a_connection_failure() -> None:
    with serving(ok(ANSWER)) as server:
        address = server.url
    with pytest.raises(ConnectionFailedError, match="4 attempts"):
        asyncio.run(ChatClient(base_url=address, policy=QUICK).complete(REQUEST))


def _echo(status: int, spell: Callable[[str], str]) -> Callable[[Seen], Reply]:
    def reply(seen: Seen) -> Reply:
        return error(status, f"bad credentials in {spell(seen.headers['authorization'])}")

    return reply


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 429, 500, 503])
@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(str, id="whole"),
        pytest.param(lambda value: value[:22] + "…", id="beginning"),
        pytest.param(lambda value: "…" + value[-12:], id="end"),
        pytest.param(str.upper, id="upper-case"),
    ],
)
def test_an_echoed_key_appears_nowhere(
    status: int, spell: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(_echo(status, spell)) as server:
        asking = client(server)
        with pytest.raises(EndpointStatusError) as caught:
            asyncio.run(asking.complete(REQUEST))
    said = everything_said(caught.value) + caplog.text + repr(asking) + repr(vars(asking))
    for piece in (KEY, KEY[:12], KEY[-10:]):
        assert piece.lower() not in said.lower()


def test_an_answer_that_repeats_the_key_loses_it() -> None:
    with serving(ok(f'{{"version": 1, "operations": [], "note": "{KEY}"}}')) as server:
        assert KEY not in ask(server).text


def test_a_key_that_cannot_be_one_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInputError) as caught:
        ChatClient(key="sk-密钥-Zq81Lm44")
    assert "Zq81" not in f"{caught.value!s} {caught.value.__context__!r}"


def test_without_a_key_no_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-someone-elses")
    with serving(ok(ANSWER)) as server:
        ask(server, key=None)
    assert "someone" not in json.dumps(server.seen[0].headers)


def test_other_work_goes_on_while_a_model_is_awaited() -> None:
    async def longest_pause(server: MisbehavingServer) -> float:
        task = asyncio.create_task(client(server).complete(REQUEST))
        longest, last = 0.0, time.monotonic()
        while not task.done():
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        await task
        return longest

    with serving(Reply(body=ok(ANSWER).body, before=0.5)) as server:
        assert asyncio.run(longest_pause(server)) < 0.2


async def distil(server: MisbehavingServer, **changes: Any) -> object:
    distiller = ModelDistiller(
        load_prompt("concise@1"),
        model="deepseek-chat",
        ask=client(server).complete,
        prices=load_prices(),
        **changes,
    )
    return await distiller(request_saying("我们决定用 Kafka"))


def request_saying(text: str) -> DistillRequest:
    message = MemoryMessage(id="m1", role="user", text=text)
    return DistillRequest(
        scope="ws-1", cwd="/p", reason="explicit", messages=(message,), existing=()
    )


def test_a_distiller_hands_on_the_answer_the_instructions_and_the_cost() -> None:
    with serving(ok(ANSWER, usage={"prompt_tokens": 1_000_000, "completion_tokens": 0})) as server:
        output: Any = asyncio.run(distil(server))
    assert output.answer == ANSWER
    assert output.incomplete is None
    assert any("一个月后仍然有用" in text for text in output.instructions)
    assert output.details["cost"] == pytest.approx(0.28)
    assert output.details["input_tokens"] == 1_000_000
    assert output.details["prompt"] == "concise@1"


def test_a_conversation_of_injected_memory_alone_is_not_sent() -> None:
    request = request_saying("<workspace_memory>\n旧的记忆\n</workspace_memory>")
    with serving(ok(ANSWER)) as server:
        distiller = ModelDistiller(load_prompt("concise@1"), model="m", ask=client(server).complete)
        output = asyncio.run(distiller(request))
    assert output.answer == {"version": 1, "operations": []}
    assert server.seen == []
