"""The small pure parts of the model client: addresses, keys, waits, bodies, prices, choosing."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from wsmem.distill import failures
from wsmem.distill.choosing import configured_distiller
from wsmem.distill.completion import Completion, Usage, unusable
from wsmem.distill.endpoint import Secret, cleaned, normal_base_url, repeats_key, shown_address
from wsmem.distill.model import ModelDistiller
from wsmem.distill.prices import SHIPPED, load_prices
from wsmem.distill.quirks import error_text, refused_parameter, without
from wsmem.distill.retrying import RetryPolicy, asked_wait_s
from wsmem.distill.rules.distiller import RuleDistiller
from wsmem.errors import InvalidInputError, WsmemError
from wsmem.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-live-0a1B2c3D4e5F6g7H"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("https://api.deepseek.com", "https://api.deepseek.com/v1", id="host"),
        pytest.param("https://api.deepseek.com/", "https://api.deepseek.com/v1", id="slash"),
        pytest.param("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1", id="v1-slash"),
        pytest.param(" http://h/v1 ", "http://h/v1", id="blanks"),
        pytest.param("https://h/api/v3", "https://h/api/v3", id="own-path"),
        pytest.param("https://h/v1/chat/completions/", "https://h/v1", id="endpoint"),
    ],
)
def test_a_base_url_gets_its_one_spelling(given: str, expected: str) -> None:
    assert normal_base_url(given) == expected


def test_an_address_is_shown_without_path_and_query() -> None:
    assert shown_address("https://h:8443/v1?api-key=abc") == "h:8443"


def test_a_secret_neither_prints_nor_pickles() -> None:
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.deepcopy(secret)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"bad key {KEY}", id="whole"),
        pytest.param(f"bad key {KEY[:10]}****", id="beginning"),
        pytest.param(f"****{KEY[-9:]}", id="end"),
        pytest.param(KEY.upper(), id="case"),
    ],
)
def test_a_text_with_any_piece_of_the_key_is_withheld(text: str) -> None:
    assert repeats_key(text, Secret(KEY))
    assert cleaned(text, Secret(KEY)) == "[withheld: the text repeats the key]"


def test_other_texts_are_quoted_short_on_one_line_and_redacted() -> None:
    text = cleaned("model\n  not found " + "x" * 999, Secret(KEY))
    assert text.startswith("model not found xxx")
    assert len(text) == 300
    assert "Kx7pQ2vL9zAb3" not in cleaned("password: Kx7pQ2vL9zAb3", None)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"retry-after": "2"}, 2.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="fraction"),
        pytest.param({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, id="milliseconds-first"),
        pytest.param({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0, id="date"),
        pytest.param({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, id="date-in-the-past"),
        pytest.param({"retry-after": "soon"}, None, id="nonsense"),
        pytest.param({"retry-after": "-3"}, None, id="negative"),
        pytest.param({"retry-after": "inf"}, None, id="infinite"),
        pytest.param({}, None, id="absent"),
    ],
)
def test_what_an_endpoint_asks_to_wait(headers: dict[str, str], expected: float | None) -> None:
    assert asked_wait_s(headers, now_s=10.0) == expected


def test_waits_double_up_to_a_bound_and_are_spread() -> None:
    policy = RetryPolicy(first_wait_s=0.5, longest_wait_s=3)
    assert [policy.wait_s(retry) for retry in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert policy.wait_s(1, dice=1.0) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        pytest.param(400, "response_format is not supported", "json-mode", id="json-mode"),
        pytest.param(422, "json_object unsupported", "json-mode", id="unprocessable"),
        pytest.param(400, "use 'max_completion_tokens'", "max-tokens", id="length-limit"),
        pytest.param(400, "temperature must be 1", "temperature", id="temperature"),
        pytest.param(400, "the context is too long", None, id="something-else"),
        pytest.param(401, "response_format", None, id="key"),
        pytest.param(500, "response_format", None, id="server"),
    ],
)
def test_which_parameter_was_refused(status: int, body: str, expected: str | None) -> None:
    assert refused_parameter(status, body) == expected


def test_a_refused_parameter_is_left_out_or_renamed() -> None:
    given: dict[str, Any] = {"temperature": 0, "max_tokens": 5, "response_format": {}}
    assert without(given, "json-mode") == {"temperature": 0, "max_tokens": 5}
    assert without(given, "temperature") == {"max_tokens": 5, "response_format": {}}
    assert without({"max_tokens": 5}, "max-tokens") == {"max_completion_tokens": 5}
    assert given == {"temperature": 0, "max_tokens": 5, "response_format": {}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param('{"error": {"message": "no", "code": 7}}', "7, no", id="openai"),
        pytest.param('{"error": "no"}', "no", id="ollama"),
        pytest.param('{"detail": "Not Found"}', "Not Found", id="fastapi"),
        pytest.param("<html>", "<html>", id="html"),
        pytest.param("[1]", "[1]", id="list"),
    ],
)
def test_what_an_error_body_says(body: str, expected: str) -> None:
    assert error_text(body) == expected


@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn", "stop_sequence", None, "STOP"])
def test_servers_may_name_a_normal_end_as_they_like(reason: str | None) -> None:
    assert unusable(Completion(text="{}", finish_reason=reason, model="m")) is None


def test_a_price_counts_cached_tokens_apart() -> None:
    price = load_prices().get("deepseek-chat")
    assert price is not None
    usage = Usage(input_tokens=1_000_000, cached_tokens=900_000, output_tokens=100_000)
    assert price.cost(usage) == pytest.approx(0.1 * 0.28 + 0.9 * 0.028 + 0.1 * 0.42)


def test_an_unknown_model_has_no_cost_rather_than_none_at_all() -> None:
    assert load_prices().get("llama-3") is None
    price = load_prices().get("gpt-4o-mini")
    assert price is not None
    assert price.cost(Usage()) is None


@pytest.mark.parametrize("name", ["gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini", "gpt-4o-mini"])
def test_dated_and_prefixed_names_have_the_price_of_their_model(name: str) -> None:
    price = load_prices().get(name)
    assert price is not None
    assert price.model == "gpt-4o-mini"


def test_every_shipped_price_says_where_and_when_it_was_read() -> None:
    for row in json.loads(SHIPPED.read_text(encoding="utf-8"))["models"]:
        assert row["source"]
        assert len(row["as_of"]) >= 7
        assert row["cached"] <= row["input"]


def test_a_table_of_ones_own_is_read_and_a_broken_one_refused(tmp_path: Path) -> None:
    row = {"model": "x", "currency": "CNY", "input": 2, "output": 8, "source": "s", "as_of": "2026"}
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"models": [row]}), encoding="utf-8")
    price = load_prices(file).get("x")
    assert price is not None
    assert price.cached == 2
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="no table of prices"):
        load_prices(file)


def errors() -> list[WsmemError]:
    made: list[WsmemError] = [
        failures.PromptError("p@1", "problem", "remedy"),
        failures.DeadlineError("m", 60.0, 2, "status 503"),
        failures.ConnectionFailedError("h", 4, "timed out"),
        failures.MissingRecordingError("c", "p@1", "m", ("a", "b")),
        failures.CassetteError("c.jsonl", 3, "problem", "remedy"),
        failures.BudgetError(0.5, 1.0, 3),
        failures.BudgetError(None, 1.0, 3),
    ]
    by_status = (
        failures.EndpointStatusError, failures.KeyRefusedError, failures.PaymentRequiredError,
        failures.RateLimitedError, failures.EndpointDownError,
    )  # fmt: skip
    by_answer = (
        failures.CutAnswerError, failures.FilteredAnswerError, failures.InterruptedAnswerError,
        failures.EmptyAnswerError, failures.ReasoningOnlyError, failures.NoChoicesError,
        failures.NotACompletionError,
    )  # fmt: skip
    made += [kind("h", 418, 1, "said") for kind in by_status]
    made += [kind("m", "detail") for kind in by_answer]
    return made


@pytest.mark.parametrize("error", errors(), ids=lambda error: type(error).__name__)
def test_every_error_survives_pickling_and_says_what_happened(error: WsmemError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
    assert len(str(error)) > 20


def settings(tmp_path: Path, **changes: Any) -> Settings:
    return Settings(memory_dir=str(tmp_path), **changes)


def test_without_a_model_the_rules_distil(tmp_path: Path) -> None:
    assert isinstance(configured_distiller(settings(tmp_path)), RuleDistiller)


def test_with_a_model_it_distils_and_its_key_shows_nowhere(tmp_path: Path) -> None:
    chosen = settings(tmp_path, model="deepseek-chat", model_base_url="https://api.deepseek.com")
    distiller = configured_distiller(chosen, env={"WSMEM_API_KEY": KEY})
    assert isinstance(distiller, ModelDistiller)
    assert repr(distiller) == "ModelDistiller(careful@1, deepseek-chat)"
    ask: Any = distiller._ask
    assert KEY not in repr(vars(distiller)) + repr(vars(ask.__self__))
