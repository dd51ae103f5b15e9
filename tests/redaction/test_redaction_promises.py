"""What holds for every text: redacting settles, is linear, keeps structure and repeats nothing."""

from __future__ import annotations

import itertools
import random
import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.redaction.findings import PLACEHOLDER
from wsmem.redaction.redact import contains_secret, find_secrets, redact, redact_value

PIECES = (
    "password passwd pwd pass token secret api_key key 密码 口令 密钥 令牌 パスワード 비밀번호 "
    "是 为 is = : ： \" ' ` “ ” 「 」 \\ \\n , ; / | < > ( ) [ ] { } * ** - -- & # ! $ . 。 ， "
    "、 和 or the never 签发 jwt Kx7pQ2vL9z hunter2 abc 123456 sk-abcdefghijklmnop "
    "AKIAABCDEFGHIJKLMNOP eyJhbGciOi.eyJzdWIi.abc :// user @ host Authorization Bearer Basic "
    "Cookie name value mnemonic curl -u mysql -p MIIEvQIBADANBgkqhkiG9w0BAQEF [REDACTED] *** "
    "${X} ｐａｓｓ Ａ \u017f \u212a \u0130"
).split(" ")
PIECES += [" ", "\n", "\t", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\ud800"]
tangled = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@given(tangled | st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) is once
    assert not contains_secret(once)
    assert (once is text) != contains_secret(text)


@given(tangled)
def test_findings_are_in_order_and_apart(text: str) -> None:
    findings = find_secrets(text)
    assert all(0 <= found.start < found.end <= len(text) for found in findings)
    assert all(a.end <= b.start for a, b in itertools.pairwise(findings))


@given(
    st.text(string.ascii_letters + string.digits, min_size=10, max_size=40).filter(
        lambda value: any(map(str.isdigit, value[1:])) and any(map(str.isalpha, value[1:]))
    ),
    st.sampled_from(
        [
            "测试环境口令：{}", "访问令牌是「{}」，勿外传", "密碼：{}。", "パスワード：{}",
            "비밀번호: {}", "password: {} # note", "export API_TOKEN={}",
            '{{"secret": "{}", "port": 1}}', "postgres://app:{}@db.internal/x",
            "<password>{}</password>", "Pwd={};Timeout=3",
        ]
    ),
)  # fmt: skip
def test_a_random_value_never_survives_its_label(value: str, sentence: str) -> None:
    assert redact(sentence.format(value)) == sentence.format(PLACEHOLDER)


def test_random_passwords_with_signs_do_not_survive_their_quotes() -> None:
    chance = random.Random(20)
    signs = "!#$%^&*()-_=+[]{};:,.<>/?|~@"
    for _ in range(2_000):
        value = chance.choice(string.ascii_letters) + "".join(
            chance.choices(string.ascii_letters + string.digits + signs, k=23)
        )
        text = f"password='{value}7%'"
        assert redact(text) == f"password='{PLACEHOLDER}'", text


ADVERSARIAL = [
    "password", "password ", "password:", "password=", "password: -", "token token ", "api_key ",
    "密码", "密码是", "密码：", "비밀번호는 ", "a", "0", "aB3", "-", '"', "'", "\\", '\\"',
    'password="', 'password="a ', "password='a", 'password: "a b ', "password: “", "password**",
    "password)))", "password('", "password/", "password: Kx7pQ2vL9z、", "password: a,b!c,",
    "password: abc.", "<password>", "<password a=", 'password"name"value"', "password: |\n ",
    "password\n", "://", "://a:", "://a:b@", "http://a:8080/@", "eyJ", "eyJaaaaaa.", "sk-", "sk-a-",
    "ghp_a", "AKIAABCDEFGHIJKLMNOP ", "bearer a", "authorization:$(", "cookie: a=b;", "mysql -p",
    "curl -u ", "curl -u a:b ", "mnemonic abc ", "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----a\n-----END PRIVATE KEY-----",
    "AAAA\n", "Private-Lines: 1\nAAAA\n", "123456789:AA", "hooks.slack.com/services/", "?sig=a",
    "[REDACTED]", "password=[REDACTED]", "ｐａｓｓｗｏｒｄ＝", "secret secret_access_key ",
]  # fmt: skip


@pytest.mark.parametrize("piece", [pytest.param(piece, id=repr(piece)) for piece in ADVERSARIAL])
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece.encode()))
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    seconds(2_000)  # compiles the patterns
    half, whole = seconds(100_000), seconds(200_000)
    # A second try forgives a busy machine; growth with the square would take minutes here.
    if whole > max(3 * half, 0.1):
        half, whole = seconds(100_000), seconds(200_000)
    assert whole < 1
    assert whole <= max(3 * half, 0.1)


def test_prose_is_read_fast() -> None:
    prose = (
        "我们把订单服务的超时调整了一下，网关统一处理重试与限流。The team moved it behind a proxy. "
    )
    text = prose * 1_500
    best = min(_timed(text) for _ in range(5))
    assert len(text.encode()) / best > 10e6  # bytes a second; about 30e6 on an idle machine


def _timed(text: str) -> float:
    start = time.process_time()
    redact(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("token=abc", f"token={PLACEHOLDER}", id="text"),
        pytest.param({"a": ["密码：x1y2"]}, {"a": [f"密码：{PLACEHOLDER}"]}, id="nested"),
        pytest.param({"password": "hunter2"}, {"password": PLACEHOLDER}, id="key-is-the-label"),
        pytest.param({"登录密码": "hunter2"}, {"登录密码": PLACEHOLDER}, id="chinese-key"),
        pytest.param({"clientSecret": "abc123"}, {"clientSecret": PLACEHOLDER}, id="camel-key"),
        pytest.param({"token=abc": 1}, {"token=abc": 1}, id="keys-are-kept"),
        pytest.param({"token": 4096, "n": None}, {"token": 4096, "n": None}, id="numbers"),
        pytest.param({"token": "4096"}, {"token": "4096"}, id="count-as-text"),
        pytest.param({"password": "required"}, {"password": "required"}, id="placeholder"),
        pytest.param({"tokens": ["abc"]}, {"tokens": ["abc"]}, id="plural"),
        pytest.param(("token=abc", True), (f"token={PLACEHOLDER}", True), id="tuple"),
    ],
)
def test_every_text_of_a_value_is_redacted_at_any_depth(value: Any, expected: Any) -> None:
    before = repr(value)
    assert redact_value(value) == expected
    assert redact_value(redact_value(value)) == expected
    assert repr(value) == before


def test_every_field_of_a_memory_is_redacted_and_a_clean_one_is_the_same_object() -> None:
    secret = "登录密码：Kx7pQ2vL9z"
    fields = ("title", "description", "content", "newQuote")
    entry = {**dict.fromkeys(fields, secret), "tags": [secret], "retrievalTerms": ["x", secret]}
    assert "Kx7pQ2vL9z" not in repr(redact_value(entry))
    clean = {"title": "密码策略", "tags": ["登录"], "importance": 2}
    assert redact_value(clean) is clean


def test_a_finding_does_not_carry_the_value() -> None:
    (found,) = find_secrets("口令：Kx7pQ2vL9z")
    assert (found.start, found.end, found.kind) == (3, 13, "label")
    assert "Kx7p" not in repr(found)


def test_a_text_that_never_settles_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wsmem.redaction.redact._PASSES", 0)
    assert redact("password: hunter2") == PLACEHOLDER
