"""Terms of the default profile: what a text is indexed by and what a question asks for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsmem.text.analysis import analyze_query, fold, lower, term_role, term_weight, terms
from wsmem.text.stopwords import ENGLISH, GENERIC


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Gateways were restarting", "gateway WERE restart", id="stems"),
        pytest.param("getUserName", "user name getusernam", id="camel-case-and-the-whole"),
        pytest.param("get_user_name", "GET user name", id="snake-case"),
        pytest.param("HTTPServer", "http server httpserver", id="acronym-before-a-word"),
        pytest.param("Node18", "node 18 node18", id="number-behind-a-word"),
        pytest.param("v1.2.3", "v 1 v1 2 3", id="version"),
        pytest.param("k8s a1b2c3", "k8s a1b2c3", id="other-mixtures-stay-whole"),
        pytest.param("C++ C# F#.", "c++ c# f#", id="names-with-symbols"),
        pytest.param("src/core.ts", "src core ts", id="path"),
        pytest.param("Café naïve", "cafe naiv", id="marks-are-dropped"),
        pytest.param("ＡＰＩ ８０９１", "api 8091", id="full-width"),
        pytest.param("对象存储", "对象 象存 存储", id="pairs"),
        pytest.param("D盘", "d 盘", id="a-lone-letter"),
        pytest.param("存 Docker 储", "存 docker 储", id="nothing-paired-across-a-gap"),
        pytest.param("用Postgres存数据", "用 postgr 存数 数据", id="latin-inside-chinese"),
        pytest.param("don't", "DON T", id="contraction"),
        pytest.param("willing", "will", id="a-stem-is-not-a-function-word"),
        pytest.param("Will it", "WILL IT", id="function-words-in-capitals"),
        pytest.param("，。！🚀", "", id="nothing-to-say"),
    ],
)
def test_a_text_becomes_these_terms(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("term", "role", "weight"),
    [
        ("gateway", "subject", 1.0),
        ("WILL", "function", 0.2),
        ("部署", "subject", 1.0),
        ("什么", "function", 0.3),
        ("的端", "subject", 0.45),
        ("old", "lone", 1.0),
        ("时候", "lone", 1.0),
        ("库", "lone", 1.0),
        ("的", "function", 0.0),
        ("d", "lone", 1.0),
        ("5", "lone", 1.0),
    ],
)
def test_what_a_match_shows_and_counts(term: str, role: str, weight: float) -> None:
    assert (term_role(term), term_weight(term)) == (role, weight)


def test_a_query_weighs_an_identifier_and_half_its_parts() -> None:
    query = analyze_query("PostgreSQL 端口")
    assert [(term.text, term.weight) for term in query.terms] == [
        ("postgr", 0.5),
        ("sql", 0.5),
        ("postgresql", 1.0),
        ("端口", 1.0),
    ]
    assert query.pairs == (("postgr", "sql"), ("sql", "端口"))


def test_a_word_asked_again_counts_more_though_not_twice() -> None:
    once, again = analyze_query("redis ttl"), analyze_query("redis ttl redis ttl redis ttl")
    assert [term.weight for term in once.terms] == [1.0, 1.0]
    assert [term.text for term in again.terms] == ["redi", "ttl"]
    assert [term.weight for term in again.terms] == [pytest.approx(1 + math.log(3))] * 2
    assert set(again.pairs) == {*once.pairs, ("ttl", "redi")}


def test_a_query_names_its_chinese_letters_without_those_of_the_grammar() -> None:
    assert analyze_query("登录的 API 端口，登录").letters == ("登", "录", "端", "口")


@given(st.text())
def test_analysis_takes_any_text(text: str) -> None:
    folded = fold(text)
    assert len(lower(folded)) == len(folded), "positions in both must agree"
    query = analyze_query(text)
    assert {term.text for term in query.terms} <= set(terms(text))
    most = 1 + math.log(max(1, len(terms(text))))
    assert all(0 < term.weight <= most for term in query.terms)
    assert all(set(pair) <= {term.text for term in query.terms} for pair in query.pairs)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


GENERIC_ENGLISH = """
able actually agree agreed always another around ask away back bad best better big bit came
certain choose chose chosen come correct current day decide decision different early exact
example fast feel felt find fine first found gave given good great happen hard high hour idea
important keep kind known large late little long look low made make many matter mean mention
mind minute month mostly name new next nice normal number often old part people person place
point possible probably put question quick real recent remember remind right said second see
seem seen set short show small soon sort start still take talk think time today told tomorrow
took tonight try turn usual way week went whole wonder work write written wrong yesterday
"""


def test_generic_words_are_terms_as_the_analysis_gives_them() -> None:
    english = {term for word in GENERIC_ENGLISH.split() for term in terms(word)}
    chinese = {word for word in GENERIC if not word.isascii()}
    assert english | chinese == GENERIC
    assert all(terms(word) == [word] for word in chinese)
    assert {term_role(word) for word in GENERIC} == {"lone"}


def test_function_words_are_single_lower_case_words() -> None:
    assert all(word.isascii() and word.isalpha() and word.islower() for word in ENGLISH)
