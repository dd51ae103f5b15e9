"""Keys that show what they are: provider prefixes, JSON web tokens, webhook addresses."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from wsmem.redaction.findings import Finding
from wsmem.redaction.references import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wsmem.redaction.gates import Gates


class _Shape(NamedTuple):
    alphabet: str
    """`word`: letters and digits; `dash`: also `_` and `-`."""
    shortest: int
    longest: int = 0
    """0 is any length; otherwise exactly `shortest` to `longest`."""


_SHAPES: dict[str, _Shape] = {
    "sk-": _Shape("dash", 12),  # OpenAI, Anthropic, DeepSeek and most others
    "sk_live_": _Shape("word", 10),  # Stripe
    "sk_test_": _Shape("word", 10),
    "rk_live_": _Shape("word", 10),
    "rk_test_": _Shape("word", 10),
    "whsec_": _Shape("word", 16),
    "ghp_": _Shape("word", 20),  # GitHub
    "gho_": _Shape("word", 20),
    "ghu_": _Shape("word", 20),
    "ghs_": _Shape("word", 20),
    "ghr_": _Shape("word", 20),
    "github_pat_": _Shape("dash", 22),
    "glpat-": _Shape("dash", 16),  # GitLab
    "gldt-": _Shape("dash", 16),
    "glrt-": _Shape("dash", 16),
    "glptt-": _Shape("dash", 16),
    "glcbt-": _Shape("dash", 16),
    "xoxa-": _Shape("dash", 10),  # Slack
    "xoxb-": _Shape("dash", 10),
    "xoxc-": _Shape("dash", 10),
    "xoxd-": _Shape("dash", 10),
    "xoxe-": _Shape("dash", 10),
    "xoxo-": _Shape("dash", 10),
    "xoxp-": _Shape("dash", 10),
    "xoxr-": _Shape("dash", 10),
    "xoxs-": _Shape("dash", 10),
    "xapp-": _Shape("dash", 16),
    "AIza": _Shape("dash", 30),  # Google
    "ya29.": _Shape("dash", 20),
    "GOCSPX-": _Shape("dash", 20),
    "AKIA": _Shape("word", 16, 16),  # Amazon
    "ASIA": _Shape("word", 16, 16),
    "ABIA": _Shape("word", 16, 16),
    "LTAI": _Shape("word", 12, 26),  # Aliyun
    "AKID": _Shape("word", 28, 36),  # Tencent Cloud
    "npm_": _Shape("word", 30),
    "hf_": _Shape("word", 20),
    "pypi-Ag": _Shape("dash", 40),
    "dckr_pat_": _Shape("dash", 20),
    "dop_v1_": _Shape("word", 32),
    "hvs.": _Shape("dash", 20),  # HashiCorp Vault
    "gsk_": _Shape("word", 30),
    "xai-": _Shape("word", 30),
    "nvapi-": _Shape("dash", 30),
    "tvly-": _Shape("dash", 20),
    "lin_api_": _Shape("word", 30),
    "figd_": _Shape("dash", 30),
    "glsa_": _Shape("dash", 30),
    "sntrys_": _Shape("dash", 30),
    "rubygems_": _Shape("word", 30),
    "sbp_": _Shape("word", 30),
    "r8_": _Shape("word", 30),
    "PMAK-": _Shape("dash", 30),
    "NRAK-": _Shape("word", 20),
    "pplx-": _Shape("word", 30),
    "xkeysib-": _Shape("dash", 40),
    "AGE-SECRET-KEY-": _Shape("word", 40),
    "AKLT": _Shape("word", 30, 60),  # Volcengine
    "shpat_": _Shape("word", 32),
    "shpss_": _Shape("word", 32),
    "ATATT3": _Shape("dash", 40),  # Atlassian
    "dapi": _Shape("word", 32, 34),  # Databricks
}
_ANY_CASE = ("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_")
"""Found in any case, as the public plugin does; all others only as their provider writes them."""

_STARTS = sorted({"xox" if p.startswith("xox") else p.lower() for p in _SHAPES})
GATES: Gates = (
    ("_", tuple(start for start in _STARTS if "_" in start)),
    ("-", ("xox", *(start for start in _STARTS if "-" in start))),
    (".", ("sg.", *(start for start in _STARTS if "." in start))),
    ("", ("eyj", *(start for start in _STARTS if start.isalnum() and start != "xox"))),
    ("/", ("hook",)),
    (":", (":aa",)),
)

_WORDS_AT_MOST = 80
"""A longer run of words and dashes is not read as a name any more."""


def find(text: str) -> Iterator[Finding]:
    """Tokens in folded text, in order within each shape."""
    yield from _prefixed(text)
    for found in _web_token().finditer(text):
        yield Finding(found.start(), found.end(), "web-token")
    for pattern in (_webhook(), _pointed()):
        for found in pattern.finditer(text):
            yield Finding(*found.span(1), "token")


def _prefixed(text: str) -> Iterator[Finding]:
    position = 0
    while found := _prefix().search(text, position):
        position = found.end()
        prefix = found[0] if found[0] in _SHAPES else found[0].lower()
        end = _end_of(text, found.end(), _SHAPES[prefix])
        token = text[found.start() : end]
        if not end or _is_name(token) or is_placeholder(token):
            continue
        yield Finding(found.start(), end, "token")
        position = end
        if prefix in ("AKIA", "ASIA") and (partner := _partner().match(text, end)):
            yield Finding(*partner.span(1), "token")
            position = partner.end()


def _end_of(text: str, start: int, shape: _Shape) -> int:
    """Where the token ends; 0 if what follows the prefix is not one."""
    run = _run(shape.alphabet).match(text, start)
    if run is None:
        return 0
    end = run.end()
    while shape.alphabet != "word" and end > start and text[end - 1] == "-":
        end -= 1
    length = end - start
    if shape.alphabet == "word" and text.startswith("_", end):
        return 0  # the beginning of a longer name
    return end if length >= shape.shortest and (not shape.longest or length <= shape.longest) else 0


def _is_name(token: str) -> bool:
    """Whether a dashed run is made of words only: `sk-learn-compatible-estimator`."""
    words = token.split("-")[1:]
    return (
        len(words) > 1
        and len(token) <= _WORDS_AT_MOST
        and all(word.isalpha() and word.islower() and len(word) < 12 for word in words)
    )


@cache
def _prefix() -> re.Pattern[str]:
    exact = "|".join(re.escape(prefix) for prefix in _SHAPES if prefix not in _ANY_CASE)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:(?i:sk-|gh[pousr]_)|{exact})")


@cache
def _run(alphabet: str) -> re.Pattern[str]:
    return re.compile({"word": "[A-Za-z0-9]*+", "dash": r"[\w-]*+"}[alphabet], re.ASCII)


@cache
def _partner() -> re.Pattern[str]:
    """Amazon's secret key, 40 characters with no mark of their own, beside its key id."""
    return re.compile(r"[\s:/,;|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


@cache
def _web_token() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9_-])eyJ[\w-]{4,}+\.[\w-]{4,}+(?:\.[\w-]*+){1,3}", re.ASCII)


@cache
def _webhook() -> re.Pattern[str]:
    """The last part of an address that anybody may post to."""
    return re.compile(
        r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/[0-9]{1,24}/"
        r"|/bot/v2/hook/|/webhook/send\?key=|webhook\.office\.com/webhookb2/)([A-Za-z0-9][\w/@.-]{15,}+)",
        re.ASCII | re.IGNORECASE,
    )


@cache
def _pointed() -> re.Pattern[str]:
    """Tokens whose parts are joined by a point or a colon: SendGrid, Telegram."""
    return re.compile(
        r"(?<![A-Za-z0-9_.])(SG\.[\w-]{16,64}\.[\w-]{16,64}|[0-9]{8,10}:AA[\w-]{32,34})"
        r"(?![\w.-])",
        re.ASCII,
    )
