"""What recall must find and must leave alone, from failures seen in systems like this one."""

from __future__ import annotations

import math

import pytest

from wsmem.records import MemoryEntry
from wsmem.retrieval.index import Index
from wsmem.retrieval.profile import load_profile
from wsmem.retrieval.ranking import rank
from wsmem.retrieval.scan import scan

NOW = 1_790_000_000_000

MIXED_SCRIPTS = {
    "E1": "前端构建产物上传到对象存储的华东桶",
    "E2": "日志写到 D盘，API配置 放在 etcd",
    "E3": "共享机器禁止执行 rm -rf；核心库用 C++ 写",
    "E4": "Café 网关使用 ＡＰＩ 端口 ８０９１",
    "E5": "会议纪要模板",
}
UNRELATED = {
    "K1": "重启脚本 restart.sh 位置",
    "K2": "用户 feedback 流程",
    "K3": "灰度发布先放 5% 流量",
    "K4": "Kestrel service owns billing exports",
    "K5": "夜间备份保留三十天",
    "K6": "Reviewers squash commits before merging",
    "K7": "图标统一用 SVG",
    "K8": "The staging database is refreshed every Monday",
}


def found(store: dict[str, str], query: str) -> list[str]:
    """Ids by rank; the index and the scan must agree before either is believed."""
    entries = [MemoryEntry(id=key, content=text) for key, text in store.items()]
    profile = load_profile("default")
    ranked = [m.entry.id for m in rank(Index.build(entries), query, profile, now=NOW)]
    assert [m.entry.id for m in scan(entries, query, profile, now=NOW)] == ranked
    return ranked


@pytest.mark.parametrize(
    ("query", "first"),
    [
        pytest.param("对象存储", "E1", id="chinese-words"),
        pytest.param("桶", "E1", id="one-chinese-letter"),
        pytest.param("D盘", "E2", id="latin-letter-and-chinese-letter"),
        pytest.param("配置", "E2", id="chinese-word-glued-to-latin"),
        pytest.param("API配置", "E2", id="mixed-word"),
        pytest.param("C++", "E3", id="symbols-belong-to-the-name"),
        pytest.param("rm -rf", "E3", id="command-with-flag"),
        pytest.param("cafe\u0301 网关", "E4", id="decomposed-accent"),
        pytest.param("api 8091", "E4", id="full-width-text"),
    ],
)
def test_every_script_is_found(query: str, first: str) -> None:
    ranked = found(MIXED_SCRIPTS, query)
    assert ranked[:1] == [first]
    assert "E5" not in ranked


@pytest.mark.parametrize("query", ["存 Docker 储", "存Docker储", "存。储"])
def test_no_pair_is_formed_across_a_gap(query: str) -> None:
    gapped = {"gap": query}
    assert found(gapped, "存储") == []
    if "Docker" in query:
        assert found(MIXED_SCRIPTS, query) == []


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("zzqq 火山地震学", id="nonsense"),
        pytest.param("art", id="inside-restart"),
        pytest.param("db", id="inside-feedback"),
        pytest.param("ok can that", id="function-words"),
        pytest.param("what is it that we have", id="a-question-of-function-words"),
        pytest.param("请问这个是什么呢", id="chinese-function-words"),
        pytest.param("的", id="one-function-letter"),
        pytest.param("！？。…", id="punctuation"),
        pytest.param("🚀🔥 👩‍💻", id="emoji"),
        pytest.param("", id="empty"),
        pytest.param(" \u3000\n", id="blank"),
        pytest.param("\ud800", id="lone-surrogate"),
    ],
)
def test_queries_without_a_subject_in_the_store_recall_nothing(query: str) -> None:
    assert found(UNRELATED, query) == []
    assert found(MIXED_SCRIPTS, query) == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        pytest.param(
            "请问上次我们讨论的那个灰度发布到底应该先放多少流量比较合适", "K3", id="long-chinese"
        ),
        pytest.param(
            "could you please remind me which one of our services was called Kestrel "
            "and what it does",
            "K4",
            id="long-english",
        ),
    ],
)
def test_a_long_question_still_finds_its_answer(query: str, first: str) -> None:
    assert found(UNRELATED, query)[:1] == [first]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("how old is Snowball", ["cat"], id="english"),
        pytest.param("雪球什么时候打疫苗", ["猫"], id="chinese"),
        pytest.param("old", ["house"], id="nothing-better-was-asked"),
        pytest.param("时候", ["会"], id="nothing-better-was-asked-in-chinese"),
    ],
)
def test_a_word_of_no_subject_proves_nothing_beside_one(query: str, expected: list[str]) -> None:
    store = {
        "cat": "Snowball eats at seven",
        "house": "The old boiler room is locked",
        "猫": "雪球在七点吃饭",
        "会": "开会的时候关掉手机",
    }
    assert found(store, query) == expected


def test_letters_tell_chinese_entries_apart_where_pairs_do_not() -> None:
    store = {"登入": "每天用户登入的次数", "次数": "每天用户下单的次数"}
    weighed = load_profile("default").with_weights(letters=1.0)
    entries = [MemoryEntry(id=key, content=text) for key, text in store.items()]
    ranked = rank(Index.build(entries), "用户登录次数", weighed, now=NOW)
    assert [m.entry.id for m in ranked] == ["登入", "次数"]


@pytest.mark.parametrize("profile", ["default", "reference"])
@pytest.mark.parametrize(
    ("texts", "query", "expected"),
    [
        pytest.param([], "anything", [], id="empty-store"),
        pytest.param([""], "anything", [], id="empty-text"),
        pytest.param(["[REDACTED]"], "anything", [], id="only-a-redaction-mark"),
        pytest.param(["kafka lag", "redis ttl"], "kafka", [0], id="one-of-two"),
        pytest.param(["kafka one", "kafka two"], "kafka", [0, 1], id="term-in-every-entry"),
        pytest.param(["kafka"], "kafka", [0], id="one-entry"),
    ],
)
def test_tiny_stores_score_finite_and_positive(
    profile: str, texts: list[str], query: str, expected: list[int]
) -> None:
    entries = [MemoryEntry(id=str(at), content=text) for at, text in enumerate(texts)]
    matches = rank(Index.build(entries), query, load_profile(profile), now=NOW)
    assert sorted(int(m.entry.id) for m in matches) == expected
    assert all(math.isfinite(m.score) and m.score > 0 for m in matches)


def test_entries_that_are_not_recallable_never_match() -> None:
    entries = [
        MemoryEntry(id=status, content="kafka", status=status)
        for status in ("active", "conflict", "superseded", "deleted", "weird")
    ]
    for profile in ("default", "reference"):
        matches = rank(Index.build(entries), "kafka", load_profile(profile), now=NOW)
        assert {m.entry.id for m in matches} == {"active", "conflict"}


def test_an_unreadable_importance_counts_as_none() -> None:
    entries = [
        MemoryEntry(id="odd", content="kafka lag", importance=math.nan),
        MemoryEntry(id="plain", content="kafka lag", importance=0),
    ]
    matches = rank(Index.build(entries), "kafka", load_profile("default"), now=NOW)
    assert [m.score for m in matches] == [matches[0].score] * 2
    assert math.isfinite(matches[0].score)
